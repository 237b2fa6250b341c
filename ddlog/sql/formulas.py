"""Aggregates as formulas over the sums, counts and extremes of a group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from . import conversions as c
from .scalars import described
from .types import BOOLEAN, DOUBLE, INTEGER, VARCHAR, SqlType, Value, null

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import Block


MOMENTS = (sql.Stddev, sql.StddevSamp, sql.StddevPop, sql.Variance, sql.VariancePop)


@dataclass
class Parts:
    """The aggregates of one grouping: the items of its tuple, and for each aggregate its value, over
    variables that `results` define."""

    items: list[str] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)  # a variable, and the call

    def item(self, text: str) -> int:
        """The place of an item in the tuple."""
        if text not in self.items:
            self.items.append(text)
        return self.items.index(text)


def function_of(node: Expression) -> Expression:
    """The aggregate itself, without FILTER and IGNORE NULLS."""
    while isinstance(node, sql.Filter | sql.IgnoreNulls):
        node = node.this
    return node


def of_nothing(node: Expression, like: Value) -> Value:
    """The aggregate of no rows."""
    if isinstance(node, sql.Count | sql.CountIf):
        return c.integer(0)
    return null(like.type)


def formula(block: Block, node: Expression, value: Value | None, made: Parts, keyed: bool) -> Value:
    """An aggregate, over the variables of sums, counts and extremes that it adds to a group. Without keys it
    is an Option, as there may be no rows, but for a count."""
    inner = function_of(node)

    def result(call: str, type: SqlType, nullable: bool = False) -> str:
        for variable, there in made.results:
            if there == call:
                return variable
        variable = block.output.variable(type, nullable).text
        made.results.append((variable, call))
        return variable

    def total(text: str, type: SqlType) -> str:
        return result(f"$.sum_of(|v| v.{made.item(text)})", type)

    def count(of: Value | None) -> str:
        if of is None or not of.nullable:
            return result("($.count() as bigint)", INTEGER)
        return total(f"(if (is_some({of.text})) (1: bigint) else (0: bigint))", INTEGER)

    def optional(of: Value | None, text: str, type: SqlType) -> Value:
        """The value, or NULL where no row has an argument."""
        if of is None or not of.nullable:
            return Value(text, type) if keyed else Value(f"Some{{{text}}}", type, True)
        empty = f"(None: Option<{type.plain}>)"
        return Value(f"(if ({count(of)} == 0) {empty} else Some{{{text}}})", type, True)

    if isinstance(inner, sql.Count):
        return Value(count(value), INTEGER)
    assert value is not None
    zero = "0.0" if value.type == DOUBLE else "0"
    filled = f"unwrap_or({value.text}, ({zero}: {value.type.plain}))" if value.nullable else value.text
    match inner:
        case sql.CountIf():
            true = f"({value.text} == Some{{true}})" if value.nullable else value.text
            return Value(total(f"(if ({true}) (1: bigint) else (0: bigint))", INTEGER), INTEGER)
        case sql.Sum():
            return optional(value, total(filled, value.type), value.type)
        case sql.Avg():
            whole = total(filled, value.type)
            if value.type == DOUBLE:
                text = f"({whole} / sql::as_double({count(value)}, 1))"
            else:
                text = f"sql::as_double({whole}, {count(value)} * {10**value.type.scale})"
            if value.nullable:  # not evaluated where the count is 0
                return optional(value, text, DOUBLE)
            return optional(value, text, DOUBLE)
        case sql.Min() | sql.Max() | sql.AnyValue():
            name = "max" if isinstance(inner, sql.Max) else "min"
            item = value.text
            if value.nullable and name == "min":
                item = f"sql::low({value.text})"
            found = result(f"$.{name}_of(|v| v.{made.item(item)})", value.type, value.nullable)
            if not value.nullable:
                return optional(None, found, value.type)
            return Value(f"sql::high({found})" if name == "min" else found, value.type, True)
        case sql.LogicalAnd() | sql.LogicalOr():
            wanted = "true" if isinstance(inner, sql.LogicalOr) else "false"
            hits = f"({value.optional().text} == Some{{{wanted}}})"
            number = total(f"(if ({hits}) (1: bigint) else (0: bigint))", INTEGER)
            return optional(value, f"({number} {'>' if wanted == 'true' else '=='} 0)", BOOLEAN)
        case sql.GroupConcat():
            separator = inner.args.get("separator")
            by = "," if separator is None else str(separator.name)
            found = result(
                f"sql::joined($.map(|v| v.{made.item(value.optional().text)}), {c.quoted(by)})", VARCHAR, True
            )
            return Value(found, VARCHAR, True)
    return _moments(block, inner, value, filled, total, count)


def _moments(
    block: Block,
    inner: Expression,
    value: Value,
    filled: str,
    total: Callable[[str, SqlType], str],
    count: Callable[[Value | None], str],
) -> Value:
    """Variances and standard deviations, of exact sums."""
    if value.type == DOUBLE:
        block.places.refuse(
            f"{described(inner)} of DOUBLE", inner, "cast it to a DECIMAL, whose sums are exact"
        )
    first, second = total(filled, value.type), total(f"({filled} * {filled})", INTEGER)
    pop = isinstance(inner, sql.StddevPop | sql.VariancePop)
    root = isinstance(inner, sql.Stddev | sql.StddevSamp | sql.StddevPop)
    call = "sql::deviation" if root else "sql::variance"
    text = f"{call}({count(value)}, {first}, {second}, {10**value.type.scale}, {'true' if pop else 'false'})"
    return Value(text, DOUBLE, True)
