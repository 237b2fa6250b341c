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
from dataclasses import fields, replace

from .circuit import (
    Circuit,
    Clock,
    DeltaBracket,
    DeltaClock,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    DeltaLate,
    DeltaOrdered,
    DeltaWindow,
    Distinct,
    Fixpoint,
    Group,
    Join,
    Late,
    Node,
    NodeId,
    Ordered,
    Trace,
    Window,
)


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


def original(circuit: Circuit) -> Circuit:
    """The relational circuit whose incremental version this is. Raises ValueError where an operator does not
    say its original."""
    nodes, places = _originals(circuit.nodes)
    return Circuit(nodes, tuple((relation, places[at]) for relation, at in circuit.relations))


def relational(fixpoint: Fixpoint) -> Fixpoint:
    """The Fixpoint whose incremental version this is: its body on relations, without traces."""
    nodes, places = _originals(fixpoint.body.nodes)
    results = tuple((relation, places[at]) for relation, at in fixpoint.results)
    return replace(fixpoint, body=Circuit(nodes), results=results)


def _originals(nodes: Sequence[Node]) -> tuple[tuple[Node, ...], dict[NodeId, NodeId]]:
    """The relational version of each node but traces, and where each node went."""
    found: list[Node] = []
    places: dict[NodeId, NodeId] = {}
    for at, node in enumerate(nodes):
        if not isinstance(node, Trace):
            places[at] = len(found)
            found.append(_original(node).reading(places.__getitem__))
    return tuple(found), places


def _original(node: Node) -> Node:
    match node:
        case DeltaJoin():
            return Join(node.terms, node.steps, node.output, node.schema, node.text)
        case DeltaDistinct():
            return Distinct(node.source, node.schema, node.text)
        case DeltaGroup():
            return Group(node.source, node.keys, node.aggregates, node.schema, node.text, node.bag)
        case DeltaOrdered():
            return Ordered(node.source, node.keys, node.aggregate, node.schema, node.text, node.bag)
        case DeltaClock() | DeltaWindow() | DeltaLate():
            plain: type[Node] = {DeltaClock: Clock, DeltaWindow: Window, DeltaLate: Late}[type(node)]
            return plain(*(getattr(node, each.name) for each in fields(node)))
        case DeltaBracket():
            raise ValueError(f"a {type(node).__name__} does not say its original")
        case Fixpoint() if not node.lifted:
            return relational(node)
    return node
