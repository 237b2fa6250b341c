"""Dead code: a node is removed when no output and no relation kept for queries depends on it."""

from __future__ import annotations

from dataclasses import replace

from ..circuit import Circuit, Fixpoint, FixpointResult, Import, Loop, Node, NodeId, Output


def remove_dead_code(circuit: Circuit) -> Circuit:
    """The circuit without the nodes on which no Output and no relation depends.

    A fixpoint keeps the results that are read and the nodes of its body that these depend on.
    """
    kept = tuple(node for _, node in circuit.relations)
    roots = {i for i, node in enumerate(circuit.nodes) if isinstance(node, Output)} | set(kept)
    nodes = list(circuit.nodes)
    live = set(roots)
    read: dict[NodeId, set[str]] = {}  # the live results of each fixpoint
    for i in reversed(range(len(nodes))):
        if i in live:
            node = nodes[i]
            if isinstance(node, FixpointResult):
                read.setdefault(node.fixpoint, set()).add(node.relation)
            elif isinstance(node, Fixpoint):
                node = nodes[i] = _live_fixpoint(node, read.get(i, set()))
            live.update(node.reads())
    return keep_nodes(Circuit(tuple(nodes), circuit.relations), live)


def keep_nodes(circuit: Circuit, live: set[NodeId]) -> Circuit:
    """The circuit with only the nodes of `live`, renumbered; these read no other nodes."""
    order = [i for i in range(len(circuit.nodes)) if i in live]
    new = {old: position for position, old in enumerate(order)}
    nodes: tuple[Node, ...] = tuple(circuit.nodes[i].reading(new.__getitem__) for i in order)
    return Circuit(nodes, tuple((relation, new[node]) for relation, node in circuit.relations))


def _live_fixpoint(fixpoint: Fixpoint, read: set[str]) -> Fixpoint:
    """The fixpoint with the results that are read, and the results that these depend on."""
    nodes, by_name = fixpoint.body.nodes, dict(fixpoint.results)
    if isinstance(fixpoint, Loop) and fixpoint.empty is not None:
        read = read | {fixpoint.empty}
    pending, live = [by_name[relation] for relation in sorted(read)], set[NodeId]()
    while pending:
        i = pending.pop()
        if i not in live:
            live.add(i)
            node = nodes[i]
            variable = getattr(node, "relation", None)
            pending += [by_name[variable]] if variable in by_name else []
            pending += [] if isinstance(node, Import) else node.reads()
    body = keep_nodes(Circuit(nodes, tuple((r, n) for r, n in fixpoint.results if n in live)), live)
    return replace(fixpoint, body=replace(body, relations=()), results=body.relations)
