"""The smallest sets of changes of facts that end a row: deletions, and insertions where deletions cannot.

Every such set breaks each proof of the row. A proof is broken by the deletion of one of its facts, by facts
that give a row to a negated term of it, or by facts that give another member to a group of it. A set is tried
by an epoch that is taken back. If the row still holds, the set grows by each change that breaks a proof
that is left. Sets without insertions are tried before all others, and smaller sets before larger ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice
from typing import TypeAlias

from ..core import Atom, GroupBy
from .byrounds import with_rounds
from .derivations import Derivations, GroupMembers, RuleValuation
from .explanation import Ending
from .heights import UNKNOWN, Heights
from .node import Reason
from .patience import TRIAL, Patience
from .places import ProofPlace
from .repairs import MOST, Repairs, sorted_facts
from .snapshot import ANY, Fact

_SETS = 5  # that are told
_ROWS = 4  # that are tried for a negated term, or as members of a group
_BREAKS = 400  # sets by which a set grows

Step: TypeAlias = tuple[Fact, bool]
"""A fact, and whether it is inserted."""

Steps: TypeAlias = frozenset[Step]


@dataclass
class Endings:
    """Looks for sets of changes as far as some patience goes. `complete` says whether it sufficed."""

    derivations: Derivations
    patience: Patience
    complete: bool = True
    _tried: set[Steps] = field(default_factory=set)

    def of(self, fact: Fact) -> list[Ending]:
        """The smallest sets that end a row."""
        found, pending = list[Steps](), [_placed(frozenset())]
        while pending:
            *rank, _, steps = heappop(pending)
            late = self.patience.is_over(TRIAL)
            if late or len(found) == _SETS or (found and rank > [*_placed(found[0])[:2]]):
                self.complete = self.complete and not late
                break
            if steps in self._tried:
                continue
            self._tried.add(steps)
            left = self._left(steps, fact)
            if left is None:
                found.append(steps)
            for each in left or ():
                grown = steps | each
                if len(grown) <= MOST and len({fact for fact, _ in grown}) == len(grown):
                    heappush(pending, _placed(grown))
        return [Ending(_facts(each, False), _facts(each, True)) for each in found]

    def _left(self, steps: Steps, fact: Fact) -> list[Steps] | None:
        """The steps that break a proof that still stands after some changes; None if no proof stands."""
        held, otherwise = self.derivations.held, list[Steps]()
        if not steps:
            return self._breaking(fact)
        return held.attempt(
            _facts(steps, True), _facts(steps, False), lambda: self._breaking(fact), otherwise or None
        )

    def _breaking(self, fact: Fact) -> list[Steps] | None:
        held, heights = self.derivations.held, with_rounds(self.derivations)
        if not held.holds(fact[0], [fact[1]])[0]:
            return None
        found, seen, pending = dict[Steps, None](), {fact}, [fact]
        repairs = Repairs(ProofPlace(self.derivations), self.patience)
        breaking = list[Iterator[frozenset[Fact]]]()
        while pending:
            each = pending.pop()
            if heights.is_given(each):
                if held.program.relations[each[0]].role == "input":
                    found[frozenset([(each, False)])] = None
                continue
            if heights.search(each) == UNKNOWN:
                continue
            rows = list[Fact]()
            if (rounds := heights.rounds_of(each)) is not None:
                for item in rounds.around(each):
                    if item.is_row:
                        rows.append((item.relation, item.row))
                    else:
                        breaking.append(self._appearing(item, repairs))
            else:
                for valuation in _parts(heights.way(each).valuation, heights):
                    breaking.append(self._insertions(valuation, repairs))
                    rows += valuation.rows
            pending += [row for row in dict.fromkeys(rows) if row not in seen]
            seen.update(rows)
        for sets in breaking:
            for facts in islice(sets, _BREAKS):
                found[frozenset((each, True) for each in facts)] = None
        self.complete = self.complete and repairs.complete
        return list(found)

    def _appearing(self, absent: Reason, repairs: Repairs) -> Iterator[frozenset[Fact]]:
        """Sets of facts that give a negated term a row, where a round looked."""
        declared = self.derivations.held.program.relations[absent.relation]
        named = {f"c{at}": value for at, value in enumerate(absent.row) if value is not ANY}
        columns = tuple(f"c{at}" if f"c{at}" in named else None for at in range(len(absent.row)))
        yield from repairs.giving(Atom(absent.relation, columns, True, declared.span), named, _ROWS)

    def _insertions(self, valuation: RuleValuation, repairs: Repairs) -> Iterator[frozenset[Fact]]:
        """Sets of facts that give a row to a negated term, or another member to a group."""
        stage = valuation.stage
        for clause in stage.body[stage.last :]:
            if isinstance(clause, Atom) and clause.negated:
                yield from repairs.giving(clause, valuation.variables, _ROWS)
        if valuation.group is not None:
            yield from _joining(valuation.group, repairs)


def _joining(group: GroupMembers, repairs: Repairs) -> Iterator[frozenset[Fact]]:
    """Sets of facts that give a group another member."""
    inner = group.inner
    if not any(isinstance(each, GroupBy) for each in inner.body):
        yield from repairs.satisfying(inner, dict(zip(group.clause.keys, group.key, strict=True)))


def _parts(valuation: RuleValuation, heights: Heights) -> Iterator[RuleValuation]:
    """A valuation, and those of the members of its groups."""
    yield valuation
    if valuation.group is not None:
        for member in valuation.group.needed:
            yield from _parts(min(member.ways, key=heights.greatest), heights)


def _placed(steps: Steps) -> tuple[bool, int, str, Steps]:
    """A set, with its place in the order in which sets are tried."""
    mixed = any(inserted for _, inserted in steps)
    return mixed, len(steps), repr((_facts(steps, False), _facts(steps, True))), steps


def _facts(steps: Steps, inserted: bool) -> tuple[Fact, ...]:
    return sorted_facts(fact for fact, each in steps if each == inserted)
