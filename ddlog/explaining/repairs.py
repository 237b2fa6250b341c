"""The smallest sets of facts whose insertion makes a row hold.

Each set is tried by an epoch that is taken back. Candidates are found backwards through the rules: some terms
of a body lack a row, the others have one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, product
from typing import Any, Protocol, TypeAlias

from ..codegen.analysis import free_variables
from ..core import Atom, Clause, GroupBy, Guard, Let, Stratum, Unnest
from .derivations import Case, Derivations
from .held import Fact
from .inverting import bindings
from .stages import Stage

MOST = 3
"""The facts of a set, at the most."""

_SETS = 5  # that are told
_DEPTH = 6  # of rules through which candidates are looked for
_VALUATIONS, _VALUES, _CANDIDATES, _LACKING = 40, 12, 400, 400

Facts: TypeAlias = frozenset[Fact]


class InRounds(Protocol):
    """Candidates through the rounds of a loop."""

    def candidates(self, fact: Fact, size: int, depth: int) -> set[Facts]:
        """Sets of at most so many facts that may make a row hold in the last round."""


@dataclass
class Repairs:
    """Looks for sets of facts until a moment (of `time.monotonic`). `complete` says whether the time
    sufficed. `in_loop` begins to look through the rounds of a loop, for the repairs around it."""

    derivations: Derivations
    until: float
    in_loop: Callable[[Repairs, Stratum], InRounds | None] = lambda around, stratum: None
    complete: bool = True
    _wanted: dict[tuple[Fact, int, int], set[Facts]] = field(default_factory=dict)
    _open: set[Fact] = field(default_factory=set)
    _there: dict[Fact, bool] = field(default_factory=dict)
    _some: dict[tuple[str, int], list[Any]] = field(default_factory=dict)  # values of a column
    _lacked: dict[tuple[Fact, int, tuple[int, ...]], list[tuple[Fact, ...]]] = field(default_factory=dict)
    _loops: dict[tuple[str, ...], InRounds | None] = field(default_factory=dict)

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
                    found.append(self._least(each, fact))
            if found or self._late():
                least = min(map(len, found), default=0)
                return tuple(sorted_facts(each) for each in dict.fromkeys(found) if len(each) == least)
        return ()

    def giving(self, term: Atom, values: Mapping[str, Any], most: int) -> Iterator[Facts]:
        """Sets of facts that give a term a row that it finds, for known values: with at most so many rows."""
        names = [name or f"$open{at}" for at, name in enumerate(term.columns)]
        positive = replace(term, columns=tuple(names), negated=False)
        known = {name: values[name] for name in names if name in values}
        for (row,) in islice(self._rows([positive], known), most):
            yield from self._candidates(row, MOST, _DEPTH)

    def satisfying(self, stage: Stage, known: dict[str, Any]) -> Iterator[Facts]:
        """Sets of facts that give a stage without groups another valuation."""
        terms = [each for each in stage.body if isinstance(each, Atom) and not each.negated]
        for count in range(1, min(len(terms), MOST) + 1):
            for missing in combinations(terms, count):
                for rows in islice(self._lacking(stage, known, missing), _LACKING):
                    yield from (each for each in self._together(rows, MOST, _DEPTH) if each)

    def _suffices(self, facts: Facts, fact: Fact) -> bool:
        """Whether a row holds once facts are inserted."""
        held = self.derivations.held
        return held.attempt(sorted_facts(facts), (), lambda: held.holds(fact[0], [fact[1]])[0], False)

    def _least(self, facts: Facts, fact: Fact) -> Facts:
        """The smallest part of some facts that suffices: a row may hold in a way that no candidate is for."""
        parts = (each for size in range(1, len(facts)) for each in combinations(sorted_facts(facts), size))
        return next((part for part in map(frozenset, parts) if self._suffices(part, fact)), facts)

    def _holds(self, fact: Fact) -> bool:
        if fact not in self._there:
            self._there[fact] = self.derivations.held.holds(fact[0], [fact[1]])[0]
        return self._there[fact]

    def _late(self) -> bool:
        if time.monotonic() > self.until:
            self.complete = False
        return not self.complete

    def _candidates(self, fact: Fact, size: int, depth: int) -> set[Facts]:
        """Sets of at most so many facts that may make a row hold."""
        held, relation = self.derivations.held, fact[0]
        if self._holds(fact):
            return {frozenset()}
        if (loop := self._loop(relation)) is not None:
            return loop.candidates(fact, size, depth)
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

    def _loop(self, relation: str) -> InRounds | None:
        """The rounds of the loop that computes a relation."""
        stratum = self.derivations.loop(relation)
        if stratum is None:
            return None
        if stratum.relations not in self._loops:
            self._loops[stratum.relations] = self.in_loop(self, stratum)
        return self._loops[stratum.relations]

    def _is_given(self, relation: str) -> bool:
        """Whether the rows of a relation come from facts alone."""
        return self.derivations.is_leaf(relation)

    def _of_case(self, case: Case, fact: Fact, size: int, depth: int) -> Iterator[Facts]:
        """The candidates by one rule."""
        known = bindings(case.head, fact[1], self.derivations.held.program.typedefs)
        body = case.rule.body
        if known is None or any(isinstance(each, GroupBy) for each in body):
            return
        terms = [each for each in body if isinstance(each, Atom) and not each.negated]
        for count in range(1, min(len(terms), MOST) + 1):
            for missing in combinations(range(len(terms)), count):
                key = fact, id(case), missing
                if key not in self._lacked:
                    found = self._lacking(case.stage, known, [terms[at] for at in missing])
                    self._lacked[key] = list(islice(found, _LACKING))
                for rows in self._lacked[key]:
                    yield from self._together(rows, size, depth)

    def _together(self, rows: Sequence[Fact], size: int, depth: int) -> Iterator[Facts]:
        """The candidates for several rows at once."""
        each, lacking = list[set[Facts]](), 0
        for row in sorted(dict.fromkeys(rows), key=lambda row: not self._is_given(row[0])):
            if self._is_given(row[0]) and not self._holds(row):
                lacking += 1  # a fact that is needed
            if lacking > size:
                return
            each.append(self._candidates(row, size, depth - 1))
            if not each[-1]:
                return
        for parts in islice(product(*each), _CANDIDATES):
            whole = frozenset[Fact]().union(*parts)
            if len(whole) <= size:
                yield whole

    def _lacking(
        self, whole: Stage, known: dict[str, Any], missing: Sequence[Atom]
    ) -> Iterator[tuple[Fact, ...]]:
        """The rows that some terms of a rule lack while the others have one."""
        there = [each for each in whole.body if each not in missing]
        kept = list(_computable(there, set(known)))
        stage = Stage(replace(whole.rule, body=tuple(kept)), len(kept), tuple(known))
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
        same = {
            given[each]
            for term in missing
            for each, column in zip(
                term.columns, self.derivations.held.program.relations[term.relation].columns, strict=True
            )
            if each in given and column.type == of
        }
        yield from same
        if (relation, at) not in self._some:
            columns = self.derivations.held.program.relations[relation].columns
            some = self.derivations.some(relation, tuple(f"c{k}" for k in range(len(columns))), _VALUES)
            self._some |= {
                (relation, k): list(dict.fromkeys(r[k] for r in some)) for k in range(len(columns))
            }
        yield from (value for value in self._some[relation, at] if value not in same)


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


def _order(facts: Facts, goal: Fact) -> tuple[int, int, str]:
    """Smaller sets come first, then those with more of the values of the row."""
    strange = sum(value not in goal[1] for _, row in facts for value in row)
    return len(facts), strange, repr(sorted_facts(facts))


def sorted_facts(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Facts in order."""
    return tuple(sorted(facts, key=lambda fact: (fact[0], repr(fact[1]))))
