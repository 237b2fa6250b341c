"""Algorithm 6.13 step by step: the circuits between a relational circuit and its incremental version."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from ddlog.engine.circuit import (
    Circuit,
    Constant,
    Differentiate,
    Distinct,
    Fixpoint,
    FixpointResult,
    Group,
    Input,
    Integrate,
    Join,
    Node,
    NodeId,
    Ordered,
    Output,
)
from ddlog.engine.incremental import incrementalize
from ddlog.engine.node import Stateful


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
        case Distinct() | Group() | Ordered() | Fixpoint() | Constant() | Stateful():
            return False
        case _:
            return True


class _Builder:
    """The nodes of a circuit in the making, with one integral of each node that needs one."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.whole: set[NodeId] = set()  # fixpoints whose bodies stay as they are
        self._integrals: dict[NodeId, NodeId] = {}

    def add(self, node: Node) -> NodeId:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def integral(self, source: NodeId) -> NodeId:
        if source not in self._integrals:
            self._integrals[source] = self.add(Integrate(source, self.nodes[source].schema))
        return self._integrals[source]


_Rule: TypeAlias = Callable[[_Builder, Node], NodeId]


def _rewrite(circuit: Circuit, rule: _Rule) -> Circuit:
    """Each node, its sources renumbered, replaced by what the rule adds for it."""
    builder = _Builder()
    new: list[NodeId] = []
    for node in circuit.nodes:
        new.append(rule(builder, node.reading(new.__getitem__)))
    relations = tuple((relation, new[node]) for relation, node in circuit.relations)
    return Circuit(tuple(builder.nodes), relations)


def _rewrite_body(node: Fixpoint, rule: _Rule) -> Fixpoint:
    builder = _Builder()
    new: list[NodeId] = []
    for inner in node.body.nodes:
        new.append(rule(builder, inner.reading(new.__getitem__)))
    results = tuple((relation, new[result]) for relation, result in node.results)
    return replace(node, body=Circuit(tuple(builder.nodes)), results=results)


def _surrounded(builder: _Builder, node: Node) -> NodeId:
    match node:
        case Input():
            return builder.integral(builder.add(node))
        case Output():
            change = builder.add(Differentiate(node.source, node.schema))
            return builder.add(replace(node, source=change))
        case _:
            return builder.add(node)


def _chained(builder: _Builder, node: Node) -> NodeId:
    if isinstance(node, Fixpoint):
        rewritten = _rewrite_body(node, _chained)
        if not rewritten.lifted:
            return builder.add(rewritten)
        whole = builder.add(node.reading(builder.integral))
        builder.whole.add(whole)
        return whole
    if isinstance(node, FixpointResult) and node.fixpoint in builder.whole:
        return builder.add(Differentiate(builder.add(node), node.schema))
    if is_linear(node):
        return builder.add(node)
    if isinstance(node, Stateful):  # what it remembers stands for the integrals
        return builder.add(node.incremental(lambda source: source))
    integrals = {source: builder.integral(source) for source in node.reads()}
    whole = builder.add(node.reading(integrals.__getitem__))
    return builder.add(Differentiate(whole, node.schema))
