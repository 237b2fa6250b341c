"""Distinct elimination: fewer Distinct nodes. Their histories take most of the memory.

    distinct(i) = i                            where i is a set          (Proposition 6.4, generalised)
    distinct(Q(distinct(i))) = distinct(Q(i))  for i positive            (Propositions 6.10, 6.11)

where Q is a chain of sums and linear joins that nothing else reads. The results of a fixpoint stay
distinct: without that, the recursion would not end.
"""

from __future__ import annotations

from dataclasses import replace

from ..circuit import Circuit, Differentiate, Distinct, Fixpoint, Join, Negate, Node, NodeId, Sum
from ..node import provable_sets
from .scopes import everywhere, replaced


def eliminate_distinct(circuit: Circuit) -> Circuit:
    """The circuit without the Distinct nodes whose source is a set, also in the bodies of fixpoints."""
    outside = provable_sets(circuit)
    nodes = tuple(_in_body(node, outside) if isinstance(node, Fixpoint) else node for node in circuit.nodes)
    return _drop(Circuit(nodes, circuit.relations), outside, frozenset())


def consolidate_distinct(circuit: Circuit) -> Circuit:
    """The circuit without the Distinct nodes that are read only through sums and linear joins by another
    Distinct."""
    return everywhere(circuit, _consolidate)


def _in_body(fixpoint: Fixpoint, outside: tuple[bool, ...]) -> Fixpoint:
    body = Circuit(fixpoint.body.nodes, fixpoint.results)
    results = frozenset(node for _, node in fixpoint.results)
    body = _drop(body, provable_sets(body, outside), results)
    return replace(fixpoint, body=Circuit(body.nodes), results=body.relations)


def _drop(circuit: Circuit, sets: tuple[bool, ...], needed: frozenset[NodeId]) -> Circuit:
    instead = {
        i: node.source
        for i, node in enumerate(circuit.nodes)
        if isinstance(node, Distinct) and sets[node.source] and i not in needed
    }
    return replaced(circuit, instead)


def _consolidate(circuit: Circuit) -> Circuit:
    if any(isinstance(node, Negate | Differentiate) for node in circuit.nodes):
        return circuit
    readers = _readers(circuit)
    kept = {node for _, node in circuit.relations}
    instead = {
        i: node.source
        for i, node in enumerate(circuit.nodes)
        if isinstance(node, Distinct) and i not in kept and _ends_distinct(circuit, readers, kept, i)
    }
    return replaced(circuit, instead)


def _ends_distinct(circuit: Circuit, readers: list[list[NodeId]], kept: set[NodeId], i: NodeId) -> bool:
    while len(readers[i]) == 1:
        (i,) = readers[i]
        node = circuit.nodes[i]
        if isinstance(node, Distinct):
            return True
        if i in kept or not _carries(node):
            return False
    return False


def _carries(node: Node) -> bool:
    """Whether the node is a Q of Proposition 6.11 that needs no trace of its source."""
    return isinstance(node, Sum) or (isinstance(node, Join) and len(node.terms) == 1)


def _readers(circuit: Circuit) -> list[list[NodeId]]:
    readers: list[list[NodeId]] = [[] for _ in circuit.nodes]
    for i, node in enumerate(circuit.nodes):
        for source in node.reads():
            readers[source].append(i)
    return readers
