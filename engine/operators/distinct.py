"""Distinct: a relation from a Z-set. `engine/time.py` states it for product time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from .. import zset
from ..node import Moment, Name, Node, NodeId, SourceOnly, Surroundings, fits
from ..schema import Schema
from ..zset import Zset
from .linear import traced


@dataclass(frozen=True, slots=True)
class Distinct(SourceOnly):
    """Weight 1 for every row of positive weight.    distinct^Δ(Δa) = H(z⁻¹ I(Δa), Δa)   (Proposition 4.7)"""

    sign: ClassVar[str] = "distinct"
    makes_set: ClassVar[bool] = True

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        return zset.distinct(sources[0])

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        return DeltaDistinct(self.source, trace(self.source), self.schema, self.text)


@dataclass(frozen=True, slots=True)
class DeltaDistinct(Node):
    """distinct^Δ: the sign changes H of the integral of the source; in a fixpoint, in nested time. `trace` is
    z⁻¹ I of the source."""

    source: NodeId
    trace: NodeId
    schema: Schema
    text: str = field(default="", compare=False)
    sign: ClassVar[str] = "distinctΔ"
    makes_set: ClassVar[bool] = True
    kept: ClassVar[bool] = True

    def reads(self) -> tuple[NodeId, ...]:
        return self.source, self.trace

    def reading(self, new: Callable[[NodeId], NodeId]) -> Node:
        return replace(self, source=new(self.source), trace=new(self.trace))

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        change, before = sources
        return zset.sign_change(before, change)

    def details(self, name: Name) -> str:
        return name(self.source)

    def problems(self, scope: Surroundings) -> Iterator[str]:
        yield from fits(scope.nodes[self.source].schema, self.schema, f"source {self.source}")
        yield from traced(scope.nodes, self.source, self.trace)
