"""Circuits under construction, and their incremental versions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

from ..engine import circuit as c
from ..engine.schema import Schema
from ..engine.time import DEEPEST
from ..engine.wellformed import IllFormed, check_circuit
from ..errors.diagnostics import InternalError
from ..errors.nearest import meant_of
from ..errors.source import Span
from ..values.rows import row_of
from .language import Language, TypeText, relation_of
from .places import caller, expect, refuse
from .runnable import Ends, Runnable
from .scopes import Operator, OperatorScope, Ordering
from .streams import Stream, Wire


class Builder:
    """The parts that a circuit and a body in nested time have alike."""

    _scope: OperatorScope

    def wire(self, like: Stream | None = None, /, **columns: TypeText) -> Wire:
        """A stream to be connected later, with the columns of another or of these types."""
        place, language = caller(), self._scope.language
        if like is not None:
            expect(like, Stream, "wire", "like", "a stream, whose columns the wire gets")
            if columns:
                refuse("wire", "there are a stream and columns", "its columns are those of the stream", place)
        given = language.columns("wire", columns) if like is None else like.columns
        text = f"wire {sum(each.is_wire for each in self._scope.operators)}"
        return Wire(self._scope.add("wire", text, place, language.schema(given), (), None, False), given)

    def constant(self, rows: Iterable[Any], **columns: TypeText) -> Stream:
        """A stream that is the same set of rows at every time."""
        place, language = caller(), self._scope.language
        given = language.columns("constant", columns)
        relation = relation_of("constant", given)
        expect(rows, Iterable, "constant", "rows", 'rows, for example `constant([(1, "a")], x=int, y=str)`')
        values = tuple(dict.fromkeys(row_of(row, relation, language.typedefs) for row in rows))
        schema, text = language.schema(given), "constant"
        made = self._scope.add(
            "constant", text, place, schema, (), lambda ids: c.Constant(values, schema, text), True
        )
        return Stream(made, given)

    def nested(self) -> Nested:
        """A scope in nested time, for `with`: see `Nested`."""
        return Nested(self._scope)

    def fixpoint(
        self, step: Callable[..., Stream | Sequence[Stream]], *like: Stream, **columns: TypeText
    ) -> Any:
        """The relation x = step(x), iterated from the empty one until nothing changes. Its columns are
        given by type, or are those of a stream. With several streams, the step is given as many relations,
        and returns them: the result is a tuple of streams. What the step returns are sets: it ends in
        `distinct`, `union`, `group` or another operator on sets."""
        place, language = caller(), self._scope.language
        if bool(like) == bool(columns):
            refuse(
                "fixpoint",
                "the columns of the relation are not known",
                'for example `fixpoint(step, x="u32")`',
                place,
            )
        if not callable(step):
            refuse("fixpoint", f"`step` is {step!r}, not a function", "it is given the relation", place)
        for each in like:
            expect(each, Stream, "fixpoint", "like", "a stream, whose columns the relation gets")
        shapes = [each.columns for each in like] if like else [language.columns("fixpoint", columns)]
        around = self._scope.innermost()
        known = {*around.imports.values()}
        body = OperatorScope("fixpoint", language, around)
        if sum(each.kind == "fixpoint" for each in body.chain()) > DEEPEST:
            refuse("fixpoint", f"over {DEEPEST} fixpoints stand in one another", place=place)
        names = [language.result_name(name, place) for name in _names(step, len(shapes))]
        variables = []
        for name, shape in zip(names, shapes, strict=True):
            schema = language.schema(shape)
            made = body.add("fixpoint", name, place, schema, (), _variable(name, schema), True)
            variables.append(Stream(made, shape))
        body.chain()[-1].steps.append(body)
        try:
            returned = _applied(step, variables, place)
        finally:
            body.chain()[-1].steps.pop()
        found: list[Any] = list(returned) if isinstance(returned, tuple | list) else [returned]
        if len(found) != len(shapes) or not all(isinstance(each, Stream) for each in found):
            refuse("fixpoint", f"the step returns {returned!r}, not {len(shapes)} streams", place=place)
        results = []
        for variable, each in zip(variables, found, strict=True):
            variable._alike("fixpoint", each)
            end = (
                body.enter(each.operator, "fixpoint", place) if each.operator.scope in body.chain() else None
            )
            if end is None:
                refuse("fixpoint", "the step returns a stream of another scope or circuit", place=place)
            if not end.is_set:
                help = "end the step with `distinct()` or `union(…)`"
                refuse("fixpoint", f"the step returns `{end.text}`, which is no set", help, place)
            if end.name != "distinct":
                end = Stream(end, each.columns).distinct().operator
            results.append(end)
        body.closed = True
        body.leave(known)
        text = f"fixpoint of {getattr(step, '__name__', 'a step')}"
        kind = c.Loop if any(each.name == "recursion" for each in body.operators) else c.Fixpoint
        ends = list(zip(names, results, shapes, strict=True))
        assert body.outer is not None
        streams = _closed(body.outer, body, kind, text, ends, place)
        return streams[0] if isinstance(returned, Stream) else tuple(streams)


_NESTING = "say the step with `circuit.fixpoint`, or both scopes with `nested()`"


class Nested(Builder):
    """A scope with a clock of its own: in every epoch its streams run from time 0 until they are at rest.

        with circuit.nested() as loop:
            start = loop.delta0(edges)
            …
            paths = loop.integral(change)

    The results of `integral` are streams of the circuit around, usable when the scope is closed.
    """

    def __init__(self, outer: OperatorScope) -> None:
        self._place = caller()
        if outer.kind == "fixpoint":
            refuse("nested", "a nested scope stands inside the step of a fixpoint", _NESTING, self._place)
        self._scope = OperatorScope("nested", outer.language, outer)
        self._outer = outer
        self._results: list[tuple[Operator, Operator, Stream]] = []

    def __enter__(self) -> Nested:
        return self

    def delta0(self, stream: Stream) -> Stream:
        """δ₀: the value of a stream outside at time 0, and zero afterwards (Definition 5.1)."""
        place = caller()
        expect(stream, Stream, "delta0", "stream", "a stream of the scope around")
        if self._scope.closed:
            refuse("delta0", "the scope is closed", place=place)
        if stream.operator.scope.kind == "fixpoint":
            refuse("delta0", "a nested scope stands inside the step of a fixpoint", _NESTING, place)
        if stream.operator.scope is self._scope:
            refuse("delta0", f"`{stream.operator.text}` is inside already", place=place)
        if (
            self._outer not in stream.operator.scope.chain()
            and stream.operator.scope not in self._outer.chain()
        ):
            refuse("delta0", "the streams belong to different circuits", place=place)
        outside = self._outer.enter(stream.operator, "delta0", place)
        return Stream(self._scope.imported(outside, f"δ₀({outside.text})", place), stream.columns)

    def integral(self, stream: Stream) -> Stream:
        """∫: the sum of a stream of this scope over its times (Definition 5.2)."""
        place = caller()
        expect(stream, Stream, "integral", "stream", "a stream of this scope")
        if stream.operator.scope is not self._scope or self._scope.closed:
            refuse(
                "integral", "the stream does not belong to this scope, or the scope is closed", place=place
            )
        text = f"∫({stream.operator.text})"
        wire = self._outer.add("integral", text, place, stream.operator.schema, (), None, False)
        self._results.append((stream.operator, wire, stream))
        return Stream(wire, stream.columns)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._scope.closed = True
        if kind is not None:
            return
        name = self._scope.language.result_name
        results = [(name("∫", wire.place), inner, stream.columns) for inner, wire, stream in self._results]
        made = _closed(self._outer, self._scope, c.Bracket, "nested", results, self._place)
        for (_, wire, _), result in zip(self._results, made, strict=True):
            wire.sources.append(result.operator)


def _names(step: Callable[..., Any], count: int) -> list[str]:
    """The names of the relations of a fixpoint: those of the step's parameters."""
    try:
        names = list(inspect.signature(step).parameters)
    except (TypeError, ValueError):
        names = []
    return names if len(names) == count else [f"x{number}" for number in range(count)]


