"""What an operator emits in product time, by the law of `engine/time.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from ddlog.engine import time as vectors
from ddlog.engine import zset
from ddlog.engine.zset import Zset


class Lattice(vectors.Lattice):
    """Packed vectors, made of their components."""

    def pack(self, rounds: Sequence[int]) -> int:
        """A vector; components that are not given are 0."""
        return sum(each * self.unit(k) for k, each in enumerate(rounds))


Changes: TypeAlias = Mapping[int, Zset]
"""The changes of a Z-set by time."""


def upto(lattice: Lattice, changes: Changes, time: int) -> Zset:
    """The value at a time."""
    return zset.add({}, *(change for at, change in changes.items() if lattice.before(at, time)))


def closure(lattice: Lattice, times: Iterable[int]) -> list[int]:
    """The joins of times, with the times themselves, in the order of visits."""
    found: set[int] = set()
    new = {*times}
    while new:
        found |= new
        new = {lattice.join(a, b) for a in new for b in found} - found
    return sorted(found)


def differential(
    lattice: Lattice, operator: Callable[[Sequence[Zset]], Zset], sources: Sequence[Changes]
) -> dict[int, Zset]:
    """The changes of an operator's output for those of its sources, by the law."""
    emitted: dict[int, Zset] = {}
    for time in closure(lattice, {time for source in sources for time in source}):
        value = operator([upto(lattice, source, time) for source in sources])
        change = zset.subtract(value, upto(lattice, emitted, time))
        if change:
            emitted[time] = change
    return emitted
