"""The changes of an epoch that is computed, as tables, for what keeps them before they become final."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from ..circuit import Input, NodeId
from ..inprocess.batch import consolidate
from ..runtime import Coded, Delta
from ..schema import Schema
from .driverrows import DriverDelta
from .placedepoch import PlacedEpoch
from .sqltext import consolidated
from .tables import Table


class SealedEpoch:
    """The changes of one epoch over a state. See `engine.runtime.Sealed`."""

    def __init__(self, running: PlacedEpoch, deltas: Mapping[str, Delta]) -> None:
        self._running, self.deltas = running, deltas
        self._tables = running.there.tables

    @property
    def length(self) -> int:
        """The number of rows that inputs changed by, or more."""
        here, there = self._running.here.taken.values(), self._running.there.taken.values()
        return sum(batch.length for batch in here) + sum(change.rows or 0 for change in there)

    def input_tables(self) -> dict[str, Table]:
        """The change of each input that changed, or the elements of one that is a stream."""
        return dict(self._input_tables())

    def output_table(self, output: str) -> Table | None:
        """The change of an output, or the elements of one that is a stream; None if there are none."""
        delta = self.deltas.get(output)
        table = delta.table() if isinstance(delta, DriverDelta) else self._running.there.told.get(output)
        return table if table is not None and table.rows else None

    def inputs(self) -> dict[str, Callable[[], Coded]]:
        """The change of each input, or the elements of one that is a stream."""
        state = self._running.there.state
        return {
            name: partial(self._coded, state.circuit.nodes[state.inputs[name]].schema, table)
            for name, table in self._input_tables()
        }

    def outputs(self) -> dict[str, Callable[[], Coded]]:
        """The change of each output, or the elements of one that is a stream."""
        state = self._running.there.state
        return {
            name: partial(self._coded, state.circuit.nodes[at].schema, table)
            for name, at in state.outputs.items()
            if (table := self.output_table(name)) is not None
        }

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
        for at, change in running.there.taken.items():
            node = nodes[at]
            assert isinstance(node, Input)
            table = self._elements(at) if node.stream else change.table
            if table.rows:
                yield node.relation, table

    def _elements(self, at: NodeId) -> Table:
        """The elements of a stream on the cluster."""
        spine = self._running.there.state.spines[at]
        small = all(each.small for each in spine.seen())
        return self._tables.settled(consolidated(spine.columns, spine.contents()), spine.schema, small=small)

    def _coded(self, schema: Schema, table: Table) -> Coded:
        rows = self._tables.collected(table.frame, schema) if table.local is None else table.local
        columns = [self._tables.codec.decode(column, rows.column(k)) for k, column in enumerate(schema)]
        return Coded(columns, np.asarray(rows.column("w").combine_chunks()), rows.num_rows)
