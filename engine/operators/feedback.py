"""Cycles through a delay: a node may read the value that a later node had in the epoch before.

    fix α. T(s, z⁻¹(α))         Feedback α ──► T ──► Feed α          (Proposition 3.14)

The delay of a cycle is two nodes, so that a circuit stays a tuple in topological order: `Feedback` is the
z⁻¹, and `Feed` names the node whose value it holds until the next epoch. Both are linear and time-invariant,
so a cycle is its own incremental version where the nodes around it are (the cycle rule of Proposition 4.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ..node import ENDING, Moment, Name, Node, NodeId, NoSource, Signs, SingleSource, Surroundings, fits
from ..schema import Schema
from ..zset import Zset


@dataclass(frozen=True, slots=True)
class Feedback(NoSource):
    """z⁻¹ of the node that the Feed of the same name reads; zero in the first epoch."""

    name: str
    schema: Schema
    text: str = field(default="", compare=False)
    remembers: ClassVar[bool] = True

    def title(self) -> str:
        return f"z⁻¹ {self.name}"

    def details(self, name: Name) -> str:
        return ""

    def may_be_negative(self, sources: Sequence[bool]) -> bool:
        return True

    def shrinking(self, of: Callable[[NodeId], Signs]) -> Signs:
        return frozenset({ENDING})


@dataclass(frozen=True, slots=True)
class Feed(SingleSource):
    """The end of a cycle: the source's value is that of the Feedback of this name in the next epoch."""

    name: str
    source: NodeId
    schema: Schema
    text: str = field(default="", compare=False)
    remembers: ClassVar[bool] = True

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        return sources[0]

    def title(self) -> str:
        return f"feed {self.name}"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        yield from fits(scope.nodes[self.source].schema, self.schema, f"source {self.source}")
        ends = [node for node in scope.nodes if isinstance(node, Feedback) and node.name == self.name]
        if len(ends) != 1:
            yield f"feeds {len(ends)} nodes called {self.name}, not one"
        else:
            yield from fits(self.schema, ends[0].schema, f"the feedback {self.name}")


def cycles(nodes: Sequence[Node]) -> dict[str, NodeId]:
    """The Feedback of each cycle, by the name."""
    return {node.name: at for at, node in enumerate(nodes) if isinstance(node, Feedback)}
