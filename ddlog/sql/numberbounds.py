"""Bounds on the numbers of rows: the windows of which only the first rows of each partition are read.

    SELECT … FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY v) AS r FROM t) WHERE r <= 3
    SELECT … FROM t QUALIFY rank() OVER (PARTITION BY g ORDER BY v) < 4

The conditions stay; rows that they leave out are not numbered. A condition of another SELECT reaches a
subquery in its FROM, or a query of WITH that is read once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from .conjuncts import conjuncts

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

_BOUNDS = "bounds"
_NUMBERS = (sql.RowNumber, sql.Rank, sql.DenseRank)


def note_bounds(statement: Expression) -> None:
    """Notes at each SELECT of which the rows around it, or some of its joins, read only those up to some
    number in a column."""
    uses = Counter(each.name.lower() for each in statement.find_all(sql.Table))
    named = Counter(each.alias.lower() for each in statement.find_all(sql.CTE))
    once = {
        each.alias.lower(): each
        for each in statement.find_all(sql.CTE)
        if uses[each.alias.lower()] == named[each.alias.lower()] == 1
    }
    for select in statement.find_all(sql.Select):
        own = {each.alias.lower() for each in select.expressions if isinstance(each, sql.Alias)}
        for source, condition in _conditions(select):
            inner, called = _query_of(source, once), source.alias_or_name.lower()
            for column, most in _bounded(condition):
                if inner is None or not isinstance(column, sql.Column):
                    continue
                name, table = column.name.lower(), column.table.lower()
                if table == called or (not table and name not in own):
                    bounds = inner.meta.setdefault(_BOUNDS, {})
                    bounds[name] = min(most, bounds.get(name, most))


def _conditions(select: sql.Select) -> Iterator[tuple[Expression, Expression]]:
    """The conditions on the rows of a table of FROM, for each: a row for which one is not true has no part in
    the answer, and the table may lack it."""
    from_, where, joins = (select.args.get(key) for key in ("from_", "where", "joins"))
    if from_ is None or any(_is_special(join) for join in joins or ()):
        return
    every = [] if where is None else conjuncts(where.this)
    inner = (
        join.this for join in joins or () if not (join.args.get("side") or join.kind in ("SEMI", "ANTI"))
    )
    tables = [from_.this, *inner]
    yield from ((table, each) for table in tables for each in every)
    for join in joins or ():
        on = join.args.get("on")
        yield from ((join.this, each) for each in ([] if on is None else conjuncts(on)))


def _is_special(join: sql.Join) -> bool:
    return bool(join.args.get("method")) or join.args.get("side") in ("RIGHT", "FULL")


def _query_of(source: Expression, once: Mapping[str, sql.CTE]) -> sql.Select | None:
    """The SELECT whose rows, all of them, a table of FROM has."""
    more = any(value for key, value in source.args.items() if key not in ("this", "alias"))
    alias = source.args.get("alias")
    if more or (alias is not None and alias.args.get("columns")):
        return None
    if isinstance(source, sql.Table) and source.name.lower() in once:
        source = once[source.name.lower()]
        around = source.parent
        if source.args["alias"].args.get("columns") or around is None or around.args.get("recursive"):
            return None
    elif not isinstance(source, sql.Subquery):
        return None
    inner = source.this
    cut = ("limit", "offset", "sample")
    is_plain = isinstance(inner, sql.Select) and not any(inner.args.get(key) for key in cut)
    distinct = inner.args.get("distinct")
    return inner if is_plain and (distinct is None or distinct.args.get("on") is None) else None


def bounds_of(node: Expression, columns: Mapping[str, object], own: Collection[str]) -> dict[Expression, int]:
    """The greatest number that is read of each window that numbers rows. `columns`: the select list, by
    name; `own`: the names that QUALIFY reads there and nowhere else."""
    found: dict[Expression, int] = {}

    def add(window: object, most: int) -> None:
        window = window.unnest() if isinstance(window, sql.Expression) else window
        if isinstance(window, sql.Window) and isinstance(window.this, _NUMBERS):
            found[window] = min(most, found.get(window, most))

    for name, most in node.meta.get(_BOUNDS, {}).items():
        add(columns.get(name), most)
    qualify = node.args.get("qualify")
    for condition in [] if qualify is None else conjuncts(qualify.this):
        for test, most in _bounded(condition):
            is_name = isinstance(test, sql.Column) and not test.table and test.name.lower() in own
            add(columns.get(test.name.lower()) if is_name else test, most)
    return found


def _bounded(test: Expression) -> Iterator[tuple[Expression, int]]:
    """The expressions that a condition bounds from above, each with its bound if that is 1 or more."""
    match test:
        case sql.LTE(this=of, expression=most) | sql.LT(this=of, expression=most):
            values = [most]
        case sql.GTE(this=most, expression=of) | sql.GT(this=most, expression=of):
            values = [most]
        case sql.Between(this=of, args={"high": most}) if not test.args.get("symmetric"):
            values = [most]
        case sql.In(this=of, expressions=[*values]) if values:
            pass
        case sql.EQ(this=sql.Literal() as value, expression=of) | sql.EQ(this=of, expression=value):
            values = [value]
        case _:
            return
    values = [each.unnest() for each in values]
    if all(isinstance(each, sql.Literal) and not each.is_string and each.this.isdigit() for each in values):
        most = max(int(each.this) for each in values) - isinstance(test, sql.LT | sql.GT)
        if most > 0:
            yield of.unnest(), most
