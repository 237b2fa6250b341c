"""A join of one relation moves into the recursion that alone reads the join, if the recursion also reads the
relation. There the join is evaluated with the rules, and its rows are not kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..circuit import Circuit, Fixpoint, Import, Join, Node, NodeId


def move_inward(circuit: Circuit) -> Circuit:
    """The circuit with joins of one relation, which only choose and repeat columns, inside the recursions."""
    read = Counter(source for node in circuit.nodes for source in {*node.reads()})
    read.update(at for _, at in circuit.relations)
    moving = {
        at: node
        for at, node in enumerate(circuit.nodes)
        if read[at] == 1 and isinstance(node, Join) and _only_chooses(node)
    }
    nodes = tuple(
        _with(node, moving) if node.__class__ is Fixpoint and node.lifted else node for node in circuit.nodes
    )
    return replace(circuit, nodes=nodes)


def _only_chooses(join: Join) -> bool:
    return not join.steps and len(join.terms) == 1 and not join.terms[0].negated


def _with(fixpoint: Fixpoint, moving: dict[NodeId, Join]) -> Fixpoint:
    """The recursion with joins of what it imports where it imports these."""
    body: list[Node] = []
    imported: dict[NodeId, NodeId] = {}  # places in the body
    for at, node in enumerate(fixpoint.body.nodes):
        if isinstance(node, Import):
            imported.setdefault(node.node, at)
            join = moving.get(node.node)
            if join is not None and join.terms[0].source in imported:
                node = join.reading(imported.__getitem__)
        body.append(node)
    return replace(fixpoint, body=replace(fixpoint.body, nodes=tuple(body)))
