"""Why a row of a loop does not hold: the same as of other rows, in the last round and those before it.

    no R in round 5  ◄──  a rule of R  ◄──  no S in round 4  ◄──  a rule of S  ◄──  no fact

A round is a program of its own. Its inputs are relations of earlier rounds, which are looked into in these
rounds, and relations around the loop, which are looked into there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..core import Atom, Stratum
from ..types import BigInt
from .absence import Absences, Attempt, Fails, Failure, Found, InRounds, Missing, NoRow, Pattern
from .derivations import Case, Derivations
from .held import Replay
from .oneround import AT, FIRST, LATER
from .tree import Absent, Item, Tree


@dataclass
class LoopAbsences:
    """Looks into rows that do not hold in the rounds of a loop. See `InRounds`."""

    around: Absences
    replay: Replay
    _rounds: dict[int, RoundAbsences] = field(default_factory=dict)

    def missing(self, relation: str, pattern: Pattern, depth: int) -> Missing:
        return self.at(self.replay.last).missing(relation, pattern, depth)

    def at(self, number: int) -> RoundAbsences:
        """Absences in a round."""
        if number not in self._rounds:
            around, derivations = self.around, Derivations(self.replay.at(number))
            rounds = (*around.rounds, number)
            self._rounds[number] = RoundAbsences(derivations, around.until, around.in_loop, rounds, loop=self)
        return self._rounds[number]


def in_loop(around: Absences, stratum: Stratum) -> InRounds | None:
    """Absences in the rounds of a loop; None if these cannot be run again."""
    replay = around.derivations.held.replay(stratum)
    return None if replay is None else LoopAbsences(around, replay)


@dataclass
class RoundAbsences(Absences):
    """Looks into rows that do not hold in a round of a loop."""

    loop: LoopAbsences | None = None

    @property
    def _loop_around(self) -> LoopAbsences:
        assert self.loop is not None
        return self.loop

    @property
    def _number(self) -> int:
        return self.rounds[-1]

    def missing(self, relation: str, pattern: Pattern, depth: int) -> Missing:
        if (found := self._before(relation)) is not None:
            name, number = found
            return self._loop_around.at(number).missing(name, pattern, depth)
        if self._is_outside(relation):
            return self._loop_around.around.missing(relation, pattern, depth)
        return super().missing(relation, pattern, depth)

    def _is_leaf(self, relation: str) -> bool:
        if (found := self._before(relation)) is not None:
            return found[1] < self._loop_around.replay.of.first
        if self._is_outside(relation):
            return self._loop_around.around._is_leaf(relation)
        return super()._is_leaf(relation)

    def _before(self, relation: str) -> tuple[str, int] | None:
        """The relation of an earlier round that an input of the round is, and the number of that round."""
        return self._loop_around.replay.of.before(relation, self._number)

    def _is_outside(self, relation: str) -> bool:
        return relation in self._loop_around.replay.of.outside

    def _named(self, relation: str) -> tuple[str, tuple[int, ...]]:
        """The relation that the user knows, and the round of it that is meant."""
        if (found := self._before(relation)) is not None:
            return found[0], (*self.rounds[:-1], found[1])
        around = self._loop_around.around
        if not self._is_outside(relation):
            return relation, self.rounds
        return around._named(relation) if isinstance(around, RoundAbsences) else (relation, ())

    # ------------------------------------------------------------- what the user reads

    def _attempt(self, case: Case, pattern: Pattern, depth: int) -> Attempt | None:
        found = super()._attempt(case, pattern, depth)
        if found is None:
            return None
        written = self._loop_around.replay.of.written.get(id(case.written), case.written)
        return replace(found, rule=written, place=written.span, holds=tuple(self._items(found.holds)))

    def _items(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            match item:
                case Tree(relation) if relation in (AT, FIRST, LATER):
                    continue
                case Tree(relation):
                    name, rounds = self._named(relation)
                    made = replace(item, kind="cut", height=None) if rounds else item
                    yield replace(made, relation=name, rounds=rounds)
                case Absent(relation):
                    name, rounds = self._named(relation)
                    yield replace(item, relation=name, rounds=rounds)
                case _:
                    yield item

    def _failure(
        self, body: Any, at: int, values: dict[str, Any], depth: int
    ) -> tuple[Failure, dict[str, Any]]:
        match body.rule.body[at]:
            case Atom(relation) if relation in (FIRST, LATER):
                text = "round == 0" if relation == FIRST else "round > 0"
                return Fails(text, (("round", self._number, BigInt()),)), values
        fails, values = super()._failure(body, at, values, depth)
        match fails:
            case NoRow(relation) | Found(relation):
                name, rounds = self._named(relation)
                return replace(fails, relation=name, rounds=rounds), values
        return fails, values
