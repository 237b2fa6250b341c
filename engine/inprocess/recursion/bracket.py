"""The sums of a circuit in nested time in process, and its body as a circuit of streams."""

from __future__ import annotations

from ...circuit import Circuit, DeltaBracket, Import, Input, Node, Output
from ...incremental import incrementalize
from ...operators.fixpoint import import_name
from ..arrangements.signedstore import SignedStore
from ..storage.steps import Evaluator


def stream_circuit(node: DeltaBracket) -> Circuit:
    """The body as a circuit of streams whose epochs are the iterations: its inputs are the imports, its
    outputs the results."""

    def end(each: Node) -> Node:
        if isinstance(each, Import):
            return Input(import_name(each.node), each.schema, True, each.text, True, True)
        return each

    nodes = node.body.nodes
    outputs = (Output(name, at, nodes[at].schema, stream=True) for name, at in node.results)
    return Circuit((*map(end, nodes), *outputs))


class Bracketed:
    """The sums of the results of one DeltaBracket, as of the last commit."""

    def __init__(self, node: DeltaBracket, evaluator: Evaluator) -> None:
        self.node, self.evaluator = node, evaluator
        self.circuit = incrementalize(stream_circuit(node))
        self.schemas = {name: node.body.nodes[at].schema for name, at in node.results}
        self.relations = {name: SignedStore(schema) for name, schema in self.schemas.items()}
