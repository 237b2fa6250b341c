"""Types and expressions of the language, as the operators of a circuit take them.

The expressions of an operator are checked as the body of a query over one relation, with the columns of the
operator's source:

    edges.map(y="x", z="y + 1")      `Row(x, y), var out0 = (x), var out1 = (y + 1)`

The lowering of the query is a join of one term, whose steps the operator takes over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import core, syntax
from ..check.elaboration import Elaborated
from ..check.query import check_query
from ..engine import schema as engine
from ..engine.circuit import Aggregate, Circuit, Distinct, Group, Join, Let, Step
from ..engine.operators.steps import expression, rename_step, with_expression
from ..errors.diagnostics import DDlogError, Diagnostic, Note
from ..errors.source import Source, Span
from ..lowering.builder import column as stored_column
from ..lowering.lower import lower_query
from ..names.environment import Environment
from ..sessions.program import Program, compile_source
from ..syntax.parser import parse_program
from ..types import Constructor, Type, TypeDef, User
from .places import Made, refuse

_ROW = "RowOfStream__"
_NAME = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_PYTHON = {int: "bigint", str: "string", bool: "bool", float: "double"}

Columns = tuple[core.Column, ...]
TypeText = str | type


@dataclass(frozen=True, slots=True)
class ArgumentText:
    """An expression of an operator: the argument that it is, its text, and the text around it."""

    label: str
    text: str
    before: str = "("
    after: str = ")"


@dataclass(frozen=True, slots=True)
class CheckedBody:
    """Checked expressions: the circuit of the query, the variable of the circuit that each name stands for,
    and the types of all names."""

    circuit: Circuit
    variables: Mapping[str, str]
    types: Mapping[str, Type]

    def join(self) -> Join:
        """The join of the query's one term with all steps."""
        node = self.circuit.nodes[-3]
        assert isinstance(node, Join)
        return node


