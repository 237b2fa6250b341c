"""The orders that subqueries give to what is around them: to an ARRAY, and to a LIMIT without an ORDER BY.

`SELECT a FROM (SELECT … ORDER BY k) q LIMIT n` becomes
`SELECT a FROM (SELECT …, k AS "order by 0") q ORDER BY q."order by 0" LIMIT n`,
and `(SELECT … ORDER BY k) LIMIT n` likewise. `ARRAY(SELECT a FROM … ORDER BY k)` becomes
`COALESCE((SELECT list(q.x ORDER BY q."order by 0") FROM (SELECT a, k AS "order by 0" …) q(x)), [])`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from .orderby import added, in_order
from .places import SqlPlaces

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

_TABLE = "ordered__"  # the name of a subquery without one
_OTHER_ROWS = ("order", "distinct", "group", "having", "joins", "laterals", "pivots", "sample")


def inherit_orders(statement: Expression, places: SqlPlaces) -> None:
    """Gives each LIMIT and OFFSET without an order of its own that of the rows below it, and writes ARRAY of
    a subquery as a list in its order. Raises SqlError."""
    found = [each for each in statement.find_all(sql.Select, sql.Subquery) if _cuts_off(each)]
    for each in reversed(found):
        _order(each, places)
    for array in [] if places.dialect.is_ansi else reversed(list(statement.find_all(sql.Array))):
        is_list = array.args.get("value_constructor")  # [(SELECT …)] is a list of one value
        if not is_list and len(array.expressions) == 1 and isinstance(array.expressions[0], sql.Query):
            array.replace(_listed(array.expressions[0].unnest(), places))


def _listed(query: Expression, places: SqlPlaces) -> Expression:
    """ARRAY of a subquery as a list."""
    if not isinstance(query, sql.Query) or query.is_star or len(query.selects) != 1:
        places.refuse("ARRAY of a subquery with other columns than one that is written", query)
    made, keys, more = in_order(query, places)
    hidden = [*map(added, range(more))]
    parts = [
        sql.Ordered(
            this=sql.column(key if key in hidden else "x", "q", quoted=True), desc=down, nulls_first=first
        )
        for key, down, first in keys
    ]
    value = sql.column("x", "q", quoted=True)
    named = sql.TableAlias(this=sql.to_identifier("q"), columns=[sql.to_identifier("x")])
    listed = sql.ArrayAgg(this=sql.Order(this=value, expressions=parts) if parts else value)
    rows = sql.select(listed).from_(sql.Subquery(this=made.copy(), alias=named), copy=False)
    return sql.Coalesce(this=sql.Subquery(this=rows), expressions=[sql.Array(expressions=[])])


def _order(node: Expression, places: SqlPlaces) -> bool:
    """Orders a query that cuts off rows, if those below it have an order."""
    query = _selecting(node) if isinstance(node, sql.Subquery) else node
    if not isinstance(query, sql.Select) or not _inherit(query, places):
        return False
    if query is not node:
        for key in ("limit", "offset"):
            node.set(key, None)
        node.set("this", query)
    return True


def _cuts_off(node: Expression) -> bool:
    return any(node.args.get(key) for key in ("limit", "offset")) and node.args.get("order") is None


def _selecting(node: sql.Subquery) -> sql.Select:
    """`(…) LIMIT n` as a SELECT."""
    inner = sql.Subquery(this=node.this.copy())
    made = sql.Select(expressions=[sql.Star()], from_=sql.From(this=inner))
    for key in ("limit", "offset"):
        made.set(key, node.args.get(key))
    made.parent = node  # where its tables are looked up
    return made


def _inherit(node: sql.Select, places: SqlPlaces) -> bool:
    """Orders a SELECT as the rows of its FROM, if that is one query with an order."""
    if any(node.args.get(key) for key in _OTHER_ROWS) or _has_aggregate(node):
        return False
    from_ = node.args.get("from_")
    source = None if from_ is None else from_.this
    if not isinstance(source, sql.Table | sql.Subquery):
        return False
    if any(source.args.get(k) for k in ("pivots", "joins", "sample")):
        return False
    named = _query_of_with(node, source) if isinstance(source, sql.Table) else None
    below = source if named is None else _copied(named)
    if isinstance(below, sql.Table):
        return False
    inner = _ordered(below.this, places)
    if inner is None:
        if below is not source:
            below.pop()
        return False
    made, keys, more = in_order(inner, places)
    below.set("this", made)
    if not source.alias:
        name = source.name if isinstance(source, sql.Table) else _TABLE
        source.set("alias", sql.TableAlias(this=sql.to_identifier(name, quoted=True)))
    if below is not source:
        source.set("this", sql.to_identifier(below.alias, quoted=True))
    renamed = _renamed(source)
    renamed += _renamed(below)[len(renamed) :]
    columns = [_column(key, made, source.alias, renamed, places, node) for key, _, _ in keys]
    parts = [
        sql.Ordered(this=column, desc=down, nulls_first=first)
        for column, (_, down, first) in zip(columns, keys, strict=True)
    ]
    node.set("order", sql.Order(expressions=parts))
    _hide([*map(added, range(more))], node, places)
    return True


def _ordered(query: Expression, places: SqlPlaces) -> Expression | None:
    """The part of a query that has its order; None: it has none."""
    while isinstance(query, sql.Subquery) and not query.args.get("order"):
        if _cuts_off(query) and not _order(query, places):
            return None
        query = query.this
    if query.args.get("order") is None and not (isinstance(query, sql.Select) and _inherit(query, places)):
        return None
    return query


def _renamed(of: Expression) -> list[str]:
    """The names that a table, a subquery or a query of WITH gives its first columns."""
    alias = of.args.get("alias")
    return [each.name for each in alias.args.get("columns") or ()] if alias is not None else []


def _has_aggregate(node: sql.Select) -> bool:
    found = (call for each in node.expressions for call in each.find_all(sql.AggFunc))
    return any(call.find_ancestor(sql.Window, sql.Query) is node for call in found)


def _query_of_with(node: sql.Select, table: sql.Table) -> sql.CTE | None:
    """The query of WITH that a table is, unless it is one of a recursion."""
    name = table.name.lower()
    around: Expression | None = None if table.db else node
    below: Expression | None = None  # the query of WITH from which the search comes
    while around is not None:
        with_ = around.args.get("with_")
        for each in () if with_ is None else _before(with_.expressions, below):
            if each.alias.lower() == name:
                return None if _is_recursive(each) and _reads(each, name) else each
        if isinstance(around, sql.CTE):
            if _is_recursive(around) and around.alias.lower() == name:
                return None
            below = around
        around = around.parent
    return None


def _before(queries: Sequence[sql.CTE], last: Expression | None) -> Sequence[sql.CTE]:
    """The queries of a WITH that one of them can read, or a query that is none of them."""
    return next((queries[:at] for at, each in enumerate(queries) if each is last), queries)


def _is_recursive(query: sql.CTE) -> bool:
    """Whether a query of WITH can read itself."""
    return query.parent is not None and bool(query.parent.args.get("recursive"))


def _reads(query: sql.CTE, name: str) -> bool:
    return any(each.name.lower() == name for each in query.this.find_all(sql.Table))


def _copied(query: sql.CTE) -> sql.CTE:
    """A copy of a query of WITH, which stands before it, so that the names in it mean the same."""
    with_ = query.parent
    assert with_ is not None
    number = sum(1 for _ in query.root().find_all(sql.CTE))
    copy = query.copy()
    copy.args["alias"].set("this", sql.to_identifier(f"{_TABLE}{number}", quoted=True))
    parts = [(copy, query) if each is query else (each,) for each in with_.expressions]
    with_.set("expressions", [each for part in parts for each in part])
    return copy


def _column(
    key: int | str, made: Expression, table: str, renamed: Sequence[str], places: SqlPlaces, node: Expression
) -> Expression:
    """The column of a subquery by which its rows are in order."""
    while not isinstance(made, sql.Select) and isinstance(made.this, sql.Query):
        made = made.this
    columns = made.expressions if isinstance(made, sql.Select) else []
    names = [each.alias_or_name.lower() for each in columns]
    if isinstance(key, str) and renamed and key in names and names.index(key) < len(renamed):
        key = names.index(key) + 1
    if isinstance(key, int) and 0 < key <= len(renamed):
        name = renamed[key - 1]
    elif isinstance(key, int) and key <= len(names) and "*" not in names and names[key - 1]:
        name = names[key - 1]
    elif isinstance(key, str) and key != "*" and not (renamed and "*" in names):
        name = key
    else:
        places.refuse("LIMIT in the order of a subquery", node, "write ORDER BY beside the LIMIT")
    return sql.column(sql.to_identifier(name, quoted=True), sql.to_identifier(table, quoted=True))


def _hide(names: list[str], node: sql.Select, places: SqlPlaces) -> None:
    """Leaves columns out of `*`."""
    if names and any(each.find(sql.Columns) for each in node.expressions):
        places.refuse("COLUMNS in the order of a subquery", node, "write ORDER BY beside the LIMIT")
    for each in node.expressions:
        star = each.this if isinstance(each, sql.Column) else each
        if names and isinstance(star, sql.Star):
            hidden = [sql.to_identifier(name, quoted=True) for name in names]
            star.set("except_", [*(star.args.get("except_") or ()), *hidden])
