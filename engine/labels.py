"""The pieces that the text and the drawings of circuits share."""

from __future__ import annotations

from .circuit import Circuit, Node, NodeId
from .schema import Schema


def schema_text(schema: Schema) -> str:
    """The columns with their types."""
    return "(" + ", ".join(f"{column.name}: {column.domain}" for column in schema) + ")"


def relation_names(circuit: Circuit) -> dict[NodeId, str]:
    """The relation that each node is the value of; of several the first."""
    names: dict[NodeId, str] = {}
    for relation, node in circuit.relations:
        names.setdefault(node, relation)
    return names


def one_line(text: str) -> str:
    """Source text on one line."""
    return " ".join(text.split())


def operator_of(node: Node) -> str:
    """The operator of a node in a word: `join` for a join, and for the change of one."""
    return type(node).__name__.removeprefix("Delta").lower()


def cost_key(node: Node) -> str:
    """The text by which the measured costs of a node are found."""
    return one_line(node.text) or node.title()
