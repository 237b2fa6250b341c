"""The least heights of proofs.

A row that is given has height 0, and so has a fact of the program. A derivation has a height 1 more than the
greatest of the rows that it rests on: those of its terms; of a group those of all members, or of the one that
decides its least or greatest value. Negated terms and conditions add nothing. A row has the least height of
its derivations.

The search asks whether a row has a proof of at most a height h, and goes back from the row level by level. In
such a proof, a row at level d has at most the height h - d. So a row that is known to be as low is not looked
into. If there is a proof, the search asks for the next lower height, until there is none:

    level                0      1       2          bounds: heights of proofs that are known
    is there height 3?   row    <= 2?   <= 1?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ..core import Stratum
from .derivations import Derivation, Derivations, GroupMember, GroupMembers, RuleValuation, by_relation
from .snapshot import Fact, Replay

if TYPE_CHECKING:
    from .node import Reason

UNKNOWN = math.inf

Height: TypeAlias = Callable[[Fact], float]


class Rounds(Protocol):
    """Proofs by the rounds of a stratum."""

    @property
    def replay(self) -> Replay:
        """The rounds."""

    def prove(self, facts: Iterable[Fact]) -> dict[Fact, float]:
        """The heights of the proofs of rows that hold."""

    def tree(self, fact: Fact, depth: int) -> Reason:
        """The tree of a row that was proved, with so many levels."""

    def around(self, fact: Fact) -> Iterator[Reason]:
        """The rows from outside the loop that the proof of a row uses, and those that it finds absent."""

    def tree_of_round(self, fact: Fact, number: int, depth: int) -> Reason:
        """The tree of a row that is there in a round, by a rule of this round, though the row may have been
        there before."""

    def members(self, group: Reason, depth: int) -> tuple[list[GroupMember], Callable[[GroupMember], Reason]]:
        """The members of a group of a round as they are here, and how to show one."""


@dataclass
class Heights:
    """The heights of rows, as far as they have been searched. `leaf` gives those of leaves that are no rows
    of inputs, and None for all other rows. `rounds` gives proofs by the rounds of a stratum, for rows that
    have no other; or None."""

    derivations: Derivations
    leaf: Callable[[Fact], float | None] = lambda _: None
    rounds: Callable[[Heights, Stratum], Rounds | None] | None = None
    searched: dict[Fact, list[Derivation]] = field(default_factory=dict)
    _bounds: dict[Fact, float] = field(default_factory=dict)  # the least heights found so far
    _exact: set[Fact] = field(default_factory=set)  # rows of which there is no lower proof
    _chosen: dict[Fact, Derivation] = field(default_factory=dict)
    _late: dict[Fact, float] = field(default_factory=dict)  # of proofs with rounds, for rows that lack others
    _readers: dict[Fact, list[Fact]] = field(default_factory=dict)
    _strata: dict[tuple[str, ...], Rounds | None] = field(default_factory=dict)
    _by_rounds: dict[Fact, Rounds] = field(default_factory=dict)

    def search(self, goal: Fact) -> float:
        """The least height of a row; infinite if it has no proof."""
        self._meet([goal])
        if goal not in self._exact and goal not in self.searched:
            self._search([goal])
        while goal not in self._exact:
            asked = self._bounds[goal] - 1
            seen = self._search_back(goal, asked)
            if self._bounds[goal] > asked or self._bounds[goal] == UNKNOWN:
                self._settle(goal)
                if self._bounds[goal] == UNKNOWN and self.rounds is not None:
                    self._search_rounds([fact for fact in seen if self._bounds[fact] == UNKNOWN])
        return self.height(goal)

    def search_all(self, goal: Fact) -> None:
        """Searches a row, and each row that any derivation of it rests on."""
        self.search(goal)
        if goal not in self.searched:
            self._search([goal])
        for each in self.searched[goal]:
            for row in rests_on(each.valuation):
                self.search(row)

    def height(self, fact: Fact) -> float:
        """The least height that the search has found for a row."""
        found = self._bounds.get(fact, UNKNOWN)
        return found if found < UNKNOWN else self._late.get(fact, UNKNOWN)

    def of(self, derivation: Derivation) -> float:
        """The height that a derivation gives a row."""
        return 0 if derivation.case.is_fact else 1 + self.greatest(derivation.valuation)

    def way(self, fact: Fact) -> Derivation:
        """A derivation that gives a row its height."""
        if self._bounds[fact] == UNKNOWN:
            return min(self.searched[fact], key=self.of)
        if fact not in self._chosen:
            self._choose([fact])
        return self._chosen[fact]

    def prepare(self, goal: Fact, depth: int) -> None:
        """Looks for the derivations of a tree with so many levels, those of a level together."""
        level, seen = [goal], {goal}
        for _ in range(depth):
            level = [fact for fact in level if fact in self._exact and self._bounds[fact] < UNKNOWN]
            level = [fact for fact in level if self._goes_on(fact)]
            self._choose([fact for fact in level if fact not in self._chosen])
            rows = (row for fact in level for row in rests_on(self._chosen[fact].valuation))
            level = [row for row in dict.fromkeys(rows) if row not in seen]
            seen.update(level)

    def greatest(self, valuation: RuleValuation) -> float:
        """The greatest height of the rows that a valuation rests on."""
        self._meet(rests_on(valuation))
        found = _greatest(valuation, self._bounds.__getitem__)
        return found if found < UNKNOWN else _greatest(valuation, self.height)

    def is_given(self, fact: Fact) -> bool:
        """Whether a row is a leaf of proofs."""
        looped = self.rounds is not None and fact[0] in self.derivations.looped
        return (self.derivations.given(fact[0]) and not looped) or self.leaf(fact) is not None

    def rounds_of(self, fact: Fact) -> Rounds | None:
        """The proofs by rounds, if the row has one of them and no other."""
        return self._by_rounds.get(fact)

    def rounds_in(self, relation: str) -> Rounds | None:
        """The proofs by rounds of a relation of a loop."""
        return self._of_stratum(self.derivations.rounds[relation])

    # ------------------------------------------------------------- the search

    def _goes_on(self, fact: Fact) -> bool:
        """Whether a row is explained by derivations."""
        return not self.is_given(fact) and fact[0] not in self.derivations.looped

    def _search_back(self, goal: Fact, asked: float) -> Iterable[Fact]:
        """Looks for a proof of a row that is as low as `asked` for; infinite: any. Gives the rows that it has
        come to."""
        level, seen, left = [goal], {goal: None}, asked
        while level and left > 0:
            self._search([fact for fact in level if fact not in self.searched])
            if self._bounds[goal] <= asked and self._bounds[goal] < UNKNOWN:
                break
            left -= 1
            found: dict[Fact, None] = {}
            for fact in level:
                for each in self.searched[fact]:
                    found |= dict.fromkeys(rests_on(each.valuation))
            reached = [fact for fact in found if fact not in seen and not self._is_low(fact, left)]
            level = [fact for fact in reached if fact not in self._exact and self._goes_on(fact)]
            seen |= dict.fromkeys(level)
        return seen

    def _is_low(self, fact: Fact, height: float) -> bool:
        """Whether a row is known to have a proof of a height."""
        bound = self._bounds[fact]
        return bound <= height and bound < UNKNOWN

    def _settle(self, goal: Fact) -> None:
        """No lower proof of a row was found: so its height is the least, and those of the rows on which it
        rests."""
        pending = [goal]
        while pending:
            fact = pending.pop()
            if fact in self._exact:
                continue
            self._exact.add(fact)
            if fact in self.searched and self._bounds[fact] < UNKNOWN:
                self._choose([fact])
                rows = rests_on(self._chosen[fact].valuation)
                pending += [row for row in rows if self._bounds[row] == self._bounds[fact] - 1]

    def _search(self, facts: Sequence[Fact]) -> None:
        """Looks for the derivations of rows."""
        found = self.derivations.of(facts)
        self.searched |= found
        readers: dict[Fact, None] = {}
        for ways in found.values():
            for each in ways:
                for row in rests_on(each.valuation):
                    readers[row] = None
        self._meet([row for row in readers if row not in self._bounds])
        for fact, ways in found.items():
            for each in ways:
                for row in rests_on(each.valuation):
                    if row not in self._exact:
                        self._readers.setdefault(row, []).append(fact)
        self._relax(facts)

    def _choose(self, facts: Iterable[Fact]) -> None:
        """A derivation that gives each of some rows its height: the first one of the first rule that does."""
        for relation, rows in by_relation(facts).items():
            left = dict.fromkeys((relation, row) for row in rows)
            for fact in [each for each in left if each in self.searched]:
                self._chosen[fact] = min(self.searched[fact], key=self._bound)
                del left[fact]
            for case in self.derivations.cases(relation) if left else ():
                found = self.derivations.by(case, left)
                self._meet(
                    [row for ways in found.values() for each in ways for row in rests_on(each.valuation)]
                )
                for fact, ways in found.items():
                    best = min(ways, key=self._bound)
                    if self._bound(best) <= self._bounds[fact]:
                        self._chosen[fact] = best
                        del left[fact]
                if not left:
                    break

    def _meet(self, facts: Iterable[Fact]) -> None:
        """Notes bounds of the heights of rows that are new, before their proofs are searched."""
        new = [fact for fact in facts if fact not in self._bounds]
        looped = []
        for fact in new:
            self._bounds[fact] = UNKNOWN
            if self.is_given(fact):
                self._bounds[fact] = self.leaf(fact) or 0
                self._exact.add(fact)
            elif fact[0] in self.derivations.looped:
                self._exact.add(fact)
                looped.append(fact)
        self._prove(looped)
        births, least = self.derivations.births(fact for fact in new if fact not in self._exact)
        self._bounds |= births
        self._exact |= least

    def _bound(self, derivation: Derivation) -> float:
        if derivation.case.is_fact:
            return 0
        return 1 + _greatest(derivation.valuation, self._bounds.__getitem__)

    def _relax(self, facts: Iterable[Fact]) -> None:
        """Lowers the heights of rows that were searched, and then of rows that rest on them."""
        pending: Iterable[Fact] = facts
        while pending:
            lower = []
            for fact in pending:
                if fact not in self._exact and fact in self.searched:
                    found = min(map(self._bound, self.searched[fact]), default=UNKNOWN)
                    if found < self._bounds[fact]:
                        self._bounds[fact] = found
                        lower.append(fact)
            pending = dict.fromkeys(up for fact in lower for up in self._readers.get(fact, ()))

    # ------------------------------------------------------------- rounds

    def _search_rounds(self, facts: Sequence[Fact]) -> None:
        """Proofs with rounds, for rows that have no other."""
        self._prove([fact for fact in facts if fact[0] in self.derivations.rounds])
        pending = [fact for fact in facts if fact not in self._by_rounds]
        self._exact.update(facts)
        while pending:
            lower = []
            for fact in pending:
                found = min(map(self.of, self.searched[fact]), default=UNKNOWN)
                if found < self.height(fact):
                    self._late[fact] = found
                    lower.append(fact)
            readers = dict.fromkeys(up for fact in lower for up in self._readers.get(fact, ()))
            pending = [up for up in readers if up not in self._by_rounds and self._bounds[up] == UNKNOWN]

    def _prove(self, facts: Iterable[Fact]) -> None:
        """Proofs by rounds, of rows that have none yet."""
        if self.rounds is None:
            return
        strata: dict[tuple[str, ...], list[Fact]] = {}
        for fact in facts:
            if fact not in self._by_rounds:
                strata.setdefault(self.derivations.rounds[fact[0]].relations, []).append(fact)
        for each in strata.values():
            rounds = self._of_stratum(self.derivations.rounds[each[0][0]])
            if rounds is not None:
                for fact, height in rounds.prove(each).items():
                    self._by_rounds[fact], self._late[fact] = rounds, height
                    if fact[0] in self.derivations.looped:
                        self._bounds[fact] = height

    def _of_stratum(self, stratum: Stratum) -> Rounds | None:
        if stratum.relations not in self._strata:
            self._strata[stratum.relations] = None if self.rounds is None else self.rounds(self, stratum)
        return self._strata[stratum.relations]


def _greatest(valuation: RuleValuation, height: Height) -> float:
    found = max(map(height, valuation.rows), default=0.0)
    return found if valuation.group is None else max(found, _of_group(valuation.group, height))


def _of_group(group: GroupMembers, height: Height) -> float:
    return max((min(_greatest(way, height) for way in each.ways) for each in group.needed), default=0.0)


def rests_on(valuation: RuleValuation) -> Iterator[Fact]:
    """The rows that a valuation rests on."""
    yield from valuation.rows
    if valuation.group is not None:
        for member in valuation.group.needed:
            for way in member.ways:
                yield from rests_on(way)
