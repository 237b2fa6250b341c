"""Statements of SQL as plans: their rules are compiled once for a text, whatever its parameters.

A parameter is a relation of one row. Where a literal has to stand (`LIMIT ?`), each value has a
plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..core import Relation
from ..errors.diagnostics import DDlogError, InternalError, render
from ..errors.source import Source
from ..errors.sql import NoParser, WrongSql
from ..sql.literals import PlainInserts, parametrised
from ..syntax.printing import module_text
from ..values.rows import Row, row_of
from .amendments import extended, imports_of
from .pending.keys import key_places
from .program import Program, compile_source
from .siderelations import Prepared, circuit_of, evaluated, prepared

if TYPE_CHECKING:
    from ..sql.changerules import SqlStatement
    from ..sql.parameters import Parameters
    from .transactions.state import SessionState

MOST_PLANS = 256
"""The most statements whose plans a session keeps."""


@dataclass(frozen=True, slots=True)
class SelectPlan:
    """A statement and its rules. `ready` are the relations that were evaluated."""

    statement: SqlStatement
    program: Program | None = None
    ready: dict[str, Prepared] = field(default_factory=dict)

    def prepared(self, state: SessionState, answer: str) -> Prepared:
        """A relation of the rules, to be evaluated."""
        assert self.program is not None
        if answer not in self.ready:
            self.ready[answer] = prepared(state, self.program, answer)
        return self.ready[answer]

    @property
    def answer(self) -> Relation:
        """The rows that the statement asks for. Raises DDlogError."""
        if self.program is None:
            raise DDlogError([WrongSql("this statement reads no rows")])
        declared = self.program.relations[self.statement.answer]
        shown = len(declared.columns) - self.statement.hidden
        if declared.constructor is None or not self.statement.hidden:
            return declared
        made = declared.constructor
        constructor = replace(made, fields=made.fields[:shown], json=made.json[:shown])
        return replace(declared, columns=declared.columns[:shown], constructor=constructor)

    def given(self, parameters: Parameters) -> Mapping[str, list[Row]]:
        """The rows of the relations that parameters are."""
        assert self.program is not None
        program, values = self.program, {}
        for name, relation in self.statement.given.items():
            value = parameters[name] if isinstance(parameters, Mapping) else parameters[int(name) - 1]
            declared = program.relations[relation]
            values[relation] = [row_of((value,), declared, program.checked.typedefs)]
        return values


class Plans:
    """The plans of a program's statements, those asked last at the end."""

    def __init__(self, state: SessionState) -> None:
        self._state, self._program = state, state.program
        self._plans: dict[object, SelectPlan | None] = {}
        self._facts: dict[str, frozenset[Row]] = {}
        self._inserts = PlainInserts(state.program.relations, state.typedefs, state.program.source)

    def plain(self, text: str, parameters: Parameters) -> tuple[str, list[Row]] | None:
        """The relation and the rows of an INSERT of literals and parameters; None for other statements."""
        return None if isinstance(parameters, Mapping) else self._inserts.of(text, parameters)

    def facts(self, declared: Relation) -> frozenset[Row]:
        """The rows of an input relation that the program states, and that no change takes away."""
        checked = self._program.checked
        if declared.kind != "relation" or not any(
            head.relation == declared.name for rule in checked.rules for head in rule.heads
        ):
            return frozenset()
        if declared.name not in self._facts:
            alone = Prepared(
                declared.name,
                frozenset(),
                self._program,
                circuit_of(self._state, self._program, declared.name),
            )
            self._facts[declared.name] = frozenset(evaluated(self._state, alone)[1])
        return self._facts[declared.name]

    def of(
        self, source: Source, parameters: Parameters, *, as_written: bool = False
    ) -> tuple[SelectPlan, Parameters]:
        """The plan of a statement, and its parameters, which may be its literals, unless it is taken as it is
        written. Raises DDlogError."""
        general = None if parameters or as_written else parametrised(source.text, source.dialect)
        if general is not None:
            text, values = general
            plan = self._typed(replace(source, text=text), values)
            if plan is not None:
                return plan, values
        plan = self._typed(source, parameters) if parameters else None
        if plan is None:
            plan = self._kept(
                (source.text, _values(parameters)), lambda: self._made(source, parameters, False)
            )
        assert plan is not None
        return plan, parameters

    def _typed(self, source: Source, parameters: Parameters) -> SelectPlan | None:
        """The plan for all parameters of the same types; None if it needs their values."""
        from ..sql.parameters import type_of_value

        def made() -> SelectPlan | None:
            try:
                return self._made(source, parameters, True)
            except (DDlogError, InternalError):
                return None

        types = tuple((name, type_of_value(each) or repr(each)) for name, each in _named(parameters))
        return self._kept(("typed", source.text, types), made)

    def _kept(self, key: object, make: Callable[[], SelectPlan | None]) -> SelectPlan | None:
        plan = self._plans.pop(key) if key in self._plans else make()
        self._plans[key] = plan
        if len(self._plans) > MOST_PLANS:
            del self._plans[next(iter(self._plans))]
        return plan

    def _made(self, source: Source, parameters: Parameters, typed: bool) -> SelectPlan:
        try:
            from ..sql.changerules import statement_of
        except ModuleNotFoundError:
            raise DDlogError([NoParser()]) from None
        from ..sql.attach import know_structs

        know_structs(self._program.checked.typedefs)
        statement = statement_of(source, self._program.relations.values(), key_places, parameters, typed)
        if not statement.answer:
            return SelectPlan(statement)
        program = _program(self._program, statement, self._state.kept)
        return SelectPlan(statement, program)


