"""Streams over abelian groups, and the operators on them (dbsp-spec, parts 3 to 5).

A stream is an infinite sequence of values of a group, computed on demand and remembered. Streams
over a group are a group themselves, so that everything here applies to streams of streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, TypeVar

from ddlog.engine import zset
from ddlog.engine.zset import Zset

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class AbelianGroup(Generic[A]):
    """An abelian group: a zero, an addition, a negation."""

    zero: A
    add: Callable[[A, A], A]
    negate: Callable[[A], A]

    def subtract(self, left: A, right: A) -> A:
        """left + (-right)"""
        return self.add(left, self.negate(right))


INTEGERS: AbelianGroup[int] = AbelianGroup(0, lambda a, b: a + b, lambda a: -a)
ZSETS: AbelianGroup[Zset] = AbelianGroup({}, zset.add, zset.negate)


class Stream(Generic[A]):
    """A function from times 0, 1, 2, ... to a group (Definition 3.1)."""

    def __init__(self, group: AbelianGroup[A], at: Callable[[int], A]) -> None:
        self.group = group
        self._at = at
        self._known: dict[int, A] = {}

    def __getitem__(self, time: int) -> A:
        if time not in self._known:
            self._known[time] = self._at(time)
        return self._known[time]

    def take(self, times: int) -> list[A]:
        """The values at the first times."""
        return [self[t] for t in range(times)]


def of_values(group: AbelianGroup[A], values: Iterable[A]) -> Stream[A]:
    """The stream of the values, and zero after them."""
    known = list(values)
    return Stream(group, lambda t: known[t] if t < len(known) else group.zero)


def streams(group: AbelianGroup[A]) -> AbelianGroup[Stream[A]]:
    """The group of streams over a group, time by time (Proposition 3.19)."""
    return AbelianGroup(
        Stream(group, lambda _: group.zero),
        lambda a, b: Stream(group, lambda t: group.add(a[t], b[t])),
        lambda a: Stream(group, lambda t: group.negate(a[t])),
    )


def lift(function: Callable[[A], B], group: AbelianGroup[B]) -> Callable[[Stream[A]], Stream[B]]:
    """↑f: the function applied at every time; `group` is that of its results."""
    return lambda s: Stream(group, lambda t: function(s[t]))


def lift2(
    function: Callable[[A, B], C], group: AbelianGroup[C]
) -> Callable[[Stream[A], Stream[B]], Stream[C]]:
    """↑f of a function of two arguments."""
    return lambda a, b: Stream(group, lambda t: function(a[t], b[t]))


def delay(s: Stream[A]) -> Stream[A]:
    """z^-1: zero, then the stream one step late (Definition 3.4)."""
    return Stream(s.group, lambda t: s[t - 1] if t else s.group.zero)


def fix(group: AbelianGroup[A], operator: Callable[[Stream[A]], Stream[A]]) -> Stream[A]:
    """The unique α = operator(α) of a strict operator (Proposition 3.14)."""
    solution = Stream(group, lambda t: body[t])
    body = operator(solution)
    return solution


def integrate(s: Stream[A]) -> Stream[A]:
    """I: the sum of the stream so far (Definition 3.27)."""
    return fix(s.group, lambda a: Stream(s.group, lambda t: s.group.add(s[t], delay(a)[t])))


def differentiate(s: Stream[A]) -> Stream[A]:
    """D: the stream minus its delay (Definition 3.25)."""
    return Stream(s.group, lambda t: s.group.subtract(s[t], delay(s)[t]))


def incremental(operator: Callable[[Stream[A]], Stream[B]]) -> Callable[[Stream[A]], Stream[B]]:
    """Q^Δ = D ∘ Q ∘ I (Definition 4.1)."""
    return lambda s: differentiate(operator(integrate(s)))


def incremental2(
    operator: Callable[[Stream[A], Stream[B]], Stream[C]],
) -> Callable[[Stream[A], Stream[B]], Stream[C]]:
    """T^Δ of an operator of two streams."""
    return lambda a, b: differentiate(operator(integrate(a), integrate(b)))


def delta_zero(value: A, group: AbelianGroup[A]) -> Stream[A]:
    """δ₀: the value, then zero for ever (Definition 5.1)."""
    return Stream(group, lambda t: group.zero if t else value)


def integral(s: Stream[A]) -> A:
    """∫: the sum of a stream that is zero from its first zero on (Definition 5.2)."""
    total = s.group.zero
    for t in count():
        if s[t] == s.group.zero:
            return total
        total = s.group.add(total, s[t])
    raise AssertionError("unreachable")


def stream_of(group: AbelianGroup[Any], rows: Iterable[Iterable[Any]]) -> Stream[Stream[Any]]:
    """A stream of streams from the values of each, zero after them."""
    return of_values(streams(group), [of_values(group, row) for row in rows])