class Language:
    """The declarations of a circuit, and what is checked against them."""

    def __init__(self, declarations: str) -> None:
        """Raises DDlogError."""
        program = compile_source(Source("<declarations>", declarations))
        self.program: core.CheckedProgram = program.checked
        assert isinstance(program.checked, Elaborated)
        self._declared = program.checked
        self.places: dict[str, Span] = {}  # of fixpoints and integrals, by the names of their results

    @property
    def typedefs(self) -> Mapping[str, TypeDef]:
        """The types by name."""
        return self.program.typedefs

    def host_program(self) -> Program:
        """The declarations as a program without relations, for a host."""
        return Program(Source("<circuit>", ""), self.program)

    def result_name(self, name: str, place: Span) -> str:
        """A name for a result of a body that no other result has."""
        found, number = name, 1
        while found in self.places:
            found, number = f"{name}{number}", number + 1
        self.places[found] = place
        return found

    def columns(self, operator: str, given: Mapping[str, TypeText]) -> Columns:
        """Columns by name and type. Raises DDlogError."""
        return tuple(
            core.Column(self.name(operator, each), self.type(operator, each, of))
            for each, of in given.items()
        )

    def name(self, operator: str, name: str) -> str:
        """The name of a column, or an error: names are those of variables."""
        if not _NAME.match(name) or name.startswith("out__"):
            refuse(
                operator,
                f"`{name}` cannot be the name of a column",
                "a column has the name of a variable: `from_node`",
            )
        try:
            check_query(self._declared, Source("<name>", f"var {name} = true"))
        except DDlogError:
            refuse(operator, f"`{name}` cannot be the name of a column", "it is a word of the language")
        return name

    def type(self, operator: str, name: str, given: TypeText) -> Type:
        """The type of a column, given as its text, or as int, str, bool or float. Raises DDlogError."""
        text = _PYTHON.get(given) if isinstance(given, type) else given
        if not isinstance(text, str):
            refuse(
                operator,
                f"`{given!r}` is not a type of the language",
                'for example `x="signed<32>"`, or `x=int`',
            )
        module, found = parse_program(
            Source(f"{operator}, {name}", f"input relation {_ROW}(\n{text}\n)".replace("(\n", "(x:\n"))
        )
        environment = self._environment().beside()
        problems = [each for each in found if each.is_error]
        if not problems:
            (declaration,) = (each for each in module.declarations if isinstance(each, syntax.RelationDecl))
            fields = declaration.fields or ()
            if len(fields) != 1:
                refuse(operator, f"`{text}` is not a type of the language")
            of = environment.convert(fields[0].type, "")
            problems = environment.diagnostics
        if problems:
            refuse(
                operator, f"`{text}` is not a type of the language: {problems[0].message}", problems[0].hint
            )
        self._learn(environment)
        return of

    def schema(self, columns: Columns) -> engine.Schema:
        """The columns as the engine has them."""
        return tuple(stored_column(each.name, each.type) for each in columns)

    def body(
        self, operator: str, place: Span, columns: Columns, clauses: Sequence[ArgumentText]
    ) -> CheckedBody:
        """The clauses over a row of these columns. Raises DDlogError, at the expressions."""
        text = f"{_ROW}({', '.join(each.name for each in columns)})"
        lines: list[int] = []
        for clause in clauses:
            text += f",\n{clause.before}\n"
            lines.append(text.count("\n") + 1)
            text += f"{clause.text}\n{clause.after}"
        relation = _relation(columns)
        environment = self._environment().beside(relation)
        declared = replace(self._declared, declarations=lambda: environment)
        try:
            query = check_query(declared, Source(f"<{operator}>", text))
        except DDlogError as error:
            raise DDlogError(
                [_placed(each, operator, place, clauses, lines) for each in error.diagnostics]
            ) from None
        self.program = replace(self.program, functions={**self.program.functions, **query.functions})
        self._learn(environment, query.typedefs)
        relations = {**self.program.relations, _ROW: relation}
        program = query.within(replace(self.program, relations=relations))
        circuit = lower_query(program, query)
        joined = circuit.nodes[-3]
        assert isinstance(joined, Join)
        return CheckedBody(
            circuit, dict(zip(query.variables, joined.output, strict=True)), query.rule.variables
        )

    def _environment(self) -> Environment:
        return self._declared.declarations()

    def _learn(self, environment: Environment, more: Mapping[str, TypeDef] | None = None) -> None:
        known = {**environment.typedefs, **(more or {}), **self.program.typedefs}
        known.pop(_ROW, None)
        self.program = replace(self.program, typedefs=known)


def _relation(columns: Columns) -> core.Relation:
    place = Span(Source("", ""), 1, 1, 1, 1)
    constructor = Constructor(_ROW, 0, tuple((each.name, each.type) for each in columns))
    return core.Relation(_ROW, "input", "relation", User(_ROW), constructor, columns, None, place)


def relation_of(name: str, columns: Columns, kind: str = "relation") -> core.Relation:
    """A relation of these columns, for rows that users give."""
    return replace(_relation(columns), name=name, kind=kind)


def _placed(
    found: Diagnostic, operator: str, place: Span, clauses: Sequence[ArgumentText], lines: Sequence[int]
) -> Diagnostic:
    """An error in the text of a query, at the expression in which it is."""
    note = Note(f"in `{operator}`, made here", place)
    if found.span is None or not lines or found.span.line < lines[0] - 1:
        return replace(found, span=place)
    at = max(i for i, line in enumerate(lines) if line <= found.span.line + 1)
    source = Source(f"{place.source.name}:{place.line}: {operator}, {clauses[at].label}", clauses[at].text)
    height, shift = clauses[at].text.count("\n") + 1, lines[at] - 1
    inside = [found.span.line - shift, found.span.column, found.span.end_line - shift, found.span.end_column]
    if inside[0] < 1:
        inside[:2] = [1, 1]
    if inside[0] > height:
        inside = [height, len(clauses[at].text.split("\n")[-1]) + 1] * 2
    if inside[2] > height:
        inside[2:] = [height, len(clauses[at].text.split("\n")[-1]) + 1]
    return replace(found, span=Span(source, *inside), notes=(*found.notes, note))


