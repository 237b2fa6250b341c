"""A recursion of an evaluation without state, as a circuit of its own: what it reads becomes inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...circuit import Circuit, Fixpoint, FixpointResult, Input, Node, NodeId, Output
from ...integrals import weighted


class LoneRecursion(NamedTuple):
    """A circuit of changes with one Fixpoint, and the names of its inputs and of its outputs, by the nodes of
    the circuit from which it was taken."""

    circuit: Circuit
    inputs: Mapping[NodeId, str]
    outputs: Mapping[NodeId, str]


def alone(circuit: Circuit, at: NodeId) -> LoneRecursion:
    """A Fixpoint of a circuit of changes without the rest. An input is a multiset if rows of the node that
    it stands for have weights: groups of the recursion may count them."""
    fixpoint = circuit.nodes[at]
    assert isinstance(fixpoint, Fixpoint)
    sources = list(dict.fromkeys(fixpoint.reads()))
    inputs = {source: f"import {source}" for source in sources}
    nodes: list[Node] = [
        Input(name, circuit.nodes[source].schema, weighted(circuit, source))
        for source, name in inputs.items()
    ]
    nodes.append(fixpoint.reading(sources.index))
    outputs: dict[NodeId, str] = {}
    for k, node in enumerate(circuit.nodes):
        if isinstance(node, FixpointResult) and node.fixpoint == at:
            outputs[k] = node.relation
            nodes.append(FixpointResult(len(sources), node.relation, node.schema, node.text))
            nodes.append(Output(node.relation, len(nodes) - 1, node.schema))
    return LoneRecursion(Circuit(tuple(nodes)), inputs, outputs)