def _applied(step: Callable[..., Any], variables: Sequence[Stream], place: Span) -> Any:
    """The streams that a step returns for the variables of a fixpoint. Raises DDlogError if the step takes
    another number of relations."""
    try:
        signature = inspect.signature(step)
    except (TypeError, ValueError):
        return step(*variables)
    try:
        signature.bind(*variables)
    except TypeError as error:
        help = "it is given the relations, in the order of the streams"
        refuse("fixpoint", f"the step cannot take {len(variables)} relations: {error}", help, place)
    return step(*variables)


def _variable(name: str, schema: Schema) -> Callable[[Sequence[int]], c.Node]:
    return lambda ids: c.Variable(name, schema, name)


def _closed(
    outer: OperatorScope,
    body: OperatorScope,
    kind: type[c.Fixpoint],
    text: str,
    results: list[tuple[str, Operator, Any]],
    place: Any,
) -> list[Stream]:
    """The results of a body, as streams of the scope around it."""
    sources = list(body.imports)

    def make(ids: Sequence[int]) -> c.Node:
        order = Ordering(body, dict(zip(sources, ids, strict=True))).run()
        ends = tuple((name, order.of(inner)) for name, inner, _ in results)
        node = kind(c.Circuit(tuple(order.nodes)), ends, text=text)
        return replace(node, name=", ".join(name for name, _ in ends)) if isinstance(node, c.Loop) else node

    name = "bracket" if issubclass(kind, c.Bracket) else "recursion"
    owner = outer.add(name, text, place, (), sources, make, False)
    made = []
    for name, inner, columns in results:
        schema = inner.schema
        is_set = not issubclass(kind, c.Bracket)
        operator = outer.add("result", text, place, schema, [owner], _result(name, schema), is_set)
        made.append(Stream(operator, columns))
    return made


