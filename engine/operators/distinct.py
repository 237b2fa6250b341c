"""Distinct: a relation from a Z-set. `engine/time.py` states it for product time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .. import zset
from ..node import Moment, Name, Node, NodeId, SourceOnly
from ..schema import Schema
from ..zset import Zset
from .linear import Exchange, Sum, Traced


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
class DeltaDistinct(Traced):
    """distinct^Δ: the sign changes H of the integral of the source; in a fixpoint, in nested time. `trace` is
    z⁻¹ I of the source."""

    source: NodeId
    trace: NodeId
    schema: Schema
    text: str = field(default="", compare=False)
    sign: ClassVar[str] = "distinctΔ"
    makes_set: ClassVar[bool] = True
    kept: ClassVar[bool] = True

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        change, before = sources
        return zset.sign_change(before, change)

    def details(self, name: Name) -> str:
        return name(self.source)


def summands(nodes: Sequence[Node], at: NodeId) -> Iterator[NodeId]:
    """The nodes whose values a relation is the sum of."""
    node = nodes[at]
    if isinstance(node, Distinct | DeltaDistinct | Exchange):
        yield from summands(nodes, node.source)
    elif isinstance(node, Sum):
        for source in node.sources:
            yield from summands(nodes, source)
    else:
        yield at
