"""Aggregates as formulas over the sums, counts and extremes of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import Expr
from ..syntax.templates import items, name, tree
from . import conversions as c
from .orderedaggregates import (
    EXTREMES,
    GATHERED,
    Order,
    argument_of,
    excludes_null,
    gathered,
    is_none_of,
    plainly,
)
from .types import (
    BOOLEAN,
    DOUBLE,
    INTEGER,
    NULL,
    VARCHAR,
    SqlType,
    SqlValue,
    decimal,
    mean_of,
    null,
    sum_type,
)

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import SelectBlock


PAIRED: dict[type[Expression], str] = {
    sql.CovarPop: "covar_pop",
    sql.CovarSamp: "covar_samp",
    sql.Corr: "corr",
    sql.RegrSlope: "regr_slope",
    sql.RegrIntercept: "regr_intercept",
    sql.RegrR2: "regr_r2",
    sql.RegrAvgx: "regr_avgx",
    sql.RegrAvgy: "regr_avgy",
    sql.RegrSxx: "regr_sxx",
    sql.RegrSyy: "regr_syy",
    sql.RegrSxy: "regr_sxy",
}
"""The statistics of pairs of values, by the names of the library."""
MOMENTS = (sql.Stddev, sql.StddevSamp, sql.StddevPop, sql.Variance, sql.VariancePop)


@dataclass
class Parts:
    """The aggregates of one grouping: the items of its tuple, and for each aggregate its value, over
    variables that `results` define: each by a template for the group and more trees. `any_row`: the arguments
    of ANY_VALUE, if there are several, whose results are of one row."""

    any_row: Sequence[SqlValue] = ()
    items: list[Expr] = field(default_factory=list)
    results: list[tuple[str, str, tuple[Expr, ...]]] = field(default_factory=list)

    def item(self, item: Expr) -> int:
        """The place of an item in the tuple."""
        if item not in self.items:
            self.items.append(item)
        return self.items.index(item)


def function_of(node: Expression) -> Expression:
    """The aggregate itself, without FILTER and IGNORE NULLS."""
    while isinstance(node, sql.Filter | sql.IgnoreNulls):
        node = node.this
    return plainly(node)


def has_exact_mean(block: SelectBlock, value: SqlValue) -> bool:
    """Whether the mean of values is a decimal or a moment."""
    return value.type.kind == "decimal" if block.places.dialect.is_ansi else not value.type.is_number


def zero(type: SqlType) -> Expr:
    """0, as a value of a type."""
    return tree(f"({'0.0' if type == DOUBLE else '0'}: {type.plain})")


def of_nothing(node: Expression, like: SqlValue) -> SqlValue:
    """The aggregate of no rows."""
    if isinstance(node, sql.Count):
        return c.integer(0)
    if excludes_null(node):
        return SqlValue(tree(f"(vec_empty(): {like.type.plain})"), like.type).optional()
    return null(like.type)


def formula(
    block: SelectBlock, node: Expression, value: SqlValue | None, made: Parts, keyed: bool, order: Order = ()
) -> SqlValue:
    """An aggregate, over the variables of sums, counts and extremes that it adds to a group. Without keys it
    is an Option, as there may be no rows, but for a count."""
    inner = function_of(node)

    def result(call: str, type: SqlType, nullable: bool = False, *more: Expr) -> Expr:
        known = [variable for variable, *there in made.results if there == [call, more]]
        if known:
            return name(known[0])
        variable = block.output.variable(type, nullable)
        made.results.append((variable.name, call, more))
        return variable.tree

    def total(item: Expr, type: SqlType) -> Expr:
        return result(f"$.sum_of(|v| v.{made.item(item)})", type)

    def hits(test: Expr) -> Expr:
        """How often a test holds."""
        return total(tree("if ($) (1: bigint) else (0: bigint)", test), INTEGER)

    def count(of: SqlValue | None) -> Expr:
        if of is None or not of.nullable:
            return result("$.count() as bigint", INTEGER)
        return hits(of.when[0] if of.when is not None else tree("is_some($)", of.tree))

    def optional(of: SqlValue | None, found: Expr, type: SqlType) -> SqlValue:
        """The value, or NULL where no row has an argument."""
        value = SqlValue(found, type)
        if of is None or not of.nullable:
            return value if keyed else value.optional()
        some = tree("if ($ == 0) $ else $", count(of), null(type).tree, value.optional().tree)
        return SqlValue(some, type, True)

    def any_cell(of: SqlValue) -> Expr:
        """An argument of ANY_VALUE in the least row, which has all of them if one has."""
        cells = [tree("sql::low($)", v.tree) if v.nullable else v.tree for v in made.any_row]
        row = made.item(items(is_none_of(made.any_row), *cells))
        least = result(f"$.min_of(|v| v.{row})", SqlType("row", parts=tuple(v.type for v in made.any_row)))
        return tree(f"$.{1 + list(made.any_row).index(of)}", least)

    if isinstance(inner, sql.Count):
        return SqlValue(count(value), decimal(0, 20))
    assert value is not None
    if isinstance(inner, GATHERED):
        return gathered(block, inner, value, order, made.item, result)
    if type(inner) in PAIRED:
        pairs = f"$.map(|v| v.{made.item(value.optional().tree)})"
        found = result(f'sql::of_pairs({pairs}, "{PAIRED[type(inner)]}")', DOUBLE, True)
        return SqlValue(found, DOUBLE, True)
    filled = value.tree
    if value.when is not None:
        filled = value.when[1]
    elif value.nullable:
        filled = tree("unwrap_or($, $)", value.tree, zero(value.type))
    match inner:
        case sql.Sum() | sql.CountIf():
            return optional(value, total(filled, value.type), sum_type(value.type))
        case sql.Avg():
            whole = total(filled, value.type)
            if has_exact_mean(block, value):
                made_type = mean_of(value.type)
                mean = tree(
                    "sql::rounded($ * $, $)", whole, 10 ** (made_type.scale - value.type.scale), count(value)
                )
                return optional(value, mean, made_type)
            if value.type == DOUBLE:
                mean = tree("$ / sql::as_double($, 1)", whole, count(value))
            else:
                mean = tree("sql::as_double($, $ * $)", whole, count(value), 10**value.type.scale)
            return optional(value, mean, DOUBLE)  # not evaluated where the count is 0
        case sql.AnyValue() if made.any_row and not value.nullable:
            return optional(None, any_cell(value), value.type)
        case sql.Min() | sql.Max() | sql.AnyValue():
            side = "max" if isinstance(inner, sql.Max) else "min"
            item = value.tree
            if value.nullable and side == "min":
                item = tree("sql::low($)", item)
            found = result(f"$.{side}_of(|v| v.{made.item(item)})", value.type, value.nullable)
            if not value.nullable:
                return optional(None, found, value.type)
            found = tree("sql::high($)", found) if side == "min" else found
            if isinstance(inner, sql.AnyValue) and made.any_row:
                found = tree("sql::first_of(sql::high($), $)", any_cell(value), found)
            return SqlValue(found, value.type, True)
        case sql.LogicalAnd() | sql.LogicalOr():
            wanted = "true" if isinstance(inner, sql.LogicalOr) else "false"
            number = hits(tree(f"$ == Some{{{wanted}}}", value.optional().tree))
            return optional(value, tree("$ > 0" if wanted == "true" else "$ == 0", number), BOOLEAN)
    return _moments(made, result, inner, value, filled, total, count)


def _moments(
    made: Parts,
    result: Callable[..., Expr],
    inner: Expression,
    value: SqlValue,
    filled: Expr,
    total: Callable[[Expr, SqlType], Expr],
    count: Callable[[SqlValue | None], Expr],
) -> SqlValue:
    """Variances and standard deviations, of exact sums."""
    call, pop = moment_of(inner)
    if value.type == DOUBLE:
        item = made.item(value.optional().tree)
        return SqlValue(
            result(f"sql::{call}_of_doubles($.map(|v| v.{item}), {pop})", DOUBLE, True), DOUBLE, True
        )
    first, second = total(filled, value.type), total(tree("$ * $", filled, filled), INTEGER)
    template = f"sql::{call}($, $, $, {10**value.type.scale}, {pop})"
    return SqlValue(tree(template, count(value), first, second), DOUBLE, True)


def moment_of(node: Expression) -> tuple[str, str]:
    """The library's name of a variance or a standard deviation, and whether it is that of a population."""
    root = isinstance(node, sql.Stddev | sql.StddevSamp | sql.StddevPop)
    population = isinstance(node, sql.StddevPop | sql.VariancePop)
    return "deviation" if root else "variance", "true" if population else "false"


