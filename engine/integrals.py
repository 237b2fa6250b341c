"""Facts about a node that a runtime needs to keep its integral."""

from __future__ import annotations

from .circuit import (
    Circuit,
    DeltaDistinct,
    DeltaGroup,
    Distinct,
    Group,
    Input,
    NodeId,
    Output,
    Result,
)


def shown(circuit: Circuit, at: NodeId) -> NodeId:
    """The node that an Output shows; another node itself."""
    node = circuit.nodes[at]
    return shown(circuit, node.source) if isinstance(node, Output) else at


def weighted(circuit: Circuit, at: NodeId) -> bool:
    """Whether a node's rows may have weights other than 1."""
    node = circuit.nodes[at]
    if isinstance(node, Input):
        return node.multiset
    return not isinstance(node, Distinct | DeltaDistinct | Result | Group | DeltaGroup)
