"""The ends of a circuit: input relations, facts, outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..node import Moment, Name, Node, NodeId, NoSource, Signs, SingleSource, Surroundings, fits, not_inside
from ..schema import Schema
from ..zset import Zset


@dataclass(frozen=True, slots=True)
class Input(NoSource):
    """An input relation. `multiset`: weights are kept; otherwise every change leaves the relation a set.
    `stream`: a multiset that holds the rows of one epoch; a runtime retracts them when the next one
    begins. `signed`: a multiset whose weights may be negative. `lasting`: rows are kept though only windows
    read them."""

    relation: str
    schema: Schema
    multiset: bool = False
    text: str = field(default="", compare=False)
    stream: bool = False
    signed: bool = False
    lasting: bool = False
    kept: ClassVar[bool] = True

    def title(self) -> str:
        return f"input {'stream ' if self.stream else 'multiset ' if self.multiset else ''}{self.relation}"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        return not_inside(scope)

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        return not self.multiset

    def has_weights(self, nodes: Sequence[Node]) -> bool:
        return self.multiset

    def may_be_negative(self, sources: Sequence[bool]) -> bool:
        return self.signed

    def shrinking(self, of: Callable[[NodeId], Signs]) -> Signs:
        return frozenset({(self.relation, -1)})


@dataclass(frozen=True, slots=True)
class Constant(NoSource):
    """Facts of the program: rows of values, each of weight 1. In an incremental circuit they are the change
    of the first epoch."""

    rows: tuple[tuple[Any, ...], ...]
    schema: Schema
    text: str = field(default="", compare=False)

    def title(self) -> str:
        return f"constant, {len(self.rows)} row{'' if len(self.rows) == 1 else 's'}"

    def details(self, name: Name) -> str:
        return ", ".join(map(repr, self.rows[:3])) + (", …" if len(self.rows) > 3 else "")

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        return len(set(self.rows)) == len(self.rows)


@dataclass(frozen=True, slots=True)
class Output(SingleSource):
    """An output of the circuit, under a relation's name. `stream`: an epoch gives the contents, not their
    change since the epoch before."""

    relation: str
    source: NodeId
    schema: Schema
    text: str = field(default="", compare=False)
    stream: bool = False

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        return sources[0]

    def title(self) -> str:
        return f"output {'stream ' if self.stream else ''}{self.relation}"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        yield from not_inside(scope)
        yield from fits(scope.nodes[self.source].schema, self.schema, f"source {self.source}")

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        return sets[self.source]
