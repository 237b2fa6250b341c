"""MERGE as queries: one for each WHEN, of the rows that it is about. ON CONFLICT is a MERGE of new rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from .defaults import Defaults, defaulted, is_default
from .places import SqlPlaces

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

EXCLUDED = "excluded"
_LAST = "DO NOTHING"


@dataclass(frozen=True, slots=True)
class MergeCase:
    """The rows of a WHEN: `kind` is insert, update or delete. The query gives the old row, unless the row is
    new, and then the values of the columns with these names. `place` is what errors point at."""

    kind: str
    query: sql.Select
    names: tuple[str, ...]
    place: Expression


@dataclass(frozen=True, slots=True)
class MergedTables:
    """The table that a MERGE changes, the one that it reads, by the names that expressions have for them, and
    their columns, with the defaults of the former."""

    target: Expression
    names: Sequence[str]
    defaults: Defaults
    source: Expression
    source_names: Sequence[str]

    @property
    def old(self) -> list[Expression]:
        """The columns of the table that is changed."""
        return columns(self.target, self.names)


def merge_cases(node: sql.Merge, tables: MergedTables, places: SqlPlaces) -> Iterator[MergeCase]:
    """The cases of a MERGE, without those that do nothing. Raises SqlError."""
    on = _joined(node, tables)
    earlier: dict[tuple[bool, bool], list[Expression]] = {}
    for when in node.args["whens"].expressions:
        kind = bool(when.args["matched"]), bool(when.args.get("source"))
        before = earlier.setdefault(kind, [])
        condition = when.args.get("condition")
        tests = [] if condition is None else [condition]
        tests += [_untrue(each) for each in before]
        before.append(condition or sql.true())
        case = _case(when.args["then"], when, tables, places)
        if case is None:
            continue
        word, names, given = case
        values = [defaulted(name, value, tables.defaults) for name, value in zip(names, given, strict=True)]
        if word == "insert" and (kind[0] or kind[1]):
            places.wrong("a row that matches is not inserted: UPDATE, DELETE or DO NOTHING", when)
        if word != "insert" and kind == (False, False):
            places.wrong("there is no row to change where none matches: INSERT or DO NOTHING", when)
        query = _query(kind, [*([] if word == "insert" else tables.old), *values], on, tests, tables)
        yield MergeCase(word, query, tuple(names), when)


def merge_of_conflict(
    node: sql.Insert, tables: MergedTables, key: Sequence[str], named: Sequence[str], places: SqlPlaces
) -> sql.Merge:
    """The MERGE that an INSERT of `named` columns with ON CONFLICT is, or INSERT OR REPLACE and INSERT OR
    IGNORE: of the new rows, which are the table `excluded`. Raises SqlError."""
    conflict, then = node.args.get("conflict"), None
    test = None
    if conflict is None and node.args["alternative"].upper() == "REPLACE":
        replaced = [each for each in named if each not in key] or key
        pairs = zip(columns(tables.target, replaced), columns(tables.source, replaced), strict=True)
        then = sql.Update(expressions=[sql.EQ(this=a, expression=b) for a, b in pairs])
    elif conflict is not None:
        asked = [each.this.name.lower() for each in conflict.args.get("conflict_keys") or ()]
        if asked and sorted(asked) != sorted(key):
            places.wrong(f"a conflict is one of the primary key, which is ({', '.join(key)})", conflict)
        if conflict.args["action"].name.upper() == "DO UPDATE":
            then, test = sql.Update(expressions=conflict.expressions), conflict.args.get("where")
    for each in [*(conflict.expressions if then is not None and conflict else ()), test]:
        _qualify(each, tables.target)
    on = _equal(tables, key)
    whens = [
        sql.When(matched=True, source=False, condition=None if test is None else test.this,
                 then=then or sql.Var(this=_LAST)),
        sql.When(matched=False, source=False, then=sql.Insert(this=sql.Star())),
    ]  # fmt: skip
    return sql.Merge(this=tables.target, on=on, whens=sql.Whens(expressions=whens))


def _qualify(node: Expression | None, table: Expression) -> None:
    """Lets columns without a table, outside of subqueries, be those of a table."""
    for each in [] if node is None else list(node.find_all(sql.Column)):
        if not each.table and not is_default(each) and each.find_ancestor(sql.Query) is None:
            each.set("table", sql.to_identifier(table.alias or table.name, quoted=True))


def columns(table: Expression, names: Sequence[str]) -> list[Expression]:
    """Columns of a table, as expressions."""
    return [sql.column(each, table.alias or table.name, quoted=True) for each in names]


def select(
    columns: Sequence[Expression], tables: Sequence[Expression], test: Expression | None
) -> sql.Select:
    """SELECT of columns of tables, under a condition."""
    made = sql.Select(expressions=list(columns), from_=sql.From(this=tables[0]))
    if len(tables) > 1:
        made.set("joins", [sql.Join(this=each) for each in tables[1:]])
    if test is not None:
        made.set("where", sql.Where(this=test))
    return made


def _case(
    then: Expression, when: Expression, tables: MergedTables, places: SqlPlaces
) -> tuple[str, Sequence[str], Sequence[Expression]] | None:
    """What a WHEN does, the columns that it names, and their values; None if it does nothing."""
    match then:
        case sql.Update():
            if not then.expressions or isinstance(then.expressions[0], sql.Star):
                return "update", *_all(when, tables, places)
            names = [each.this.name.lower() for each in then.expressions]
            return "update", names, [each.expression for each in then.expressions]
        case sql.Insert():
            named = then.this
            if not then.expression:
                if isinstance(named, sql.Tuple):
                    places.refuse("INSERT BY NAME in MERGE", when)
                return "insert", *_all(when, tables, places)
            names = [each.name.lower() for each in named.expressions] if named else list(tables.names)
            if len(names) != len(then.expression.expressions):
                places.wrong(
                    f"there are {len(names)} columns and {len(then.expression.expressions)} values", when
                )
            return "insert", names, then.expression.expressions
        case sql.Var() if then.name.upper() == "DELETE":
            return "delete", (), ()
        case sql.Var() if then.name.upper() == _LAST:
            return None
    places.refuse(f"{places.written(then)} in MERGE", when)


def _all(
    when: Expression, tables: MergedTables, places: SqlPlaces
) -> tuple[Sequence[str], Sequence[Expression]]:
    """All columns, and the values that they have in the table that is read."""
    if len(tables.names) != len(tables.source_names):
        places.wrong(
            f"the table has {len(tables.names)} columns, and the rows have {len(tables.source_names)}", when
        )
    return tables.names, columns(tables.source, tables.source_names)


def _joined(node: sql.Merge, tables: MergedTables) -> Expression:
    """The condition by which rows match."""
    using = [each.name.lower() for each in node.args.get("using_cond") or ()]
    if not using:
        return sql.paren(node.args["on"])
    return _equal(tables, using)


def _equal(tables: MergedTables, names: Sequence[str]) -> Expression:
    """Whether both tables have the same values in some columns."""
    if not names:
        return sql.true()  # the key of a table of one row
    pairs = zip(columns(tables.target, names), columns(tables.source, names), strict=True)
    return sql.and_(*(sql.EQ(this=a, expression=b) for a, b in pairs))


def _query(
    kind: tuple[bool, bool],
    asked: Sequence[Expression],
    on: Expression,
    tests: Sequence[Expression],
    tables: MergedTables,
) -> sql.Select:
    matched, by_source = kind
    target, source = tables.target, tables.source
    if matched:
        read, tests = [target, source], [on, *tests]
    else:
        here, there = (target, source) if by_source else (source, target)
        read = [here]
        tests = [sql.Not(this=sql.Exists(this=select([sql.Literal.number(1)], [there], on))), *tests]
    test = sql.and_(*map(sql.paren, tests))
    return select([each.copy() for each in asked], [each.copy() for each in read], test)


def _untrue(condition: Expression) -> Expression:
    return sql.Not(this=sql.Coalesce(this=condition, expressions=[sql.false()]))