def _pair(block: SelectBlock, node: Expression) -> SqlValue:
    """The two arguments of a statistic of pairs, as doubles; NULL where one of them is. Raises SqlError."""
    cells = list[SqlValue]()
    for each in (node.this, node.expression):
        value = block.scalars.value(each)
        number = c.convert(value, DOUBLE) if value.type.is_number or value.type == NULL else None
        if number is None:
            block.places.mistyped(block.places.called(node), str(value.type), each)
        cells.append(number)
    return c.strict(cells, lambda *plain: items(*plain), SqlType("row", parts=(DOUBLE, DOUBLE)))


def argument_value(block: SelectBlock, node: Expression, argument: Expression) -> SqlValue:
    """The argument of an aggregate, of a type that it takes. Raises SqlError."""
    if type(node) in (*PAIRED, *EXTREMES) and node.expression is None:
        block.places.wrong(f"{block.places.called(node)} takes two arguments", node)
    if type(node) in PAIRED:
        return _pair(block, node)
    value, called = block.scalars.value(argument), block.places.called(node)
    value = null(INTEGER) if value.type == NULL else value
    if node.expressions or node.args.get("count") is not None:
        block.places.refuse(f"{called.removeprefix('the function ')} of several values", node)
    if isinstance(node, sql.CountIf | sql.LogicalAnd | sql.LogicalOr) and value.type != BOOLEAN:
        block.places.mistyped(called, str(value.type), node)
    if isinstance(node, (sql.Sum, sql.Avg, sql.CountIf, *MOMENTS)):
        if value.type == BOOLEAN:
            value = c.cast(value, INTEGER, may_fail=False) or value
        moment = None if block.places.dialect.is_ansi else c.averaged(value)
        if isinstance(node, sql.Avg) and moment is not None:
            value = moment
        elif not value.type.is_number:
            block.places.mistyped(called, str(value.type), node)
    if isinstance(node, sql.Min | sql.Max | sql.AnyValue):
        value = c.key(value)
    if isinstance(node, sql.GroupConcat) and value.type != VARCHAR:
        value = c.cast(value, VARCHAR, may_fail=False) or value
    return argument_of(block, node, value)
