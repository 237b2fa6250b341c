"""Aggregates that read the values of a group in an order: they are computed anew for a group that changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import Expr
from ..syntax.templates import items, string, tree
from . import conversions as c
from .lists import literal
from .topk import order_keys, padded
from .types import DOUBLE, VARCHAR, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import SelectBlock

QUANTILES = (sql.Median, sql.PercentileCont, sql.PercentileDisc, sql.Quantile)
EXTREMES = (sql.ArgMin, sql.ArgMax)
GATHERED = (*QUANTILES, *EXTREMES, sql.Mode, sql.GroupConcat, sql.ArrayAgg)
Order = Sequence[tuple[SqlValue, str]]
"""The keys of an order, with the letters of `order_keys`."""


def plainly(node: Expression) -> Expression:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x) as a function of x and q; any other node as it is."""
    if not isinstance(node, sql.WithinGroup):
        return node
    made: Expression = node.this.copy()
    ordered = node.expression.expressions[0]
    argument = sql.Order(this=ordered.this.copy(), expressions=[ordered.copy()])
    made.set("expression", made.this or made.args.get("quantile"))
    made.set("this", argument)
    return made


def ordered_by(block: SelectBlock, node: Expression, value: SqlValue) -> Order:
    """The order in which an aggregate reads its values. Raises SqlError."""
    if isinstance(node, EXTREMES):
        key = c.key(block.scalars.value(node.expression))
        return [(block.lasting(key.optional()), "a" if isinstance(node, sql.ArgMin) else "d"), (value, "a")]
    order = node.this.expressions if isinstance(node.this, sql.Order) else []
    keys = order_keys(block, order, (), ())
    return [(block.lasting(key), letter) for key, letter in keys] or [(value.optional(), "a")]


def argument_of(block: SelectBlock, node: Expression, value: SqlValue) -> SqlValue:
    """The argument as the aggregate reads it: a mean of two values is a double. Raises SqlError."""
    if isinstance(node, sql.Median | sql.PercentileCont):
        number = c.convert(value, DOUBLE) if value.type.is_number else None
        if number is None:
            block.places.mistyped(block.places.called(node), str(value.type), node)
        return number
    if isinstance(node, EXTREMES):
        key = block.scalars.value(node.expression)
        there = tree("if ($) $ else None", _is_some(key), value.optional().tree)
        return SqlValue(tree(f"($: Option<{value.type.plain}>)", there), value.type, True)
    if isinstance(node, sql.ArrayAgg):
        return literal([value])  # NULL is an element, and a row that FILTER leaves out is not
    return value


def _is_some(value: SqlValue) -> Expr:
    return tree("is_some($)", value.optional().tree)


def gathered(
    block: SelectBlock,
    node: Expression,
    value: SqlValue,
    order: Order,
    item: Callable[[Expr], int],
    result: Callable[..., Expr],
) -> SqlValue:
    """The aggregate: NULL where no value is there. Raises SqlError."""
    letters = string("".join(letter for _, letter in order))
    place = item(items(padded([key for key, _ in order]), value.optional().tree))
    rows = f"sql::ordered($.map(|v| v.{place}), $)"
    template, type, more = f"sql::at({rows}, $)", value.type, list[Expr]()
    match node:
        case sql.GroupConcat():
            separator = node.args.get("separator")
            by = string("," if separator is None else str(separator.name))
            template, type, more = f"sql::texts({rows}, $)", VARCHAR, [by]
        case sql.ArrayAgg():
            template = f"sql::listed({rows})"
        case sql.Mode():
            template = f"sql::mode({rows})"
        case sql.ArgMin() | sql.ArgMax():
            template = f"sql::at({rows}, 0.0)"
        case sql.Median() | sql.PercentileCont():
            template, type, more = f"sql::between_values({rows}, $)", DOUBLE, [_share(block, node)]
        case _:
            more = [_share(block, node)]
    return SqlValue(result(template, type, True, letters, *more), type, True)


def _share(block: SelectBlock, node: Expression) -> Expr:
    """The share of the values below a quantile."""
    if isinstance(node, sql.Median):
        return c.double(0.5).tree
    given = node.args.get("expression") or node.args.get("quantile")
    if not isinstance(given, sql.Literal) or given.is_string or not 0 <= float(given.this) <= 1:
        block.places.refuse("a quantile that is not a number from 0 to 1", node)
    return c.double(float(given.this)).tree
