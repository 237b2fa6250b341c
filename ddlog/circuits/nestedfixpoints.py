"""Fixpoints in the steps of fixpoints: where the whole is monotone, one fixpoint of all relations.

    fix x. F(x, fix y. G(x, y))  =  fix (x, y). (F(x, y), G(x, y))          (Bekić's theorem)

The circuit that is built has a Loop, in each round of which the inner fixpoint runs to its end: the meaning
also where a group or a negation stands between the two. One fixpoint is kept up to date with less work."""

from __future__ import annotations

from dataclasses import replace

from ..engine import circuit as c
from ..engine.circuit import NodeId


def flattened(circuit: c.Circuit) -> c.Circuit:
    """The circuit with a Fixpoint in the place of each Loop that is monotone with all that is in it."""
    return replace(circuit, nodes=tuple(map(_flat, circuit.nodes)))


def _flat(node: c.Node) -> c.Node:
    if not isinstance(node, c.Loop):
        return node
    nodes, results = list[c.Node](), list[tuple[str, NodeId]]()
    _add(node, nodes, results, None)
    whole = c.Fixpoint(c.Circuit(tuple(nodes)), tuple(results), text=node.text)
    return whole if whole.monotone else node


def _add(
    scope: c.Fixpoint,
    nodes: list[c.Node],
    results: list[tuple[str, NodeId]],
    outside: dict[NodeId, NodeId] | None,
) -> dict[str, NodeId]:
    """Adds the body of a scope. `outside` says where the nodes are that it imports; None: outside of all.
    Returns where its relations are."""
    new, inner = dict[NodeId, NodeId](), dict[NodeId, dict[str, NodeId]]()
    for at, node in enumerate(scope.body.nodes):
        match node:
            case c.Fixpoint():
                inner[at] = _add(node, nodes, results, new)
            case c.FixpointResult(fixpoint, relation):
                new[at] = inner[fixpoint][relation]
            case c.Import(source) if outside is not None:
                new[at] = outside[source]
            case c.Import():
                new[at] = len(nodes)
                nodes.append(node)
            case _:
                new[at] = len(nodes)
                nodes.append(node.reading(new.__getitem__))
    found = {name: new[at] for name, at in scope.results}
    results += found.items()
    return found
