"""The smallest sets of facts whose insertion makes a row hold, or whose deletion ends it.

Each set is tried by an epoch that is taken back. Candidates for a deletion: every set that ends a row has a
fact of each proof, so a fact of one proof is deleted, then a fact of a proof that is left, and so on.
Candidates for an insertion are found backwards through the rules: some terms of a body lack a row, the others
have one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, product
from typing import Any, TypeAlias

from ..codegen.analysis import free_variables
from ..core import Atom, Clause, GroupBy, Guard, Let, Unnest
from .derivations import Case, Derivations, Valuation
from .heights import UNKNOWN, Heights
from .held import Fact
from .inverting import bindings
from .stages import Stage

MOST = 3
"""The facts of a set, at the most."""

_SETS = 5  # that are told
_DEPTH = 6  # of rules through which candidates are looked for
_VALUATIONS, _VALUES, _CANDIDATES = 40, 12, 400

Facts: TypeAlias = frozenset[Fact]


@dataclass
class Repairs:
    """Looks for sets of facts until a moment (of `time.monotonic`). `complete` says whether the time
    sufficed."""

    derivations: Derivations
    until: float
    complete: bool = True
    _wanted: dict[tuple[Fact, int, int], set[Facts]] = field(default_factory=dict)
    _open: set[Fact] = field(default_factory=set)

    def deletions(self, fact: Fact) -> tuple[tuple[Fact, ...], ...]:
        """The smallest sets of facts whose deletion ends a row."""
        held, level = self.derivations.held, [frozenset[Fact]()]
        left: dict[Facts, Facts | None] = {frozenset(): self._leaves(fact)}
        for _ in range(MOST):
            found = list[Facts]()
            grown = (each | {leaf} for each in level for leaf in sorted_facts(left[each] or ()))
            following = dict.fromkeys(grown)
            for each in following:
                if self._late():
                    break
                otherwise: Facts | None = frozenset()
                left[each] = held.attempt((), sorted_facts(each), lambda: self._leaves(fact), otherwise)
                if left[each] is None:
                    found.append(each)
            if found or self._late():
                return tuple(map(sorted_facts, found[:_SETS]))
            level = list(following)
        return ()

    def _leaves(self, fact: Fact) -> Facts | None:
        """The facts of a proof of a row; None if it does not hold."""
        held, heights = self.derivations.held, Heights(self.derivations)
        if not held.holds(fact[0], [fact[1]])[0]:
            return None
        found, pending, seen = set[Fact](), [fact], {fact}
        while pending:
            each = pending.pop()
            if self.derivations.given(each[0]):
                if held.program.relations[each[0]].role == "input":
                    found.add(each)
                continue
            if heights.search(each) == UNKNOWN:
                continue
            way = heights.way(each)
            new = [row for row in _chosen(way.valuation, heights) if row not in seen]
            seen.update(new)
            pending += new
        return frozenset(found)

    def insertions(self, fact: Fact) -> tuple[tuple[Fact, ...], ...]:
        """The smallest sets of facts whose insertion makes a row hold."""
        tried = set[Facts]()
        for size, depth in product(range(1, MOST + 1), range(1, _DEPTH + 1)):
            found = list[Facts]()
            candidates = self._candidates(fact, size, depth) - tried - {frozenset()}
            for each in sorted(candidates, key=lambda each: _order(each, fact)):
                if self._late() or len(found) == _SETS or (found and len(each) > len(found[0])):
                    break
                tried.add(each)
                if self._suffices(each, fact):
                    found.append(each)
            if found or self._late():
                return tuple(map(sorted_facts, found))
        return ()

    def _suffices(self, facts: Facts, fact: Fact) -> bool:
        """Whether a row holds once facts are inserted."""
        held = self.derivations.held
        return held.attempt(sorted_facts(facts), (), lambda: held.holds(fact[0], [fact[1]])[0], False)

    def _late(self) -> bool:
        if time.monotonic() > self.until:
            self.complete = False
        return not self.complete

    def _candidates(self, fact: Fact, size: int, depth: int) -> set[Facts]:
        """Sets of at most so many facts that may make a row hold."""
        held, (relation, row) = self.derivations.held, fact
        if held.holds(relation, [row])[0]:
            return {frozenset()}
        if self.derivations.given(relation):
            return {frozenset([fact])} if held.program.relations[relation].role == "input" else set()
        key = fact, size, depth
        if key in self._wanted:
            return self._wanted[key]
        if depth == 0 or fact in self._open or self._late():
            return set()
        self._open.add(fact)
        found = set[Facts]()
        for case in self.derivations.cases(relation):
            found.update(islice(self._of_case(case, fact, size, depth), _CANDIDATES))
        self._open.discard(fact)
        if not self._open:
            self._wanted[key] = found
        return found

    def _of_case(self, case: Case, fact: Fact, size: int, depth: int) -> Iterator[Facts]:
        """The candidates by one rule."""
        known = bindings(case.head, fact[1], self.derivations.held.program.typedefs)
        body = case.rule.body
        if known is None or any(isinstance(each, GroupBy) for each in body):
            return
        terms = [each for each in body if isinstance(each, Atom) and not each.negated]
        for count in range(1, min(len(terms), MOST) + 1):
            for missing in combinations(terms, count):
                for rows in self._lacking(case, known, missing):
                    yield from self._together(rows, size, depth)

    def _together(self, rows: Sequence[Fact], size: int, depth: int) -> Iterator[Facts]:
        """The candidates for several rows at once."""
        each = [self._candidates(row, size, depth - 1) for row in dict.fromkeys(rows)]
        for parts in islice(product(*each), _CANDIDATES):
            whole = frozenset[Fact]().union(*parts)
            if len(whole) <= size:
                yield whole

    def _lacking(
        self, case: Case, known: dict[str, Any], missing: Sequence[Atom]
    ) -> Iterator[tuple[Fact, ...]]:
        """The rows that some terms of a rule lack while the others have one."""
        there = [each for each in case.rule.body if each not in missing]
        kept = list(_computable(there, set(known)))
        stage = Stage(replace(case.rule, body=tuple(kept)), len(kept), tuple(known))
        found = stage.valuations(self.derivations.held, [tuple(known.values())], _VALUATIONS)
        for _, values in found:
            given = {**known, **values}
            for row in islice(self._rows(missing, given), _VALUES**2):
                if self._late():
                    return
                yield row

    def _rows(self, missing: Sequence[Atom], given: dict[str, Any]) -> Iterator[tuple[Fact, ...]]:
        """Rows for the terms, with values that occur for variables that are open."""
        relations = self.derivations.held.program.relations
        open_: dict[str, list[Any]] = {}
        for term in missing:
            for at, (name, column) in enumerate(
                zip(term.columns, relations[term.relation].columns, strict=True)
            ):
                if name is not None and name not in given and name not in open_:
                    open_[name] = list(self._values(missing, name, column.type, term.relation, at, given))
        for values in product(*open_.values()):
            all_ = {**given, **dict(zip(open_, values, strict=True))}
            yield tuple((t.relation, tuple(all_[name] for name in t.columns if name)) for t in missing)

    def _values(
        self, missing: Sequence[Atom], name: str, of: Any, relation: str, at: int, given: dict[str, Any]
    ) -> Iterator[Any]:
        """Values for an open variable: those of the same type that are known, and some of the column."""
        columns = self.derivations.held.program.relations[relation].columns
        same = {
            given[each]
            for term in missing
            for each, column in zip(
                term.columns, self.derivations.held.program.relations[term.relation].columns, strict=True
            )
            if each in given and column.type == of
        }
        yield from same
        names = tuple(f"c{k}" for k in range(len(columns)))
        some = self.derivations.some(relation, names, _VALUES)
        yield from dict.fromkeys(row[at] for row in some if row[at] not in same)


def _computable(clauses: Iterable[Clause], known: set[str]) -> Iterator[Clause]:
    """The clauses, without those over variables that no clause binds."""
    bound, clauses = set(known), list(clauses)
    for clause in clauses:
        if isinstance(clause, Atom) and not clause.negated:
            bound.update(name for name in clause.columns if name is not None)
    for clause in clauses:
        match clause:
            case Atom(_, columns, True):
                if all(name is None or name in bound for name in columns):
                    yield clause
            case Let(name, value) | Unnest(name, value):
                if free_variables(value).keys() <= bound:
                    bound.add(name)
                    yield clause
            case Guard(condition):
                if free_variables(condition).keys() <= bound:
                    yield clause
            case _:
                yield clause


def _chosen(valuation: Valuation, heights: Heights) -> Iterator[Fact]:
    """The rows of one proof that a valuation rests on."""
    yield from valuation.rows
    if valuation.group is not None:
        for member in valuation.group.needed:
            yield from _chosen(min(member.ways, key=heights.greatest), heights)


def _order(facts: Facts, goal: Fact) -> tuple[int, int, str]:
    """Smaller sets come first, then those with more of the values of the row."""
    strange = sum(value not in goal[1] for _, row in facts for value in row)
    return len(facts), strange, repr(sorted_facts(facts))


def sorted_facts(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Facts in order."""
    return tuple(sorted(facts, key=lambda fact: (fact[0], repr(fact[1]))))
