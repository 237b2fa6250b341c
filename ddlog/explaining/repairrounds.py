"""Sets of facts that may make a row of a loop hold, looked for back through its rounds.

A round is a program of its own. What a rule of it lacks of an earlier round is looked for there, and what it
lacks of relations around the loop is looked for around it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core import Stratum
from .derivations import Derivations
from .held import Fact, Replay
from .oneround import AT, FIRST, LATER
from .repairs import Facts, InRounds, Repairs


@dataclass
class LoopRepairs:
    """Candidates through the rounds of a loop. See `InRounds`."""

    around: Repairs
    replay: Replay
    _rounds: dict[int, RoundRepairs] = field(default_factory=dict)

    def candidates(self, fact: Fact, size: int, depth: int) -> set[Facts]:
        return self.at(self.replay.last)._candidates(fact, size, depth)

    def at(self, number: int) -> RoundRepairs:
        """Candidates in a round."""
        if number not in self._rounds:
            around, derivations = self.around, Derivations(self.replay.at(number))
            made = RoundRepairs(derivations, around.until, around.in_loop, loop=self, number=number)
            self._rounds[number] = made
        return self._rounds[number]


def in_loop(around: Repairs, stratum: Stratum) -> InRounds | None:
    """Candidates through the rounds of a loop; None if these cannot be run again."""
    replay = around.derivations.held.replay(stratum)
    return None if replay is None else LoopRepairs(around, replay)


@dataclass
class RoundRepairs(Repairs):
    """Candidates in a round of a loop."""

    loop: LoopRepairs | None = None
    number: int = 0

    def _candidates(self, fact: Fact, size: int, depth: int) -> set[Facts]:
        assert self.loop is not None
        of, (relation, row) = self.loop.replay.of, fact
        if relation in (AT, FIRST, LATER):
            return {frozenset()} if self._holds(fact) else set()
        if (found := of.before(relation, self.number)) is not None:
            name, number = found
            return set() if number < of.first else self.loop.at(number)._candidates((name, row), size, depth)
        if relation in of.outside:
            return self.loop.around._candidates(fact, size, depth)
        return super()._candidates(fact, size, depth)

    def _is_given(self, relation: str) -> bool:
        assert self.loop is not None
        return relation in self.loop.replay.of.outside and self.loop.around._is_given(relation)
