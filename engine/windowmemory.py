"""Nodes of windows whose contents do not follow from what the inputs hold.

A clock had its value of a row that may be gone. A window that takes late rows no more, or the rows of a
stream, holds rows that its source would not give again; so does a sum of all elements of a stream. Whoever
keeps the inputs beyond the process has to keep these contents, too. All other windows follow from their
sources, and from their clocks.
"""

from __future__ import annotations

from collections.abc import Collection

from .circuit import (
    Circuit,
    Clock,
    Clocked,
    Exchange,
    Input,
    Integrate,
    Join,
    Late,
    Negate,
    NodeId,
    Output,
    Sum,
    Trace,
    Window,
)
from .integrals import shown
from .schedule import readers
from .windowonly import forgetful_nodes


def remembers(circuit: Circuit, at: NodeId, given: Collection[NodeId]) -> bool:
    """Whether the contents of a window of an incremental circuit have to be kept, where those of the nodes
    `given` are. Other nodes of windows always do."""
    node = circuit.nodes[at]
    if not isinstance(node, Window):
        return True
    return node.lateness is not None or not _follow(circuit, node.source, given)


def _follow(circuit: Circuit, start: NodeId, given: Collection[NodeId]) -> bool:
    """Whether what a node holds follows from the inputs and from nodes that are given."""
    waiting, seen = [start], set[NodeId]()
    while waiting:
        at = waiting.pop()
        node = circuit.nodes[at]
        if at in seen or at in given or isinstance(node, Clock | Late):
            continue
        if isinstance(node, Clocked) or (isinstance(node, Window) and node.lateness is not None):
            return False
        seen.add(at)
        waiting += node.reads()
    return True


def remembered_nodes(circuit: Circuit) -> frozenset[NodeId] | None:
    """The nodes of an incremental circuit that have to be given what they held, beside the inputs, for an
    empty state to become that of another runtime. None: a node remembers what no node holds."""
    nodes, read_by = circuit.nodes, readers(circuit)
    named = {shown(circuit, at) for _, at in circuit.relations}
    named |= {shown(circuit, at) for at, node in enumerate(nodes) if isinstance(node, Output)}
    sums = set[NodeId]()
    waiting = [at for at, node in enumerate(nodes) if isinstance(node, Clocked)]
    if not all(isinstance(nodes[at], Integrate) for at in waiting):
        return None
    while waiting:  # for the first relation that holds what comes of a sum
        at = waiting.pop()
        if at in named:
            sums.add(at)
            continue
        for reader in read_by[at]:
            match nodes[reader]:
                case Clock() | Late() | Window() | Trace():
                    continue
                case Join() as join if len(join.terms) == 1 and not join.terms[0].negated:
                    waiting.append(reader)
                case Sum() | Negate() | Exchange():
                    waiting.append(reader)
                case _:
                    return None
    timed = {at for at, node in enumerate(nodes) if isinstance(node, Clock | Late | Window)}
    return frozenset(sums | {at for at in timed if remembers(circuit, at, sums)})


def forgetful_inputs(circuit: Circuit) -> list[str]:
    """The inputs of an incremental circuit that forget the rows that are in no window any more."""
    nodes = (circuit.nodes[at] for at in forgetful_nodes(circuit))
    return [node.relation for node in nodes if isinstance(node, Input)]
