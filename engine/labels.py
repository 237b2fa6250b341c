"""The pieces that the text and the drawings of circuits share."""

from __future__ import annotations

from .circuit import Circuit, NodeId
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
