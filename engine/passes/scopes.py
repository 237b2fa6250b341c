"""Running a rewriting on a circuit and on the bodies of its fixpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..circuit import Circuit, Fixpoint, Loop, Node, NodeId

Rewrite = Callable[[Circuit], Circuit]


def in_bodies(circuit: Circuit, rewrite: Rewrite) -> Circuit:
    """The circuit with the body of each fixpoint rewritten, as a circuit whose relations are the results."""

    def inner(node: Node) -> Node:
        if not isinstance(node, Fixpoint):
            return node
        inside = Circuit(node.body.nodes, node.results)
        body = rewrite(in_bodies(inside, rewrite) if isinstance(node, Loop) else inside)
        return replace(node, body=Circuit(body.nodes), results=body.relations)

    return replace(circuit, nodes=tuple(inner(node) for node in circuit.nodes))


def everywhere(circuit: Circuit, rewrite: Rewrite) -> Circuit:
    """The circuit rewritten: first the bodies of its fixpoints, then the circuit itself."""
    return rewrite(in_bodies(circuit, rewrite))


def replaced(circuit: Circuit, instead: dict[NodeId, NodeId], nodes: Iterable[Node] | None = None) -> Circuit:
    """The circuit in which the readers of each node i of `instead` read the earlier node `instead[i]`. No
    node is removed."""

    def new(node: NodeId) -> NodeId:
        while node in instead:
            node = instead[node]
        return node

    rewired = tuple(node.reading(new) for node in (circuit.nodes if nodes is None else nodes))
    return Circuit(rewired, tuple((relation, new(node)) for relation, node in circuit.relations))
