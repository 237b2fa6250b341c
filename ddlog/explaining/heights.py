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
from collections.abc import Iterator
from dataclasses import dataclass, field

from .derivations import Derivation, Derivations, Members, Valuation
from .held import Fact

UNKNOWN = math.inf


@dataclass
class Heights:
    """The heights of rows, as far as they have been searched."""

    derivations: Derivations
    searched: dict[Fact, list[Derivation]] = field(default_factory=dict)
    _heights: dict[Fact, float] = field(default_factory=dict)
    _born: dict[Fact, int] = field(default_factory=dict)  # rows whose least heights are at hand
    _readers: dict[Fact, set[Fact]] = field(default_factory=dict)

    def search(self, goal: Fact) -> float:
        """The least height of a row; infinite if it has no proof."""
        self._born |= self.derivations.births([goal])
        if goal in self._born:
            self._search([goal] if goal not in self.searched else [])
            return self.height(goal)
        level, depth = [goal], 0
        seen = {goal}
        while level:
            self._search([fact for fact in level if fact not in self.searched])
            if self.height(goal) <= depth + 1:
                break
            reached = dict.fromkeys(
                row for fact in level for each in self.searched[fact] for row in rests_on(each.valuation)
            )
            level = [
                fact
                for fact in reached
                if fact not in seen and fact not in self._born and not self._is_given(fact)
            ]
            seen.update(level)
            depth += 1
        return self.height(goal)

    def search_all(self, goal: Fact) -> None:
        """Searches a row, and each row that any derivation of it rests on."""
        self.search(goal)
        for each in self.searched[goal]:
            for row in rests_on(each.valuation):
                if not self._is_given(row):
                    self.search(row)

    def height(self, fact: Fact) -> float:
        """The least height that the search has found for a row."""
        if fact in self._born:
            return self._born[fact]
        return 0 if self._is_given(fact) else self._heights.get(fact, UNKNOWN)

    def of(self, derivation: Derivation) -> float:
        """The height that a derivation gives a row."""
        return 0 if derivation.case.is_fact else 1 + self.greatest(derivation.valuation)

    def greatest(self, valuation: Valuation) -> float:
        """The greatest height of the rows that a valuation rests on."""
        found = max(map(self.height, valuation.rows), default=0.0)
        return found if valuation.group is None else max(found, self._of_group(valuation.group))

    def _of_group(self, group: Members) -> float:
        return max((min(map(self.greatest, each.ways)) for each in group.needed), default=0.0)

    def _is_given(self, fact: Fact) -> bool:
        return self.derivations.given(fact[0])

    def _search(self, facts: list[Fact]) -> None:
        found = self.derivations.of(facts)
        self.searched |= found
        rows = {row for ways in found.values() for each in ways for row in rests_on(each.valuation)}
        self._born |= self.derivations.births(
            row for row in rows if row not in self._born and not self._is_given(row)
        )
        for fact, ways in found.items():
            for each in ways:
                for row in rests_on(each.valuation):
                    self._readers.setdefault(row, set()).add(fact)
        pending = facts
        while pending:
            lower = [fact for fact in pending if self._lowered(fact)]
            pending = list(dict.fromkeys(up for fact in lower for up in self._readers.get(fact, ())))

    def _lowered(self, fact: Fact) -> bool:
        height = min(map(self.of, self.searched[fact]), default=UNKNOWN)
        lower = height < self.height(fact)
        if lower:
            self._heights[fact] = height
        return lower


def rests_on(valuation: Valuation) -> Iterator[Fact]:
    """The rows that a valuation rests on."""
    yield from valuation.rows
    if valuation.group is not None:
        for member in valuation.group.needed:
            for way in member.ways:
                yield from rests_on(way)
