"""Incremental circuits: Algorithm 6.13 as rewritings from circuit to circuit.

    relational    Q, on relations; lifted, on streams of relations          (Proposition 3.3)
    surrounded    D ∘ Q ∘ I, on streams of changes                          (Definition 4.1)
    chained       each operator between its own I and D, for I ∘ D = id      (Proposition 4.2)
    incremental   no I and no D: linear operators are their own incremental
                  version, the others look up what they need in traces       (Theorems 4.4, 4.5)

The body of a fixpoint is rewritten by the same rules, by the cycle rule of Proposition 4.2; there
I and D are the lifted ones, over epochs at one iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TypeAlias

from .circuit import (
    Circuit,
    Constant,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Differentiate,
    Distinct,
    Fixpoint,
    Group,
    Input,
    Integrate,
    Join,
    Node,
    NodeId,
    Output,
    Trace,
    sources,
    with_sources,
)


def incrementalize(circuit: Circuit) -> Circuit:
    """The circuit from changes of the inputs to changes of the outputs: Q^Δ for a relational Q.

    A Constant of the result is the change of a constant stream: its rows in the first epoch, then
    nothing.
    """
    return _rewrite(circuit, _incremental)


def incrementalize_steps(circuit: Circuit) -> tuple[tuple[str, Circuit], ...]:
    """The intermediate circuits of the algorithm by name; only in the last is a Constant a change."""
    return (
        ("relational", circuit),
        ("surrounded", _rewrite(circuit, _surrounded)),
        ("chained", _rewrite(circuit, _chained)),
        ("incremental", incrementalize(circuit)),
    )


def is_linear(node: Node) -> bool:
    """Whether the node's incremental version is the node itself (Theorem 4.4)."""
    match node:
        case Join(terms):
            return len(terms) <= 1 and not any(t.negated for t in terms)
        case Distinct() | Group() | Fixpoint() | Constant():
            return False
        case _:
            return True


class _Builder:
    """The nodes of a circuit in the making; equal nodes added by `shared` are one."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._shared: dict[Hashable, NodeId] = {}

    def add(self, node: Node) -> NodeId:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def shared(self, node: Node) -> NodeId:
        if node not in self._shared:
            self._shared[node] = self.add(node)
        return self._shared[node]

    def trace(self, source: NodeId) -> NodeId:
        return self.shared(Trace(source, self.nodes[source].schema))

    def integral(self, source: NodeId) -> NodeId:
        return self.shared(Integrate(source, self.nodes[source].schema))


_Rule: TypeAlias = Callable[[_Builder, Node], NodeId]


def _rewrite(circuit: Circuit, rule: _Rule) -> Circuit:
    """Each node, its sources renumbered, replaced by what the rule adds for it."""
    builder = _Builder()
    new: list[NodeId] = []
    for node in circuit.nodes:
        new.append(rule(builder, with_sources(node, new.__getitem__)))
    relations = tuple((relation, new[node]) for relation, node in circuit.relations)
    return Circuit(tuple(builder.nodes), relations)


def _rewrite_body(node: Fixpoint, rule: _Rule) -> Fixpoint:
    builder = _Builder()
    new: list[NodeId] = []
    for inner in node.body.nodes:
        new.append(rule(builder, with_sources(inner, new.__getitem__)))
    results = tuple((relation, new[result]) for relation, result in node.results)
    return replace(node, body=Circuit(tuple(builder.nodes)), results=results)


def _surrounded(builder: _Builder, node: Node) -> NodeId:
    match node:
        case Input():
            return builder.integral(builder.add(node))
        case Output(_, source):
            change = builder.add(Differentiate(source, node.schema))
            return builder.add(replace(node, source=change))
        case _:
            return builder.add(node)


def _chained(builder: _Builder, node: Node) -> NodeId:
    if isinstance(node, Fixpoint):
        return builder.add(_rewrite_body(node, _chained))
    if is_linear(node):
        return builder.add(node)
    integrals = {source: builder.integral(source) for source in sources(node)}
    whole = builder.add(with_sources(node, integrals.__getitem__))
    return builder.add(Differentiate(whole, node.schema))


def _incremental(builder: _Builder, node: Node) -> NodeId:
    if isinstance(node, Join) and not is_linear(node):
        traces = tuple(builder.trace(term.source) for term in node.terms)
        return builder.add(DeltaJoin(node.terms, traces, node.steps, node.output, node.schema, node.text))
    match node:
        case Distinct(source, schema, text):
            return builder.add(DeltaDistinct(source, builder.trace(source), schema, text))
        case Group(source, keys, aggregates, schema, text):
            trace = builder.trace(source)
            return builder.add(DeltaGroup(source, trace, keys, aggregates, schema, text))
        case Fixpoint():
            return builder.add(_rewrite_body(node, _incremental))
        case _:
            return builder.add(node)
