"""The types of the columns of a circuit, which tell the closures that rows can hold."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine.circuit import Circuit, DeltaJoin, Fixpoint, Join
from ...engine.operators.steps import expression
from ...types import Type


def column_types(circuit: Circuit) -> Iterator[Type]:
    """The types of all columns that operators of a circuit read or give."""
    for node in circuit.nodes:
        columns = list(node.schema)
        if isinstance(node, Join | DeltaJoin):
            for step in node.steps:
                value = expression(step)
                columns += (value.column, *value.columns)
        yield from (each.type for each in columns if each.type is not None)
        if isinstance(node, Fixpoint):
            yield from column_types(node.body)
