"""Aggregates of groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from ..engine.rounding import rounded, rounded_single
from ..types import Float, FunctionType, Opaque, Tuple, Type
from ..values import NAN, Fault, Group, wrap
from .typed import Signature, demand_number, typed


def count(g: Group) -> int:
    return len(g[1])


@typed
def sum(g: Group, *, signature: Signature) -> Any:
    return total(g[1], signature.result, "sum")


@typed
def sum_second(g: Group, *, signature: Signature) -> Any:
    return total([value for _, value in g[1]], signature.result, "sum_second")


@typed
def avg(g: Group, *, signature: Signature) -> float:
    demand_number(_element(signature), "avg")
    return mean(g[1])


@typed
def avg_second(g: Group, *, signature: Signature) -> float:
    pair = _element(signature)
    assert isinstance(pair, Tuple)
    demand_number(pair.items[1], "avg_second")
    return mean([value for _, value in g[1]])


def min_second(g: Group) -> Any:
    return min(value for _, value in g[1])


def max_second(g: Group) -> Any:
    return max(value for _, value in g[1])


@typed
def sum_of(g: Group, f: Callable[[Any], Any], *, signature: Signature) -> Any:
    return total(map(f, g[1]), signature.result, "sum_of")


@typed
def avg_of(g: Group, f: Callable[[Any], Any], *, signature: Signature) -> float:
    taken = signature.parameters[1]
    assert isinstance(taken, FunctionType)
    demand_number(taken.result, "avg_of")
    return mean([f(value) for value in g[1]])


def _element(signature: Signature) -> Type:
    """The type of the values of the group that is the first argument."""
    group = signature.parameters[0]
    assert isinstance(group, Opaque)
    return group.args[1]


def total(values: Iterable[Any], type: Type, function: str) -> Any:
    """The sum of numbers, as a value of their type. Raises Fault, naming the function, for other types."""
    demand_number(type, function)
    if isinstance(type, Float):
        return float_sum(values, type.width)
    return wrap(_exact(values), type)


def float_sum(values: Iterable[float], width: int = 64) -> float:
    """The sum, rounded once from the exact one."""
    kept = list(values)
    special = [value for value in kept if value is NAN or math.isinf(value)]
    if special:
        return special[0] if all(value == special[0] for value in special) else NAN
    if width == 32:
        return rounded_single(*_exact(map(Fraction, kept)).as_integer_ratio())
    try:
        return math.fsum(kept) + 0.0
    except OverflowError:
        return rounded(*_exact(map(Fraction, kept)).as_integer_ratio())


def mean(values: Sequence[Any]) -> float:
    """The exact sum divided by the number of values, rounded once to a double."""
    if not values:
        raise Fault("there is no average of nothing")
    if any(isinstance(value, float) and (value is NAN or math.isinf(value)) for value in values):
        return float_sum(values)
    above, below = _exact(map(Fraction, values)).as_integer_ratio()
    return rounded(above, below * len(values))


def _exact(values: Iterable[Any]) -> Any:
    result: Any = 0
    for value in values:
        result += value
    return result
