"""Bracket time: a circuit inside a circuit, on a clock of its own (dbsp-spec, part 5).

    outside ──► δ₀ ──► body, on streams of iterations ──► ∫ ──► outside

In an epoch the body begins anew, with every delay at zero. An Import is δ₀: its value at iteration 0 is that
of the node outside, and zero at later iterations. A result is ∫: the sum over the iterations. They end when
the body is at rest: when what enters is zero and no delay holds another value than before, so that all later
iterations are alike. A result that is not zero then has no sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..node import Node, NodeId, Surroundings
from .fixpoint import Fixpoint, Variable


@dataclass(frozen=True, slots=True)
class Bracket(Fixpoint):
    """∫ ∘ body ∘ δ₀ at every epoch. `results` are the nodes of the body that are integrated; nodes
    `FixpointResult` read the sums. The incremental version is D ∘ Bracket ∘ I, evaluated anew whenever an
    import changes."""

    sign: ClassVar[str] = "bracket"

    @property
    def lifted(self) -> bool:
        """Always: it is evaluated anew."""
        return True

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        return DeltaBracket(self.body, self.results, self.schema, self.text)

    def problems(self, scope: Surroundings) -> Iterator[str]:
        nodes = self.body.nodes
        for relation, at in self.results:
            if not 0 <= at < len(nodes):
                yield f"the result {relation}: the body has no node {at}"
        if scope.outside is not None and not scope.nested:
            yield "does not belong inside a fixpoint"
        for node in nodes:
            if isinstance(node, Variable):
                yield f"the variable {node.relation} stands outside a fixpoint"

    def has_weights(self, nodes: Sequence[Node]) -> bool:
        return True

    def may_be_negative(self, sources: Sequence[bool]) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class DeltaBracket(Bracket):
    """Bracket^Δ. `body` is that of the Bracket: it computes on values, not on changes."""

    sign: ClassVar[str] = "bracketΔ"

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        return self
