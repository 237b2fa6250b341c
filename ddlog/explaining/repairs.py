"""The smallest sets of facts whose insertion makes a row hold.

Each set is tried by an epoch that is taken back. Candidates are found backwards through the rules: some terms
of a body lack a row, the others have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, product
from typing import Any, TypeAlias

from ..codegen.analysis import free_variables
from ..core import Atom, Clause, GroupBy
from ..core.clauses import binds, bound_by_terms, expressions, named, positive
from .derivations import HeadCase
from .inversion import bindings
from .patience import QUERY, TRIAL, Patience
from .places import ProofPlace
from .snapshot import Fact, HeldRelations
from .stages import BodyStage

MOST = 3
"""The facts of a set, at the most."""

_SETS = 5  # that are told
_DEPTH = 6  # of rules through which candidates are looked for
_VALUATIONS, _VALUES, _CANDIDATES, _LACKING = 40, 12, 400, 400

Facts: TypeAlias = frozenset[Fact]


@dataclass
class Repairs:
    """Looks for sets of facts that make rows of a place hold, as far as some patience goes. `complete` says
    whether it sufficed."""

    place: ProofPlace
    patience: Patience
    complete: bool = True
    _wanted: dict[tuple[Fact, int, int], dict[Facts, None]] = field(default_factory=dict)
    _open: set[Fact] = field(default_factory=set)
    _there: dict[Fact, bool] = field(default_factory=dict)
    _some: dict[tuple[str, int], list[Any]] = field(default_factory=dict)  # values of a column
    _lacked: dict[tuple[Fact, int, tuple[int, ...]], list[tuple[Fact, ...]]] = field(default_factory=dict)
    _places: dict[ProofPlace, Repairs] = field(default_factory=dict)  # the same elsewhere

    @property
    def _held(self) -> HeldRelations:
        return self.place.derivations.held

    def insertions(self, fact: Fact) -> tuple[tuple[Fact, ...], ...]:
        """The smallest sets of facts whose insertion makes a row hold."""
        tried = set[Facts]()
        for size, depth in product(range(1, MOST + 1), range(1, _DEPTH + 1)):
            found = list[Facts]()
            candidates = self._candidates(fact, size, depth).keys() - tried - {frozenset()}
            for each in sorted(candidates, key=lambda each: _order(each, fact)):
                if self._late(TRIAL) or len(found) == _SETS or (found and len(each) > len(found[0])):
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

    def satisfying(self, stage: BodyStage, known: dict[str, Any]) -> Iterator[Facts]:
        """Sets of facts that give a stage without groups another valuation."""
        terms = list(positive(stage.body))
        for count in range(1, min(len(terms), MOST) + 1):
            for missing in combinations(terms, count):
                for rows in islice(self._lacking(stage, known, missing), _LACKING):
                    yield from (each for each in self._together(rows, MOST, _DEPTH) if each)

    def _suffices(self, facts: Facts, fact: Fact) -> bool:
        """Whether a row holds once facts are inserted."""
        held = self._held
        return held.attempt(sorted_facts(facts), (), lambda: held.holds(fact[0], [fact[1]])[0], False)

    def _least(self, facts: Facts, fact: Fact) -> Facts:
        """The smallest part of some facts that suffices: a row may hold in a way that no candidate is for."""
        parts = (each for size in range(1, len(facts)) for each in combinations(sorted_facts(facts), size))
        return next((part for part in map(frozenset, parts) if self._suffices(part, fact)), facts)

    def _holds(self, fact: Fact) -> bool:
        if fact not in self._there:
            self._there[fact] = self._held.holds(fact[0], [fact[1]])[0]
        return self._there[fact]

    def _late(self, steps: int = 1) -> bool:
        if self.patience.is_over(steps):
            self.complete = False
        return not self.complete

    def _candidates(self, fact: Fact, size: int, depth: int) -> dict[Facts, None]:
        """Sets of at most so many facts that may make a row hold, where a rule reads it."""
        relation, _, place = self.place.seen(fact[0])
        if place is None:
            return {}
        return self._at(place)._candidates_here((relation, fact[1]), size, depth)

    def _candidates_here(self, fact: Fact, size: int, depth: int) -> dict[Facts, None]:
        relation, derivations = fact[0], self.place.derivations
        if self._holds(fact):
            return {frozenset(): None}
        if (last := self.place.within(relation)) is not None:
            return self._at(last)._candidates(fact, size, depth)
        if derivations.given(relation):
            is_fact = not self.place.rounds and self._held.program.relations[relation].role == "input"
            return {frozenset([fact]): None} if is_fact else {}
        key = fact, size, depth
        if key in self._wanted:
            return self._wanted[key]
        if depth == 0 or fact in self._open or self._late(QUERY):
            return {}
        self._open.add(fact)
        found = dict[Facts, None]()
        for case in derivations.cases(relation):
            found |= dict.fromkeys(islice(self._of_case(case, fact, size, depth), _CANDIDATES))
        self._open.discard(fact)
        if not self._open:
            self._wanted[key] = found
        return found

    def _at(self, place: ProofPlace) -> Repairs:
        if place is self.place:
            return self
        if place not in self._places:
            self._places[place] = Repairs(place, self.patience, _places=self._places)
        return self._places[place]

    def _is_given(self, relation: str) -> bool:
        """Whether the rows of a relation come from facts alone."""
        name, rounds, place = self.place.seen(relation)
        return place is not None and not rounds and place.derivations.is_leaf(name)

    def _of_case(self, case: HeadCase, fact: Fact, size: int, depth: int) -> Iterator[Facts]:
        """The candidates by one rule."""
        known = bindings(case.head, fact[1], self._held.program.typedefs)
        body = case.rule.body
        if known is None or any(isinstance(each, GroupBy) for each in body):
            return
        terms = list(positive(body))
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
        each, lacking = list[dict[Facts, None]](), 0
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
        self, whole: BodyStage, known: dict[str, Any], missing: Sequence[Atom]
    ) -> Iterator[tuple[Fact, ...]]:
        """The rows that some terms of a rule lack while the others have one."""
        there = [each for each in whole.body if each not in missing]
        kept = list(_computable(there, set(known)))
        stage = BodyStage(replace(whole.rule, body=tuple(kept)), len(kept), tuple(known))
        found = stage.valuations(self._held, [tuple(known.values())], _VALUATIONS)
        for _, values in found:
            given = {**known, **values}
            for row in islice(self._rows(missing, given), _VALUES**2):
                if self._late():
                    return
                yield row

    def _rows(self, missing: Sequence[Atom], given: dict[str, Any]) -> Iterator[tuple[Fact, ...]]:
        """Rows for the terms, with values that occur for variables that are open."""
        relations = self._held.program.relations
        open_: dict[str, list[Any]] = {}
        for term in missing:
            for at, (name, column) in enumerate(
                zip(term.columns, relations[term.relation].columns, strict=True)
            ):
                if name is not None and name not in given and name not in open_:
                    open_[name] = list(self._values(missing, column.type, term.relation, at, given))
        for values in product(*open_.values()):
            all_ = {**given, **dict(zip(open_, values, strict=True))}
            yield tuple((t.relation, tuple(all_[name] for name in t.columns if name)) for t in missing)

    def _values(
        self, missing: Sequence[Atom], of: Any, relation: str, at: int, given: dict[str, Any]
    ) -> Iterator[Any]:
        """Values for an open variable: those of the same type that are known, and some of the column."""
        same = dict.fromkeys(
            given[each]
            for term in missing
            for each, column in zip(
                term.columns, self._held.program.relations[term.relation].columns, strict=True
            )
            if each in given and column.type == of
        )
        yield from same
        if (relation, at) not in self._some:
            columns = self._held.program.relations[relation].columns
            some = self.place.derivations.some(relation, tuple(f"c{k}" for k in range(len(columns))), _VALUES)
            self._some |= {
                (relation, k): list(dict.fromkeys(r[k] for r in some)) for k in range(len(columns))
            }
        yield from (value for value in self._some[relation, at] if value not in same)


def _computable(clauses: Iterable[Clause], known: set[str]) -> Iterator[Clause]:
    """The clauses, without those over variables that no clause binds."""
    clauses = list(clauses)
    bound = known | bound_by_terms(clauses)
    for clause in clauses:
        read = {name for each in expressions(clause) for name in free_variables(each)}
        if isinstance(clause, Atom):
            read |= set(named(clause))
        if read <= bound or isinstance(clause, GroupBy):
            bound.update(binds(clause))
            yield clause


def _order(facts: Facts, goal: Fact) -> tuple[int, int, str]:
    """Smaller sets come first, then those with more of the values of the row."""
    strange = sum(value not in goal[1] for _, row in facts for value in row)
    return len(facts), strange, repr(sorted_facts(facts))


def sorted_facts(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Facts in order."""
    return tuple(sorted(facts, key=lambda fact: (fact[0], repr(fact[1]))))
