"""Facts about the nodes of a circuit that a runtime needs to keep their integrals."""

from __future__ import annotations

from functools import cache

from .circuit import Circuit, NodeId, Output
from .node import Signs


def shown(circuit: Circuit, at: NodeId) -> NodeId:
    """The node that an Output shows; another node itself."""
    node = circuit.nodes[at]
    return shown(circuit, node.source) if isinstance(node, Output) else at


def weighted(circuit: Circuit, at: NodeId) -> bool:
    """Whether a node's rows may have weights other than 1."""
    return circuit.nodes[at].has_weights(circuit.nodes)


def signed_nodes(circuit: Circuit) -> list[bool]:
    """For each node, whether its rows may have negative weights."""
    signed: list[bool] = []
    for node in circuit.nodes:
        signed.append(node.may_be_negative([signed[source] for source in node.reads()]))
    return signed


def shrinking_inputs(circuit: Circuit, at: NodeId) -> Signs:
    """The changes of inputs that may take rows away from a node."""

    @cache
    def of(node: NodeId) -> Signs:
        return circuit.nodes[node].shrinking(of)

    return of(at)