# --------------------------------------------------------------- row operators


def steps_of(body: CheckedBody) -> tuple[tuple[str | None, ...], tuple[Step, ...]]:
    """The columns of the term of a body, and its steps, with their expressions as they were given."""
    join = body.join()
    return join.terms[0].columns, tuple(_given(each) for each in join.steps)


def _given(step: Step) -> Step:
    value = expression(step)
    text = " ".join(value.text.split())
    if value.text.startswith("(\n"):
        text = text[1:-1].strip()
    return with_expression(step, replace(value, text=text))


def made_by(step: Step, made: Made) -> Step:
    """The step of an operator, whose faults tell of it."""
    return with_expression(step, replace(expression(step), origin=made))


_CALL = re.compile(r"\s*([A-Za-z_][\w:]*)\s*\((.*)\)\s*\Z", re.S)


def aggregate_of(
    language: Language,
    operator: str,
    place: Span,
    columns: Columns,
    keys: Sequence[str],
    name: str,
    text: str,
) -> tuple[tuple[Step, ...], tuple[str, ...], Aggregate, Type]:
    """An aggregate `function(expression)` over groups by keys, which has the value of the expression as often
    as there are rows with it: the steps that compute its values, their variables, the aggregate over these
    columns (counted from 0), and the type of its result."""
    call = _CALL.match(text)
    if call is None:
        refuse(
            operator,
            f"`{text}` is no aggregate",
            f'an aggregate is a function of an expression: `{name}="sum(x)"`',
            place,
        )
    function, argument = call.group(1), call.group(2).strip()
    if function == "count" and argument in ("", "*"):
        argument = columns[0].name if columns else "()"
    by = ", ".join(keys)
    clause = ArgumentText(
        name,
        argument,
        "var out__0 = (",
        f").group_all_by({by if len(keys) == 1 else f'({by})'}).{function}()",
    )
    body = language.body(operator, place, columns, [clause])
    groups = [node for node in body.circuit.nodes if isinstance(node, Group)]
    if len(groups) != 1:
        refuse(operator, f"`{text}` is no aggregate", place=place)
    (group,) = groups
    first = body.circuit.nodes[group.source]
    first = body.circuit.nodes[first.source] if isinstance(first, Distinct) else first
    last = body.join()
    assert isinstance(first, Join)
    (aggregate,) = group.aggregates
    shift = len(keys)
    moved = replace(aggregate, columns=tuple(c - shift for c in aggregate.columns), origin=place)
    result = last.terms[0].columns[-1]
    if last.steps:
        moved = _finished(moved, last, result, operator, text, place)
    steps = tuple(_given(rename_step(each, _renamed(columns, name))) for each in first.steps)
    values = tuple(_renamed(columns, name)(each) for each in first.output[shift:])
    return steps, values, moved, body.types["out__0"]


def _finished(
    aggregate: Aggregate, last: Join, result: str | None, operator: str, text: str, place: Span
) -> Aggregate:
    """A function of the whole group."""
    step = last.steps[-1]
    if len(last.steps) != 1 or not isinstance(step, Let) or step.value.inputs != (result,):
        refuse(operator, f"`{text}` is not a function of the group alone", place=place)
    make, value = aggregate.make, step.value
    assert make is not None
    return replace(aggregate, make=Finished(make, value.scalar), key=("circuits", value.key, aggregate.key))


@dataclass(frozen=True)
class Finished:
    """A function of a group, as it is made of the key and the rows."""

    make: Callable[..., Any]
    finish: Callable[..., Any]

    def __call__(self, key: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> Any:
        return self.finish(self.make(key, rows))


def _renamed(columns: Columns, name: str) -> Callable[[str], str]:
    own = {each.name for each in columns}
    return lambda each: each if each in own else f"${name}.{each}"
