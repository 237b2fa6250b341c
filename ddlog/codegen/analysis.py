"""The variables that a typed expression reads, binds and changes."""

from __future__ import annotations

from collections.abc import Callable

from .. import core
from ..core import Expr, Pattern
from ..core.walk import descendants
from ..types import BigInt, Bit, FunctionType, Signed, Type
from ..values import wrap


def folded(expr: Expr) -> Expr:
    """A negated integer as a constant."""
    match expr:
        case core.Op("neg", (core.Const(int() as value),), Bit() | Signed() | BigInt() as type, span):
            return core.Const(wrap(-value, type), type, span)
    return expr


def is_path(expr: Expr) -> bool:
    """Whether an expression is a variable or a part of one."""
    return bool(_root(expr))


def _root(place: Expr) -> list[str]:
    while isinstance(place, core.GetField | core.GetItem):
        place = place.arg
    return [place.name] if isinstance(place, core.Var) else []


def bound_in(pattern: Pattern) -> list[str]:
    """The variables that a pattern binds."""
    match pattern:
        case core.VarPattern(name, _, inner):
            return [name, *(bound_in(inner) if inner is not None else [])]
        case core.TuplePattern(items) | core.StructPattern(_, items):
            return [name for each in items for name in bound_in(each)]
    return []


def bound_names(expr: Expr) -> list[str]:
    """The variables that an expression declares."""
    found: list[str] = []
    for each in descendants(expr):
        match each:
            case core.Declare(pattern) | core.For(pattern):
                found += bound_in(pattern)
            case core.Match(_, arms):
                found += [name for pattern, _ in arms for name in bound_in(pattern)]
    return found


def free_variables(expr: Expr) -> dict[str, Type]:
    """The variables that an expression reads and does not declare, in the order of their first use."""
    found: dict[str, Type] = {}
    for each in descendants(expr):
        if isinstance(each, core.Var):
            found.setdefault(each.name, each.type)
    for name in bound_names(expr):
        found.pop(name, None)
    return found


def assigned(expr: Expr, parameters: Callable[[str], tuple[core.Parameter, ...]]) -> list[str]:
    """The variables that an expression changes. `parameters` returns the parameters of a function."""
    found: list[str] = []
    for each in descendants(expr):
        match each:
            case core.Assign(target):
                found += _root(target)
            case core.Call(function, args):
                for arg, parameter in zip(args, parameters(function), strict=True):
                    if parameter.mutable:
                        found += _root(arg)
            case core.Apply(applied, args) if isinstance(applied.type, FunctionType):
                for arg, mutable in zip(args, applied.type.mutable, strict=True):
                    if mutable:
                        found += _root(arg)
    return found
