"""Loops: a circuit inside a circuit, run round by round until a stated end (dbsp-spec, 8.6).

The rounds of a loop are the ticks of a clock of its own. Nothing but an `Earlier`, the z⁻¹ of this clock,
carries anything from one round to the next, so a body may be any circuit. A loop or a fixpoint in the body
has a clock of its own again: the time inside is a vector of rounds, the outermost first (see
`engine.time`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ..node import Name, Node, NodeId, NoSource, SingleSource, Surroundings, fits
from ..schema import Origin, Schema
from .fixpoint import Fixpoint


@dataclass(frozen=True, slots=True)
class Loop(Fixpoint):
    """Relations computed round by round. `FixpointResult` nodes read them as they are in the last round.

    The end: `rounds` k, the round with which it ends, counted from 0 (the egress
    `out_k` of "Foundations of Differential Dataflow", section 3); `empty`, a relation, ends it with the first
    round in which that relation is empty. It ends in any case when no later round would change anything.
    `most` is the number of rounds at which the loop is given up; `origin` says where it stands.

    It is its own incremental version: the operators of the body are lifted to product time, where each is
    its differential.
    """

    name: str = ""
    rounds: int | None = None
    empty: str | None = None
    most: int | None = None
    origin: Origin = field(default=None, compare=False, repr=False)
    sign: ClassVar[str] = "loop"

    @property
    def monotone(self) -> bool:
        """Never: its rounds are told apart."""
        return False

    def title(self) -> str:
        return f"loop {self.name} {self.ending()}".rstrip()

    def ending(self) -> str:
        """The end, as a program says it."""
        if self.rounds is not None:
            return f"rounds {self.rounds}"
        return "" if self.empty is None else f"until empty({self.empty})"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        nodes, results = self.body.nodes, dict(self.results)
        if self.rounds is not None and self.empty is not None:
            yield "has two ends"
        if self.empty is not None and self.empty not in results:
            yield f"ends when {self.empty} is empty, which is no result of it"
        for relation, at in self.results:
            if not 0 <= at < len(nodes):
                yield f"the result {relation}: the body has no node {at}"
        for node in nodes:
            if isinstance(node, Earlier):
                if node.relation not in results:
                    yield f"{node.relation} is read as it was earlier, and is no result of the loop"
                yield from self.fits_result(node.relation, node.schema)


@dataclass(frozen=True, slots=True)
class Earlier(NoSource):
    """Inside a loop's body: a result's value of some rounds before; empty where there is no such round."""

    relation: str
    rounds: int
    schema: Schema
    text: str = field(default="", compare=False)

    def title(self) -> str:
        return f"z⁻¹ {self.relation}" if self.rounds == 1 else f"z⁻¹ {self.relation}, {self.rounds} times"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        if scope.outside is None:
            yield f"{self.relation} is read as it was earlier outside a loop"
        if self.rounds < 1:
            yield f"{self.relation} is read {self.rounds} rounds before"

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Admit(SingleSource):
    """Inside a loop's body: the rows of the source that a round admits.

    The source has columns after those of `schema`: first `since` of them, then `until` of them, rounds
    from 0. A row is there in the rounds from the greatest of the first to before the least of the others.
    `scope` is the number of clocks between the node and the loop whose rounds are meant: 0 is the loop or
    fixpoint that it stands in.
    """

    source: NodeId
    schema: Schema
    since: int
    until: int
    scope: int = 0
    text: str = field(default="", compare=False)
    sign: ClassVar[str] = "admit"

    def details(self, name: Name) -> str:
        parts = [name(self.source)]
        parts += [f"round ≥ column {len(self.schema) + k}" for k in range(self.since)]
        parts += [f"round < column {len(self.schema) + self.since + k}" for k in range(self.until)]
        return ", ".join(parts)

    def problems(self, scope: Surroundings) -> Iterator[str]:
        if scope.outside is None:
            yield "stands outside a loop"
        given = scope.nodes[self.source].schema
        if len(given) != len(self.schema) + self.since + self.until:
            yield f"source {self.source} has {len(given)} columns"
        else:
            yield from fits(given[: len(self.schema)], self.schema, f"source {self.source}")
