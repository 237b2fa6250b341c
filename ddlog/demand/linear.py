"""Linear recursions, followed from the demanded values on.

A right-linear rule hands on the columns that are not asked. Asked for more and more values, R would hold the
answers of each of them, of which only those of the first are wanted:

    R(x, z) :- E(x, z).                       R$bf$from(x, x) :- R$bf$demand(x).
    R(x, z) :- E(x, y), R(y, z).      ──►     R$bf$from(a, y) :- R$bf$from(a, x), E(x, y).
                                              R$bf(a, z) :- R$bf$from(a, x), E(x, z).

So the values that are reached from a demanded value are kept with it, and the rules without recursion answer
for it (as in "Efficient evaluation of right-, left-, and multi-linear rules", Naughton and others, 1989). A
left-linear rule, which hands on the columns that are asked and reads them nowhere else, may stand beside: a
derivation can take its steps last.

A rule `R(x, z) :- R(x, y), R(y, z)` is replaced by `R(x, z) :- R(x, y), R$once(y, z)`, if R$once are the
other rules of R and these do not read R.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from .. import core
from ..core import Atom, Head, Relation, Rule, Var
from ..core.clauses import bound_by_terms, expressions, named
from ..core.walk import mentions
from ..types import Type

if TYPE_CHECKING:
    from .adornment import Rewriting

Case: TypeAlias = tuple[Rule, Head]
"""A rule, and one of its heads."""

ONCE = "$once"
"""The end of the name of a relation of the rules that are not a transitive rule."""


def factored(
    of: Rewriting, relation: str, bound: tuple[int, ...], cases: Sequence[Case]
) -> list[Rule] | None:
    """The rules of a relation asked by some columns whose recursion is right-linear, perhaps with left-linear
    rules beside; None for another relation."""
    declared = of.declared[relation]
    free = [i for i in range(len(declared.columns)) if i not in bound]
    if not free or declared.kind != "relation":
        return None
    kinds = [_kind(rule, head, relation, bound, free) for rule, head in cases]
    if "right" not in kinds or "" in kinds:
        return None
    name = of.asked(relation, bound)
    tags, span = f"{name}$from", declared.span
    columns = [declared.columns[i] for i in bound]
    origins = tuple(f"$from{i}" for i in bound)
    types = {origin: column.type for origin, column in zip(origins, columns, strict=True)}
    first = [core.Column(f"from.{each.name}", each.type) for each in columns]
    of.declare(relation, tags, [*first, *columns], "relation")
    variables = tuple(Var(origin, types[origin], span) for origin in origins)
    begin = Head(tags, (*variables, *variables), span)
    demand = Atom(f"{name}$demand", origins, False, span)
    made = [Rule((begin,), (demand,), types, f"demand of {relation}", span)]
    for (rule, head), kind in zip(cases, kinds, strict=True):
        made.append(_followed(of, rule, head, kind, name, tags, bound, types))
    return made


def _followed(
    of: Rewriting,
    rule: Rule,
    head: Head,
    kind: str,
    name: str,
    tags: str,
    bound: tuple[int, ...],
    types: Mapping[str, Type],
) -> Rule:
    """A rule that follows the recursion from a demanded value: one step, or an answer."""
    span = head.span
    origins = tuple(Var(origin, type_, span) for origin, type_ in types.items())
    typed = replace(rule, variables={**rule.variables, **types})

    def reached(columns: tuple[str | None, ...]) -> Atom:
        return Atom(tags, (*types, *columns), False, span)

    if kind == "left":
        body = tuple(
            replace(each, relation=name)
            if isinstance(each, Atom) and each.relation == head.relation
            else each
            for each in rule.body
        )
        made = of.adorned(replace(rule, body=body), head, (), None)
        return replace(made, heads=(replace(head, relation=name),))
    if kind == "right":
        (term,) = _terms(rule, head.relation)
        body = tuple(each for each in rule.body if each is not term)
        made = of.adorned(replace(typed, body=body), head, bound, reached)
        to = tuple(Var(term.columns[i] or "", rule.variables[term.columns[i] or ""], span) for i in bound)
        return replace(made, heads=(Head(tags, (*origins, *to), span),))
    made = of.adorned(typed, head, bound, reached)
    of_origin = dict(zip(bound, origins, strict=True))
    args = tuple(of_origin.get(i, arg) for i, arg in enumerate(head.args))
    return replace(made, heads=(Head(name, args, span),))


def _terms(rule: Rule, relation: str) -> list[Atom]:
    return [each for each in rule.body if isinstance(each, Atom) and each.relation == relation]


def _kind(rule: Rule, head: Head, relation: str, bound: Sequence[int], free: Sequence[int]) -> str:
    """Whether a rule is an `exit`, left or right; empty for none of these."""
    if any(isinstance(each, core.GroupBy) for each in rule.body):
        return ""
    terms = _terms(rule, relation)
    if not terms:
        return "exit"
    if len(terms) > 1 or terms[0].negated:
        return ""
    if _hands_on(rule, head, terms[0], bound):
        return "left"
    if _hands_on(rule, head, terms[0], free) and _steps(rule, head, terms[0], bound):
        return "right"
    return ""


def _hands_on(rule: Rule, head: Head, term: Atom, columns: Iterable[int]) -> bool:
    """Whether the term and the head have the same variables in these columns, which occur nowhere else."""
    names: set[str] = set()
    for i in columns:
        name, arg = term.columns[i], head.args[i]
        if name is None or name in names or not isinstance(arg, Var) or arg.name != name:
            return False
        names.add(name)
    rest = [i for i in range(len(head.args)) if i not in set(columns)]
    if any(term.columns[i] in names for i in rest):
        return False
    read = [part for each in rule.body for part in expressions(each)] + [head.args[i] for i in rest]
    others = [each for each in rule.body if isinstance(each, Atom) and each is not term]
    defined = {each.name for each in rule.body if isinstance(each, core.Let | core.Unnest)}
    elsewhere = {name for each in others for name in each.columns} | defined
    return not names & elsewhere and not any(mentions(part, name) for part in read for name in names)


def _steps(rule: Rule, head: Head, term: Atom, bound: Iterable[int]) -> bool:
    """Whether the rest of the rule binds the columns that the term is asked by. A variable of the head that
    only the term binds is handed on."""
    rest = [each for each in rule.body if each is not term]
    known = bound_by_terms(rest) | {each.name for each in rest if isinstance(each, core.Let | core.Unnest)}
    known |= {arg.name for i in bound if isinstance(arg := head.args[i], Var)}
    used = {each for part in rest for each in _read(part)}
    return all(term.columns[i] in known for i in bound) and used <= known


def _read(clause: core.Clause) -> Iterator[str]:
    from ..codegen.analysis import free_variables

    for part in expressions(clause):
        yield from free_variables(part)
    if isinstance(clause, Atom):
        yield from named(clause)


def linear(
    relations: Mapping[str, Relation], rules_of: Mapping[str, Sequence[Case]]
) -> tuple[dict[str, Relation], dict[str, Sequence[Case]]]:
    """The relations and their rules with a linear rule in place of each transitive one."""
    declared, found = dict(relations), dict(rules_of)
    for name, cases in rules_of.items():
        transitive = [each for each in cases if _is_transitive(*each)]
        others = [each for each in cases if each not in transitive]
        if (
            not transitive
            or any(_terms(rule, name) for rule, _ in others)
            or relations[name].kind != "relation"
        ):
            continue
        once = name + ONCE
        declared[once] = replace(relations[name], name=once, role="internal")
        found[once] = [(rule, replace(head, relation=once)) for rule, head in others]
        rule, head = transitive[0]
        first, second = rule.body
        assert isinstance(first, Atom) and isinstance(second, Atom)
        chain = replace(rule, body=(first, replace(second, relation=once)))
        names = tuple(f"c{i}" for i in range(len(head.args)))
        types = {each: arg.type for each, arg in zip(names, head.args, strict=True)}
        same = Head(name, tuple(Var(each, of, head.span) for each, of in types.items()), head.span)
        single = Rule((same,), (Atom(once, names, False, head.span),), types, rule.text, rule.span)
        found[name] = [(single, same), (chain, head)]
    return declared, found


def _is_transitive(rule: Rule, head: Head) -> bool:
    """Whether a rule is R(x, z) :- R(x, y), R(y, z), where x, y and z are as many columns each."""
    match rule.body:
        case (Atom(one, first, False), Atom(other, second, False)) if one == other == head.relation:
            half, odd = divmod(len(first), 2)
            args = tuple(arg.name if isinstance(arg, Var) else None for arg in head.args)
            return (
                not odd
                and (args[:half], args[half:]) == (first[:half], second[half:])
                and first[half:] == second[:half]
                and len({*first, *second} - {None}) == 3 * half
            )
    return False
