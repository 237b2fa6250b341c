"""Numbers from a range, taken in a circle."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ..types import BigInt, Bit, Signed
from ..values import Fault, Map, Set, Struct, Vec
from .options import NONE, some
from .typed import Signature, typed


class Circle:
    """The numbers of a range in a circle, some of them in use."""

    def __init__(self, used: Collection[int], least: int, greatest: int) -> None:
        self.least, self.greatest = least, greatest
        self.used = {n for n in used if least <= n <= greatest}
        self.next = self._after(max(used, default=greatest))  # `least` if the largest is outside of the range

    def take(self, start: int | None = None) -> int | None:
        """The first number not in use from `start`, or from the one after the last taken, if any is left."""
        if len(self.used) > self.greatest - self.least:
            return None
        number = start if start is not None and self.least <= start <= self.greatest else self.next
        while number in self.used:
            number = self._after(number)
        self.used.add(number)
        self.next = self._after(number)
        return number

    def _after(self, number: int) -> int:
        return number + 1 if self.least <= number < self.greatest else self.least


@typed
def allocate(allocated: Set, toallocate: Vec, min_val: int, max_val: int, *, signature: Signature) -> Vec:
    circle = Circle(allocated, min_val, _last(max_val, signature))
    return _numbered((item, circle.take()) for item in toallocate)


@typed
def allocate_with_hint(
    allocated: Set, toallocate: Vec, min_val: int, max_val: int, *, signature: Signature
) -> Vec:
    circle = Circle(allocated, min_val, _last(max_val, signature))
    return _numbered((item, circle.take(hint[1] if hint != NONE else None)) for item, hint in toallocate)


@typed
def allocate_opt(allocated: Set, toallocate: Vec, min_val: int, max_val: int, *, signature: Signature) -> Vec:
    circle = Circle(allocated, min_val, _last(max_val, signature))
    return Vec((item, _option(circle.take())) for item in toallocate)


@typed
def adjust_allocation(
    allocated: Map, toallocate: Vec, min_val: int, max_val: int, *, signature: Signature
) -> Vec:
    used = {number for _, number in allocated.items()}
    circle = Circle(used, min_val, _last(max_val, signature))
    return _numbered((item, allocated[item] if allocated.has(item) else circle.take()) for item in toallocate)


def _numbered(pairs: Iterable[tuple[Any, int | None]]) -> Vec:
    """The pairs whose item got a number."""
    return Vec(pair for pair in pairs if pair[1] is not None)


def _option(number: int | None) -> Struct:
    return NONE if number is None else some(number)


def _last(max_val: int, signature: Signature) -> int:
    """The last number of a range that is a value of its type. Raises Fault where that is no integer type."""
    of = signature.parameters[2]
    match of:
        case Bit(width):
            return min(max_val, (1 << width) - 1)
        case Signed(width):
            return min(max_val, (1 << width - 1) - 1)
        case BigInt():
            return max_val
    raise Fault(f"numbers to allocate are integers, not values of {of}")
