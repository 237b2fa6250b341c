"""Folding: conditions without variables are decided; sums of at most one source and joins that only copy
their source are removed."""

from __future__ import annotations

from dataclasses import replace

from ..circuit import Circuit, Constant, Guard, Join, Node, NodeId, Step, Sum
from .scopes import everywhere, replaced


def fold_constants(circuit: Circuit) -> Circuit:
    """The circuit with true guards removed, joins of a false one empty, sums of one and copies gone."""
    return everywhere(circuit, _fold)


def _fold(circuit: Circuit) -> Circuit:
    nodes: list[Node] = []
    instead: dict[NodeId, NodeId] = {}
    for i, node in enumerate(circuit.nodes):
        if isinstance(node, Join):
            node = _decided(node)
        if isinstance(node, Join) and any(not t.negated and _is_empty(nodes[t.source]) for t in node.terms):
            node = Constant((), node.schema, node.text)
        if isinstance(node, Sum):
            node = replace(node, sources=tuple(s for s in node.sources if not _is_empty(nodes[s])))
            if not node.sources:
                node = Constant((), node.schema, node.text)
            elif len(node.sources) == 1:
                instead[i] = node.sources[0]
        if isinstance(node, Join) and _copies(node):
            instead[i] = node.terms[0].source
        nodes.append(node)
    return replaced(circuit, instead, nodes)


def _copies(join: Join) -> bool:
    """Whether the join gives the rows of its one source as they are."""
    distinct = len(set(join.output)) == len(join.output)
    return len(join.terms) == 1 and not join.steps and distinct and join.terms[0].columns == join.output


def _decided(join: Join) -> Join | Constant:
    steps: list[Step] = []
    for step in join.steps:
        decision = _decision(step)
        if decision is False:
            return Constant((), join.schema, join.text)
        if decision is None:
            steps.append(step)
    return replace(join, steps=tuple(steps))


def _decision(step: Step) -> bool | None:
    """The value of a guard without variables; None for other steps, and for a guard that fails, which then
    fails at run time."""
    if not isinstance(step, Guard) or step.condition.inputs or step.condition.effect:
        return None
    try:
        return bool(step.condition.scalar())
    except Exception:
        return None


def _is_empty(node: Node) -> bool:
    return isinstance(node, Constant) and not node.rows