def _named(parameters: Parameters) -> list[tuple[str, Any]]:
    if isinstance(parameters, Mapping):
        return sorted(parameters.items())
    return [(str(number), each) for number, each in enumerate(parameters, 1)]


def _values(parameters: Parameters) -> object:
    """The values of parameters, by which plans are told apart."""
    return tuple((name, type(each), repr(each)) for name, each in _named(parameters))


# ---------------------------------------------------------- their rules


def _program(program: Program, statement: SqlStatement, kept: frozenset[str]) -> Program:
    """The rules of a statement over the relations that it reads, which are there; or else after those of the
    program."""
    from ..sql.attach import table_of
    from ..sql.structs import structs_in
    from ..syntax.templates import written_type

    read = [program.relations[name] for name in sorted(statement.reads)]
    known = all(
        (each.role == "input" or each.name in kept)
        and not any(
            column.type.kind == "other"
            for column in table_of(
                each.name, [(c.name, written_type(str(c.type))) for c in each.columns]
            ).relation.columns
        )
        and each.columns
        and each.constructor is not None
        for each in read
    )
    lines = statement.text.split("\n")
    imports = [each for each in lines if each.startswith("import ")]
    rules = [each for each in lines if not each.startswith("import ")]
    if not known:
        base = program if not program.source.name.endswith(".sql") else _in_rules(program)
        there = imports_of(base)
        modules = [each.removeprefix("import ").strip() for each in imports]
        # Under its own name a module adds no names that would make those of the program ambiguous.
        new = [f"import {each} as {each}" for each in modules if each not in there]
        rules.append(structs_in("\n".join(rules), base.checked.typedefs))
        return extended(base, "\n".join([*new, *rules]), "<statement>")
    rules += map(_declared, read)
    rules.append(structs_in("\n".join(rules)))
    try:
        return compile_source(Source("<statement>", "\n".join([*imports, *rules])))
    except DDlogError as error:
        raise InternalError(f"the rules of a statement are not valid:\n{render(error.diagnostics)}") from None


def _declared(relation: Relation) -> str:
    """The declaration of a relation as an input."""
    columns = ", ".join(f"{each.name}: {each.type}" for each in relation.columns)
    return f"input {relation.kind} {relation.name}({columns})"


def _in_rules(program: Program) -> Program:
    """A program of SQL as one of rules."""
    from ..sql.translate import translate

    assert program.again is not None
    text = module_text(translate(program.source))
    return program.again(Source(program.source.name.removesuffix(".sql") + ".dl", text))
