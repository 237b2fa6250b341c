"""Common subcircuits: nodes that compute the same of the same sources are one node."""

from __future__ import annotations

from collections.abc import Hashable

from ..circuit import Circuit, Fixpoint, Join, Node, NodeId, Output
from ..operators.steps import has_effect
from .canonical import node_key
from .scopes import everywhere


def share_common_nodes(circuit: Circuit) -> Circuit:
    """The circuit with equal nodes made one, from the inputs on, and in the bodies of fixpoints.

    Joins are compared up to the names of their variables; those with an effect stay apart.
    """
    return everywhere(circuit, _share)


def _share(circuit: Circuit) -> Circuit:
    nodes: list[Node] = []
    new: list[NodeId] = []
    first: dict[Hashable, NodeId] = {}
    for node in circuit.nodes:
        node = node.reading(new.__getitem__)
        key = node_key(node) if _may_be_shared(node) else len(new)
        if key not in first:
            first[key] = len(nodes)
            nodes.append(node)
        new.append(first[key])
    return Circuit(tuple(nodes), tuple((relation, new[node]) for relation, node in circuit.relations))


def _may_be_shared(node: Node) -> bool:
    match node:
        case Fixpoint() | Output():
            return False
        case Join(_, steps):
            return not any(map(has_effect, steps))
        case _:
            return True
