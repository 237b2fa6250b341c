"""Product time: the times of loops in loops, and what an operator emits at each of them.

Inside loops the time is a vector of rounds, the outermost loop's first. Vectors are ordered componentwise;
the join t ∨ u is the least vector at or after both. A collection is the sum of its changes: its value at t is
that of the changes at all u ≤ t. Changes and values determine each other (Möbius inversion, "Foundations of
Differential Dataflow", section 2.2):

    value(t)  =  Σ change(u), u ≤ t              change(t)  =  Σ μ(u, t) · value(u), u ≤ t

The epoch would be one component more. Epochs are visited in order and none is visited again, so the changes
of all epochs at one vector are summed up, and an epoch adds its own to them.

Vectors are visited lexicographically, which no order of components contradicts. What an operator Q is to emit
at t is what is missing there:

    missing(t)  =  Q(input up to t)  -  output up to t                                              (the law)

It may be other than 0 only where t is a join of times at which the input of the key in question has changes,
one of them of this epoch. So whoever visits a key at t visits it again at t ∨ u, for each u at which its
input or its output has a change.

A join of two collections is bilinear (Proposition 2 of the paper): changes at t and u make one at t ∨ u. A
loop adds 1 to its own component on the way back, the value that leaves it is the sum over that component, and
what enters it is there from its round 0 on.

With one component a vector is the number of a round. For a *distinct*, of one row:

    round                      0    1    2    3    4
    input before               .   +1    .   -1   +1          there in the rounds 1, 2 and from 4 on
    this epoch                +1    .    .   +1   -1
    input now                 +1   +1    .    .    .          there from 0 on
    output before              .   +1    .   -1   +1
    output now                +1    .    .    .    .
    emitted                   +1   -1    .   +1   -1          in the rounds in which the input has changes

A group whose aggregates are sums over its members needs no look at them: what its changes add up to has a
timeline. A negated term is 1 minus the presence of its row, a timeline, too. Kernels of timelines
(`inprocess/kernels/producttime.py`) must agree with the law.

Vectors are packed: one int64, the outermost component in the highest bits, and a guard bit above each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DEEPEST = 7
"""The loops that may stand in one another."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """Packed vectors of `depth` components: each has `bits` bits, below its guard bit."""

    depth: int
    bits: int = field(init=False, compare=False)
    most: int = field(init=False, compare=False)  # the greatest round that a component can hold
    guard: int = field(init=False, compare=False)  # all guard bits
    _shifts: tuple[int, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= DEEPEST:
            raise ValueError(f"loops {self.depth} deep: {DEEPEST} are the most")
        bits = 63 // self.depth - 1
        shifts = tuple((self.depth - 1 - component) * (bits + 1) for component in range(self.depth))
        object.__setattr__(self, "bits", bits)
        object.__setattr__(self, "most", (1 << bits) - 1)
        object.__setattr__(self, "guard", sum(1 << (shift + bits) for shift in shifts))
        object.__setattr__(self, "_shifts", shifts)

    def unit(self, component: int) -> int:
        """One round of a component, counted from the outermost."""
        return 1 << self._shifts[component]

    def round(self, time: Any, component: int) -> Any:
        """A component of a vector, or of each of an array of them."""
        return (time >> self._shifts[component]) & self.most

    def within(self, time: Any, components: int) -> Any:
        """The vector as the scope sees it that is so many loops deep: inner components are 0."""
        return time if components == self.depth else time & -(1 << (self._shifts[components - 1]))

    @property
    def inner(self) -> int:
        """The bits of all components but the outermost."""
        return (1 << self._shifts[0]) - 1

    def before(self, a: int, b: int) -> bool:
        """Whether a ≤ b."""
        return ((b | self.guard) - a) & self.guard == self.guard

    def join(self, a: Any, b: Any) -> Any:
        """a ∨ b, of vectors or of arrays of them."""
        not_less = ((a | self.guard) - b) & self.guard  # in the guard bit of each component
        mask = not_less - (not_less >> self.bits)
        return b ^ ((a ^ b) & mask)
