"""The costs of the operators of epochs, while something measures them.

A `Meter` takes the walk of a circuit in an epoch, with the times between its nodes; a recursion notes its
rounds and the runs of its rules.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

from .circuit import Circuit, NodeId

clock = perf_counter
"""Seconds, for measuring."""

UNKNOWN = float("nan")
"""A number of rows that is not known; nor is a sum with it."""

MOST_ROUNDS = 2_000
"""Rounds of a recursion that are told apart; later ones count as the last of them."""


@dataclass(slots=True)
class Cost:
    """The calls of an operator, their seconds, and their rows: those that it took and gave, and those of a
    rule that its relation did not have. Of rounds: rows that rules derived, and those that were new."""

    calls: int = 0
    seconds: float = 0.0
    taken: float = 0
    out: float = 0
    new: float = 0

    def add(self, other: Cost) -> None:
        """Adds other calls."""
        self.calls += other.calls
        self.seconds += other.seconds
        self.taken += other.taken
        self.out += other.out
        self.new += other.new


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


class Inside:
    """The costs inside a recursion, by operator and text, and of its rounds. `level` fixpoints are in one
    another just now, and the rounds are those of the outer one. `derived` are the rows that rules gave so
    far."""

    def __init__(self) -> None:
        self.costs: dict[tuple[str, str], Cost] = {}
        self.rounds: dict[int, Cost] = {}
        self.derived: float = 0
        self.of_rounds: tuple[float, float, float] = 0.0, 0.0, 0.0
        """The seconds, derived rows and rows of the rounds noted so far."""
        self.level = 0

    def _cost(self, operator: str, text: str) -> Cost:
        found = self.costs.get((operator, text))
        if found is None:
            found = self.costs[operator, text] = Cost()
        return found

    def add(self, operator: str, text: str, since: float, until: float, taken: float, out: float) -> None:
        """Notes a call of an operator, between two times."""
        self._cost(operator, text).add(Cost(1, until - since, taken, out, UNKNOWN))

    def rule(self, text: str, since: float, until: float, taken: float, before: float, new: float) -> None:
        """Notes the run of a rule: the rows that it took, those derived `before` it, and the new ones."""
        self._cost("rule", text).add(Cost(1, until - since, taken, self.derived - before, new))

    def round(self, number: int, seconds: float, derived: float, rows: float) -> None:
        """Notes a round."""
        before = self.of_rounds
        self.of_rounds = before[0] + seconds, before[1] + derived, before[2] + rows
        if self.level == 1:
            found = self.rounds.setdefault(min(number, MOST_ROUNDS), Cost())
            found.add(Cost(1, seconds, derived, rows, UNKNOWN))

    def merge(self, other: Inside) -> None:
        """Adds what another epoch noted."""
        for key, cost in other.costs.items():
            self._cost(*key).add(cost)
        for number, cost in other.rounds.items():
            self.rounds.setdefault(number, Cost()).add(cost)


class Meter:
    """Takes the walk of an epoch. `walk` is the last one, `inside` the recursion that runs, `insides` are
    those that ran. It may be in force in a thread: then it takes all that is measured there."""

    def __init__(self) -> None:
        self.walk: EpochWalk | None = None
        self.inside: Inside | None = None
        self.insides: dict[NodeId, Inside] = {}

    def put_in_force(self) -> Meter | None:
        """From now on this meter is in force. Gives the one that was."""
        outer, _in_force.meter = _in_force.meter, self
        return outer

    @staticmethod
    def end(outer: Meter | None) -> None:
        """The meter that was in force is so again."""
        _in_force.meter = outer

    def forget(self) -> None:
        """Forgets what was noted of an epoch, which is over, is given up or begins again."""
        self.walk = self.inside = None
        self.insides = {}

    def enter(self, at: NodeId) -> Inside:
        """Begins to measure the inside of a recursion."""
        found = self.inside = self.insides.setdefault(at, Inside())
        found.level, found.derived = 0, 0
        return found


def current() -> Meter | None:
    """The meter in force; None if nothing is measured."""
    return _in_force.meter


def inside() -> Inside | None:
    """Takes the measures of the recursion that runs; None if nothing is measured."""
    meter = _in_force.meter
    return None if meter is None else meter.inside
