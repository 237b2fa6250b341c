"""Expressions of rules as row expressions: a Python function of a row's values, and array code."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any

from ..core import Call, Expr, Function, Op, Var
from ..core.walk import mentions
from ..engine.schema import INLINE_LIMIT, Carried, Column, Kind, RowExpr
from ..types import BigInt, Bit, Bool, Float, Signed, Type
from .analysis import free_variables
from .arrays import array_function
from .deferredsql import sql_function
from .functiontable import Functions, compile_function_table

__all__ = ["Functions", "compile_function_table", "free_variables", "kind_of", "row_expr"]


def kind_of(type: Type) -> tuple[Kind, str]:
    """The storage kind of a column of the type, and the domain of its values."""
    match type:
        case Bool():
            return Kind.BOOL, str(type)
        case Bit() | Signed() | BigInt():
            return Kind.INT, str(type)
        case Float():
            return Kind.FLOAT, str(type)
    return Kind.OBJECT, str(type)


def row_expr(expr: Expr, functions: Functions, name: str, key: Hashable = None) -> RowExpr:
    """The row expression that computes an expression into the column `name`. Its key is the structure of the
    expression unless another is given."""
    inputs = free_variables(expr)
    return RowExpr(
        tuple(inputs),
        Column(name, *kind_of(expr.type), expr.type),
        Structure(expr) if key is None else key,
        _text(expr),
        expr.span,
        functions.deferred(inputs, expr),
        array_function(expr, inputs, functions),
        sql_function(expr, inputs, functions),
        tuple(Column(each, *kind_of(of), of) for each, of in inputs.items()),
        functions.effects(expr),
        carried(expr, inputs, functions.functions),
    )


def _text(expr: Expr) -> str:
    """The source text. The negation that an `else` stands for has the place of its condition."""
    match expr:
        case Op("not", (condition,)) if condition.span == expr.span:
            return f"not ({expr.span.text()})"
        case _:
            return expr.span.text()


class Structure:
    """An expression as a key: equal to every expression of the same structure, wherever it stands."""

    __slots__ = ("_expr", "_hash")

    def __init__(self, expr: Expr) -> None:
        self._expr = expr
        self._hash = hash(expr)

    @property
    def expr(self) -> Expr:
        """The expression."""
        return self._expr

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Structure) and self._hash == other._hash and self._expr == other._expr

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self._expr.span.text()


def carried(expr: Expr, inputs: Collection[str], functions: Mapping[str, Function]) -> tuple[Carried, ...]:
    """The inputs that an integer expression only adds to or bounds."""
    limits = _limits(expr.type)
    if limits is None:
        return ()
    found = dict(_carried(expr, functions))
    return tuple(Carried(at, found[name], *limits) for at, name in enumerate(inputs) if name in found)


def _carried(expr: Expr, functions: Mapping[str, Function]) -> list[tuple[str, str]]:
    """The inputs that an expression carries along, and the operators."""
    match expr:
        case Op("+", (left, right)):
            return [*_added(left, right), *_added(right, left)]
        case Op("-", (left, right)):
            return _added(left, right)
        case Call(function, (left, right)):
            called = functions[function]
            name = called.name.rpartition("::")[2]
            if called.module == "ddlog_std" and name in ("min", "max"):
                pairs = ((left, right), (right, left))
                return [(a.name, name) for a, b in pairs if isinstance(a, Var) and not mentions(b, a.name)]
    return []


def _added(expr: Expr, rest: Expr) -> list[tuple[str, str]]:
    """The inputs that stand in an expression as one summand, and not in the rest."""
    match expr:
        case Var(name):
            found = [(name, "+")]
        case Op("+", (left, right)):
            found = [*_added(left, right), *_added(right, left)]
        case Op("-", (left, right)):
            found = _added(left, right)
        case _:
            found = []
    return [each for each in found if not mentions(rest, each[0])]


def _limits(of: Type) -> tuple[int, int] | None:
    """The least and greatest value of an integer type, as far as columns hold them inline."""
    match of:
        case Bit(width):
            return 0, min(1 << width, INLINE_LIMIT) - 1
        case Signed(width):
            return max(-(1 << width - 1), -INLINE_LIMIT), min(1 << width - 1, INLINE_LIMIT) - 1
        case BigInt():
            return -INLINE_LIMIT, INLINE_LIMIT - 1
    return None
