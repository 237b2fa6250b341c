"""The parts of statements that no translation reads: a statement with one of them is refused, so that none is
left out without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import expressions as sql

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .places import SqlPlaces

_SAMPLE = "TABLESAMPLE: a view of random rows would not be the same when it is computed again"
_PAST = "a table AS OF a time: a join on times has the rows of then, as ASOF JOIN does"
_FIRSTS = "write WHERE key IN (SELECT key FROM … ORDER BY … LIMIT n)"
_QUERY = {
    "sample": _SAMPLE, "match": "MATCH_RECOGNIZE", "into": "SELECT INTO", "locks": "FOR UPDATE",
    "connect": "CONNECT BY: write WITH RECURSIVE", "prewhere": "PREWHERE", "settings": "SETTINGS",
    "format": "FORMAT",
}  # fmt: skip
_CHANGE = {"order": f"ORDER BY of a change: {_FIRSTS}", "limit": f"LIMIT of a change: {_FIRSTS}"}

UNREAD: dict[type[Expression], dict[str, str]] = {
    **dict.fromkeys((sql.Select, sql.Subquery, sql.Union, sql.Except, sql.Intersect), _QUERY),
    sql.Table: {
        "sample": _SAMPLE, "when": _PAST, "version": _PAST, "partition": "PARTITION", "changes": "CHANGES",
        "rows_from": "ROWS FROM",
    },
    sql.With: {"search": "SEARCH or CYCLE: let the query have a column of the path or of the depth"},
    sql.CTE: {"key_expressions": "USING KEY: choose the rows of each key from the answer"},
    sql.Limit: {"expressions": "LIMIT … BY: write QUALIFY ROW_NUMBER() OVER (PARTITION BY …) <= n"},
    sql.Offset: {"expressions": "OFFSET … BY"},
    sql.Ordered: {"with_fill": "WITH FILL: join GENERATE_SERIES"},
    sql.Join: {"match_condition": "MATCH_CONDITION: write the inequality in ON", "nearest": "NEAREST"},
    sql.Insert: {
        "overwrite": "INSERT OVERWRITE: write TRUNCATE before INSERT",
        "where": "REPLACE WHERE: write DELETE before INSERT", "partition": "PARTITION of an INSERT",
        "ignore": "INSERT IGNORE: write INSERT OR IGNORE",
    },
    sql.OnConflict: {
        "duplicate": "ON DUPLICATE KEY UPDATE: write ON CONFLICT DO UPDATE SET",
        "constraint": "ON CONSTRAINT: a conflict is one of the primary key",
        "index_predicate": "ON CONFLICT with WHERE before DO",
    },
    sql.Delete: _CHANGE,
    sql.Update: _CHANGE,
    sql.Commit: {"chain": "AND CHAIN"},
    sql.UniqueColumnConstraint: {"nulls": "NULLS NOT DISTINCT"},
    sql.Slice: {"step": "a slice with a step"},
    sql.Group: {"totals": "WITH TOTALS"},
    sql.Star: {"ilike": "* ILIKE"},
    sql.In: {"unnest": "IN of this form", "field": "IN of this form"},
    **{kind: dict.fromkeys(keys.split(), "") for kind, keys in {
        sql.ArraySize: "expression", sql.ArraySlice: "step", sql.ArraySort: "expression",
        sql.ArrayContains: "ensure_variant", sql.ArrayToString: "null", sql.Cast: "action default format",
        sql.Ceil: "decimals to", sql.Contains: "json_scope", sql.Floor: "decimals to",
        sql.JSONExtract: "expressions", sql.Length: "binary encoding", sql.ParseJSON: "expression",
        sql.RegexpLike: "full_match", sql.RegexpSplit: "limit", sql.Round: "truncate", sql.Split: "limit",
        sql.StrPosition: "position occurrence clamp_position", sql.Substring: "zero_start",
        sql.TryCast: "action default format", sql.Week: "mode",
    }.items()},
}  # fmt: skip
"""The arguments of nodes that nothing reads: what a message calls them, and why or what to write instead;
empty for those of functions."""

_KEPT = (sql.TemporaryProperty, sql.MaterializedProperty, sql.SchemaCommentProperty)


def check_read(statement: Expression, places: SqlPlaces) -> None:
    """Raises SqlError for a statement with a part that its translation would not read."""
    for node in statement.walk():
        for key, said in UNREAD.get(type(node), {}).items():
            if node.args.get(key):
                what, _, why = (said or f"{places.called(node)} with so many arguments").partition(": ")
                places.refuse(what, _place(node.args[key]) or node, why)
        match node:
            case sql.Lateral() if node.args.get("cross_apply") is False:
                places.refuse("OUTER APPLY", node, "write LEFT JOIN LATERAL (…) ON TRUE")
            case sql.When(args={"then": sql.Update() | sql.Insert() as then}) if then.args.get("where"):
                places.refuse("WHERE in a MERGE", then, "write WHEN … AND condition THEN")
            case sql.Reference() | sql.ForeignKey():
                for option in node.args.get("options") or ():
                    if str(option).startswith("ON ") and not str(option).endswith(("NO ACTION", "RESTRICT")):
                        places.refuse(str(option), node, "delete or change the rows that refer to it")
            case sql.Create(kind="TABLE" | "VIEW") if not places.dialect.is_ansi:
                made = node.args.get("properties") or sql.Properties(expressions=[])
                for each in made.expressions:
                    if not isinstance(each, _KEPT):
                        why = "rows come from files, statements and streams, and a view is an output"
                        what = f"{places.written(each)[:40]} of a {str(node.kind).lower()}"
                        places.refuse(what, _place(made) or node, why)


def _place(value: object) -> Expression | None:
    """The node of an argument that has a place of its own."""
    value = value[0] if isinstance(value, list) else value
    return value if isinstance(value, sql.Expression) and any(e.meta for e in value.walk()) else None
