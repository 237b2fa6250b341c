"""Questions: a query as an output relation of its program, evaluated on demand."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core import (
    Atom,
    CheckedProgram,
    CheckedQuery,
    Clause,
    Column,
    Const,
    GroupBy,
    Guard,
    Head,
    Let,
    Op,
    Relation,
    Rule,
    Stratum,
    Var,
    answer_relation,
)
from ..core.clauses import bound_by_terms
from ..types import TypeDef, User

ANSWER = "query"
"""The name of the answer to a query; several have numbers."""

FOUND, SEEDS = "query$found", "query$seeds"
"""The answer to a question, and the input relation of its constants."""


def answer_names(count: int) -> list[str]:
    """The names of the answers to so many queries."""
    return [ANSWER] if count == 1 else [f"{ANSWER}{number}" for number in range(1, count + 1)]


def with_answer(program: CheckedProgram, query: CheckedQuery, name: str) -> CheckedProgram:
    """The program with the answer to a query as an output on demand: a set, with a column for each variable
    of the query."""
    program = replace(query, auxiliary=()).within(program)
    rule, span, columns = query.rule, query.rule.span, _columns(query)
    answer = answer_relation(name, columns, span)
    assert answer.constructor is not None
    renamed = {made.name: f"{name}${made.name}" for made, _ in query.auxiliary}
    made = {renamed[each.name]: replace(each, name=renamed[each.name]) for each, _ in query.auxiliary}
    args = tuple(Var(each, rule.variables[each], span) for each in query.variables)
    rules = [_renamed(filling, renamed) for _, filling in query.auxiliary]
    rules.append(replace(_renamed(rule, renamed), heads=(Head(name, args, span),)))
    strata = [Stratum((each.heads[0].relation,), False, (each,)) for each in rules]
    return replace(
        program,
        typedefs={**program.typedefs, name: TypeDef(name, (), (answer.constructor,))},
        relations={**program.relations, **made, name: answer},
        rules=(*program.rules, *rules),
        strata=(*program.strata, *strata),
    )


def _columns(query: CheckedQuery) -> tuple[Column, ...]:
    names: list[str] = []
    for each in query.variables:
        plain = each.partition("$")[0]
        names.append(plain if plain not in names else each.replace("$", "_"))
    types = (query.rule.variables[each] for each in query.variables)
    return tuple(map(Column, names, types))


def _renamed(rule: Rule, names: dict[str, str]) -> Rule:
    """The rule with other names of relations."""

    def clause(each: Clause) -> Clause:
        return (
            replace(each, relation=names.get(each.relation, each.relation))
            if isinstance(each, Atom)
            else each
        )

    heads: Sequence[Head] = [replace(head, relation=names.get(head.relation, "")) for head in rule.heads]
    return replace(rule, heads=tuple(heads), body=tuple(map(clause, rule.body)))


@dataclass(frozen=True)
class AskedProgram:
    """A query whose constants are columns of `SEEDS`, an input; its answer `FOUND` has these columns first.
    Queries that differ in the constants alone have the same `form`, and other `values`."""

    program: CheckedProgram
    values: tuple[Any, ...]
    form: str


def question(program: CheckedProgram, query: CheckedQuery) -> AskedProgram:
    """A query of a program as a program whose output is the answer, for the constants that the input `SEEDS`
    has. A query with a group keeps its constants, as several of them would group together."""
    rule = query.rule
    columns, values, body = list[str](), list[Any](), list[Clause]()
    terms = bound_by_terms(rule.body)
    grouped = any(isinstance(each, GroupBy) for each in rule.body)
    for clause in rule.body:
        found = None if grouped else _constant(clause)
        if found is not None and found[0] in terms and found[0] not in columns:
            columns.append(found[0])
            values.append(found[1].value)
        else:
            body.append(clause)
    if columns:
        body.insert(0, Atom(SEEDS, tuple(columns), False, rule.span))
    variables = (*columns, *query.variables)
    asked = replace(query, rule=replace(rule, body=tuple(body)), variables=variables)
    form = repr((body, query.variables, [filling.body for _, filling in query.auxiliary]))
    typed = tuple(Column(f"c{i}", rule.variables[name]) for i, name in enumerate(columns))
    seeds = Relation(SEEDS, "input", "relation", User(SEEDS), None, typed, None, rule.span)
    strata = (Stratum((SEEDS,), False, ()), *program.strata)
    program = replace(program, relations={**program.relations, SEEDS: seeds}, strata=strata)
    return AskedProgram(with_answer(program, asked, FOUND), tuple(values), form)


def _constant(clause: Clause) -> tuple[str, Const] | None:
    """The variable that a clause says to be a constant, and the constant."""
    match clause:
        case Let(name, Const() as value):
            return name, value
        case Guard(Op("==", (Var(name), Const() as value)) | Op("==", (Const() as value, Var(name)))):
            return name, value
    return None


def over(program: CheckedProgram, given: Collection[str]) -> CheckedProgram:
    """The program in which some relations are inputs, whatever they are."""
    rules = tuple(kept for rule in program.rules if (kept := _without(rule, given, program)) is not None)
    derived = [name for name in given if program.relations[name].role != "input"]
    strata = [Stratum((name,), False, ()) for name in derived]
    for each in program.strata:
        left = tuple(name for name in each.relations if name not in derived)
        if left:
            own = (kept for rule in each.rules if (kept := _without(rule, given, program)) is not None)
            strata.append(replace(each, relations=left, rules=tuple(own)))
    relations = {
        name: replace(each, role="input", key=None, past=None, window=None)
        if name in given
        else replace(each, demand=False)
        for name, each in program.relations.items()
    }
    return replace(program, relations=relations, rules=rules, strata=tuple(strata))


def _without(rule: Rule, given: Collection[str], program: CheckedProgram) -> Rule | None:
    """The rule without the heads that are inputs now."""
    roles = program.relations
    heads = tuple(
        each for each in rule.heads if each.relation not in given or roles[each.relation].role == "input"
    )
    if not heads:
        return None
    return rule if len(heads) == len(rule.heads) else replace(rule, heads=heads)
