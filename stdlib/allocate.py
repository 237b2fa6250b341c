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
        self.next = self._after(max(used, default=greatest))

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
    _check(signature)
    return _taken(toallocate, Circle(allocated, min_val, max_val))


@typed
def allocate_with_hint(
    allocated: Set, toallocate: Vec, min_val: int, max_val: int, *, signature: Signature
) -> Vec:
    _check(signature)
    circle = Circle(allocated, min_val, max_val)
    found = ((item, circle.take(hint[1] if hint != NONE else None)) for item, hint in toallocate)
    return Vec(pair for pair in found if pair[1] is not None)


@typed
def allocate_opt(allocated: Set, toallocate: Vec, min_val: int, max_val: int, *, signature: Signature) -> Vec:
    _check(signature)
    circle = Circle(allocated, min_val, max_val)
    return Vec((item, _option(circle.take())) for item in toallocate)


@typed
def adjust_allocation(
    allocated: Map, toallocate: Vec, min_val: int, max_val: int, *, signature: Signature
) -> Vec:
    _check(signature)
    kept = [(item, allocated[item]) for item in toallocate if allocated.has(item)]
    others = [item for item in toallocate if not allocated.has(item)]
    return Vec((*kept, *_taken(others, Circle({n for _, n in kept}, min_val, max_val))))


def _taken(items: Iterable[Any], circle: Circle) -> Vec:
    found = ((item, circle.take()) for item in items)
    return Vec(pair for pair in found if pair[1] is not None)


def _option(number: int | None) -> Struct:
    return NONE if number is None else some(number)


def _check(signature: Signature) -> None:
    """The numbers may be of any integer type, but of no other."""
    of = signature.parameters[2]
    if not isinstance(of, BigInt | Bit | Signed):
        raise Fault(f"numbers to allocate are integers, not values of {of}")
