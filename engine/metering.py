"""What the operators of epochs cost, while something measures them.

A `Meter` is in force in one thread, inside `measuring`. The walk of a circuit tells it the end of each node,
and a recursion its rules and rounds. A node is one tuple. Whoever takes them (`Meter.take`) makes sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeAlias

from .circuit import Circuit

clock = perf_counter
"""Seconds, for measuring."""

_current: ContextVar[Meter | None] = ContextVar("meter", default=None)


Round: TypeAlias = tuple[int, float, int, int | None]
"""A round of a recursion: its number and seconds, the rows that its rules derived, and those by which
its tables grew; None where that is not known."""


@dataclass(slots=True)
class Cost:
    """The calls of an operator, their time, and their rows. `out` None: not known."""

    calls: int = 0
    seconds: float = 0.0
    taken: int = 0
    out: int | None = 0

    def add(self, calls: int, seconds: float, taken: int, out: int | None) -> None:
        """Adds calls."""
        self.calls += calls
        self.seconds += seconds
        self.taken += taken
        self.out = None if out is None or self.out is None else self.out + out


@dataclass(slots=True)
class Inside:
    """What went on inside a recursion in one epoch: the costs by operator and text, and the rounds."""

    costs: dict[tuple[str, str], Cost] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    derived: int = 0  # rows so far

    def add(self, operator: str, text: str, seconds: float, taken: int, out: int | None) -> None:
        """Adds a call of an operator."""
        cost = self.costs.get((operator, text))
        if cost is None:
            cost = self.costs[operator, text] = Cost()
        cost.add(1, seconds, taken, out)


Visit: TypeAlias = "tuple[int, float, int | None, Inside | None]"
"""A visit of a node of the circuit: its position, its seconds, the rows of its change, and what went on
inside it."""


class Meter:
    """The visits of the nodes of a circuit in one epoch. `inside` is the recursion that runs."""

    def __init__(self) -> None:
        self.circuit: Circuit | None = None
        self.visits: list[Visit] = []
        self.inside: Inside | None = None

    def take(self) -> list[Visit]:
        """The visits since the last call."""
        visits, self.visits, self.inside = self.visits, [], None
        return visits


def current() -> Meter | None:
    """The meter in force; None if nothing is measured."""
    return _current.get()


def inside() -> Inside | None:
    """What is measured of the recursion that runs; None if nothing is."""
    meter = _current.get()
    return None if meter is None else meter.inside


@contextmanager
def measuring(meter: Meter) -> Iterator[None]:
    """The meter is in force inside."""
    token = _current.set(meter)
    try:
        yield
    finally:
        _current.reset(token)


class Rule:
    """One run of a rule in a recursion: from `began` on, with the rows that it took and derived."""

    __slots__ = ("_began", "_cost", "_inside", "derived")

    def __init__(self, inside: Inside, text: str, taken: int) -> None:
        cost = inside.costs.get(("rule", text))
        if cost is None:
            cost = inside.costs["rule", text] = Cost()
        cost.taken += taken
        self._inside, self._cost, self.derived = inside, cost, 0
        self._began = clock()

    def end(self) -> None:
        """The rule has run."""
        cost, derived = self._cost, self.derived
        cost.seconds += clock() - self._began
        cost.calls += 1
        cost.out = None if cost.out is None else cost.out + derived
        self._inside.derived += derived


def rule(text: str, taken: int) -> Rule | None:
    """The run of a rule that begins now; None if nothing is measured."""
    meter = _current.get()
    return None if meter is None or meter.inside is None else Rule(meter.inside, text, taken)
