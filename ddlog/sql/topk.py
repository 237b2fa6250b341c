"""ORDER BY with LIMIT: the first rows of an order, kept up. Rows that are equal in the order are taken in the
order of their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import Expr
from ..syntax.templates import items, let, string, tree
from . import conversions as c
from .places import are
from .queries import QueryBranch, SqlQuery
from .rules import SqlBody, SqlClause, grouped
from .types import INTEGER, NULL, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import SelectBlock


def top(block: SelectBlock, node: Expression, names: Sequence[str], values: Sequence[SqlValue]) -> SqlQuery:
    """The rows of a body that LIMIT and OFFSET of a query leave. Raises SqlError."""
    count = _number(block, node.args.get("limit"), "LIMIT")
    start = _number(block, node.args.get("offset"), "OFFSET") or 0
    order = node.args.get("order")
    keys = order_keys(block, order.expressions if order is not None else [], names, values)
    said = " ".join(
        block.places.written(node.args[key])
        for key in ("order", "limit", "offset")
        if node.args.get(key) is not None
    )
    output = block.output
    letters = "".join(letter for _, letter in keys)
    domain = block.body.domain
    shown = [v if v.type != NULL else block.variable(v) for v in values]
    cells = [block.variable(v) for v in shown]
    ordering = [block.variable(v) for v, _ in keys]
    for name, cell in zip(names, cells, strict=True):
        output.say(cell, name, "")
    columns = list(dict.fromkeys([*domain, *ordering, *cells]))
    relation = output.made("Ordered", columns, block.body, is_set=False)
    body = SqlBody([output.term(relation, columns)], domain)
    row = items(padded(ordering), padded(cells))
    group, one = output.variable(INTEGER, False), output.variable(INTEGER, False)
    most = c.integer(-1 if count is None else count).tree
    body.add(grouped(group, row, domain, "rows to order", cells))
    firsts = tree("FlatMap(sql::top($, $, $, $))", group.tree, string(letters), start, most)
    body.add(SqlClause(let(one.name, firsts), said))
    results = tuple(SqlValue(tree(f"$.{i}", one.tree), v.type, v.nullable) for i, v in enumerate(cells))
    return SqlQuery(tuple(names), (QueryBranch(body, results, output.place),))


def padded(values: Sequence[SqlValue]) -> Expr:
    """The tuple of some values, with two items behind them, so that it is a tuple even of no value."""
    return items(*(v.tree for v in values), tree("true"), tree("true"))


def order_keys(
    block: SelectBlock, order: Sequence[Expression], names: Sequence[str], values: Sequence[SqlValue]
) -> list[tuple[SqlValue, str]]:
    """The keys of an order, each with a letter: a or d for an Option, upper case where NULL comes first; N or
    M, ascending or descending, for what is never NULL."""
    found = []
    for each in order:
        ordered = each if isinstance(each, sql.Ordered) else sql.Ordered(this=each)
        all_of = is_all(ordered.this) and values
        down = bool(ordered.args.get("desc"))
        for value in map(c.span, values) if all_of else [_key(block, ordered.this, names, values)]:
            if not value.nullable:
                letter = "M" if down else "N"
            else:
                letter = "d" if down else "a"
                letter = letter.upper() if ordered.args.get("nulls_first") else letter
            found.append((value, letter))
    return found


def is_all(node: Expression) -> bool:
    """Whether a key of ORDER BY is ALL: one column after another."""
    return isinstance(node, sql.Var) and node.name.upper() == "ALL"


def _key(block: SelectBlock, node: Expression, names: Sequence[str], values: Sequence[SqlValue]) -> SqlValue:
    inner = node.unnest()
    if values and isinstance(inner, sql.Literal) and not inner.is_string:
        if not (inner.this.isdigit() and 0 < int(inner.this) <= len(values)):
            block.places.wrong(f"ORDER BY {inner.this}: there {are(len(values))}", node)
        return c.span(values[int(inner.this) - 1])
    if isinstance(inner, sql.Column) and not inner.table and inner.name.lower() in names:
        return c.span(values[list(names).index(inner.name.lower())])
    return c.span(block.scalars.value(inner))


def _number(block: SelectBlock, node: Expression | None, what: str) -> int | None:
    if node is None:
        return None
    inner, options = node.expression, node.args.get("limit_options")
    if isinstance(node, sql.Fetch):
        inner = node.args.get("count") or sql.Literal.number(1)
    if options is not None and not (options.args.get("percent") or options.args.get("with_ties")):
        options = None
    if is_all(inner):
        return None
    if not isinstance(inner, sql.Literal) or options:
        block.places.refuse(f"{what} of this form", node, "write a whole number")
    if inner.is_string or not inner.this.isdigit():
        block.places.refuse(f"{what} of this form", node, "write a whole number")
    return int(inner.this)
