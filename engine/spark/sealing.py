"""The changes of an epoch that is computed, as tables, for what keeps them before they become final."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..circuit import Input, NodeId
from ..inprocess.storage.batch import consolidate
from ..runtime import Delta
from . import remembered
from .driverrows import DriverDelta
from .placedepoch import PlacedEpoch
from .tables import Table


class SealedEpoch:
    """The changes of one epoch over a state. See `engine.runtime.Sealed`."""

    def __init__(
        self, running: PlacedEpoch, deltas: Mapping[str, Delta], remembered: Mapping[str, NodeId]
    ) -> None:
        self._running, self.deltas, self._remembered = running, deltas, remembered
        self._tables = running.there.tables

    @property
    def length(self) -> int:
        """The number of rows that inputs changed by, or more."""
        here, there = self._running.here.taken.values(), self._running.there.taken.values()
        return sum(batch.length for batch in here) + sum(change.rows or 0 for change in there)

    def inputs(self) -> dict[str, Table]:
        """The change of each input that changed, or the elements of one that is a stream."""
        return dict(self._input_tables())

    def output(self, name: str) -> Table | None:
        """The change of an output, or the elements of one that is a stream; None if there are none."""
        delta = self.deltas.get(name)
        table = delta.table() if isinstance(delta, DriverDelta) else self._running.there.told.get(name)
        return table if table is not None and table.rows else None

    def _input_tables(self) -> Iterator[tuple[str, Table]]:
        running, nodes = self._running, self._running.circuit.nodes
        for at, batch in running.here.taken.items():
            node = nodes[at]
            assert isinstance(node, Input)
            if node.stream or running.epoch.first:
                batch = running.here.state.stores[at].batch()
            else:
                batch = consolidate(batch)
            if batch.length:
                yield node.relation, running.crossing.table(node.schema, batch)
        there = running.there
        for at in {**there.taken, **there.forgotten}:
            node = nodes[at]
            assert isinstance(node, Input)
            table = self._change(at, node)
            if table.rows:
                yield node.relation, table

    def _change(self, at: NodeId, node: Input) -> Table:
        """How the rows of an input on the cluster change: what it takes, without what it forgets; of a stream
        its elements."""
        there = self._running.there
        if node.stream:
            return remembered.once(self._tables, node.schema, there.state.spines[at].seen())
        parts = [there.taken[at].table] if at in there.taken else []
        if at not in there.forgotten:
            return parts[0]
        return remembered.once(self._tables, node.schema, [*parts, there.forgotten[at]])

    def passed(self) -> dict[str, Table]:
        """The rows of inputs that came in this epoch and were forgotten in it."""
        there, found = self._running.there, {}
        for at in there.forgotten.keys() & there.taken.keys():
            node = self._running.circuit.nodes[at]
            assert isinstance(node, Input)
            change, gone = there.taken[at].table, there.forgotten[at]
            rows = remembered.came(self._tables, node.schema, change, gone)
            if rows.rows:
                found[node.relation] = rows
        return found

    def remembered(self) -> dict[str, Table]:
        """The changes of what nodes of windows remember, by their names; of late rows those that came."""
        state, found = self._running.there.state, {}
        for name, at in self._remembered.items():
            change = remembered.changed(state, at)
            if change is not None:
                found[name] = change
        return found
