"""Aggregates that read the values of a group in an order: they are computed anew for a group that changes.

Rows that are equal in the order are taken in the order of the group, which is that of all that its aggregates
read: results of several aggregates are of the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import Expr
from ..syntax.templates import items, string, tree
from . import conversions as c
from .lists import literal
from .topk import order_keys, padded
from .types import DOUBLE, INTEGER, VARCHAR, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .places import SqlPlaces
    from .selects import SelectBlock

QUANTILES = (sql.Median, sql.PercentileCont, sql.PercentileDisc, sql.Quantile)
EXTREMES = (sql.ArgMin, sql.ArgMax)
BITS = {sql.BitwiseAndAgg: "&", sql.BitwiseOrAgg: "|", sql.BitwiseXorAgg: "^"}
GATHERED = (*QUANTILES, *EXTREMES, *BITS, sql.Mode, sql.GroupConcat, sql.ArrayAgg)
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
        key = block.lasting(c.key(block.scalars.value(node.expression)))
        letters = "ad" if key.nullable else "NM"
        return [(key, letters[isinstance(node, sql.ArgMax)])]
    order = node.this.expressions if isinstance(node.this, sql.Order) else []
    keys = order_keys(block, order, (), ())
    return [(block.lasting(key), letter) for key, letter in keys] or [(value, "a" if value.nullable else "N")]


def argument_of(block: SelectBlock, node: Expression, value: SqlValue) -> SqlValue:
    """The argument as the aggregate reads it: a mean of two numbers is a double. Raises SqlError."""
    exact = isinstance(node, sql.PercentileDisc) and not block.places.dialect.is_ansi
    if isinstance(node, sql.Median | sql.PercentileCont | sql.PercentileDisc) and not exact:
        number = c.convert(value, DOUBLE) if value.type.is_number else None
        if number is None and not block.places.dialect.is_ansi:
            number = c.averaged(value)
        if number is None:
            block.places.mistyped(block.places.called(node), str(value.type), node)
        return number
    if isinstance(node, EXTREMES):
        key = block.scalars.value(node.expression)
        if not key.nullable:
            return value
        there = tree("if ($) $ else None", _is_some(key), value.optional().tree)
        return SqlValue(tree(f"($: Option<{value.type.plain}>)", there), value.type, True)
    if type(node) in BITS and value.type != INTEGER:
        block.places.mistyped(block.places.called(node), str(value.type), node)
    if isinstance(node, sql.ArrayAgg):
        made = literal([value])  # NULL is an element, and a row that FILTER leaves out is not
        if not excludes_null(node) or not value.nullable:
            return made
        there = tree("if ($) $ else None", _is_some(value), made.optional().tree)
        return SqlValue(tree(f"($: Option<{made.type.plain}>)", there), made.type, True)
    return value


def excludes_null(node: Expression) -> bool:
    """Whether an aggregate is a list without NULL, which is empty where there are no values."""
    return isinstance(node, sql.ArrayAgg) and bool(node.args.get("nulls_excluded"))


def is_unordered_list(node: Expression) -> bool:
    """Whether an expression is `list` or `string_agg` (or a synonym) without ORDER BY."""
    return isinstance(node, sql.ArrayAgg | sql.GroupConcat) and not isinstance(node.this, sql.Order)


def is_none_of(values: Sequence[SqlValue]) -> Expr:
    """The expression that is true if at least one of the values is NULL."""
    tests = [tree("is_none($)", value.tree) for value in values if value.nullable]
    return reduce(lambda a, b: tree("$ or $", a, b), tests) if tests else tree("false")


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
    kind = node.__class__
    match node:
        case sql.GroupConcat():
            separator = node.args.get("separator")
            by = c.string(",") if separator is None else block.scalars.text(separator)
            if by.nullable or (separator is not None and separator.find(sql.Column, sql.Query)):
                block.places.refuse("a separator that is not a constant", separator or node)
            template, type, more = f"sql::texts({rows}, $)", VARCHAR, [by.tree]
        case sql.ArrayAgg():
            template = f"sql::listed({rows})"
            if excludes_null(node):
                template = f"Some{{unwrap_or({template}, vec_empty())}}"
        case _ if kind in BITS:
            template = f'sql::bits_of({rows}, "{BITS[kind]}")'
        case sql.Mode():
            template = f"sql::mode({rows})"
        case sql.ArgMin() | sql.ArgMax():
            template = f"sql::at({rows}, 0.0)"
        case sql.Median() | sql.PercentileCont():
            template, more = f"sql::between_values({rows}, $)", [_share(block, node)]
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


def quantiles_within_groups(node: Expression) -> None:
    """Writes QUANTILE_CONT(x, q ORDER BY x) as PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x), but for windows,
    which leave the order out."""
    for each in list(node.find_all(sql.PercentileCont, sql.PercentileDisc)):
        order, whole = each.expression, each.find_ancestor(sql.Window, sql.Query)
        keys = order.expressions if isinstance(order, sql.Order) and not isinstance(whole, sql.Window) else []
        if [key.this for key in keys] == [each.this]:
            share = type(each)(this=order.this)
            each.replace(sql.WithinGroup(this=share, expression=sql.Order(expressions=keys)))


def firsts_as_lists(node: Expression, places: SqlPlaces) -> None:
    """Writes FIRST, LAST and ANY_VALUE, of an order, as elements of a LIST, and those over windows as
    FIRST_VALUE and LAST_VALUE. Raises SqlError."""
    for some in list(node.find_all(sql.AnyValue)):
        if isinstance(some.this, sql.Order):
            some.replace(sql.First(this=some.this))  # inside IGNORE NULLS
    for each in list(node.find_all(sql.First, sql.Last)):
        whole: Expression = each
        is_last = isinstance(each, sql.Last)
        while isinstance(whole.parent, sql.IgnoreNulls | sql.RespectNulls | sql.Filter):
            whole = whole.parent
        if isinstance(whole.parent, sql.Window):
            each.replace((sql.LastValue if is_last else sql.FirstValue)(this=each.this))
            continue
        if not isinstance(each.this, sql.Order):
            name = "LAST" if is_last else "FIRST"
            places.refuse(
                f"{name} without an order", each, "rows have no order: give one inside, or ANY_VALUE"
            )
        listed: Expression = sql.ArrayAgg(this=each.this.copy())
        tests = [whole.expression.this] if isinstance(whole, sql.Filter) else []
        if whole.find(sql.IgnoreNulls) is not None:
            tests.append(sql.Not(this=sql.Is(this=each.this.this.copy(), expression=sql.Null())))
        if tests:
            listed = sql.Filter(this=listed, expression=sql.Where(this=sql.and_(*tests)))
        place = sql.Literal.number(1)
        made = sql.Anonymous(
            this="list_extract", expressions=[listed, sql.Neg(this=place) if is_last else place]
        )
        whole.replace(made)
