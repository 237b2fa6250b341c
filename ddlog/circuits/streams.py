"""Streams of a circuit, and the operators on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    Let,
    Negate,
    Step,
    Window,
)
from ..errors.source import Span
from ..types import BigInt, Bit, Bool, Signed
from . import functions
from .arguments import Expression, Operand, argument, listed, matched, named
from .functions import Python
from .language import ArgumentText, Columns, aggregate_of, steps_of
from .places import caller, refuse
from .scopes import Operator, delay


@dataclass(frozen=True, eq=False)
class Stream(Operand):
    """A stream of Z-sets in a circuit: at each time, rows of these columns with integer weights.

    Its methods are operators; each gives another stream. All raise DDlogError, at the line that calls them.
    """

    def _stream(self, operator: Operator, columns: Columns) -> Stream:
        return Stream(operator, columns)

    def __repr__(self) -> str:
        columns = ", ".join(f"{each.name}: {each.type}" for each in self.columns)
        return f"<Stream {self.operator.text} ({columns})>"

    # ---------------------------------------------------------------- row by row

    def map(self, **columns: Expression) -> Stream:
        """Each row replaced by a row of these columns. An expression is a text of the language over the
        columns, or a Python function of them (see `python`). Linear."""
        place, text = caller(), f"map({named(columns)})"
        if not columns:
            refuse("map", "there are no columns", 'for example `map(x="y")`', place)
        return self._rows("map", text, place, (), columns)

    def project(self, *names: str) -> Stream:
        """Some of the columns, in this order. Linear."""
        place, text = caller(), f"project({', '.join(map(str, names))})"
        kept = tuple(self._column("project", name, place) for name in names)
        if len(set(names)) != len(names):
            refuse("project", "a column occurs twice", place=place)
        return self._simple("project", text, place, kept, names)

    def rename(self, **names: str) -> Stream:
        """The same rows with other names of columns: `rename(new="old")`. Linear."""
        place, text = caller(), f"rename({named(names)})"
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
        text = f"filter({argument(condition)})"
        if isinstance(condition, str):
            body = self._language.body(
                "filter", place, self.columns, [ArgumentText("the condition", condition)]
            )
            columns, steps = steps_of(body)
            output = tuple(body.variables[name] for name in self.names)
        else:
            function = condition.function if isinstance(condition, Python) else condition
            if not callable(function):
                help = "a condition is a text, or a Python function"
                refuse("filter", f"the condition is {condition!r}, not an expression", help, place)
            if isinstance(condition, Python):
                of = self._language.type("filter", "the condition", condition.type)
                if of != Bool():
                    refuse("filter", f"the condition is of type `{of}`", "it is of type `bool`", place)
            columns, output = self.names, self.names
            steps = (functions.guard("filter", place, self.columns, function),)
        return self._apply("filter", text, place, self.columns, (columns, steps, output), self.is_set)

    def flat_map(self, **columns: Expression) -> Stream:
        """The rows, each as often as the collection has elements, with the element in a new column:
        `lines.flat_map(word='string_split(line, " ")')`. Linear (Proposition 8.1)."""
        place, text = caller(), f"flat_map({named(columns)})"
        if len(columns) != 1:
            refuse("flat_map", "there is one new column", 'for example `flat_map(word="words(line)")`', place)
        ((name, expression),) = columns.items()
        if name in self.names:
            refuse("flat_map", f"there is a column `{name}` already", place=place)
        self._language.name("flat_map", name)
        if isinstance(expression, str):
            clause = ArgumentText(name, expression, "var out__0 = FlatMap(", ")")
            body = self._language.body("flat_map", place, self.columns, [clause])
            terms, steps = steps_of(body)
            output = tuple(body.variables[each] for each in (*self.names, "out__0"))
            made = Column(name, body.types["out__0"])
        else:
            given = functions.typed("flat_map", name, expression, elements=True)
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

    def __radd__(self, other: object) -> Stream:
        """0 + s is s, so that `sum` of a list adds streams up."""
        if other != 0:
            self._operand("+", other)
        return self

    def __rsub__(self, other: object) -> Stream:
        self._operand("-", other)
        raise AssertionError("a stream has __sub__")

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
            problem = f"no column of {listed(self.columns)} is one of {listed(other.columns)}"
            refuse("join", problem, "name them with `on`, or say `product`", place)
        return self._join("join", f"join({other._name}{matched(on)})", place, other, pairs)

    def product(self, other: Stream) -> Stream:
        """All pairs of rows, each pair as one row; weights multiply. Bilinear."""
        place = caller()
        self._operand("product", other, place)
        return self._join("product", f"product({other._name})", place, other, {})

    def semijoin(self, other: Stream, on: Mapping[str, str] | None = None) -> Stream:
        """The rows that agree with some row of `other`; see `join`."""
        place = caller()
        pairs = self._pairs("semijoin", other, on, place)
        keys = other._keys("semijoin", tuple(pairs.values()))
        return self._join("semijoin", f"semijoin({other._name}{matched(on)})", place, keys, pairs)

    def antijoin(self, other: Stream, on: Mapping[str, str] | None = None) -> Stream:
        """The rows that agree with no row of `other`; see `join`."""
        place = caller()
        pairs = self._pairs("antijoin", other, on, place)
        keys = other._keys("antijoin", tuple(pairs.values()))
        return self._anti("antijoin", f"antijoin({other._name}{matched(on)})", place, keys, tuple(pairs))

    # ---------------------------------------------------------------- groups

    def group(self, *keys: str, **aggregates: Expression) -> Stream:
        """One row for each group of rows that agree on the keys: the keys and the aggregates, such as
        `total="sum(amount)"`. An aggregate is `count()`, `sum`, `avg`, `min` or `max` of an expression,
        another function of the language of a group, or a Python function of lists (see `python`). A row
        counts as often as its weight says: the source is a set, or made of sets without a difference."""
        place, text = caller(), f"group({', '.join([*map(repr, keys), named(aggregates)])})"
        for key in keys:
            self._column("group", key, place)
        if not aggregates:
            refuse("group", "there is no aggregate", 'for example `n="count()"`', place)
        for name in aggregates:
            self._language.name("group", name)
            if name in keys:
                refuse("group", f"there is a column `{name}` already", place=place)
        self._bag("group", self)
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
        rows = self._apply(
            "group", text, place, columns, (self.names, tuple(steps), tuple(order)), self.is_set
        )
        results = (*columns[: len(keys)], *(column for column, _ in made))
        schema = self._language.schema(results)
        found_aggregates = tuple(aggregate for _, aggregate in made)
        return rows._made(
            "group",
            text,
            place,
            results,
            lambda ids: Group(ids[0], len(keys), found_aggregates, schema, text, not self.is_set),
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
        self._operand("window", clock, place)
        text = f"window({argument(time)}, {clock._name}, {range})"
        if self.operator.scope.kind != "circuit" or clock.operator.scope.kind != "circuit":
            refuse("window", "a window stands in nested time or in a fixpoint", place=place)
        if type(range) is not int or type(lateness) not in (int, type(None)):
            problem = f"a range or a lateness is no integer: {range!r}, {lateness!r}"
            refuse("window", problem, "both are in the unit of the times", place)
        if range < 0 or (lateness or 0) < 0:
            refuse("window", "a range or a lateness is negative", place=place)
        timed = self._rows("window", text, place, (), {**{each: each for each in self.names}, "time__": time})
        of = timed.columns[-1].type
        if (
            len(clock.columns) != 1
            or clock.columns[0].type != of
            or not isinstance(of, BigInt | Bit | Signed)
        ):
            problem = f"the time is of type `{of}`, and the clock has {listed(clock.columns)}"
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


@dataclass(frozen=True, eq=False, repr=False)
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
