"""The order of a LIMIT without an ORDER BY: that of the subquery, or the query of WITH, whose rows it leaves.

`SELECT a FROM (SELECT … ORDER BY k) q LIMIT n` becomes `SELECT a FROM (SELECT …, k AS order__0) q ORDER BY
q.order__0 LIMIT n`, and `(SELECT … ORDER BY k) LIMIT n` likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from .orderby import in_order
from .places import SqlPlaces

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

_TABLE = "ordered__"  # the name of a subquery without one
_OTHER_ROWS = ("order", "distinct", "group", "having", "joins", "laterals", "pivots", "sample")


def inherit_orders(statement: Expression, places: SqlPlaces) -> None:
    """Gives each LIMIT and OFFSET without an order of its own that of the rows below it. Raises SqlError."""
    found = [each for each in statement.find_all(sql.Select, sql.Subquery) if _cuts_off(each)]
    for each in reversed(found):
        query = _selecting(each) if isinstance(each, sql.Subquery) else each
        if isinstance(query, sql.Select) and _inherit(query, places) and query is not each:
            for key in ("limit", "offset"):
                each.set(key, None)
            each.set("this", query)


def _cuts_off(node: Expression) -> bool:
    return any(node.args.get(key) for key in ("limit", "offset")) and node.args.get("order") is None


def _selecting(node: sql.Subquery) -> sql.Select:
    """`(…) LIMIT n` as a SELECT."""
    inner = sql.Subquery(this=node.this.copy())
    made = sql.Select(expressions=[sql.Star()], from_=sql.From(this=inner))
    for key in ("limit", "offset"):
        made.set(key, node.args.get(key))
    return made


def _inherit(node: sql.Select, places: SqlPlaces) -> bool:
    """Orders a SELECT as the rows of its FROM, if that is one query with an order."""
    if any(node.args.get(key) for key in _OTHER_ROWS) or _has_aggregate(node):
        return False
    from_ = node.args.get("from_")
    table = None if from_ is None else from_.this
    if isinstance(table, sql.Table):
        table = _query_of_with(node, table)
    if not isinstance(table, sql.Subquery) or any(table.args.get(k) for k in ("pivots", "joins", "sample")):
        return False
    node.set("from_", sql.From(this=table))  # where its own tables are looked up
    inner = table.this
    while isinstance(inner, sql.Subquery) and not inner.args.get("order"):
        inner = inner.this
    if inner.args.get("order") is None and not (isinstance(inner, sql.Select) and _inherit(inner, places)):
        node.set("from_", from_)
        return False
    made, keys, more = in_order(inner, places)
    table.set("this", made)
    if not table.alias:
        table.set("alias", sql.TableAlias(this=sql.to_identifier(_TABLE, quoted=True)))
    columns = [_column(key, made, table, places, node) for key, _, _ in keys]
    parts = [
        sql.Ordered(this=column, desc=down, nulls_first=first)
        for column, (_, down, first) in zip(columns, keys, strict=True)
    ]
    node.set("order", sql.Order(expressions=parts))
    _hide([f"order__{at}" for at in range(more)], node, places)
    return True


def _has_aggregate(node: sql.Select) -> bool:
    found = (call for each in node.expressions for call in each.find_all(sql.AggFunc))
    return any(call.find_ancestor(sql.Window, sql.Query) is node for call in found)


def _query_of_with(node: sql.Select, table: sql.Table) -> sql.Subquery | None:
    """The query of WITH that a table is, as a subquery."""
    around: Expression | None = node
    while around is not None and not table.db:
        with_ = around.args.get("with_")
        for each in with_.expressions if with_ is not None else ():
            if each.alias.lower() != table.name.lower():
                continue
            reads = {t.name.lower() for t in each.this.find_all(sql.Table)}
            if table.name.lower() in reads:
                return None
            names = [column.copy() for column in each.args["alias"].args.get("columns") or ()]
            alias = sql.TableAlias(this=sql.to_identifier(table.alias_or_name, quoted=True), columns=names)
            return sql.Subquery(this=each.this.copy(), alias=alias)
        around = around.parent
    return None


def _column(
    key: int | str, made: Expression, table: sql.Subquery, places: SqlPlaces, node: Expression
) -> Expression:
    """The column of a subquery by which its rows are in order."""
    while not isinstance(made, sql.Select) and isinstance(made.this, sql.Query):
        made = made.this
    columns = made.expressions if isinstance(made, sql.Select) else []
    names = [each.alias_or_name.lower() for each in columns]
    renamed = [each.name for each in table.args["alias"].args.get("columns") or ()]
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
    return sql.column(sql.to_identifier(name, quoted=True), sql.to_identifier(table.alias, quoted=True))


def _hide(names: list[str], node: sql.Select, places: SqlPlaces) -> None:
    """Leaves columns out of `*`."""
    if names and any(each.find(sql.Columns) for each in node.expressions):
        places.refuse("COLUMNS in the order of a subquery", node, "write ORDER BY beside the LIMIT")
    for each in node.expressions:
        star = each.this if isinstance(each, sql.Column) else each
        if names and isinstance(star, sql.Star):
            hidden = [sql.to_identifier(name, quoted=True) for name in names]
            star.set("except_", [*(star.args.get("except_") or ()), *hidden])
