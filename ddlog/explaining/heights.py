"""The least heights of proofs.

A row that is given has height 0, and so has a fact of the program. A derivation has a height 1 more than the
greatest of the rows that it rests on: those of its terms; of a group those of all members, or of the one that
decides its least or greatest value. Negated terms and conditions add nothing. A row has the least height of
its derivations.

The search goes back from a row level by level. Once the rows of all levels up to D are searched, each proof
of a height up to D + 1 has been seen, since a row at level d of a proof has at most the height of the proof
less d. So the search ends when the row itself has such a height.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ..core import Stratum
from .derivations import Derivation, Derivations, Members, Valuation
from .held import Fact

if TYPE_CHECKING:
    from .tree import Tree

UNKNOWN = math.inf

Height: TypeAlias = Callable[[Fact], float]


class Rounds(Protocol):
    """Proofs by the rounds of a stratum."""

    def prove(self, facts: Iterable[Fact]) -> dict[Fact, float]:
        """The heights of the proofs of rows that hold."""

    def tree(self, fact: Fact, depth: int) -> Tree:
        """The tree of a row that was proved, with so many levels."""


@dataclass
class Heights:
    """The heights of rows, as far as they have been searched. `leaf` gives those of leaves that are no rows
    of inputs, and None for all other rows. `rounds` gives proofs by the rounds of a stratum, for rows that
    have no other; or None."""

    derivations: Derivations
    leaf: Callable[[Fact], float | None] = lambda _: None
    rounds: Callable[[Heights, Stratum], Rounds | None] | None = None
    searched: dict[Fact, list[Derivation]] = field(default_factory=dict)
    _heights: dict[Fact, float] = field(default_factory=dict)  # of proofs in the state
    _late: dict[Fact, float] = field(default_factory=dict)  # of proofs with rounds, for rows that lack others
    _born: dict[Fact, int] = field(default_factory=dict)  # rows whose least heights are at hand
    _readers: dict[Fact, set[Fact]] = field(default_factory=dict)
    _strata: dict[tuple[str, ...], Rounds | None] = field(default_factory=dict)
    _by_rounds: dict[Fact, Rounds] = field(default_factory=dict)

    def search(self, goal: Fact) -> float:
        """The least height of a row; infinite if it has no proof."""
        if self.is_given(goal) or goal in self._by_rounds:
            return self.height(goal)
        if goal[0] in self.derivations.looped:
            self._prove([goal])
            return self.height(goal)
        self._born |= self.derivations.births([goal])
        if goal in self._born:
            self._search([goal] if goal not in self.searched else [])
            return self.height(goal)
        level, depth = [goal], 0
        seen = {goal}
        while level:
            self._search([fact for fact in level if fact not in self.searched])
            if self._in_state(goal) <= depth + 1:
                break
            reached = dict.fromkeys(
                row for fact in level for each in self.searched[fact] for row in rests_on(each.valuation)
            )
            level = [
                fact
                for fact in reached
                if fact not in seen and fact not in self._born and self._goes_on(fact)
            ]
            seen.update(level)
            depth += 1
        if self._in_state(goal) == UNKNOWN and self.rounds is not None:
            self._search_rounds([fact for fact in seen if self._in_state(fact) == UNKNOWN])
        return self.height(goal)

    def search_all(self, goal: Fact) -> None:
        """Searches a row, and each row that any derivation of it rests on."""
        self.search(goal)
        if goal not in self.searched:
            self.searched |= self.derivations.of([goal])
        for each in self.searched[goal]:
            for row in rests_on(each.valuation):
                if not self.is_given(row):
                    self.search(row)

    def height(self, fact: Fact) -> float:
        """The least height that the search has found for a row."""
        found = self._in_state(fact)
        return found if found < UNKNOWN else self._late.get(fact, UNKNOWN)

    def of(self, derivation: Derivation) -> float:
        """The height that a derivation gives a row."""
        return 0 if derivation.case.is_fact else 1 + self.greatest(derivation.valuation)

    def way(self, fact: Fact) -> Derivation:
        """A derivation that gives a row its height."""
        ways = self.searched[fact]
        if self._in_state(fact) < UNKNOWN:
            return min(ways, key=lambda each: self._of(each, self._in_state))
        return min(ways, key=self.of)

    def greatest(self, valuation: Valuation) -> float:
        """The greatest height of the rows that a valuation rests on."""
        found = _greatest(valuation, self._in_state)
        return found if found < UNKNOWN else _greatest(valuation, self.height)

    def is_given(self, fact: Fact) -> bool:
        """Whether a row is a leaf of proofs."""
        looped = self.rounds is not None and fact[0] in self.derivations.looped
        return (self.derivations.given(fact[0]) and not looped) or self.leaf(fact) is not None

    def rounds_of(self, fact: Fact) -> Rounds | None:
        """The proofs by rounds, if the row has one of them and no other."""
        return self._by_rounds.get(fact)

    def _in_state(self, fact: Fact) -> float:
        if fact in self._born:
            return self._born[fact]
        return (self.leaf(fact) or 0) if self.is_given(fact) else self._heights.get(fact, UNKNOWN)

    def _goes_on(self, fact: Fact) -> bool:
        """Whether a row is explained by derivations."""
        return not self.is_given(fact) and fact[0] not in self.derivations.looped

    def _of(self, derivation: Derivation, height: Height) -> float:
        return 0 if derivation.case.is_fact else 1 + _greatest(derivation.valuation, height)

    def _search(self, facts: list[Fact]) -> None:
        found = self.derivations.of(facts)
        self.searched |= found
        rows = {row for ways in found.values() for each in ways for row in rests_on(each.valuation)}
        self._born |= self.derivations.births(
            row for row in rows if row not in self._born and self._goes_on(row)
        )
        looped = self.derivations.looped
        self._prove(row for row in rows if row[0] in looped and not self.is_given(row))
        for fact, ways in found.items():
            for each in ways:
                for row in rests_on(each.valuation):
                    self._readers.setdefault(row, set()).add(fact)
        self._relax(facts, self._heights, self._in_state)

    def _relax(self, facts: Sequence[Fact], heights: dict[Fact, float], height: Height) -> None:
        """Lowers the heights of rows, and then of rows that rest on them."""
        pending = list(facts)
        while pending:
            lower = []
            for fact in pending:
                found = min((self._of(each, height) for each in self.searched[fact]), default=UNKNOWN)
                if found < height(fact) and fact not in self._by_rounds:
                    heights[fact] = found
                    lower.append(fact)
            pending = list(dict.fromkeys(up for fact in lower for up in self._readers.get(fact, ())))

    def _search_rounds(self, facts: Sequence[Fact]) -> None:
        """Proofs with rounds, for rows that have no other."""
        self._prove(fact for fact in facts if fact[0] in self.derivations.rounds)
        self._relax(facts, self._late, self.height)

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
                        self._heights[fact] = height

    def _of_stratum(self, stratum: Stratum) -> Rounds | None:
        if stratum.relations not in self._strata:
            self._strata[stratum.relations] = None if self.rounds is None else self.rounds(self, stratum)
        return self._strata[stratum.relations]


def _greatest(valuation: Valuation, height: Height) -> float:
    found = max(map(height, valuation.rows), default=0.0)
    return found if valuation.group is None else max(found, _of_group(valuation.group, height))


def _of_group(group: Members, height: Height) -> float:
    return max((min(_greatest(way, height) for way in each.ways) for each in group.needed), default=0.0)


def rests_on(valuation: Valuation) -> Iterator[Fact]:
    """The rows that a valuation rests on."""
    yield from valuation.rows
    if valuation.group is not None:
        for member in valuation.group.needed:
            for way in member.ways:
                yield from rests_on(way)
