"""Goals: the rows that a question such as `Reach("a", x)` is about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ..check.query import check_query
from ..codegen.analysis import free_variables
from ..core import Atom, CheckedQuery, Clause, Let, relation_named
from ..errors.diagnostics import DDlogError
from ..errors.source import Source
from ..errors.why import NotARow
from ..values.rows import Row
from .snapshot import ANY, HeldRelations

_RECORD = re.compile(r"(\s*)([\w:]+)(\s*)\{(.*)\}(\s*)", re.DOTALL)


@dataclass(frozen=True)
class Goal:
    """A relation, and the values asked for, ANY where the question leaves them open. `query` finds the rows;
    `exact` says whether the values are all that it says."""

    relation: str
    pattern: tuple[Any, ...]
    query: CheckedQuery
    exact: bool

    @property
    def row(self) -> Row | None:
        """The row, if the question is about one."""
        return self.pattern if self.exact and not any(each is ANY for each in self.pattern) else None


def goal(held: HeldRelations, text: str, given: Mapping[str, Any] = MappingProxyType({})) -> Goal:
    """The goal of a question: one term, whose arguments are values, variables, patterns or `_`, or a record
    as it is printed; `given` are the values of names in braces. Raises DDlogError."""
    source = Source("<question>", _as_term(text, held))
    query = check_query(held.program, source, given)
    atoms = [each for each in query.rule.body if isinstance(each, Atom)]
    written = query.rule.span
    if (
        len(atoms) != 1
        or atoms[0].negated
        or query.auxiliary
        or atoms[0].relation not in held.program.relations
    ):
        raise DDlogError([NotARow(span=written)])
    (term,) = atoms
    known, rest = _closed([each for each in query.rule.body if each is not term])
    values: dict[str, Any] = {}
    if known:
        names = tuple(dict.fromkeys(each.name for each in known if isinstance(each, Let)))
        rule = replace(query.rule, body=tuple(known))
        found = list(
            held.valuations(query.within(held.program), replace(query, rule=rule, variables=names), {})
        )
        if len(found) != 1:
            raise DDlogError([NotARow(span=written)])
        values = dict(zip(names, found[0], strict=True))
    pattern = tuple(ANY if name is None else values.get(name, ANY) for name in term.columns)
    open_ = [name for name in term.columns if name is not None and name not in values]
    exact = not rest and len(set(open_)) == len(open_)
    return Goal(term.relation, pattern, query, exact)


def _as_term(text: str, held: HeldRelations) -> str:
    """`R(.x = 1)` for the record `R{.x = 1}` of a relation R, with all else in its place."""
    record = _RECORD.fullmatch(text)
    if record is None or relation_named(record[2], held.program.relations) is None:
        return text
    return f"{record[1]}{record[2]}{record[3]}({record[4]}){record[5]}"


def matching(held: HeldRelations, goal: Goal) -> Sequence[Row]:
    """The rows that hold and match a goal, in order."""
    columns = held.program.relations[goal.relation].columns
    types, names, body = dict(goal.query.rule.variables), list[str](), list[Clause]()
    for clause in goal.query.rule.body:
        if isinstance(clause, Atom):
            names = [name or f"$open{at}" for at, name in enumerate(clause.columns)]
            types |= {name: column.type for name, column in zip(names, columns, strict=True)}
            clause = replace(clause, columns=tuple(names))
        body.append(clause)
    shown = tuple(dict.fromkeys(names))
    query = replace(
        goal.query, rule=replace(goal.query.rule, body=tuple(body), variables=types), variables=shown
    )
    places = [shown.index(name) for name in names]
    found = held.valuations(query.within(held.program), query, {})
    return [tuple(row[at] for at in places) for row in found]


def _closed(clauses: Sequence[Clause]) -> tuple[list[Clause], list[Clause]]:
    """The definitions that rest on no term, and the other clauses."""
    known, defined, rest = list[Clause](), set[str](), list[Clause]()
    for clause in clauses:
        if isinstance(clause, Let) and free_variables(clause.value).keys() <= defined:
            known.append(clause)
            defined.add(clause.name)
        else:
            rest.append(clause)
    return known, rest
