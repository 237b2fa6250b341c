"""Checks of the arguments of operators, and the nodes of their row expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core import Column
from ..engine.circuit import Join, Step, Sum, Term
from ..engine.operators.steps import variables
from ..errors.nearest import meant_of
from ..errors.source import Span
from . import functions
from .functions import Python
from .language import ArgumentText, Columns, made_by, steps_of
from .places import Made, caller, refuse
from .scopes import Make, Operator, target

if TYPE_CHECKING:
    from .streams import Stream


Expression = str | Callable[..., Any] | Python
"""The expression of a column: a text of the language, or a Python function, perhaps with its type."""


def argument(given: object) -> str:
    """An argument of a call."""
    if isinstance(given, str):
        return repr(given) if "'" in given and '"' not in given else '"' + given.replace('"', '\\"') + '"'
    function = given.function if isinstance(given, Python) else given
    return functions.shown(function) if callable(function) else repr(given)


def named(arguments: Mapping[str, object]) -> str:
    """Arguments by name."""
    return ", ".join(f"{name}={argument(each)}" for name, each in arguments.items())


def matched(on: object) -> str:
    """The argument `on` of a join, if it is given."""
    return "" if on is None else f", on={on}"


def listed(columns: Columns) -> str:
    """Columns with their types."""
    return f"({', '.join(f'{each.name}: {each.type}' for each in columns)})"


_LONG = 60  # characters of an operator's text in the texts of others


@dataclass(frozen=True, eq=False)
class Operand:
    """A stream as its operators see it."""

    operator: Operator
    columns: Columns

    def _stream(self, operator: Operator, columns: Columns) -> Stream:
        """The stream of another operator."""
        raise NotImplementedError

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(each.name for each in self.columns)

    @property
    def is_set(self) -> bool:
        """Whether every row of the stream provably has weight 1 at all times."""
        return self.operator.is_set

    # ---------------------------------------------------------------- making nodes

    @property
    def _schema(self) -> Any:
        return self.operator.schema

    @property
    def _language(self) -> Any:
        return self.operator.scope.language

    @property
    def _name(self) -> str:
        text = self.operator.text
        return text if len(text) <= _LONG else f"{text[:_LONG]}…"

    def _made(
        self,
        name: str,
        text: str,
        place: Span,
        columns: Columns,
        make: Make,
        others: Sequence[Stream],
        is_set: bool,
        strict: bool = False,
    ) -> Stream:
        operators = [self.operator, *(each.operator for each in others)]
        scope = target(name, place, [each.scope for each in operators])
        sources = [scope.enter(each, name, place) for each in operators]
        schema = self._language.schema(columns)
        if scope.kind == "fixpoint" and name in ("-", "delay", "integrate", "differentiate"):
            help = "say it in nested time: `with circuit.nested() as loop:`"
            refuse(name, "the step of a fixpoint is made of operators on sets", help, place)
        return self._stream(scope.add(name, text, place, schema, sources, make, is_set, strict), columns)

    def _with(self, name: str, text: str, others: Sequence[Stream], make: Make, is_set: bool) -> Stream:
        return self._made(name, text, caller(), self.columns, make, others, is_set)

    def _sum(self, text: str = "") -> Make:
        return lambda ids: Sum(tuple(ids), self._schema, text)

    def _apply(
        self,
        name: str,
        text: str,
        place: Span,
        columns: Columns,
        parts: tuple[Sequence[str | None], Sequence[Step], Sequence[str]],
        is_set: bool,
    ) -> Stream:
        """An Apply: a join of one term with its steps, projected."""
        terms, steps, output = parts
        schema = self._language.schema(columns)
        steps = tuple(made_by(step, Made(place, text)) for step in steps)
        read = {*output, *(each for step in steps for each in variables(step))}
        pruned = tuple(each if each in read and each is not None else None for each in terms)

        def make(ids: Sequence[int]) -> Join:
            return Join((Term(ids[0], pruned),), steps, tuple(output), schema, text)

        return self._made(name, text, place, columns, make, [], is_set)

    def _simple(self, name: str, text: str, place: Span, columns: Columns, output: Sequence[str]) -> Stream:
        keeps = self.is_set and set(output) == set(self.names)
        return self._apply(name, text, place, columns, (self.names, (), tuple(output)), keeps)

    def _rows(
        self, name: str, text: str, place: Span, steps: Sequence[Step], columns: Mapping[str, Expression]
    ) -> Stream:
        language, texts = self._language, [(name, of) for name, of in columns.items() if isinstance(of, str)]
        for each in columns:
            language.name(name, each)
        clauses = [ArgumentText(each, of, f"var out__{i} = (") for i, (each, of) in enumerate(texts)]
        terms: Sequence[str | None] = self.names
        bound = dict(zip(self.names, self.names, strict=True))
        found: dict[str, tuple[str, Any]] = {}
        taken = list(steps)
        if clauses:
            body = language.body(name, place, self.columns, clauses)
            terms, more = steps_of(body)
            taken += more
            bound = {each: body.variables[each] for each in self.names}
            for i, (each, _) in enumerate(texts):
                found[each] = body.variables[f"out__{i}"], body.types[f"out__{i}"]
        for each, of in columns.items():
            if not isinstance(of, str):
                given = functions.typed(name, each, of)
                step, type_ = functions.let(language, name, place, self.columns, each, given, f"${each}")
                taken.append(step)
                found[each] = f"${each}", type_
        output = tuple(found[each][0] for each in columns)
        keeps = self.is_set and set(bound.values()) <= set(output)
        made = tuple(Column(each, found[each][1]) for each in columns)
        return self._apply(name, text, place, made, (terms, taken, output), keeps)

    def _join(self, name: str, text: str, place: Span, other: Stream, pairs: Mapping[str, str]) -> Stream:
        of = {its: mine for mine, its in pairs.items()}
        rest = tuple(each for each in other.columns if each.name not in of)
        for each in rest:
            if each.name in self.names:
                help = "rename one of them before"
                refuse(name, f"both sides have a column `{each.name}`", help, place)
        columns = (*self.columns, *rest)
        schema = self._language.schema(columns)
        right = tuple(of.get(each, each) for each in other.names)

        def make(ids: Sequence[int]) -> Join:
            terms = (Term(ids[0], self.names), Term(ids[1], right))
            return Join(terms, (), tuple(each.name for each in columns), schema, text)

        return self._made(name, text, place, columns, make, [other], self.is_set and other.is_set)

    def _anti(self, name: str, text: str, place: Span, other: Stream, keys: Sequence[str]) -> Stream:
        def make(ids: Sequence[int]) -> Join:
            terms = (Term(ids[0], self.names), Term(ids[1], tuple(keys), negated=True))
            return Join(terms, (), self.names, self._schema, text)

        return self._made(name, text, place, self.columns, make, [other], self.is_set)

    def _keys(self, name: str, keys: Sequence[str]) -> Stream:
        """The set of the values of some columns."""
        if self.is_set and tuple(keys) == self.names:
            return self._stream(self.operator, self.columns)
        return self._simple(
            name, f"{name} keys", caller(), tuple(self._column(name, k) for k in keys), keys
        ).distinct()

    # ---------------------------------------------------------------- checks

    def _column(self, name: str, column: str, place: Span | None = None) -> Column:
        for each in self.columns:
            if each.name == column:
                return each
        if not isinstance(column, str):
            refuse(
                name, f"{column!r} is no name of a column", f"the columns are {', '.join(self.names)}", place
            )
        refuse(name, f"there is no column `{column}`", meant_of(column, self.names, "the columns"), place)

    def _pairs(self, name: str, other: Stream, on: Mapping[str, str] | None, place: Span) -> dict[str, str]:
        self._operand(name, other, place)
        if on is not None and not isinstance(on, Mapping):
            refuse(
                name, f"`on` is {on!r}, not a mapping of columns", 'for example `on={"mine": "its"}`', place
            )
        pairs = {each: each for each in self.names if each in other.names} if on is None else dict(on)
        for mine, its in pairs.items():
            left, right = self._column(name, mine, place), other._column(name, its, place)
            if left.type != right.type:
                problem = f"the column `{mine}` is of type `{left.type}`, and `{its}` of type `{right.type}`"
                refuse(name, problem, "make them of one type with `map`", place)
        if len(set(pairs.values())) != len(pairs):
            refuse(name, "a column of the other stream occurs twice in `on`", place=place)
        return pairs

    def _operand(self, name: str, other: object, place: Span | None = None) -> None:
        if not isinstance(other, Operand):
            refuse(
                name, f"{other!r} is not a stream", "a stream is what an input or an operator gives", place
            )

    def _alike(self, name: str, other: Stream) -> None:
        self._operand(name, other)
        if [(c.name, c.type) for c in self.columns] != [(c.name, c.type) for c in other.columns]:
            help = "`map` or `rename` one of them, so that names, types and order agree"
            problem = f"the streams have other columns: {listed(self.columns)} and {listed(other.columns)}"
            refuse(name, problem, help)

    def _set(self, name: str, stream: Stream) -> None:
        if not stream.is_set:
            help = "make it one with `distinct()`"
            refuse(name, f"its source is a set, and `{stream._name}` may have other weights than 1", help)

    def _bag(self, name: str, stream: Stream) -> None:
        """Raises DDlogError if rows may have negative weights; in a fixpoint, if the stream may be no set."""
        if stream.operator.scope.kind == "fixpoint":
            self._set(name, stream)
        elif not stream.operator.is_bag:
            help = "make it a set with `distinct()`"
            refuse(name, f"rows of its source, `{stream._name}`, may have negative weights", help)

    def _clock(self, name: str) -> None:
        if self.operator.scope.kind == "fixpoint":
            help = "say it in nested time: `with circuit.nested() as loop:`"
            refuse(name, "the step of a fixpoint is made of operators on sets", help)
