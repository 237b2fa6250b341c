"""Inputs that only windows read: they need not keep the rows that no window holds.

A row that left all windows, or came too late for them, does not come back, and whether it is there makes no
difference any more: inserting it again, or deleting it, changes no window.
"""

from __future__ import annotations

from dataclasses import dataclass

from .circuit import Circuit, Clock, Input, Join, Late, NodeId, Trace, Window
from .operators.steps import has_effect
from .schedule import readers


@dataclass(frozen=True, slots=True)
class Holder:
    """A window over an input: `columns` are the places of the window's columns among those of the input."""

    window: NodeId
    columns: tuple[int, ...]


def forgetful_inputs(circuit: Circuit) -> dict[NodeId, tuple[Holder, ...]]:
    """The inputs of an incremental circuit of which only windows need rows, with these windows."""
    read_by = readers(circuit)
    found: dict[NodeId, tuple[Holder, ...]] = {}
    for at, node in enumerate(circuit.nodes):
        if isinstance(node, Input) and not node.stream and not node.lasting:
            holders = _holders(circuit, read_by, at)
            if holders:
                found[at] = tuple(holders)
    return found


def _holders(circuit: Circuit, read_by: list[list[NodeId]], at: NodeId) -> list[Holder] | None:
    """The windows over an input; None if something else reads it."""
    found: list[Holder] = []
    named = [place for _, place in circuit.relations]
    for reader in read_by[at]:
        join = circuit.nodes[reader]
        if isinstance(join, Trace):
            continue
        if not isinstance(join, Join) or len(join.terms) != 1 or join.terms[0].negated or reader in named:
            return None
        if any(map(has_effect, join.steps)):
            return None
        columns = join.terms[0].columns
        for each in read_by[reader]:
            node = circuit.nodes[each]
            match node:
                case Clock() | Late() | Trace():
                    pass
                case Window() if sorted(map(str, columns)) == sorted(join.output[:-1]):
                    found.append(Holder(each, tuple(columns.index(name) for name in join.output[:-1])))
                case _:
                    return None
    return found
