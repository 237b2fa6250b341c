"""A warning where a rule combines every row of one term with every row of another.

A term is looked up by a variable that it shares with the terms before, or by what both sides of an equality
know. Where nothing of the kind is left, and nothing else relates the two, the rule has a row for each pair:
with 20,000 rows of either, 400 million. A condition relates terms, and so does a negated term or an
expression over both. Terms that have one row at most, a constant among their columns, or only facts as rows
may stand alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .. import core, errors
from ..lowering.rulebody import conjuncts
from .dependencies import Dependencies, equalities, variables
from .marked import written_in

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
                given |= _bound(clause)
            else:
                terms.append(clause)
    if len(terms) < 2:
        return
    related = _Related(body, list(_sides(body)), [*_choosing(body), *read])
    starts = [_reached([k], terms, given, related) for k in range(len(terms))]
    reached = max(starts, key=len)
    while len(reached) < len(terms):
        other = next(k for k in range(len(terms)) if k not in reached)
        near = max((k for k in reached if k < other), default=min(reached))
        left, right = terms[min(near, other)], terms[max(near, other)]
        yield errors.rules.Product(span=right.span, left=_text(left), right=_text(right))
        reached = _reached([*reached, other], terms, given, related)


def _may_stand_alone(term: core.Atom | core.GroupBy, tables: set[str], constant: set[str]) -> bool:
    """Whether a term may be combined with all rows: its relation has few rows, or one of its columns is
    constant."""
    if isinstance(term, core.GroupBy):
        return not term.keys
    return term.relation in tables or not constant.isdisjoint(_bound(term))


@dataclass(frozen=True)
class _Related:
    """The relations between the terms of a body: the sides of its equations, and the variables of its
    conditions, negated terms and expressions."""

    body: Sequence[core.Clause]
    equations: Sequence[_Sides]
    others: Sequence[set[str]]

    def to(self, bound: set[str], own: set[str]) -> bool:
        """Whether a term with the variables `own` shares a variable with the bound ones, or an equation or a
        condition reads both."""
        derived = _defined(own, self.body)
        sides = [(one, other) for pair in self.equations for one, other in (pair, pair[::-1])]
        return (
            not own.isdisjoint(bound)
            or any(_known(one, bound) and _known(other, derived) for one, other in sides)
            or any(not (read.isdisjoint(derived) or read.isdisjoint(bound)) for read in self.others)
        )


def _known(expr: core.Expr, bound: set[str]) -> bool:
    read = variables(expr)
    return bool(read) and read <= bound


def _reached(
    known: Iterable[int], terms: Sequence[core.Atom | core.GroupBy], given: set[str], related: _Related
) -> set[int]:
    """The terms that can be reached, one after another, when some are known."""
    reached = set(known)
    while True:
        bound = _defined(given.union(*(_bound(terms[k]) for k in reached)), related.body)
        more = {k for k, term in enumerate(terms) if k not in reached and related.to(bound, _bound(term))}
        if not more:
            return reached
        reached |= more


def _choosing(body: Sequence[core.Clause]) -> Iterator[set[str]]:
    """The variables of each condition, negated term and definition, but for `!=`, which leaves nearly all
    pairs."""
    for clause in body:
        match clause:
            case core.Atom(negated=True):
                yield _bound(clause)
            case core.Let(_, value) | core.Unnest(_, value):
                yield variables(value)
            case core.Guard(condition):
                for each in conjuncts(condition):
                    if not (isinstance(each, core.Op) and each.op == "!="):
                        yield variables(each)


def _defined(bound: set[str], body: Sequence[core.Clause]) -> set[str]:
    """Variables with those that definitions make of them."""
    found = set(bound)
    for _ in body:
        size = len(found)
        for clause in body:
            if isinstance(clause, core.Let | core.Unnest) and variables(clause.value) <= found:
                found.add(clause.name)
        if len(found) == size:
            break
    return found


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


def _bound(term: core.Atom | core.GroupBy) -> set[str]:
    names = (*term.keys, term.name) if isinstance(term, core.GroupBy) else term.columns
    return {name for name in names if name is not None}


def _text(term: core.Atom | core.GroupBy) -> str:
    return " ".join(term.span.text().split())
