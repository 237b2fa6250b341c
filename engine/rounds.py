"""A recursion by rounds: x' = F(x) from empty relations, where more rows may mean fewer.

The rounds are to the body what epochs are to a circuit. So the body is a circuit of changes over rounds, and
a round costs in proportion to the changes of the round before:

    imports ──► whole, at round 0 ──►┐
                                     ├──► body ──► change of each relation ──┐
    variables ◄── nothing at 0 ──────┘      ▲                                │
        └──────────────────────────── z⁻¹ ◄─┴────────────────────────────────┘   until nothing changes

The state of the body lives as long as one evaluation. An epoch that changes an import evaluates anew, and
its changes are the differences to the relations of the epoch before.
"""

from __future__ import annotations

from collections.abc import Callable

from .circuit import Circuit, Import, Input, Node, NodeId, Output, Rounds, Variable


def import_name(node: NodeId) -> str:
    """The name of the input that an imported node is to the circuit of the rounds."""
    return f"import {node}"


def round_circuit(rounds: Rounds, weighted: Callable[[NodeId], bool]) -> Circuit:
    """The body as a circuit whose epochs are the rounds. Its inputs are the imports and the variables, its
    outputs the relations. `weighted` says of which imported nodes the rows have weights."""

    def end(node: Node) -> Node:
        match node:
            case Import(source, schema):
                return Input(import_name(source), schema, weighted(source), node.text)
            case Variable(relation, schema):
                return Input(relation, schema, text=node.text)
            case _:
                return node

    nodes = rounds.body.nodes
    outputs = (Output(relation, at, nodes[at].schema) for relation, at in rounds.results)
    return Circuit((*map(end, nodes), *outputs))


def fed_back(circuit: Circuit) -> dict[NodeId, NodeId]:
    """The variables of a circuit of rounds, each with the node whose value of the round before it is, where
    no other node reads that node in the same round. Visited last in a round, such a node and its variable can
    share their state."""
    nodes = circuit.nodes
    inputs = {node.relation: at for at, node in enumerate(nodes) if isinstance(node, Input)}
    results = {node.relation: node.source for node in nodes if isinstance(node, Output)}
    read = {at for node in nodes if not isinstance(node, Output) for at in node.reads()}
    return {inputs[name]: at for name, at in results.items() if at not in read and name in inputs}
