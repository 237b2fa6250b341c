"""Expressions of rules as row expressions: a Python function of a row's values, and array code."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ..core import Expr, Op
from ..engine.schema import Column, Kind, RowExpr
from ..types import BigInt, Bit, Bool, Float, Signed, Type
from .analysis import free_variables
from .arrays import array_function
from .functiontable import Functions, compile_function_table
from .growth import carried
from .sql import sql_function

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
