"""The costs of the operators of epochs, while something measures them.

A `Meter` takes the walks of circuits in epochs, with the times between their nodes; a recursion notes its
rounds and the runs of its rules. All of it is numbers in flat lists, of which arrays and sums are made for
many epochs at once (`Meter.taken`): to touch other objects takes longer than the clocks.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .circuit import Circuit, NodeId

Figures: TypeAlias = NDArray[np.float64]

clock = perf_counter
"""Seconds, for measuring."""

UNKNOWN = float("nan")
"""A number of rows that is not known."""

RUN = 7
"""The figures of some runs: the number of their operator (see `Meter.operators`), how many there are, when
they began and ended (many: 0 and their seconds), the rows that they took and gave, and those of the rows that
were new. What follows from them is computed for many runs at once."""
ROUND = 5
"""The figures of a round: the recursion, the number of the round, its seconds, the rows that rules derived,
and those that were new."""
MOST_ROUNDS = 2_000
"""Rounds of a recursion that are told apart; later ones count as the last of them."""
_LONG = 1 << 16  # figures of one epoch that are summed up before it ends


class _InForce(threading.local):
    meter: Meter | None = None


_in_force = _InForce()


class EpochWalk(Protocol):
    """The walk of an epoch: its nodes, a time before each node, and one after all."""

    circuit: Circuit
    nodes: Sequence[NodeId]
    times: list[float]

    def rows(self, nodes: Iterable[NodeId]) -> list[float]:
        """The rows of the changes of nodes."""


class Taken(NamedTuple):
    """The figures of some epochs: of each walk n + 1 times and n numbers of rows for its n
    nodes; the sums of the runs of each operator (its number, how many, their seconds, and rows); and those of
    each round."""

    walks: Figures
    runs: Figures
    rounds: Figures


class Inside:
    """Notes what goes on inside a recursion. `level` fixpoints are in one another just now, and the rounds
    are those of the outer one. `derived` are the rows that rules gave so far."""

    def __init__(self, meter: Meter, at: NodeId) -> None:
        self._meter, self._at = meter, at
        self._runs, self._numbers = meter.runs, dict[tuple[str, str], int]()
        self._rules: dict[str, int] = {}
        self.derived: float = 0
        self.of_rounds: tuple[float, float, float] = 0.0, 0.0, 0.0
        """The seconds, derived rows and rows of the rounds noted so far."""
        self.level = 0

    def add(self, operator: str, text: str, since: float, until: float, taken: float, out: float) -> None:
        """Notes a call of an operator, between two times."""
        number = self._numbers.get((operator, text))
        if number is None:
            number = self._numbers[operator, text] = self._meter.number(self._at, operator, text)
        self._runs += (number, 1, since, until, taken, out, UNKNOWN)

    def rule(self, text: str, since: float, until: float, taken: float, before: float, new: float) -> None:
        """Notes the run of a rule: the rows that it took, those derived `before` it, and the new ones."""
        number = self._rules.get(text)
        if number is None:
            number = self._rules[text] = self._meter.number(self._at, "rule", text)
        self._runs += (number, 1, since, until, taken, self.derived - before, new)

    def round(self, number: int, seconds: float, derived: float, rows: float) -> None:
        """Notes a round."""
        before = self.of_rounds
        self.of_rounds = before[0] + seconds, before[1] + derived, before[2] + rows
        if self.level == 1:
            number = number if number < MOST_ROUNDS else MOST_ROUNDS
            rounds = self._meter.rounds
            rounds += (self._at, number, seconds, derived, rows)
            if number % 1024 == 1023:
                self._meter.shorten()


class Meter:
    """Takes the walks of epochs. `walk` is the last one, `inside` the recursion that runs. It may be in force
    in a thread: then it takes all that is measured there."""

    def __init__(self) -> None:
        self.walk: EpochWalk | None = None
        self.inside: Inside | None = None
        self.since = 0.0
        self.operators: list[tuple[NodeId, str, str]] = []
        """Of the runs inside recursions, by number: the recursion, the operator, and its text."""
        self.walks: list[float] = []
        self.runs: list[float] = []
        self.rounds: list[float] = []
        self._before = 0, 0  # the lengths of `runs` and `rounds` before the recursions of
        self._before_of = 0.0  # the epoch that began then
        self._insides: dict[NodeId, Inside] = {}

    def put_in_force(self) -> Meter | None:
        """From now on this meter is in force. Gives the one that was."""
        outer, _in_force.meter = _in_force.meter, self
        return outer

    @staticmethod
    def end(outer: Meter | None) -> None:
        """The meter that was in force is so again."""
        _in_force.meter = outer

    def forget(self) -> None:
        """Takes back what was noted of this epoch, which is given up or begins again."""
        runs, rounds = self._inner()
        del self.runs[runs:], self.rounds[rounds:]
        self.walk = self.inside = None

    def _inner(self) -> tuple[int, int]:
        """Where what recursions noted in this epoch begins in `runs` and `rounds`."""
        is_known = self._before_of == self.since
        return self._before if is_known else (len(self.runs), len(self.rounds))

    def enter(self, at: NodeId) -> Inside:
        """Begins to measure the inside of a recursion."""
        found = self._insides.get(at)
        if found is None:
            found = self._insides[at] = Inside(self, at)
        found.level, found.derived, self.inside = 0, 0, found
        if self._before_of != self.since:
            self._before, self._before_of = (len(self.runs), len(self.rounds)), self.since
        return found

    def number(self, at: NodeId, operator: str, text: str) -> int:
        """The number of an operator inside a recursion."""
        key = at, operator, text
        if key not in self.operators:
            self.operators.append(key)
        return self.operators.index(key)

    def shorten(self) -> None:
        """Sums up the runs and rounds of a long epoch."""
        runs, rounds = self._inner()
        if len(self.runs) - runs > _LONG:
            number, count, *sums = _runs(self.runs[runs:]).T
            from_0 = np.zeros(len(number))
            self.runs[runs:] = np.column_stack([number, count, from_0, *sums]).ravel().tolist()
        if len(self.rounds) - rounds > _LONG:
            self.rounds[rounds:] = _rounds(self.rounds[rounds:]).ravel().tolist()

    def last(self, walk: list[float]) -> Taken:
        """The figures of the last epoch, given those of its walk."""
        runs, rounds = self._inner()
        walks = np.array(walk, np.float64)
        return Taken(walks, _runs(self.runs[runs:]), _rounds(self.rounds[rounds:]))

    def taken(self) -> Taken:
        """The figures of all epochs since the last call."""
        found = Taken(np.array(self.walks, np.float64), _runs(self.runs), _rounds(self.rounds))
        del self.walks[:], self.runs[:], self.rounds[:]
        return found


def _runs(figures: list[float]) -> Figures:
    """The sums of runs, by their operators."""
    number, count, since, until, *rows = _rows(figures, RUN).T
    return summed(np.column_stack([number, count, until - since, *rows]), 1)


def _rounds(figures: list[float]) -> Figures:
    """The sums of rounds, by their recursions and numbers."""
    return summed(_rows(figures, ROUND), 2)


def _rows(figures: list[float], width: int) -> Figures:
    return np.array(figures, np.float64).reshape(-1, width)


def summed(figures: Figures, keys: int) -> Figures:
    """The sums of figures that agree in the key: the first column, or the first two, of which the second is
    the number of a round."""
    key = figures[:, 0] if keys == 1 else figures[:, 0] * (MOST_ROUNDS + 1) + figures[:, 1]
    found, first, group = np.unique(key, return_index=True, return_inverse=True)
    sums = [np.bincount(group.ravel(), column, len(found)) for column in figures[:, keys:].T]
    return np.column_stack([figures[first, :keys], *sums])


def current() -> Meter | None:
    """The meter in force; None if nothing is measured."""
    return _in_force.meter


def inside() -> Inside | None:
    """Takes the measures of the recursion that runs; None if nothing is measured."""
    meter = _in_force.meter
    return None if meter is None else meter.inside