def _result(name: str, schema: Schema) -> Callable[[Sequence[int]], c.Node]:
    return lambda ids: c.FixpointResult(ids[0], name, schema)


class Circuit(Builder, Runnable):
    """A circuit of operators on streams of Z-sets, to be built by `input`, the operators of `Stream`, and
    `output`.

    `declarations` are types and functions of the language, which expressions may use. All methods raise
    DDlogError, at the line that calls them.
    """

    def __init__(self, declarations: str = "") -> None:
        expect(declarations, str, "Circuit", "declarations", "a text of the language")
        self._language = Language(declarations)
        self._scope = OperatorScope("circuit", self._language)
        self._inputs: dict[str, Ends] = {}
        self._outputs: dict[str, Ends] = {}
        self._made: tuple[int, c.Circuit] | None = None

    def input(self, name: str, /, *, zset: bool = False, **columns: TypeText) -> Stream:
        """An input with these columns. It is a set at all times, or with `zset` rows of any weights."""
        place, language = caller(), self._language
        self._check_name("input", name)
        expect(zset, bool, "input", "zset", "True or False")
        if name in self._inputs:
            refuse("input", f"there is an input `{name}` already", place=place)
        given = language.columns("input", columns)
        self._inputs[name] = Ends(name, given, "zset" if zset else "set")
        schema = language.schema(given)
        node = c.Input(name, schema, zset, name, signed=zset)
        return Stream(self._scope.add("input", name, place, schema, (), lambda ids: node, not zset), given)

    def output(self, name: str, stream: Stream) -> None:
        """Makes a stream an output of the circuit."""
        place = caller()
        self._check_name("output", name)
        if name in self._outputs or name in self._inputs:
            refuse("output", f"there is an input or output `{name}` already", place=place)
        expect(stream, Stream, "output", "stream", "what an input or an operator gives")
        operator = stream.operator
        if operator.scope is not self._scope:
            if operator.scope.chain()[-1] is not self._scope:
                refuse("output", "the stream belongs to another circuit", place=place)
            help = "take it out with `loop.integral(stream)`, or return it from the step"
            refuse("output", f"the stream belongs to a {operator.scope.kind} scope", help, place)
        self._outputs[name] = Ends(name, stream.columns, "zset")
        schema = operator.schema
        self._scope.add(
            "output", name, place, schema, [operator], lambda ids: c.Output(name, ids[0], schema), False
        )

    def __getitem__(self, name: str) -> Stream:
        """The stream of an input or output."""
        for operator in self._scope.operators:
            if operator.name in ("input", "output") and operator.text == name:
                ends = self._inputs.get(name) or self._outputs[name]
                return Stream(operator if operator.name == "input" else operator.sources[0], ends.columns)
        refuse(
            "circuit",
            f"there is no input or output `{name}`",
            meant_of(str(name), (*self._inputs, *self._outputs), "the inputs and outputs"),
        )

    def incremental(self) -> Incremental:
        """The incremental version, from changes of the inputs to changes of the outputs (Algorithm 6.13). The
        circuit can still grow, and its incremental version with it."""
        return Incremental(self)

    @property
    def language(self) -> Language:
        return self._language

    @property
    def ends(self) -> tuple[Mapping[str, Ends], Mapping[str, Ends]]:
        return self._inputs, self._outputs

    def network(self) -> c.Circuit:
        version = len(self._scope.operators), sum(len(each.sources) for each in self._scope.operators)
        if self._made is not None and self._made[0] == hash(version):
            return self._made[1]
        order = Ordering(self._scope).run()
        named = {n.relation: at for at, n in enumerate(order.nodes) if isinstance(n, c.Input | c.Output)}
        made = c.Circuit(tuple(order.nodes), tuple(named.items()))
        try:
            check_circuit(made)
        except IllFormed as error:
            raise InternalError(str(error)) from None
        self._made = hash(version), made
        return made

    def _check_name(self, operator: str, name: object) -> None:
        if not isinstance(name, str) or not name.isidentifier():
            refuse(
                operator,
                f"{name!r} cannot be the name of an {operator}",
                "a name is an identifier, such as `edges`",
            )


class Incremental(Runnable):
    """The incremental version of a circuit: C^Δ = D ∘ C ∘ I, on changes."""

    on_changes = True

    def __init__(self, circuit: Circuit) -> None:
        self._circuit = circuit

    @property
    def language(self) -> Language:
        return self._circuit.language

    @property
    def ends(self) -> tuple[Mapping[str, Ends], Mapping[str, Ends]]:
        return self._circuit.ends

    def network(self) -> c.Circuit:
        return self._circuit.network()
