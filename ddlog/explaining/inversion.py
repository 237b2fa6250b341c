"""Heads inverted: the values that variables must have for a head's expressions to give a row.

    R(x, S{y, 2}, z + 1)        of the row (a, S{b, 2}, c):        x = a, y = b, z = c - 1

An expression that cannot be inverted is compared when its variables are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from .. import values
from ..core import Clause, Const, Expr, GetField, Head, Let, MakeStruct, MakeTuple, Op, Var
from ..types import BigInt, Bit, Signed, TypeDef, User
from .snapshot import ANY


def resolved(head: Head, body: Iterable[Clause]) -> Head:
    """The head of a rule with this body, with what the body puts in a record in place of its fields: x for
    r.a after r = S{x, y}."""
    values = {each.name: each.value for each in body if isinstance(each, Let)}

    def field(expr: Expr) -> Expr:
        if isinstance(expr, Op):
            return replace(expr, args=tuple(map(field, expr.args)))
        if not isinstance(expr, GetField):
            return expr
        record = expr.arg
        while isinstance(record, Var) and record.name in values:
            record = values[record.name]
        if not isinstance(record, MakeStruct):
            return expr
        return field(
            dict(zip((name for name, _ in record.constructor.fields), record.args, strict=True))[expr.name]
        )

    return replace(head, args=tuple(map(field, head.args)))


def invertible(head: Head) -> list[str]:
    """The variables whose values a row of the head tells, in order."""
    return list(dict.fromkeys(name for arg in head.args for name in _variables(arg)))


def rest(head: Head) -> list[int]:
    """The columns of the head that have to be compared."""
    return [at for at, arg in enumerate(head.args) if not _whole(arg)]


def bindings(head: Head, row: tuple[Any, ...], typedefs: Mapping[str, TypeDef]) -> dict[str, Any] | None:
    """The values of the variables that a row tells, or a pattern; None if the head cannot be it."""
    found: dict[str, Any] = {}
    for arg, value in zip(head.args, row, strict=True):
        if not _bind(arg, value, typedefs, found):
            return None
    return found


def _variables(expr: Expr) -> Iterator[str]:
    match expr:
        case Var(name):
            yield name
        case MakeTuple(items) | MakeStruct(_, items):
            for item in items:
                yield from _variables(item)
        case Op() if (moved := _moved(expr)) is not None:
            yield from _variables(moved[0])


def _whole(expr: Expr) -> bool:
    """Whether the inversion says all about an expression."""
    match expr:
        case Var() | Const():
            return True
        case MakeTuple(items) | MakeStruct(_, items):
            return all(map(_whole, items))
        case Op() if (moved := _moved(expr)) is not None:
            return _whole(moved[0])
    return False


def _moved(expr: Op) -> tuple[Expr, str, int] | None:
    """The expression that a constant is added to or taken from, the operator that undoes it, and the
    constant."""
    if not isinstance(expr.type, Bit | Signed | BigInt):
        return None
    match expr:
        case Op("+", (inner, Const(value))) | Op("+", (Const(value), inner)):
            return inner, "-", value
        case Op("-", (inner, Const(value))):
            return inner, "+", value
        case Op("^", (inner, Const(value))) | Op("^", (Const(value), inner)):
            return inner, "^", value
    return None


def _bind(expr: Expr, value: Any, typedefs: Mapping[str, TypeDef], found: dict[str, Any]) -> bool:
    if value is ANY:
        return True
    match expr:
        case Const(constant):
            return bool(constant == value)
        case Var(name):
            return bool(found.setdefault(name, value) == value)
        case MakeTuple(items):
            return all(_bind(i, v, typedefs, found) for i, v in zip(items, value, strict=True))
        case MakeStruct(constructor, args, User() as of):
            chosen, fields = values.taken_apart(value, of, typedefs)
            return chosen.name == constructor.name and all(
                _bind(i, v, typedefs, found) for i, v in zip(args, fields, strict=True)
            )
        case Op() if (moved := _moved(expr)) is not None:
            inner, undo, constant = moved
            back = {"+": value + constant, "-": value - constant, "^": value ^ constant}[undo]
            return _bind(inner, values.wrap(back, expr.type), typedefs, found)
    return True
