"""Running a rewriting on a circuit and on the bodies of its fixpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..circuit import Circuit, Fixpoint, Node, NodeId

Rewrite = Callable[[Circuit], Circuit]


def in_bodies(circuit: Circuit, rewrite: Rewrite) -> Circuit:
    """The circuit with each fixpoint's body rewritten; there `relations` are the results, which stay."""

    def inner(node: Node) -> Node:
        if not isinstance(node, Fixpoint):
            return node
        body = rewrite(Circuit(node.body.nodes, node.results))
        return replace(node, body=Circuit(body.nodes), results=body.relations)

    return replace(circuit, nodes=tuple(inner(node) for node in circuit.nodes))


def everywhere(circuit: Circuit, rewrite: Rewrite) -> Circuit:
    """The rewriting done on the bodies, then on the circuit itself."""
    return rewrite(in_bodies(circuit, rewrite))


def replaced(circuit: Circuit, instead: dict[NodeId, NodeId], nodes: Iterable[Node] | None = None) -> Circuit:
    """The circuit with readers of a node reading another one, earlier, instead; no node is removed."""

    def new(node: NodeId) -> NodeId:
        while node in instead:
            node = instead[node]
        return node

    rewired = tuple(node.reading(new) for node in (circuit.nodes if nodes is None else nodes))
    return Circuit(rewired, tuple((relation, new(node)) for relation, node in circuit.relations))
