"""Incremental circuits: Algorithm 6.13 as one rewriting from circuit to circuit.

    relational    Q, on relations; lifted, on streams of relations          (Proposition 3.3)
    surrounded    D ∘ Q ∘ I, on streams of changes                          (Definition 4.1)
    chained       each operator between its own I and D, for I ∘ D = id      (Proposition 4.2)
    incremental   no I and no D: linear operators are their own incremental
                  version, the others look up what they need in traces       (Theorems 4.4, 4.5)

Each operator knows its incremental version, so the rewriting goes from the first form to the last at once.
The body of a fixpoint is rewritten by the same rules, by the cycle rule of Proposition 4.2; there I and D are
the lifted ones, over epochs at one iteration. The body of a Loop, or of a fixpoint that is not monotone,
stays as it is: its runtime lifts each operator to product time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .circuit import Circuit, DeltaDistinct, DeltaJoin, Distinct, Fixpoint, Join, Node, NodeId, Trace


def incrementalize(circuit: Circuit) -> Circuit:
    """The circuit from changes of the inputs to changes of the outputs: Q^Δ for a relational Q.

    A Constant of the result is the change of a constant stream: its rows in the first epoch, then
    nothing.
    """
    nodes, new = _rewritten(circuit.nodes)
    return Circuit(nodes, tuple((relation, new[node]) for relation, node in circuit.relations))


def _rewritten(nodes: Sequence[Node]) -> tuple[tuple[Node, ...], list[NodeId]]:
    """The incremental version of each node, with one Trace of each source that needs one; and where each node
    went."""
    made: list[Node] = []
    new: list[NodeId] = []
    traces: dict[NodeId, NodeId] = {}

    def trace(source: NodeId) -> NodeId:
        if source not in traces:
            made.append(Trace(source, made[source].schema))
            traces[source] = len(made) - 1
        return traces[source]

    for node in nodes:
        node = node.reading(new.__getitem__).incremental(trace)
        if isinstance(node, Fixpoint) and not node.lifted:
            node = _with_body(node)
        made.append(node)
        new.append(len(made) - 1)
    return tuple(made), new


def _with_body(fixpoint: Fixpoint) -> Fixpoint:
    nodes, new = _rewritten(fixpoint.body.nodes)
    results = tuple((relation, new[result]) for relation, result in fixpoint.results)
    return replace(fixpoint, body=Circuit(nodes), results=results)


def relational(fixpoint: Fixpoint) -> Fixpoint:
    """The Fixpoint whose incremental version this is: its body on relations, without traces."""
    nodes: list[Node] = []
    places: dict[NodeId, NodeId] = {}
    for at, node in enumerate(fixpoint.body.nodes):
        if isinstance(node, Trace):
            continue
        if isinstance(node, DeltaJoin):
            node = Join(node.terms, node.steps, node.output, node.schema, node.text)
        elif isinstance(node, DeltaDistinct):
            node = Distinct(node.source, node.schema, node.text)
        places[at] = len(nodes)
        nodes.append(node.reading(places.__getitem__))
    results = tuple((relation, places[at]) for relation, at in fixpoint.results)
    return replace(fixpoint, body=Circuit(tuple(nodes)), results=results)
