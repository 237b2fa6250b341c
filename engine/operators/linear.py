"""Linear operators: each is its own incremental version (Theorem 4.4). `Join` of a single term is one,
too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from .. import zset
from ..node import (
    ENDING,
    Moment,
    Name,
    Node,
    NodeId,
    Signs,
    SingleSource,
    SourceOnly,
    Surroundings,
    fits,
    flipped,
)
from ..schema import Schema
from ..zset import Zset


@dataclass(frozen=True, slots=True)
class Sum(Node):
    """The sum of the sources, row by row.    (a + b)^Δ = Δa + Δb"""

    sources: tuple[NodeId, ...]
    schema: Schema
    text: str = field(default="", compare=False)
    sign: ClassVar[str] = "+ sum"

    def reads(self) -> tuple[NodeId, ...]:
        return self.sources

    def reading(self, new: Callable[[NodeId], NodeId]) -> Node:
        return replace(self, sources=tuple(map(new, self.sources)))

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        return zset.add(*sources)

    def details(self, name: Name) -> str:
        return " + ".join(map(name, self.sources))

    def problems(self, scope: Surroundings) -> Iterator[str]:
        for source in self.sources:
            yield from fits(scope.nodes[source].schema, self.schema, f"operand {source}")

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        return len(self.sources) == 1 and sets[self.sources[0]]


@dataclass(frozen=True, slots=True)
class Negate(SourceOnly):
    """The source with its weights negated.    (-a)^Δ = -Δa"""

    sign: ClassVar[str] = "- negate"

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        return zset.negate(sources[0])

    def may_be_negative(self, sources: Sequence[bool]) -> bool:
        return True

    def shrinking(self, of: Callable[[NodeId], Signs]) -> Signs:
        return flipped(of(self.source))


@dataclass(frozen=True, slots=True)
class Delay(SourceOnly):
    """z⁻¹: the source's value of the epoch before; zero in the first."""

    sign: ClassVar[str] = "z⁻¹ delay"
    turns: ClassVar[bool] = True
    remembers: ClassVar[bool] = True

    def shrinking(self, of: Callable[[NodeId], Signs]) -> Signs:
        return Node.shrinking(self, of) | {ENDING}


@dataclass(frozen=True, slots=True)
class Integrate(SourceOnly):
    """I: the sum of the source over all epochs so far."""

    sign: ClassVar[str] = "∫ integrate"
    turns: ClassVar[bool] = True
    remembers: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Differentiate(SourceOnly):
    """D: the source minus its value of the epoch before."""

    sign: ClassVar[str] = "D differentiate"
    turns: ClassVar[bool] = True
    remembers: ClassVar[bool] = True

    def may_be_negative(self, sources: Sequence[bool]) -> bool:
        return True

    def shrinking(self, of: Callable[[NodeId], Signs]) -> Signs:
        return Node.shrinking(self, of) | {ENDING}


@dataclass(frozen=True, slots=True)
class Trace(SourceOnly):
    """z⁻¹ I: the sum of the source over all epochs before; in a fixpoint, at the same iteration. The only
    state of an incremental circuit."""

    sign: ClassVar[str] = "z⁻¹∫ trace"


@dataclass(frozen=True, slots=True)
class Exchange(SingleSource):
    """The source itself: its rows, each on the shard that owns its values in the columns at the positions
    `key`. Without columns that is the first shard, which then has all rows."""

    source: NodeId
    key: tuple[int, ...]
    schema: Schema
    text: str = field(default="", compare=False)
    sign: ClassVar[str] = "⇄ exchange"

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        return sources[0]

    def details(self, name: Name) -> str:
        by = ", ".join(self.schema[position].name for position in self.key)
        return f"{name(self.source)} by ({by})"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        yield from SingleSource.problems(self, scope)
        if any(not 0 <= position < len(self.schema) for position in self.key):
            yield f"the key {self.key} is not among its {len(self.schema)} columns"

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        return sets[self.source]

    def has_weights(self, nodes: Sequence[Node]) -> bool:
        return nodes[self.source].has_weights(nodes)


class Traced(SingleSource):
    """The incremental version of an operator of one source that reads the Trace of the source, too."""

    __slots__ = ()
    trace: NodeId

    def reads(self) -> tuple[NodeId, ...]:
        return self.source, self.trace

    def reading(self, new: Callable[[NodeId], NodeId]) -> Node:
        changed: Any = self
        made: Node = replace(changed, source=new(self.source), trace=new(self.trace))
        return made

    def problems(self, scope: Surroundings) -> Iterator[str]:
        yield from super().problems(scope)
        yield from traced(scope.nodes, self.source, self.trace)


def traced(nodes: tuple[Node, ...], source: NodeId, trace: NodeId) -> Iterator[str]:
    """A problem where a node is not the trace of another."""
    owner = nodes[trace]
    if not isinstance(owner, Trace) or owner.source != source:
        yield f"node {trace} is not the trace of node {source}"
