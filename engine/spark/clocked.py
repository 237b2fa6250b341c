"""The operators of a clock on Spark: z⁻¹, D and I over epochs, and the delays of cycles.

The state of z⁻¹, of D and of a cycle is one table, the source's change of the epoch before; that of I is a
spine. See `inprocess.clocked`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..circuit import Circuit, Clocked, Feed, Integrate, NodeId
from ..operators.feedback import cycles
from .spine import Spine
from .table import Table
from .tables import Tables


class Delayed:
    """A table with the rows that a node remembers, each once; None: there are none. `next` takes its place
    when the epoch is committed."""

    def __init__(self) -> None:
        self.now: Table | None = None
        self.next: Table | None = None

    def commit(self) -> None:
        """The epoch's change stays."""
        self.now = self.next

    def rollback(self) -> None:
        """Takes the epoch's change back."""
        self.next = self.now


class Memories:
    """The states of the nodes of a circuit that remember, by node."""

    def __init__(self, circuit: Circuit, tables: Tables) -> None:
        nodes = list(enumerate(circuit.nodes))
        self.sums = {at: Spine(tables, node.schema) for at, node in nodes if isinstance(node, Integrate)}
        delayed = (at for at, node in nodes if isinstance(node, Clocked) and not isinstance(node, Feed))
        self._delayed = {at: Delayed() for at in delayed if at not in self.sums}
        self._cycles = cycles(circuit.nodes)

    def of(self, at: NodeId, node: Clocked) -> Delayed:
        """The state that a node other than I uses: a Feed that of its Feedback."""
        return self._delayed[self._cycles[node.name] if isinstance(node, Feed) else at]

    def restless(self) -> tuple[NodeId, ...]:
        """The nodes that change in an epoch in which their sources do not."""
        delayed = [at for at, each in self._delayed.items() if each.now is not None]
        return (*delayed, *(at for at, spine in self.sums.items() if spine.rows()))

    def held(self) -> Iterator[Table]:
        """The tables that the delays need."""
        for each in self._delayed.values():
            yield from {table for table in (each.now, each.next) if table is not None}

    def commit(self) -> None:
        """The changes of the delays stay."""
        for each in self._delayed.values():
            each.commit()

    def rollback(self) -> None:
        """Takes the changes of the delays back."""
        for each in self._delayed.values():
            each.rollback()
