"""Expressions that carry a value along: v + c, min(v, c) and max(v, c), where c does not depend on v."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..core import Call, Expr, Function, Op, Var
from ..core.walk import mentions
from ..engine.schema import INLINE_LIMIT, Carried
from ..types import BigInt, Bit, Signed, Type


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
