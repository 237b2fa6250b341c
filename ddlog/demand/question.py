"""Questions: a query as an output relation of its program, evaluated on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core import Atom, CheckedProgram, CheckedQuery, Clause, Column, Head, Relation, Rule, Stratum, Var
from ..types import Constructor, TypeDef, User

ANSWER = "query"
"""The name of the answer to a query; several have numbers."""


def answer_names(count: int) -> list[str]:
    """The names of the answers to so many queries."""
    return [ANSWER] if count == 1 else [f"{ANSWER}{number}" for number in range(1, count + 1)]


def with_answer(program: CheckedProgram, query: CheckedQuery, name: str) -> CheckedProgram:
    """The program with the answer to a query as an output on demand: a set, with a column for each variable
    of the query."""
    program = replace(query, auxiliary=()).within(program)
    rule, span, columns = query.rule, query.rule.span, _columns(query)
    constructor = Constructor(name, 0, tuple((each.name, each.type) for each in columns))
    answer = Relation(name, "output", "relation", User(name), constructor, columns, None, span, demand=True)
    renamed = {made.name: f"{name}${made.name}" for made, _ in query.auxiliary}
    made = {renamed[each.name]: replace(each, name=renamed[each.name]) for each, _ in query.auxiliary}
    args = tuple(Var(each, rule.variables[each], span) for each in query.variables)
    rules = [_renamed(filling, renamed) for _, filling in query.auxiliary]
    rules.append(replace(_renamed(rule, renamed), heads=(Head(name, args, span),)))
    strata = [Stratum((each.heads[0].relation,), False, (each,)) for each in rules]
    return replace(
        program,
        typedefs={**program.typedefs, name: TypeDef(name, (), (constructor,))},
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
