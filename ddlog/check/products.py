"""A warning where a rule combines every row of one term with every row of another.

A term is looked up by a variable that it shares with the terms before, or by what both sides of an equality
know. Where nothing of the kind is left, and nothing else relates the two, the rule has a row for each pair:
with 20,000 rows of either, 400 million. A condition relates terms, and so does a negated term or an
expression over both. Terms that have one row at most, a constant among their columns, or only facts as rows
may stand alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .. import core, errors
from ..core.clauses import named
from ..lowering.rulebody import conjuncts
from .declaredrules import written_in
from .dependencies import Dependencies, equalities, variables

_Sides = tuple[core.Expr, core.Expr]


def products(
    relations: Mapping[str, core.Relation], rules: Sequence[core.Rule], declarations: Iterable[object]
) -> list[errors.rules.Product]:
    """The warnings about the rules of these declarations, which are some of all `rules`; none for those that
    `#[product]` marks."""
    with_body = {head.relation for rule in rules if rule.body for head in rule.heads}
    dependencies = Dependencies(relations, rules)
    tables = {name for name, each in relations.items() if each.role != "input" and name not in with_body}
    tables |= {name for name in relations if dependencies.has_one_row(name)}
    found: dict[errors.rules.Product, None] = {}
    joins = [rule for rule in rules if sum(isinstance(each, core.Atom) for each in rule.body) > 1]
    for rule, _ in written_in(declarations, joins, "product"):
        heads = [variables(arg) for head in rule.heads for arg in head.args]
        for body, group in _between_groups(rule.body):
            read = heads if group is None else [variables(group.value).union(group.keys)]
            found.update(dict.fromkeys(_in_body(dependencies, tables, body, read)))
    return list(found)


def _between_groups(
    body: Sequence[core.Clause],
) -> Iterator[tuple[Sequence[core.Clause], core.GroupBy | None]]:
    """The parts of a body that are joined apart, with the group that ends each: the next begins with it."""
    groups = [(place, clause) for place, clause in enumerate(body) if isinstance(clause, core.GroupBy)]
    start = 0
    for place, group in groups:
        yield body[start:place], group
        start = place
    yield body[start:], None


def _in_body(
    dependencies: Dependencies, tables: set[str], body: Sequence[core.Clause], read: Sequence[set[str]]
) -> Iterator[errors.rules.Product]:
    constant = dependencies.determined(body, ())
    terms, given = list[core.Atom | core.GroupBy](), set(constant)
    for clause in body:
        if isinstance(clause, core.GroupBy) or (isinstance(clause, core.Atom) and not clause.negated):
            if _may_stand_alone(clause, tables, constant):
                given |= set(named(clause))
            else:
                terms.append(clause)
    if len(terms) < 2:
        return
    related = _Related(body, [*_choosing(body), *read], [set(named(term)) for term in terms])
    reached = max(_starts(related, given), key=lambda each: len(each.terms))
    for other in range(len(terms)):
        if other not in reached.terms:
            near = other - 1 if other else min(reached.terms)
            left, right = terms[min(near, other)], terms[max(near, other)]
            yield errors.rules.Product(span=right.span, left=_text(left), right=_text(right))
            reached.add(other)


def _starts(related: _Related, given: set[str]) -> Iterator[_Reached]:
    """The terms that each term reaches; without a term that an earlier one reaches, as it reaches no more."""
    seen: set[int] = set()
    for k in range(len(related.own)):
        if k not in seen:
            found = _Reached(related, given)
            found.add(k)
            seen |= found.terms
            yield found


def _may_stand_alone(term: core.Atom | core.GroupBy, tables: set[str], constant: set[str]) -> bool:
    """Whether a term may be combined with all rows: its relation has few rows, or one of its columns is
    constant."""
    if isinstance(term, core.GroupBy):
        return not term.keys
    return term.relation in tables or not constant.isdisjoint(set(named(term)))


class _Related:
    """The connections between the terms of a body, whose variables are `own`. Two terms are connected if they
    share a variable, or if an equation, or one of the sets in `read`, has variables of both; `read` has a set
    for each condition, negated term and expression. `definitions`, `equations`, `conditions` and `sharing`
    lead from a variable to the numbers of the definitions, sides, sets and terms that mention it."""

    def __init__(
        self, body: Sequence[core.Clause], read: Sequence[set[str]], own: Sequence[set[str]]
    ) -> None:
        self.own = own
        self.made = [each for each in body if isinstance(each, core.Let | core.Unnest)]
        self.needs = [variables(each.value) for each in self.made]
        self.definitions = _mentioned(self.needs)
        self.always = [each.name for each, needs in zip(self.made, self.needs, strict=True) if not needs]
        pairs = [(variables(one), variables(other)) for one, other in _sides(body)]
        both = [(one, other) for pair in pairs for one, other in (pair, pair[::-1]) if one and other]
        self.sides = [one for one, _ in both]
        self.equations, self.conditions, self.sharing = (
            _mentioned(self.sides),
            _mentioned(read),
            _mentioned(own),
        )
        knowing = _mentioned([self.closure(each, set()) for each in own])
        self.facing = [set.intersection(*(set(knowing.get(x, ())) for x in other)) for _, other in both]
        self.touching = [set().union(*(knowing.get(x, ()) for x in each)) for each in read]

    def closure(self, names: Iterable[str], bound: set[str]) -> set[str]:
        """The variables that become bound with some names: the names, and all that definitions make of them
        and of the variables that are bound already."""
        found, waiting = set[str](), [*names, *self.always]
        while waiting:
            name = waiting.pop()
            if name not in bound and name not in found:
                found.add(name)
                for k in self.definitions.get(name, ()):
                    if all(each in found or each in bound for each in self.needs[k]):
                        waiting.append(self.made[k].name)
        return found


def _mentioned(sets: Sequence[Iterable[str]]) -> dict[str, list[int]]:
    """The numbers of the sets that each variable is in."""
    found: dict[str, list[int]] = {}
    for k, names in enumerate(sets):
        for name in names:
            found.setdefault(name, []).append(k)
    return found


class _Reached:
    """The terms that chains of connections reach from some terms, and the variables that all these bind."""

    def __init__(self, related: _Related, given: set[str]) -> None:
        self.terms: set[int] = set()
        self._related = related
        self._bound: set[str] = set()
        self._waiting: list[int] = []
        self._bind(given)

    def add(self, term: int) -> None:
        """Adds a term, and all that it leads to."""
        self._waiting.append(term)
        while self._waiting:
            found = self._waiting.pop()
            if found not in self.terms:
                self.terms.add(found)
                self._bind(self._related.own[found])

    def _bind(self, names: set[str]) -> None:
        related = self._related
        more = related.closure(names, self._bound)
        self._bound |= more
        for name in more:
            self._lead_to(related.sharing.get(name, ()))
            for k in related.conditions.get(name, ()):
                self._lead_to(related.touching[k])
            for k in related.equations.get(name, ()):
                if related.sides[k] <= self._bound:
                    self._lead_to(related.facing[k])

    def _lead_to(self, terms: Iterable[int]) -> None:
        self._waiting += [each for each in terms if each not in self.terms]


def _choosing(body: Sequence[core.Clause]) -> Iterator[set[str]]:
    """The variables of each condition, negated term and definition, but for `!=`, which leaves nearly all
    pairs."""
    for clause in body:
        match clause:
            case core.Atom(negated=True):
                yield set(named(clause))
            case core.Let(_, value) | core.Unnest(_, value):
                yield variables(value)
            case core.Guard(condition):
                for each in conjuncts(condition):
                    if not (isinstance(each, core.Op) and each.op == "!="):
                        yield variables(each)


def _sides(body: Sequence[core.Clause]) -> Iterator[_Sides]:
    """The pairs that are equal in every valuation."""
    for clause in body:
        match clause:
            case core.Let(name, value, span):
                yield core.Var(name, value.type, span), value
            case core.Guard(condition):
                for left, right in equalities(condition):
                    yield from _parts(left, right)


def _parts(left: core.Expr, right: core.Expr) -> Iterator[_Sides]:
    match left, right:
        case (core.MakeTuple(a), core.MakeTuple(b)) | (core.MakeStruct(_, a), core.MakeStruct(_, b)) if len(
            a
        ) == len(b):
            for one, other in zip(a, b, strict=True):
                yield from _parts(one, other)
        case _:
            yield left, right


def _text(term: core.Atom | core.GroupBy) -> str:
    return " ".join(term.span.text().split())
