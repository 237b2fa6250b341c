"""Streams of a circuit, and the operators on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core import Column
from ..engine.circuit import (
    Aggregate,
    Clock,
    Differentiate,
    Distinct,
    Group,
    Integrate,
    Join,
    Let,
    Negate,
    Step,
    Sum,
    Term,
    Window,
)
from ..engine.operators.steps import variables
from ..errors.source import Span
from ..types import BigInt, Bit, Bool, Signed
from . import functions
from .functions import Python
from .language import Clause, Columns, aggregate_of, did_you_mean, steps_of
from .places import caller, refuse
from .scopes import Make, Operator, delay, target

Expression = str | Callable[..., Any] | Python


@dataclass(frozen=True, eq=False)
class Stream:
    """A stream of Z-sets in a circuit: at each time, rows of these columns with integer weights.

    Its methods are operators; each gives another stream. All raise DDlogError, at the line that calls them.
    """

    operator: Operator
    columns: Columns

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(each.name for each in self.columns)

    @property
    def is_set(self) -> bool:
        """Whether every row of the stream provably has weight 1 at all times."""
        return self.operator.is_set

    def __repr__(self) -> str:
        columns = ", ".join(f"{each.name}: {each.type}" for each in self.columns)
        return f"<Stream {self.operator.text} ({columns})>"

    # ---------------------------------------------------------------- row by row

    def map(self, **columns: Expression) -> Stream:
        """Each row replaced by a row of these columns. An expression is a text of the language over the
        columns, or a Python function of them (see `python`). Linear."""
        place, text = caller(), f"map({_shown(columns)})"
        if not columns:
            refuse("map", "there are no columns", 'for example `map(x="y")`', place)
        return self._rows("map", text, place, (), columns)

    def project(self, *names: str) -> Stream:
        """Some of the columns, in this order. Linear."""
        place, text = caller(), f"project({', '.join(names)})"
        for name in names:
            self._column("project", name, place)
        kept = tuple(self._column("project", name, place) for name in names)
        if len(set(names)) != len(names):
            refuse("project", "a column occurs twice", place=place)
        return self._simple("project", text, place, kept, names)

    def rename(self, **names: str) -> Stream:
        """The same rows with other names of columns: `rename(new="old")`. Linear."""
        place, text = caller(), f"rename({_shown(names)})"
        for old in names.values():
            self._column("rename", old, place)
        for new in names:
            self._language.name("rename", new)
        to = {old: new for new, old in names.items()}
        columns = tuple(Column(to.get(each.name, each.name), each.type) for each in self.columns)
        if len({each.name for each in columns}) != len(columns):
            refuse("rename", "two columns have the same name", place=place)
        return self._simple("rename", text, place, columns, self.names)

    def filter(self, condition: Expression) -> Stream:
        """The rows for which the condition holds: a text, or a Python function that returns True or False.
        Linear."""
        place = caller()
        text = f"filter({_value(condition)})"
        if isinstance(condition, str):
            body = self._language.body("filter", place, self.columns, [Clause("the condition", condition)])
            columns, steps = steps_of(body, place)
            output = tuple(body.variables[name] for name in self.names)
        else:
            function = condition.function if isinstance(condition, Python) else condition
            columns, output = self.names, self.names
            steps = (functions.guard("filter", place, self.columns, function),)
        return self._apply("filter", text, place, self.columns, (columns, steps, output), self.is_set)

    def flat_map(self, **columns: Expression) -> Stream:
        """The rows, each as often as the collection has elements, with the element in a new column:
        `lines.flat_map(word='string_split(line, " ")')`. Linear (Proposition 8.1)."""
        place, text = caller(), f"flat_map({_shown(columns)})"
        if len(columns) != 1:
            refuse("flat_map", "there is one new column", 'for example `flat_map(word="words(line)")`', place)
        ((name, expression),) = columns.items()
        if name in self.names:
            refuse("flat_map", f"there is a column `{name}` already", place=place)
        self._language.name("flat_map", name)
        if isinstance(expression, str):
            clause = Clause(name, expression, "var out__0 = FlatMap(", ")")
            body = self._language.body("flat_map", place, self.columns, [clause])
            terms, steps = steps_of(body, place)
            output = tuple(body.variables[each] for each in (*self.names, "out__0"))
            made = Column(name, body.types["out__0"])
        else:
            given = functions.typed("flat_map", name, expression)
            step, of = functions.unnest(
                self._language, "flat_map", place, self.columns, name, given, "out__0"
            )
            terms, steps, output, made = self.names, (step,), (*self.names, "out__0"), Column(name, of)
        return self._apply("flat_map", text, place, (*self.columns, made), (terms, steps, output), False)

    # ---------------------------------------------------------------- the group of Z-sets

    def __add__(self, other: Stream) -> Stream:
        """The sum, row by row. Linear."""
        self._alike("+", other)
        return self._with("+", f"{self._name} + {other._name}", [other], self._sum(), False)

    def __neg__(self) -> Stream:
        """The rows with opposite weights. Linear."""
        text = f"-{self._name}"
        return self._with("-", text, [], lambda ids: Negate(ids[0], self._schema, text), False)

    def __sub__(self, other: Stream) -> Stream:
        """The difference of the weights, row by row. Linear; the set difference is `difference`."""
        self._alike("-", other)
        return self + (-other)

    def distinct(self) -> Stream:
        """Each row of positive weight, with weight 1."""
        return self._with(
            "distinct", "distinct()", [], lambda ids: Distinct(ids[0], self._schema, "distinct()"), True
        )

    def union(self, *others: Stream) -> Stream:
        """The union of sets: `distinct` of the sum."""
        for other in others:
            self._alike("union", other)
        text = f"union({', '.join(each._name for each in others)})"
        return self._with("union", text, others, self._sum(text), False).distinct()

    def difference(self, other: Stream) -> Stream:
        """The rows of this set that are not in the other."""
        self._alike("difference", other)
        if self.is_set and other.is_set:
            return self._anti("difference", f"difference({other._name})", caller(), other, self.names)
        if self.operator.scope.kind == "fixpoint":
            self._set("difference", self)
            self._set("difference", other)
        return (self - other).distinct()

    def intersect(self, other: Stream) -> Stream:
        """The rows of both; of Z-sets the weights multiply."""
        self._alike("intersect", other)
        return self.join(other)

    # ---------------------------------------------------------------- joins

    def join(self, other: Stream, on: Mapping[str, str] | None = None) -> Stream:
        """The pairs of rows that agree, each pair as one row; weights multiply. They agree on the columns
        of the same name, or on those that `on` names: `{"mine": "its"}`. The columns are these, and then
        the others of `other`. Bilinear (Theorem 4.5)."""
        place = caller()
        pairs = self._pairs("join", other, on, place)
        if not pairs:
            help = "name them with `on`, or say `product`"
            refuse("join", f"no column of {_listed(self)} is one of {_listed(other)}", help, place)
        return self._join("join", f"join({other._name}{_on(on)})", place, other, pairs)

    def product(self, other: Stream) -> Stream:
        """All pairs of rows, each pair as one row; weights multiply. Bilinear."""
        return self._join("product", f"product({other._name})", caller(), other, {})

    def semijoin(self, other: Stream, on: Mapping[str, str] | None = None) -> Stream:
        """The rows that agree with some row of `other`; see `join`."""
        place = caller()
        pairs = self._pairs("semijoin", other, on, place)
        keys = other._keys("semijoin", tuple(pairs.values()))
        return self._join("semijoin", f"semijoin({other._name}{_on(on)})", place, keys, pairs)

    def antijoin(self, other: Stream, on: Mapping[str, str] | None = None) -> Stream:
        """The rows that agree with no row of `other`; see `join`."""
        place = caller()
        pairs = self._pairs("antijoin", other, on, place)
        keys = other._keys("antijoin", tuple(pairs.values()))
        return self._anti("antijoin", f"antijoin({other._name}{_on(on)})", place, keys, tuple(pairs))

    # ---------------------------------------------------------------- groups

    def group(self, *keys: str, **aggregates: Expression) -> Stream:
        """One row for each group of rows that agree on the keys: the keys and the aggregates, such as
        `total="sum(amount)"`. An aggregate is `count()`, `sum`, `avg`, `min` or `max` of an expression,
        another function of the language of a group, or a Python function of lists (see `python`). The
        source is a set."""
        place, text = caller(), f"group({', '.join([*map(repr, keys), _shown(aggregates)])})"
        for key in keys:
            self._column("group", key, place)
        if not aggregates:
            refuse("group", "there is no aggregate", 'for example `n="count()"`', place)
        for name in aggregates:
            self._language.name("group", name)
            if name in keys:
                refuse("group", f"there is a column `{name}` already", place=place)
        self._set("group", self)
        return self._group(text, place, keys, aggregates)

    def _group(
        self, text: str, place: Span, keys: Sequence[str], aggregates: Mapping[str, Expression]
    ) -> Stream:
        rest = [each for each in self.names if each not in keys]
        order, steps, made = [*keys, *rest], list[Step](), list[tuple[Column, Aggregate]]()
        types = {each.name: each.type for each in self.columns}
        for name, expression in aggregates.items():
            if isinstance(expression, str):
                found, inputs, aggregate, of = aggregate_of(
                    self._language, "group", place, self.columns, keys, name, expression
                )
                steps += found
                types |= {each: _bound_type(found, each) for each in inputs if each not in types}
            else:
                given = functions.typed("group", name, expression)
                inputs, aggregate, of = functions.aggregate(
                    self._language, "group", place, self.columns, name, given
                )
            order += [each for each in inputs if each not in order]
            places = tuple(order.index(inputs[c]) for c in aggregate.columns)
            made.append((Column(name, of), replace(aggregate, columns=places)))
        columns = tuple(Column(each, types[each]) for each in order)
        rows = self._apply("group", text, place, columns, (self.names, tuple(steps), tuple(order)), True)
        results = (*columns[: len(keys)], *(column for column, _ in made))
        schema = self._language.schema(results)
        found_aggregates = tuple(aggregate for _, aggregate in made)
        return rows._made(
            "group",
            text,
            place,
            results,
            lambda ids: Group(ids[0], len(keys), found_aggregates, schema, text),
            [],
            True,
        )

    # ---------------------------------------------------------------- time

    def delay(self) -> Stream:
        """z⁻¹: the value of the time before; zero at first (Definition 3.4)."""
        self._clock("delay")
        text = f"{self._name}.delay()"
        return self._made(
            "delay", text, caller(), self.columns, delay(self._schema, text), [], self.is_set, True
        )

    def integrate(self) -> Stream:
        """I: the sum of the values so far (Definition 3.27)."""
        self._clock("integrate")
        return self._with(
            "integrate", "integrate()", [], lambda ids: Integrate(ids[0], self._schema, ""), False
        )

    def differentiate(self) -> Stream:
        """D: the value minus that of the time before (Definition 3.25)."""
        self._clock("differentiate")
        return self._with(
            "differentiate", "differentiate()", [], lambda ids: Differentiate(ids[0], self._schema, ""), False
        )

    def window(self, time: Expression, clock: Stream, range: int, lateness: int | None = None) -> Stream:
        """W: the rows whose time is at most `range` before a clock, which is the greatest value that a stream
        of one column has had. With `lateness`, a row that comes more than so much behind the clock is left
        out (dbsp-spec, 8.5)."""
        place = caller()
        text = f"window({_value(time)}, {clock._name}, {range})"
        if self.operator.scope.kind != "circuit" or clock.operator.scope.kind != "circuit":
            refuse("window", "a window stands in nested time or in a fixpoint", place=place)
        if not isinstance(range, int) or not isinstance(lateness, int | None):
            refuse("window", "a range or a lateness is no integer", place=place)
        if range < 0 or (lateness or 0) < 0:
            refuse("window", "a range or a lateness is negative", place=place)
        timed = self._rows("window", text, place, (), {**{each: each for each in self.names}, "time__": time})
        of = timed.columns[-1].type
        if (
            len(clock.columns) != 1
            or clock.columns[0].type != of
            or not isinstance(of, BigInt | Bit | Signed)
        ):
            problem = f"the time is of type `{of}`, and the clock has {_listed(clock)}"
            refuse("window", problem, "both are integers of one type", place)
        clock_text, clock_schema = f"clock({clock._name})", clock._schema
        now = clock._made(
            "clock",
            clock_text,
            place,
            clock.columns,
            lambda ids: Clock(ids[0], clock_schema, clock_text, place),
            [],
            True,
        )
        schema = self._schema
        return timed._made(
            "window",
            text,
            place,
            self.columns,
            lambda ids: Window(ids[0], ids[1], schema, text, place, range, lateness),
            [now],
            self.is_set,
        )

    # ---------------------------------------------------------------- making nodes

    @property
    def _schema(self) -> Any:
        return self.operator.schema

    @property
    def _language(self) -> Any:
        return self.operator.scope.language

    @property
    def _name(self) -> str:
        return self.operator.text

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
        for each in others:
            if not isinstance(each, Stream):
                refuse(name, f"{each!r} is not a stream", place=place)
        scope = target(name, place, [each.scope for each in operators])
        sources = [scope.enter(each, name, place) for each in operators]
        schema = self._language.schema(columns)
        if scope.kind == "fixpoint" and name in ("-", "delay", "integrate", "differentiate"):
            help = "say it in nested time: `with circuit.nested() as loop:`"
            refuse(name, "the step of a fixpoint is made of operators on sets", help, place)
        return Stream(scope.add(name, text, place, schema, sources, make, is_set, strict), columns)

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
        read = {*output, *(each for step in steps for each in variables(step))}
        pruned = tuple(each if each in read and each is not None else None for each in terms)

        def make(ids: Sequence[int]) -> Join:
            return Join((Term(ids[0], pruned),), tuple(steps), tuple(output), schema, text)

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
        clauses = [Clause(each, of, f"var out__{i} = (") for i, (each, of) in enumerate(texts)]
        terms: Sequence[str | None] = self.names
        bound = dict(zip(self.names, self.names, strict=True))
        found: dict[str, tuple[str, Any]] = {}
        taken = list(steps)
        if clauses:
            body = language.body(name, place, self.columns, clauses)
            terms, more = steps_of(body, place)
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
            return self
        return self._simple(
            name, f"{name} keys", caller(), tuple(self._column(name, k) for k in keys), keys
        ).distinct()

    # ---------------------------------------------------------------- checks

    def _column(self, name: str, column: str, place: Span | None = None) -> Column:
        for each in self.columns:
            if each.name == column:
                return each
        refuse(name, f"there is no column `{column}`", did_you_mean(str(column), self.names), place)

    def _pairs(self, name: str, other: Stream, on: Mapping[str, str] | None, place: Span) -> dict[str, str]:
        if not isinstance(other, Stream):
            refuse(name, f"{other!r} is not a stream", place=place)
        pairs = {each: each for each in self.names if each in other.names} if on is None else dict(on)
        if len(set(pairs.values())) != len(pairs):
            refuse(name, "a column of the other stream occurs twice in `on`", place=place)
        for mine, its in pairs.items():
            left, right = self._column(name, mine, place), other._column(name, its, place)
            if left.type != right.type:
                problem = f"the column `{mine}` is of type `{left.type}`, and `{its}` of type `{right.type}`"
                refuse(name, problem, "make them of one type with `map`", place)
        return pairs

    def _alike(self, name: str, other: Stream) -> None:
        if not isinstance(other, Stream):
            refuse(name, f"{other!r} is not a stream")
        if [(c.name, c.type) for c in self.columns] != [(c.name, c.type) for c in other.columns]:
            help = "`map` or `rename` one of them, so that names, types and order agree"
            refuse(name, f"the streams have other columns: {_listed(self)} and {_listed(other)}", help)

    def _set(self, name: str, stream: Stream) -> None:
        if not stream.is_set:
            help = "make it one with `distinct()`"
            refuse(name, f"its source is a set, and `{stream._name}` may have other weights than 1", help)

    def _clock(self, name: str) -> None:
        if self.operator.scope.kind == "fixpoint":
            help = "say it in nested time: `with circuit.nested() as loop:`"
            refuse(name, "the step of a fixpoint is made of operators on sets", help)


@dataclass(frozen=True, eq=False)
class Wire(Stream):
    """A stream that is named before it is made, for cycles: `connect` it to what it is."""

    def connect(self, stream: Stream) -> None:
        """Says what the wire is. A cycle through it needs a `delay()`. Raises DDlogError."""
        operator = self.operator
        if operator.sources:
            refuse("connect", f"`{operator.text}` is connected already")
        self._alike("connect", stream)
        if stream.operator.scope is not operator.scope:
            place = caller()
            chain = stream.operator.scope.chain()
            if operator.scope in chain or operator.scope.chain()[-1] is not chain[-1]:
                refuse("connect", "the stream belongs to another scope or circuit", place=place)
            operator.sources.append(operator.scope.enter(stream.operator, "connect", place))
            return
        operator.sources.append(stream.operator)


def _bound_type(steps: Sequence[Step], name: str) -> Any:
    for step in steps:
        if isinstance(step, Let) and step.name == name:
            return step.value.column.type
    return Bool()


def _value(value: object) -> str:
    if isinstance(value, str):
        return repr(value) if "'" in value and '"' not in value else '"' + value.replace('"', '\\"') + '"'
    function = value.function if isinstance(value, Python) else value
    return functions.shown(function) if callable(function) else repr(value)


def _shown(columns: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in columns.items())


def _on(on: Mapping[str, str] | None) -> str:
    return "" if on is None else f", on={dict(on)}"


def _listed(stream: Stream) -> str:
    return f"({', '.join(f'{each.name}: {each.type}' for each in stream.columns)})"
