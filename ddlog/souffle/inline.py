"""Inline relations: their terms are replaced by the bodies of their clauses.

Some of them are *open*: their clauses do not bind their columns, as in `less(x, y) :- x < y.`. An open
relation cannot be computed, so it must be replaced everywhere. Another one is replaced if that is possible in
all rules that use it, since it may have many more rows than any rule needs. Otherwise it stays a relation.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import prod
from typing import Any

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..lowering.stratify import strongly_connected
from ..syntax.walk import nodes, rebuilt
from . import syntax as ast
from .clauses import (
    OF_WITNESSES,
    OPPOSITE,
    HornClause,
    Literal,
    Negated,
    Range,
    RowNumber,
    Summary,
    atoms_of,
    names_of,
    renamed,
)

_DEEPEST = 50  # levels of inlined relations in each other
_MOST_CLAUSES = 8  # that a term becomes of a relation that need not be replaced
_MOST_WAYS = 64  # that such terms make of one clause


def carry_inline(
    clauses: Sequence[HornClause], inline: Collection[str], plain: Collection[str], found: list[Diagnostic]
) -> tuple[list[HornClause], set[str]]:
    """The clauses without terms of relations that are carried into them, and those relations: of those that
    are `inline`, the open ones, and those of the `plain` ones that can be."""
    opened = _open_relations(clauses, inline)
    carried = opened | _replaceable(clauses, set(plain) - opened, opened)
    bodies: dict[str, list[HornClause]] = {name: [] for name in carried}
    for clause in clauses:
        for head in clause.heads:
            if head.name in carried:
                bodies[head.name].append(replace(clause, heads=(head,)))
    run = _Inliner(bodies, found)
    result = []
    for clause in clauses:
        heads = tuple(head for head in clause.heads if head.name not in carried)
        if heads:
            result += [replace(clause, heads=heads, body=_own(body)) for body in run.bodies(clause.body, 0)]
    return result, carried


def _own(body: tuple[Literal, ...]) -> tuple[Literal, ...]:
    """The body with counters and aggregates of its own, which other clauses of its rule may have, too."""
    if not any(isinstance(each, RowNumber | Summary) for each in body):
        return body
    own: tuple[Literal, ...] = rebuilt(
        body, lambda each: replace(each) if isinstance(each, RowNumber | Summary) else each
    )
    return own


def _replaceable(clauses: Sequence[HornClause], plain: set[str], opened: Collection[str]) -> set[str]:
    """The relations without counters, and not in a recursion, that no negation, no aggregate and no open
    relation reads, and that do not make too many clauses of one."""
    refused: set[str] = set()
    bodies: dict[str, list[list[str]]] = {name: [] for name in plain}
    for clause in clauses:
        terms = [each.name for each in clause.body if isinstance(each, ast.Predicate) and each.name in plain]
        others = tuple(each for each in clause.body if not isinstance(each, ast.Predicate))
        refused |= {term.name for term in atoms_of(others)}
        for head in clause.heads:
            if head.name in opened:
                refused.update(terms)
            if head.name in plain:
                bodies[head.name].append(terms)
                if any(isinstance(each, RowNumber) for each in clause.body):
                    refused.add(head.name)
    ways = _ways(bodies)
    refused |= {name for name, number in ways.items() if not 0 < number <= _MOST_CLAUSES}
    for clause in clauses:
        used = [each.name for each in clause.body if isinstance(each, ast.Predicate) and each.name in ways]
        if prod(ways[name] for name in used if name not in refused) > _MOST_WAYS:
            refused.update(used)
    return ways.keys() - refused


def _ways(bodies: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, int]:
    """The number of clauses that a term of each relation becomes: those that are in no recursion. `bodies`
    are the relations that each clause of a relation reads."""
    ways: dict[str, int] = {}
    successors = {name: dict.fromkeys(chain(*clauses)) for name, clauses in bodies.items()}
    for group in reversed(strongly_connected(successors)):
        (name, *others) = group
        if not others and name not in successors[name]:
            ways[name] = sum(prod(ways.get(term, 1) for term in terms) for terms in bodies[name])
    return ways


def _open_relations(clauses: Sequence[HornClause], inline: Collection[str]) -> set[str]:
    """The inline relations with a clause that leaves variables open, and those that are defined by them only
    with open variables: until there are no more."""
    opened: set[str] = set()
    while True:
        more = {
            head.name
            for clause in clauses
            for head in clause.heads
            if head.name in inline and not _is_grounded(clause, opened)
        }
        if more <= opened:
            return opened
        opened |= more


def _is_grounded(clause: HornClause, opened: Collection[str]) -> bool:
    return names_of((clause.heads, clause.body)) <= bound_in(clause.body, (), opened)


def bound_in(body: Sequence[Literal], given: Iterable[str], opened: Collection[str] = ()) -> set[str]:
    """The variables that have values in a body, when those `given` have; terms of `opened` relations give
    none."""
    bound: set[str] = set(given)
    size = -1
    while len(bound) > size:
        size = len(bound)
        for literal in body:
            bound |= _bound_by(literal, bound, opened)
    return bound


def _bound_by(literal: Literal, bound: set[str], opened: Collection[str]) -> set[str]:
    """The variables that a literal gives values, when others have theirs."""
    match literal:
        case ast.Predicate(_, name, args) if name not in opened:
            return _pattern_names(args)
        case ast.Compare(_, "=", left, right):
            ours = _pattern_names((right,)) if names_of(left) <= bound else set()
            return ours | (_pattern_names((left,)) if names_of(right) <= bound else set())
        case Range(_, name, args) if names_of(args) <= bound:
            return {name}
        case RowNumber(_, name):
            return {name}
        case Summary(_, name, _, _, _, outer) if bound.issuperset(outer):
            return {name}
    return set()


def _pattern_names(exprs: Sequence[ast.Expr]) -> set[str]:
    """The variables that a pattern binds, without the variables of computations in it."""
    names: set[str] = set()
    for expr in exprs:
        match expr:
            case ast.Named(_, name):
                names.add(name)
            case ast.RecordValue(_, items) | ast.Branch(_, _, items):
                names |= _pattern_names(items)
    return names


class _Inliner:
    def __init__(self, clauses: Mapping[str, Sequence[HornClause]], found: list[Diagnostic]) -> None:
        self.clauses, self.found = clauses, found
        self.number = itertools.count(1)
        self.counting = False  # whether the rows of what is being replaced are counted

    def bodies(self, body: Sequence[Literal], depth: int) -> Iterator[tuple[Literal, ...]]:
        """The bodies that a body becomes, one for each choice of clauses."""
        for choice in itertools.product(*(self._literal(literal, depth) for literal in body)):
            yield tuple(itertools.chain(*choice))

    def _literal(self, literal: Literal, depth: int) -> list[tuple[Literal, ...]]:
        match literal:
            case ast.Predicate(_, name) if name in self.clauses:
                return self._atom(literal, depth)
            case Negated(_, ast.Predicate(_, name) as atom) if name in self.clauses:
                return self._negated(atom, depth)
            case Summary():
                outer, self.counting = self.counting, literal.function in OF_WITNESSES
                inner = tuple(each for body in literal.bodies for each in self.bodies(body, depth))
                self.counting = outer
                return [(replace(literal, bodies=inner),)]
        return [(literal,)]

    def _atom(self, atom: ast.Predicate, depth: int) -> list[tuple[Literal, ...]]:
        if depth > _DEEPEST:
            what, why = f"`{atom.name}`", "it is `inline` and defined by itself"
            self.found.append(errors.CannotTranslate(what=what, why=why, span=atom.span))
            return []
        result: list[tuple[Literal, ...]] = []
        for clause in self.clauses[atom.name]:
            if self.counting and not names_of(clause.body) <= names_of(clause.heads):
                what, why = f"`{atom.name}` in an aggregate", "an `inline` relation with variables of its own"
                self.found.append(errors.CannotTranslate(what=what, why=why, span=atom.span))
            result += self.bodies(self._applied(clause, atom), depth + 1)
        return result

    def _negated(self, atom: ast.Predicate, depth: int) -> list[tuple[Literal, ...]]:
        """The bodies that make all bodies of a term false: of each of them one literal must not hold."""
        ways: list[list[Literal]] = []
        for applied in self._atom(atom, depth):
            body = _without_own(applied, names_of(atom))
            opposites = [_opposite(literal) for literal in body]
            if not names_of(body) <= names_of(atom) or None in opposites:
                what, why = f"the negation of `{atom.name}`", "an `inline` relation with variables of its own"
                self.found.append(errors.CannotTranslate(what=what, why=why, span=atom.span))
                return []
            ways.append([each for each in opposites if each is not None])
        return list(itertools.product(*ways))

    def _applied(self, clause: HornClause, atom: ast.Predicate) -> tuple[Literal, ...]:
        """The body of a clause for the arguments of a term."""
        own = _all_names((clause.heads, clause.body))
        names = {name: f"{name}#in{next(self.number)}" for name in sorted(own)}
        equalities: list[Literal] = []
        given: set[str] = set()
        for formal, actual in zip(clause.heads[0].args, atom.args, strict=False):
            if isinstance(formal, ast.Named) and isinstance(actual, ast.Named) and formal.name not in given:
                given.add(formal.name)
                names[formal.name] = actual.name
            elif not isinstance(actual, ast.Unnamed):
                given |= names_of(formal)
                equalities.append(ast.Compare(atom.span, "=", actual, renamed(formal, names)))
        return (*equalities, *renamed(clause.body, names))


def _without_own(body: Sequence[Literal], given: Collection[str]) -> tuple[Literal, ...]:
    """The body, with the value in place of each further variable that is equal to one that is not further."""
    known = set(given)
    for literal in body:
        match literal:
            case ast.Compare(_, "=", value, ast.Named(_, name)) if name not in known >= names_of(value):
                rest = tuple(each for each in body if each is not literal)
                return _without_own(_replaced(rest, name, value), given)
    return tuple(body)


def _replaced(node: Any, name: str, value: ast.Expr) -> Any:
    def replacement(each: Any) -> Any:
        return value if isinstance(each, ast.Named) and each.name == name else each

    return rebuilt(node, replacement, ast.Aggregator)


def _opposite(literal: Literal) -> Literal | None:
    """The literal that holds where another one does not; None if there is none."""
    match literal:
        case ast.Compare(_, op):
            return replace(literal, op=OPPOSITE[op])
        case Negated(_, term):
            return term
        case ast.Predicate() | ast.Test():
            return Negated(literal.span, literal)
    return None


def _all_names(node: Any) -> set[str]:
    """The variables, also of the bodies of summaries."""
    summaries = [each for each in nodes(node) if isinstance(each, Summary)]
    return names_of((node, *(each.bodies for each in summaries), *(each.target for each in summaries)))
