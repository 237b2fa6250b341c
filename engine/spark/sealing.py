"""The changes of an epoch that is computed, as tables, for what keeps them before they become final."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from ..circuit import Input
from ..runtime import Coded, Delta
from ..schema import Schema
from .running import RunningEpoch
from .sqltext import consolidated
from .tables import Table


class SealedEpoch:
    """The changes of one epoch over a state. See `engine.runtime.Sealed`."""

    def __init__(self, running: RunningEpoch, deltas: Mapping[str, Delta]) -> None:
        self._running, self.deltas = running, deltas
        self._tables = running.state.tables

    @property
    def length(self) -> int:
        """The number of rows that inputs changed by, or more."""
        return sum(change.rows or 0 for change in self._running.taken.values())

    def input_tables(self) -> dict[str, Table]:
        """The change of each input that changed, or the elements of one that is a stream."""
        return dict(self._input_tables())

    def output_table(self, output: str) -> Table | None:
        """The change of an output, or the elements of one that is a stream; None if there are none."""
        table = self._running.told.get(output)
        return table if table is not None and table.rows else None

    def inputs(self) -> dict[str, Callable[[], Coded]]:
        """The change of each input, or the elements of one that is a stream."""
        state = self._running.state
        return {
            name: partial(self._coded, state.circuit.nodes[state.inputs[name]].schema, table)
            for name, table in self._input_tables()
        }

    def outputs(self) -> dict[str, Callable[[], Coded]]:
        """The change of each output, or the elements of one that is a stream."""
        state = self._running.state
        return {
            name: partial(self._coded, state.circuit.nodes[at].schema, table)
            for name, at in state.outputs.items()
            if (table := self.output_table(name)) is not None
        }

    def _input_tables(self) -> Iterator[tuple[str, Table]]:
        running, tables = self._running, self._tables
        for at, change in running.taken.items():
            node = running.circuit.nodes[at]
            assert isinstance(node, Input)
            table = change.table
            if node.stream:
                spine = running.state.spines[at]
                small = all(each.small for each in spine.seen())
                table = tables.settled(
                    consolidated(spine.columns, spine.contents()), node.schema, small=small
                )
            if table.rows:
                yield node.relation, table

    def _coded(self, schema: Schema, table: Table) -> Coded:
        rows = self._tables.collected(table.frame, schema) if table.local is None else table.local
        columns = [self._tables.codec.decode(column, rows.column(k)) for k, column in enumerate(schema)]
        return Coded(columns, np.asarray(rows.column("w").combine_chunks()), rows.num_rows)
