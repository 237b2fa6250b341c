"""The parts of statements that no translation reads: a statement with one of them is refused, so that none is
left out without a word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .places import SqlPlaces

_NONE = frozenset[str]()


def _words(texts: Mapping[type[Expression], str]) -> dict[type[Expression], frozenset[str]]:
    return {kind: frozenset(text.split()) for kind, text in texts.items()}


_SET = "with_ this expression distinct by_name order limit offset"
_PARTS = _words({
    sql.Select: "with_ expressions distinct from_ joins laterals pivots where group having qualify windows "
                "order limit offset hint",
    sql.Subquery: "this alias with_ joins laterals pivots order limit offset",
    **dict.fromkeys((sql.Union, sql.Except, sql.Intersect), _SET),
    sql.Table: "this alias db joins pivots only", sql.Join: "this on side kind using method",
    sql.Lateral: "this view outer alias cross_apply", sql.With: "expressions recursive",
    sql.CTE: "this alias materialized", sql.Limit: "this expression offset limit_options",
    sql.Offset: "this expression", sql.Ordered: "this desc nulls_first",
    sql.Group: "expressions grouping_sets cube rollup all",
    sql.Window: "this partition_by order spec alias over", sql.Star: "except_ replace rename",
    sql.In: "this expressions query", sql.Slice: "this expression",
    sql.Insert: "with_ this expression conflict returning alternative by_name default",
    sql.OnConflict: "expressions action conflict_keys where",
    sql.Update: "with_ this expressions from_ where returning",
    sql.Delete: "with_ this using where returning tables",
    sql.Merge: "with_ this using on using_cond whens returning",
    sql.TruncateTable: "expressions exists identity", sql.Transaction: "this modes", sql.Commit: "this",
    sql.Create: "this kind expression exists properties replace unique concurrently",
    sql.ColumnDef: "this kind constraints", sql.UniqueColumnConstraint: "this options include",
    **dict.fromkeys((sql.Columns, sql.Explode, sql.Posexplode), "this"), sql.JSONObject: "expressions",
})  # fmt: skip
"""The arguments of nodes that are read, or that have no effect: all others are refused."""

_SPARK = _words({sql.Select: "sort distribute cluster"})
"""The arguments that in Spark only say how rows are computed: they have no effect on results."""

_UNREAD = _words({
    sql.ArraySize: "expression", sql.ArraySlice: "step", sql.ArraySort: "expression",
    sql.ArrayContains: "ensure_variant", sql.ArrayToString: "null", sql.Cast: "action default format",
    sql.Ceil: "decimals to", sql.Contains: "json_scope", sql.Floor: "decimals to",
    sql.JSONExtract: "expressions", sql.Length: "binary encoding", sql.ParseJSON: "expression",
    sql.RegexpLike: "full_match", sql.RegexpSplit: "limit", sql.Round: "truncate", sql.Split: "limit",
    sql.StrPosition: "position occurrence clamp_position", sql.Substring: "zero_start",
    sql.TryCast: "action default format", sql.Week: "mode",
})  # fmt: skip
"""The arguments of functions that nothing reads."""

_PAST = "a table AS OF a time: a join on times has the rows of then, as ASOF JOIN does"
_FIRSTS = "write WHERE key IN (SELECT key FROM … ORDER BY … LIMIT n)"
_SAID = {
    "sample": "TABLESAMPLE: a view of random rows would not be the same when it is computed again",
    "connect": "CONNECT BY: write WITH RECURSIVE", "locks": "FOR UPDATE", "when": _PAST, "version": _PAST,
    "search": "SEARCH or CYCLE: let the query have a column of the path or of the depth",
    "key_expressions": "USING KEY: choose the rows of each key from the answer",
    "limit.expressions": "LIMIT … BY: write QUALIFY ROW_NUMBER() OVER (PARTITION BY …) <= n",
    "offset.expressions": "OFFSET … BY", "with_fill": "WITH FILL: join GENERATE_SERIES",
    "match_condition": "MATCH_CONDITION: write the inequality in ON",
    "overwrite": "INSERT OVERWRITE: write TRUNCATE before INSERT",
    "insert.where": "REPLACE WHERE: write DELETE before INSERT",
    "ignore": "INSERT IGNORE: write INSERT OR IGNORE",
    "duplicate": "ON DUPLICATE KEY UPDATE: write ON CONFLICT DO UPDATE SET",
    "constraint": "ON CONSTRAINT: a conflict is one of the primary key",
    "index_predicate": "ON CONFLICT with WHERE before DO", "chain": "AND CHAIN",
    "order": f"ORDER BY of a change: {_FIRSTS}", "limit": f"LIMIT of a change: {_FIRSTS}",
    "nulls": "NULLS NOT DISTINCT", "totals": "WITH TOTALS", "step": "a slice with a step",
    "ilike": "* ILIKE", "catalog": "a table of a catalog",
    "ordinality": "WITH ORDINALITY of another function than UNNEST",
    "into": "SELECT INTO", "unpack": "*COLUMNS(…): write the columns", "rows_from": "ROWS FROM",
}  # fmt: skip
"""What messages call parts, and why they are refused or what to write instead."""

_KEPT = (sql.TemporaryProperty, sql.MaterializedProperty, sql.SchemaCommentProperty)
_ORDERED = (sql.PercentileCont, sql.PercentileDisc, sql.Quantile, sql.Mode)
_OPTION = re.compile(
    r"ON \w+ (NO ACTION|RESTRICT)|(NOT )?DEFERRABLE|INITIALLY \w+|MATCH SIMPLE|ENFORCED|(NO)?RELY"
)
"""What may stand behind a constraint, as constraints are checked at commits."""


def check_read(statement: Expression, places: SqlPlaces) -> None:
    """Raises SqlError for a statement with a part that its translation would not read."""
    for node in statement.walk():
        kind = type(node)
        parts, unread = _PARTS.get(kind, _NONE), _UNREAD.get(kind, _NONE)
        parts |= _SPARK.get(kind, _NONE) if places.dialect.is_ansi else _NONE
        for key, value in node.args.items():
            if value and (key in unread or (parts and key not in parts)):
                said = _SAID.get(f"{node.key}.{key}") or _SAID.get(key) or _called(node, key, places)
                what, _, why = said.partition(": ")
                places.refuse(what, _place(value) or node, why)
        options = node.args.get("options")
        for option in options if isinstance(options, list) else ():
            if not _OPTION.fullmatch(str(option)):
                why = "delete or change the rows that refer to it" if str(option).startswith("ON ") else ""
                places.refuse(str(option), node, why)
        match node:
            case sql.TableAlias(this=sql.Placeholder()):
                places.wrong("a parameter is no name of a table", node)
            case sql.Lateral() if node.args.get("cross_apply") is False:
                places.refuse("OUTER APPLY", node, "write LEFT JOIN LATERAL (…) ON TRUE")
            case sql.Group() if node.expressions and node.args.get("all") is not None:
                places.refuse("GROUP BY ALL or DISTINCT with keys", node)
            case sql.WithinGroup() if len(node.expression.expressions) > 1 or not isinstance(
                node.this, _ORDERED
            ):
                places.refuse("WITHIN GROUP of this form", node, "write f(x ORDER BY y)")
            case sql.IgnoreNulls() if isinstance(found := node.find(sql.AggFunc), sql.ArrayAgg):
                if not found.args.get("nulls_excluded"):
                    places.refuse("IGNORE NULLS of a list", node, "write FILTER (WHERE x IS NOT NULL)")
            case sql.Create(kind="VIEW") if any(e.args.get("kind") for e in node.this.expressions):
                places.refuse("a column of a view with a type", node.this, "write a cast in its query")
            case sql.When(args={"then": sql.Update() | sql.Insert() as then}) if then.args.get("where"):
                places.refuse("WHERE in a MERGE", then, "write WHEN … AND condition THEN")
            case sql.Create(kind="TABLE" | "VIEW") if not places.dialect.is_ansi:
                made = node.args.get("properties") or sql.Properties(expressions=[])
                for each in made.expressions:
                    if not isinstance(each, _KEPT):
                        why = "rows come from files, statements and streams, and a view is an output"
                        what = f"{places.written(each)[:40]} of a {str(node.kind).lower()}"
                        places.refuse(what, _place(made) or node, why)


def _called(node: Expression, key: str, places: SqlPlaces) -> str:
    """What a message calls a part: a function by its name, and other parts as they are written."""
    value = node.args[key]
    if isinstance(node, sql.Func):
        return f"{places.called(node)} with so many arguments"
    first = value[0] if isinstance(value, list) else value
    shown = first if isinstance(first, str) else key.upper().replace("_", " ")
    return f"{places.written(first)[:40] if isinstance(first, sql.Expression) else shown} here"


def _place(value: object) -> Expression | None:
    """The node of an argument that has a place of its own."""
    value = value[0] if isinstance(value, list) else value
    return value if isinstance(value, sql.Expression) and any(e.meta for e in value.walk()) else None
