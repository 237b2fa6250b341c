"""Operators under construction, and their order: from what users connect to a circuit of the engine.

A scope is a circuit, the body of a fixpoint, or a body in nested time. Its operators may form cycles through
wires. In the circuit that is made of them, the delay of a cycle is a Feedback, with a Feed at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..engine.circuit import Delay, Feed, Feedback, Import, Node, NodeId
from ..engine.schema import Schema
from ..errors.circuits import CycleWithoutDelay
from ..errors.diagnostics import DDlogError, Note
from ..errors.source import Span
from .places import refuse

if TYPE_CHECKING:
    from .language import Language

Make = Callable[[Sequence[NodeId]], Node]


_OF_ANY_WEIGHT = ("-", "differentiate", "result")


@dataclass(eq=False)
class Operator:
    """An operator of a scope: its sources, and the node that it becomes. `text` is the call that made it.
    `is_bag`: no row has a negative weight at any time. `strict`: a delay, whose value depends on earlier
    values of its source only. A wire has the one source to which it is connected, and is no node."""

    scope: OperatorScope
    name: str
    text: str
    place: Span
    schema: Schema
    sources: list[Operator]
    make: Make | None
    is_set: bool
    strict: bool = False
    is_bag: bool = field(init=False)

    def __post_init__(self) -> None:
        sums = self.sources and self.name not in _OF_ANY_WEIGHT and all(each.is_bag for each in self.sources)
        self.is_bag = self.is_set or bool(sums)

    @property
    def is_wire(self) -> bool:
        """Whether the operator is a wire: a name for one that is connected later."""
        return self.make is None

    def end(self) -> Operator:
        """The operator at the end of a wire. Raises DDlogError for one that is not connected."""
        passed = {self}
        at = self
        while at.is_wire:
            if not at.sources:
                refuse(at.name, "the wire is not connected", "`connect` it to a stream", at.place)
            at = at.sources[0]
            if at in passed:
                raise DDlogError([CycleWithoutDelay(span=at.place, cycle=f"`{at.text}`")])
            passed.add(at)
        return at


@dataclass(eq=False)
class OperatorScope:
    """The operators of a circuit or of a body, in the order in which they were made."""

    kind: str  # circuit, fixpoint or nested
    language: Language
    outer: OperatorScope | None = None
    operators: list[Operator] = field(default_factory=list)
    imports: dict[Operator, Operator] = field(default_factory=dict)
    closed: bool = False
    steps: list[OperatorScope] = field(
        default_factory=list
    )  # of a circuit: the fixpoints whose steps are running

    def innermost(self) -> OperatorScope:
        """The fixpoint inside of this scope whose step is running; if there is none, the scope."""
        steps = self.chain()[-1].steps
        return steps[-1] if steps and self in steps[-1].chain() else self

    def leave(self, known: Collection[Operator]) -> None:
        """Moves a body out of each fixpoint of which it reads no relation. `known` are the imports that the
        scope around it had before."""
        while (outer := self.outer) is not None and outer.kind == "fixpoint":
            outside = {own: other for other, own in outer.imports.items()}
            if not outside.keys() >= self.imports.keys():
                return
            self.imports = {outside[each]: own for each, own in self.imports.items()}
            read = {source for each in outer.operators for source in each.sources}
            for own, other in outside.items():
                if own not in read and own not in known:
                    outer.operators.remove(own)
                    del outer.imports[other]
            self.outer = outer.outer

    def add(
        self,
        name: str,
        text: str,
        place: Span,
        schema: Schema,
        sources: Sequence[Operator],
        make: Make | None,
        is_set: bool,
        strict: bool = False,
    ) -> Operator:
        """A new operator of this scope."""
        made = Operator(self, name, text, place, schema, list(sources), make, is_set, strict)
        self.operators.append(made)
        return made

    def chain(self) -> list[OperatorScope]:
        """This scope and those around it, from inside."""
        return [self] if self.outer is None else [self, *self.outer.chain()]

    def enter(self, outside: Operator, name: str, place: Span) -> Operator:
        """An operator of a scope around this one, as one of this scope. Raises DDlogError where there has
        to be a δ₀."""
        if outside.scope is self:
            return outside
        assert self.outer is not None
        if self.kind == "nested":
            help = "bring it into nested time: `loop.delta0(stream)`"
            refuse(name, f"`{outside.text}` is outside of the nested scope", help, place)
        outside = self.outer.enter(outside, name, place)
        if not outside.is_set:
            help = "make it one with `distinct()`"
            refuse(name, f"a fixpoint reads sets, and `{outside.text}` is none", help, place)
        return self.imported(outside, outside.text, place)

    def imported(self, outside: Operator, text: str, place: Span) -> Operator:
        """The Import of an operator of the scope around this one."""
        if outside not in self.imports:
            schema = outside.schema
            self.imports[outside] = self.add(
                "import", text, place, schema, (), lambda ids: Import(ids[0], schema, text), outside.is_set
            )
        return self.imports[outside]


def target(operator: str, place: Span, scopes: Sequence[OperatorScope]) -> OperatorScope:
    """The innermost of the scopes of an operator's sources. Raises DDlogError where they do not lie one in
    the other."""
    inner = max(scopes, key=lambda scope: len(scope.chain()))
    chain = inner.chain()
    for scope in scopes:
        if scope not in chain:
            if scope.chain()[-1] is not chain[-1]:
                refuse(operator, "the streams belong to different circuits", place=place)
            refuse(
                operator,
                "the streams belong to different nested scopes",
                "take one out with `integral`",
                place,
            )
    if inner.closed:
        help = "take it out with `loop.integral(stream)`, or return it from the step"
        refuse(operator, f"the stream belongs to a {inner.kind} scope that is closed", help, place)
    return inner


@dataclass
class Ordering:
    """The nodes of a scope, each after its sources."""

    scope: OperatorScope
    outside: dict[Operator, NodeId] = field(default_factory=dict)  # the nodes of the scope around it
    nodes: list[Node] = field(default_factory=list)
    ids: dict[Operator, NodeId] = field(default_factory=dict)
    places: dict[NodeId, Operator] = field(default_factory=dict)

    def run(self) -> Ordering:
        """Orders all operators. Raises DDlogError for a cycle without a delay, and for a loose wire."""
        cycles: list[tuple[str, Operator]] = []
        for each in self.scope.operators:
            self._visit(each, [], cycles)
        for name, each in cycles:
            source = each.sources[0].end()
            self._append(Feed(name, self.ids[source], each.schema, each.text), each)
        return self

    def of(self, operator: Operator) -> NodeId:
        """The node that an operator has become."""
        return self.ids[operator.end()]

    def _visit(self, operator: Operator, path: list[Operator], cycles: list[tuple[str, Operator]]) -> None:
        if operator in self.ids:
            return
        if operator in path:
            cycle = path[path.index(operator) :]
            texts = " → ".join(f"`{each.text}`" for each in [*cycle, operator])
            notes = tuple(Note(f"`{each.text}`", each.place) for each in cycle[1:])
            raise DDlogError([CycleWithoutDelay(span=operator.place, cycle=texts, notes=notes)])
        if operator.is_wire:
            end = operator.end()
            self._visit(end, [*path, operator], cycles)
            self.ids[operator] = self.ids[end]
            return
        sources = [source.end() for source in operator.sources]
        if operator.strict and sources[0] not in self.ids:
            name = f"α{len(cycles)}"
            cycles.append((name, operator))
            self.ids[operator] = self._append(Feedback(name, operator.schema, operator.text), operator)
            return
        for source in sources:
            self._visit(source, [*path, operator], cycles)
        assert operator.make is not None
        imported = next((out for out, own in self.scope.imports.items() if own is operator), None)
        ids = [self.outside[imported]] if imported is not None else [self.ids[each] for each in sources]
        self.ids[operator] = self._append(operator.make(ids), operator)

    def _append(self, node: Node, operator: Operator) -> NodeId:
        self.nodes.append(node)
        self.places[len(self.nodes) - 1] = operator
        return len(self.nodes) - 1


def delay(schema: Schema, text: str) -> Make:
    """The node of a delay that is in no cycle."""
    return lambda ids: Delay(ids[0], schema, text)
