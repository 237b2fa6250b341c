"""Rule bodies as queries from known values of some of their variables.

The known values are rows of a relation of their own, `GIVEN`, which is one more term of the body:

    R(x, z) :- R(x, y), E(y, z).        $given(x, z), R(x, y), E(y, z)

Before a group_by only the values of its keys may be known, as a group is the whole of its members. So `KEYS`
stands at the beginning of the body, and `GIVEN` after the last group_by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

from .. import core
from ..core import (
    Atom,
    CheckedProgram,
    CheckedQuery,
    Clause,
    Column,
    Expr,
    GroupBy,
    Guard,
    Inspect,
    Let,
    Op,
    Relation,
    Rule,
    Unnest,
    Var,
)
from ..core.clauses import binds, positive
from ..types import Opaque, Type, User
from ..values.rows import Row
from .snapshot import HeldRelations

GIVEN, KEYS, MEMBER = "$given", "$keys", "$member"


@dataclass(frozen=True, slots=True)
class ValueTest:
    """An expression over the variables of a body whose value is known."""

    name: str
    value: Expr


@dataclass
class BodyStage:
    """The first clauses of a rule's body, up to `end`, given the values of the variables `known` and of
    `tests`. Its valuations are of `variables`; with a `member`, an expression, also of MEMBER, its value. The
    rule is one that `plain` gives."""

    rule: Rule
    end: int
    known: tuple[str, ...]
    tests: tuple[ValueTest, ...] = ()
    member: Expr | None = None
    _prepared: tuple[CheckedProgram, CheckedProgram, CheckedQuery] | None = field(default=None, init=False)

    @cached_property
    def body(self) -> tuple[Clause, ...]:
        """The clauses."""
        return self.rule.body[: self.end]

    @cached_property
    def last(self) -> int:
        """The place in `body` after the last group_by; 0 without one."""
        return max((at + 1 for at, each in enumerate(self.body) if isinstance(each, GroupBy)), default=0)

    @property
    def group(self) -> GroupBy | None:
        """The last group_by."""
        clause = self.body[self.last - 1] if self.last else None
        return clause if isinstance(clause, GroupBy) else None

    @property
    def terms(self) -> tuple[Atom, ...]:
        """The terms after the last group_by that are not negated."""
        return tuple(positive(self.body[self.last :]))

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables that clauses after the last group_by, or that itself, bind; without groups."""
        names = list(self.group.keys) if self.group is not None else []
        for clause in self.body[self.last :]:
            names += binds(clause)
        return tuple(dict.fromkeys(names))

    def type(self, name: str) -> Type:
        """The type of a variable."""
        return self.types[name]

    @cached_property
    def types(self) -> dict[str, Type]:
        """The types of all variables."""
        found = dict(self.rule.variables)
        for clause in self.body:
            match clause:
                case Let(name, value):
                    found.setdefault(name, value.type)
                case GroupBy(name, value, keys):
                    of = Opaque("ddlog_std::Group", (found[keys[0]] if keys else value.type, value.type))
                    found.setdefault(name, of)
        return found

    def valuations(
        self, held: HeldRelations, rows: Sequence[Row], most: int | None = None
    ) -> list[tuple[Row, dict[str, Any]]]:
        """The valuations for each of some rows of values: of `known`, then of `tests`. At most
        so many."""
        if self._prepared is None or self._prepared[0] is not held.program:
            self._prepared = held.program, *self._asked(held.program)
        _, program, query = self._prepared
        given: dict[str, Sequence[Row]] = {}
        if self._columns:
            given[GIVEN] = list(dict.fromkeys(rows))
        if self._keys:
            at = [self._columns.index(name) for name in self._keys]
            given[KEYS] = list(dict.fromkeys(tuple(row[i] for i in at) for row in rows))
        if not query.rule.body:
            return [(row, {}) for row in rows]
        names, seed = query.variables, picked(self._columns)
        found = [dict(zip(names, row, strict=True)) for row in held.valuations(program, query, given, most)]
        return [(seed(values), values) for values in found]

    @cached_property
    def _columns(self) -> list[str]:
        """The names of the given values, as columns and as variables."""
        taken = {each.name for each in self.body[self.last :] if isinstance(each, Unnest)}
        return [f"$seed.{name}" if name in taken else name for name in self.known] + [
            t.name for t in self.tests
        ]

    @cached_property
    def _keys(self) -> list[str]:
        """The variables that are keys of all group_bys, if there are any."""
        groups = [each for each in self.body if isinstance(each, GroupBy)]
        return [name for name in self._columns if groups and all(name in each.keys for each in groups)]

    def _asked(self, program: CheckedProgram) -> tuple[CheckedProgram, CheckedQuery]:
        span, types = self.rule.span, dict(self.types)
        compared: list[Clause] = []
        for name, column in zip(self.known, self._columns, strict=False):
            types[column] = types[name]
            if column != name:
                compared.append(Let(column, Var(name, types[name], span), span))
        for test in self.tests:
            types[test.name] = test.value.type
            compared.append(Let(test.name, test.value, span))
        body = list(self.body)
        relations = dict(program.relations)

        def term(name: str, columns: Sequence[str]) -> Atom:
            typed = tuple(Column(f"c{at}", types[each]) for at, each in enumerate(columns))
            relations[name] = Relation(name, "input", "relation", User(name), None, typed, None, span)
            return Atom(name, tuple(columns), False, span)

        if self._columns:
            body.insert(self.last, term(GIVEN, self._columns))
        if self._keys:
            body.insert(0, term(KEYS, self._keys))
        names = [*self._columns, *self.variables]
        if self.member is not None:
            types[MEMBER] = self.member.type
            compared.append(Let(MEMBER, self.member, span))
            names.append(MEMBER)
        shown = tuple(dict.fromkeys(names))
        rule = replace(self.rule, heads=(), body=(*body, *compared), variables=types, initial=False)
        return replace(program, relations=relations), CheckedQuery(rule, shown, {}, {})


def plain(rule: Rule, program: CheckedProgram) -> Rule:
    """The rule without effects and rounds, with a variable for each column of a positive term."""
    types, body = dict(rule.variables), list[Clause]()
    for number, clause in enumerate(rule.body):
        match clause:
            case Inspect() | Guard(Op(_, (Var(core.ROUND), _))):
                continue
            case Atom(relation, columns, False):
                names = tuple(name or f"$any{number}_{at}" for at, name in enumerate(columns))
                for name, column in zip(names, program.relations[relation].columns, strict=True):
                    types.setdefault(name, column.type)
                body.append(replace(clause, columns=names))
            case _:
                body.append(clause)
    return replace(rule, body=tuple(body), variables=types)


def picked(names: Sequence[str]) -> Callable[[Mapping[str, Any]], Row]:
    """A function that gives the values of some names, in order."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple(values[name] for name in names)


def over(
    program: CheckedProgram, relation: str, names: tuple[str, ...], known: tuple[str, ...] = ()
) -> BodyStage:
    """The rows of a relation, with these names for its columns, given the values of those `known`."""
    declared = program.relations[relation]
    types = {name: column.type for name, column in zip(names, declared.columns, strict=True)}
    term = Atom(relation, names, False, declared.span)
    return BodyStage(Rule((), (term,), types, "", declared.span), 1, known)


def membership(held: HeldRelations, relation: str, rows: Sequence[Row]) -> set[Row]:
    """The rows among some that a relation has."""
    names = tuple(f"c{at}" for at in range(len(held.program.relations[relation].columns)))
    return {row for row, _ in over(held.program, relation, names, names).valuations(held, rows)}
