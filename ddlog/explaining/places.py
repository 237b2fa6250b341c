"""Places: where the rows are that a rule reads. A session is a place, and so is each round of a loop.

A round is a program of its own (`oneround`), whose inputs are relations of earlier rounds and relations
around the loop. So a search that goes back through rules goes from place to place:

    a rule of       reads    finds it in
    the session     Seen     the last round of the loop that computes Seen
    round 5         Seen-1   round 4
    round 0         Seen-1   no place: there was no round before
    round 5         Edge     the session
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core import Rule, Stratum
from .derivations import Derivations
from .snapshot import Replay


@dataclass(eq=False)
class ProofPlace:
    """The session, or a round of a loop: `replay` are the rounds of the loop, `around` is the place that the
    loop is in, and `rounds` has the number of the round of each loop, the outermost first."""

    derivations: Derivations
    rounds: tuple[int, ...] = ()
    replay: Replay | None = None
    around: ProofPlace | None = None
    _siblings: dict[int, ProofPlace] = field(default_factory=dict)  # the other rounds of the loop
    _loops: dict[tuple[str, ...], ProofPlace | None] = field(
        default_factory=dict
    )  # the last rounds of loops here

    def seen(self, relation: str) -> tuple[str, tuple[int, ...], ProofPlace | None]:
        """The relation that a rule of this place reads by a name, the round that it has it from, and the
        place, if there was such a round."""
        if self.replay is None or self.around is None:
            return relation, (), self
        before = self.replay.of.before(relation, self.rounds[-1])
        if before is not None:
            name, number = before
            place = None if number < self.replay.of.first else self._at(number)
            return name, (*self.rounds[:-1], number), place
        return (
            self.around.seen(relation)
            if relation in self.replay.of.outside
            else (relation, self.rounds, self)
        )

    def is_leaf(self, relation: str) -> bool:
        """Whether a rule reads only facts of the relation, or its rows of before the first round."""
        name, _, place = self.seen(relation)
        return place is None or place.derivations.is_leaf(name)

    def within(self, relation: str) -> ProofPlace | None:
        """The last round of the loop that computes a relation; None if no loop does, or it cannot be run
        again."""
        stratum = self.derivations.loop(relation)
        if stratum is None:
            return None
        if stratum.relations not in self._loops:
            self._loops[stratum.relations] = self._last(stratum)
        return self._loops[stratum.relations]

    def written(self, rule: Rule) -> Rule:
        """The rule in the program that a rule of a round is."""
        return rule if self.replay is None else self.replay.of.written.get(id(rule), rule)

    def _last(self, stratum: Stratum) -> ProofPlace | None:
        replay = self.derivations.held.replay(stratum)
        if replay is None:
            return None
        siblings = dict[int, ProofPlace]()
        return ProofPlace(self.derivations, (*self.rounds, 0), replay, self, siblings)._at(replay.last)

    def _at(self, number: int) -> ProofPlace:
        """The place of another round of the loop."""
        if number not in self._siblings:
            assert self.replay is not None
            rounds = (*self.rounds[:-1], number)
            here = Derivations(self.replay.at(number))
            self._siblings[number] = ProofPlace(here, rounds, self.replay, self.around, self._siblings)
        return self._siblings[number]
