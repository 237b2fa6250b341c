"""Facts about a node that a runtime needs to keep its integral."""

from __future__ import annotations

from .circuit import (
    Bracket,
    Circuit,
    DeltaDistinct,
    DeltaGroup,
    Differentiate,
    Distinct,
    Feedback,
    Fixpoint,
    Group,
    Input,
    Negate,
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
    if isinstance(node, Result):
        return isinstance(circuit.nodes[node.fixpoint], Bracket)
    return not isinstance(node, Distinct | DeltaDistinct | Group | DeltaGroup)


def signed_nodes(circuit: Circuit) -> list[bool]:
    """For each node, whether its rows may have negative weights."""
    signed: list[bool] = []
    for at, node in enumerate(circuit.nodes):
        match node:
            case Input():
                signed.append(node.signed)
            case Negate() | Differentiate() | Feedback():
                signed.append(True)
            case Result():
                signed.append(weighted(circuit, at))
            case Distinct() | DeltaDistinct() | Group() | DeltaGroup() | Fixpoint():
                signed.append(False)
            case _:
                signed.append(any(signed[source] for source in node.reads()))
    return signed
