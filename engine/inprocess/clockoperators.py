"""The operators of a clock in process: z⁻¹, D and I over epochs, and the delays of cycles.

Each is linear and time-invariant, so that it is its own incremental version (Theorem 4.4). Its state is one
Z-set: for z⁻¹ and D the source's change of the epoch before, for I the sum of all changes. An epoch in which
no input changes has work to do where such a state is not empty: see `restless`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..circuit import (
    Circuit,
    Clocked,
    DeltaDistinct,
    Differentiate,
    Feed,
    Integrate,
    NodeId,
)
from ..integrals import signed_nodes
from ..operators.feedback import cycles
from .arrangements.signedstore import SignedStore
from .arrangements.store import Store
from .storage.batch import Batch, concat, consolidate


class Memories:
    """The states of the nodes of a circuit that remember, by node. A *distinct* of rows whose weights may be
    negative remembers these weights."""

    def __init__(self, circuit: Circuit) -> None:
        nodes, signed = circuit.nodes, signed_nodes(circuit)
        self._clocked = {
            at: SignedStore(node.schema)
            for at, node in enumerate(nodes)
            if isinstance(node, Clocked) and not isinstance(node, Feed)
        }
        self._counts = {
            at: Store(node.schema, True)
            for at, node in enumerate(nodes)
            if isinstance(node, DeltaDistinct) and signed[node.source]
        }
        self._cycles = cycles(nodes)

    def stores(self) -> Iterator[Store]:
        """All states."""
        return (store for _, store in self.by_node())

    def by_node(self) -> Iterator[tuple[NodeId, Store]]:
        """All states, each with its node."""
        yield from self._clocked.items()
        yield from self._counts.items()

    def counts(self, at: NodeId) -> Store | None:
        """The weights of the source of a *distinct*, if they may be negative."""
        return self._counts.get(at)

    def take(self, at: NodeId, others: Memories, other: NodeId) -> None:
        """Takes over the state of a node from another circuit's, if the node remembers."""
        if at in self._clocked:
            self._clocked[at] = others._clocked[other]
        if at in self._counts:
            self._counts[at] = others._counts[other]

    def of(self, at: NodeId, node: Clocked) -> SignedStore:
        """The state that a node uses: a Feed that of its Feedback."""
        return self._clocked[self._cycles[node.name] if isinstance(node, Feed) else at]

    def may_be_restless(self) -> bool:
        """Whether some nodes may change in an epoch in which their sources do not."""
        return bool(self._clocked)

    def restless(self) -> tuple[NodeId, ...]:
        """The nodes that change in an epoch in which their sources do not."""
        if not self._clocked:
            return ()
        return tuple([at for at, store in self._clocked.items() if store.present])


def step(node: Clocked, memory: SignedStore, change: Batch | None) -> Batch | None:
    """The change of a node in an epoch, for that of its source; the memory becomes that after the epoch."""
    match node:
        case Integrate():
            if change is not None and change.length:
                memory.add_counted(change, as_set=False)
            return _contents(memory)
        case Differentiate():
            return _difference(change, _replaced(memory, change))
        case Feed():
            _replaced(memory, change)
            return None
        case _:
            return _replaced(memory, change)


def _contents(memory: Store) -> Batch | None:
    return memory.batch() if memory.present else None


def _replaced(memory: SignedStore, change: Batch | None) -> Batch | None:
    """The contents of a memory, in whose place the change comes."""
    before = _contents(memory)
    moved = _difference(change, before)
    if moved is not None and moved.length:
        memory.add_counted(moved, as_set=False)
    return before


def _difference(left: Batch | None, right: Batch | None) -> Batch | None:
    parts = [] if left is None else [left]
    if right is not None:
        parts.append(right.negated())
    return consolidate(concat(parts, len(parts[0].columns))) if parts else None
