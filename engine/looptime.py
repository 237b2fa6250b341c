"""Product time: the times of loops in loops, and what an operator emits at each of them.

Inside loops the time is a vector of rounds, the outermost loop's first. Vectors are ordered componentwise;
the join t ∨ u is the least vector at or after both. A collection is the sum of its changes: its value at t is
that of the changes at all u ≤ t. Changes and values determine each other (Möbius inversion, "Foundations of
Differential Dataflow", section 2.2):

    value(t)  =  Σ change(u), u ≤ t              change(t)  =  Σ μ(u, t) · value(u), u ≤ t

The epoch would be one component more. Epochs are visited in order and none is visited again, so the changes
of all epochs at one vector are summed up, and an epoch adds its own to them.

Vectors are visited lexicographically, which no order of components contradicts. What an operator Q is to emit
at t is what is missing there (compare `engine.nestedtime`):

    missing(t)  =  Q(input up to t)  -  output up to t                                              (the law)

It may be other than 0 only where t is a join of times at which the input of the key in question has changes,
one of them of this epoch. So whoever visits a key at t visits it again at t ∨ u, for each u at which its
input or its output has a change.

A join of two collections is bilinear (Proposition 2 of the paper): changes at t and u make one at t ∨ u. A
loop adds 1 to its own component on the way back, the value that leaves it is the sum over that component, and
what enters it is there from its round 0 on.

Vectors are packed: one int64, the outermost component in the highest bits, and a guard bit above each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from . import zset
from .zset import Zset

DEEPEST = 7
"""The loops that may stand in one another."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """Packed vectors of `depth` components: each has `bits` bits, below its guard bit."""

    depth: int

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= DEEPEST:
            raise ValueError(f"loops {self.depth} deep: {DEEPEST} are the most")

    @property
    def bits(self) -> int:
        """The bits of a component."""
        return 63 // self.depth - 1

    @property
    def most(self) -> int:
        """The greatest round that a component can hold."""
        return (1 << self.bits) - 1

    @property
    def guard(self) -> int:
        """All guard bits."""
        return sum(1 << (self._shift(k) + self.bits) for k in range(self.depth))

    def _shift(self, component: int) -> int:
        return (self.depth - 1 - component) * (self.bits + 1)

    def unit(self, component: int) -> int:
        """One round of a component, counted from the outermost."""
        return 1 << self._shift(component)

    def pack(self, rounds: Sequence[int]) -> int:
        """A vector; components that are not given are 0."""
        return sum(each << self._shift(k) for k, each in enumerate(rounds))

    def round(self, time: Any, component: int) -> Any:
        """A component of a vector, or of each of an array of them."""
        return (time >> self._shift(component)) & self.most

    def within(self, time: Any, components: int) -> Any:
        """The vector as the scope sees it that is so many loops deep: inner components are 0."""
        return time if components == self.depth else time & -(1 << (self._shift(components - 1)))

    @property
    def inner(self) -> int:
        """The bits of all components but the outermost."""
        return (1 << self._shift(0)) - 1

    def before(self, a: int, b: int) -> bool:
        """Whether a ≤ b."""
        return ((b | self.guard) - a) & self.guard == self.guard

    def join(self, a: Any, b: Any) -> Any:
        """a ∨ b, of vectors or of arrays of them."""
        not_less = ((a | self.guard) - b) & self.guard  # in the guard bit of each component
        mask = not_less - (not_less >> self.bits)
        return b ^ ((a ^ b) & mask)


Changes: TypeAlias = Mapping[int, Zset]
"""The changes of a Z-set by time."""


def upto(lattice: Lattice, changes: Changes, time: int) -> Zset:
    """The value at a time."""
    return zset.add({}, *(change for at, change in changes.items() if lattice.before(at, time)))


def closure(lattice: Lattice, times: Iterable[int]) -> list[int]:
    """The joins of times, with the times themselves, in the order of visits."""
    found: set[int] = set()
    for time in times:
        found |= {time, *(lattice.join(time, each) for each in found)}
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
