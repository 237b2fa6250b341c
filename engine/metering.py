"""What the operators of epochs cost, while something measures them.

A `Meter` is in force in one thread, while `Meter.measured` acts. The walk of a circuit notes the times
between its nodes and the rows of their changes, and a recursion its rounds and the runs of its rules. All of
it is numbers in flat lists, of which arrays and sums are made for many epochs at once (`Meter.taken`): to
touch other objects, or to append to arrays, takes longer than the clocks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .circuit import Circuit, NodeId

T = TypeVar("T")
Figures: TypeAlias = NDArray[np.float64]

clock = perf_counter
"""Seconds, for measuring."""

UNKNOWN = float("nan")
"""A number of rows that is not known."""

RUN = 6
"""The figures of some runs: the number of their operator (see `Meter.operators`), how many there are, their
seconds, and the rows that they took and gave, and those of the rows that were new."""
ROUND = 5
"""The figures of a round: the recursion, the number of the round, its seconds, the rows that rules derived,
and those that were new."""
MOST_ROUNDS = 2_000
"""Rounds of a recursion that are told apart; later ones count as the last of them."""
_LONG = 1 << 16  # figures of one epoch that are summed up before it ends
_MANY = 1 << 13  # figures that are at hand together


class _InForce(threading.local):
    meter: Meter | None = None


_in_force = _InForce()


class Taken(NamedTuple):
    """The figures of some epochs: of each walk n + 1 times and n numbers of rows for its n nodes."""

    walks: Figures
    runs: Figures
    rounds: Figures


class Inside:
    """Notes what goes on inside a recursion. `level` fixpoints are in one another just now, and the rounds
    are those of level `noted`. `derived` are the rows that rules gave so far."""

    def __init__(self, meter: Meter, at: NodeId) -> None:
        self._meter, self._at = meter, at
        self._runs, self._numbers = meter.runs, dict[tuple[str, str], int]()
        self._rules: dict[str, int] = {}
        self.derived: float = 0
        self.level, self.noted = 0, 1

    def add(self, operator: str, text: str, seconds: float, taken: float, out: float) -> None:
        """Notes a call of an operator."""
        number = self._numbers.get((operator, text))
        if number is None:
            number = self._numbers[operator, text] = self._meter.number(self._at, operator, text)
        self._runs += (number, 1, seconds, taken, out, UNKNOWN)

    def rule(self, text: str, since: float, taken: int, before: float, new: float) -> None:
        """Notes the run of a rule: the rows that it took, those derived `before` it, and the new ones."""
        number = self._rules.get(text)
        if number is None:
            number = self._rules[text] = self._meter.number(self._at, "rule", text)
        self._runs += (number, 1, clock() - since, taken, self.derived - before, new)

    def round(self, number: int, seconds: float, derived: float, rows: float) -> None:
        """Notes a round."""
        if self.level == self.noted:
            rounds = self._meter.rounds
            rounds += self._at, number if number < MOST_ROUNDS else MOST_ROUNDS, seconds, derived, rows
            if number % 1024 == 1023:
                self._meter.shorten()


class Meter:
    """Takes the walks of epochs. `nodes` are those of the last walk, `inside` the recursion that runs."""

    def __init__(self) -> None:
        self.circuit: Circuit | None = None
        self.nodes: Sequence[NodeId] | None = None
        self.inside: Inside | None = None
        self.operators: list[tuple[NodeId, str, str]] = []
        """Of the runs inside recursions, by number: the recursion, the operator, and its text."""
        self.walks: list[float] = []
        self.runs: list[float] = []
        self.rounds: list[float] = []
        self.marking: Callable[[], int] | None = None  # the number of jobs so far, of a cluster
        self.marks: list[int] = []  # before, between and after the nodes of the last walk
        self._began = 0, 0, 0  # the lengths of the lists before the epoch
        self._insides: dict[NodeId, Inside] = {}

    def measured(self, act: Callable[[], T]) -> T:
        """What an act gives, which runs an epoch and is measured. If it raises, nothing is noted."""
        outer = self.begin()
        try:
            return act()
        except BaseException:
            self.forget()
            raise
        finally:
            self.end(outer)

    def begin(self) -> Meter | None:
        """An epoch begins, which is measured. Gives the meter that was in force."""
        outer, _in_force.meter = _in_force.meter, self
        self._began = len(self.walks), len(self.runs), len(self.rounds)
        self.nodes = self.inside = None
        if self.marks:
            self.marks.clear()
        return outer

    def end(self, outer: Meter | None) -> None:
        """The epoch is over, and the meter before it is in force."""
        _in_force.meter = outer

    def forget(self) -> None:
        """Takes back what was noted of this epoch, which is given up or begins again."""
        walks, runs, rounds = self._began
        del self.walks[walks:], self.runs[runs:], self.rounds[rounds:]
        self.nodes = self.inside = None
        self.marks.clear()

    def mark(self) -> None:
        """Notes the number of jobs, if there is a cluster."""
        if self.marking is not None:
            self.marks.append(self.marking())

    def enter(self, at: NodeId) -> Inside:
        """Begins to measure the inside of a recursion."""
        found = self._insides.get(at)
        if found is None:
            found = self._insides[at] = Inside(self, at)
        found.level, found.noted, found.derived, self.inside = 0, 1, 0, found
        return found

    def number(self, at: NodeId, operator: str, text: str) -> int:
        """The number of an operator inside a recursion."""
        key = at, operator, text
        if key not in self.operators:
            self.operators.append(key)
        return self.operators.index(key)

    def shorten(self) -> None:
        """Sums up the runs and rounds of a long epoch."""
        _, runs, rounds = self._began
        if len(self.runs) - runs > _LONG:
            self.runs[runs:] = summed(_rows(self.runs[runs:], RUN), 1).ravel().tolist()
        if len(self.rounds) - rounds > _LONG:
            self.rounds[rounds:] = summed(_rows(self.rounds[rounds:], ROUND), 2).ravel().tolist()

    def last(self) -> Taken:
        """The figures of the last epoch."""
        walks, runs, rounds = self._began
        return _taken(self.walks[walks:], self.runs[runs:], self.rounds[rounds:])

    def taken(self) -> Taken:
        """The figures of all epochs since the last call."""
        found = _taken(self.walks, self.runs, self.rounds)
        del self.walks[:], self.runs[:], self.rounds[:]
        return found

    @property
    def is_full(self) -> bool:
        """Whether the figures should be taken."""
        return len(self.walks) > _MANY or len(self.runs) > _MANY


def _taken(walks: list[float], runs: list[float], rounds: list[float]) -> Taken:
    return Taken(np.array(walks, np.float64), _rows(runs, RUN), _rows(rounds, ROUND))


def _rows(figures: list[float], width: int) -> Figures:
    return np.array(figures, np.float64).reshape(-1, width)


def summed(figures: Figures, keys: int) -> Figures:
    """The sums of figures that agree in the first columns, which are the keys."""
    found, group = np.unique(figures[:, :keys], axis=0, return_inverse=True)
    sums = [np.bincount(group.ravel(), column, len(found)) for column in figures[:, keys:].T]
    return np.column_stack([found, *sums])


def current() -> Meter | None:
    """The meter in force; None if nothing is measured."""
    return _in_force.meter


def inside() -> Inside | None:
    """What takes the measures of the recursion that runs; None if nothing is measured."""
    meter = _in_force.meter
    return None if meter is None else meter.inside


@contextmanager
def handing_over() -> Iterator[None]:
    """A recursion is run by another walk inside, whose rounds are the ones to be noted. If that raises, the
    rounds after it are noted again."""
    found = inside()
    if found is None:
        yield
        return
    found.noted = found.level + 1
    try:
        yield
    except BaseException:
        found.noted = found.level
        raise
