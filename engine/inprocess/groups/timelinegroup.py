"""A group whose members have timelines: its rows, given those that are there at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...circuit import DeltaGroup
from ...schema import Array, Schema
from ..arrangements.timeline import Timeline
from ..storage.batch import Batch
from ..storage.interner import Values, decode_rows
from ..storage.table import RowTable
from .grouping import accumulator_of


class TimelineGroup:
    """The output of one Group node."""

    def __init__(self, node: DeltaGroup, source: Timeline, told: Timeline, values: Values) -> None:
        """`told` is the timeline of the output."""
        self.node, self.source, self.told, self.values = node, source, told, values
        self.positions = tuple(range(node.keys))

    def _results(self, keys: tuple[Array, ...], left: Array, rows: Array) -> Batch:
        """The rows of the groups, given the members present, group after group."""
        alive, starts, counts = np.unique(left, return_index=True, return_counts=True)
        columns = [column[alive] for column in keys]
        if not len(alive):
            return Batch(tuple(np.empty(0, np.int64) for _ in self.node.schema), 0)
        members = Present(self.source, columns, rows, starts, self.values)
        local = np.arange(len(alive), dtype=np.int64)
        of_rows = np.repeat(local, counts)
        schema = self.source.schema
        batch = Batch(self.source.table.columns_at(rows), len(rows))
        for one, out in zip(self.node.aggregates, self.node.schema[self.node.keys :], strict=True):
            accumulator = accumulator_of(one, schema, out, members, self.values, self.node.text)
            accumulator.add(of_rows, batch, np.ones(len(rows), np.int64))
            columns.append(accumulator.result(local, counts.astype(np.int64)))
        return Batch(tuple(columns), len(alive))


class Present:
    """The members present of some groups. See `grouping.Members`."""

    def __init__(
        self, source: Timeline, keys: list[Array], rows: Array, starts: Array, values: Values
    ) -> None:
        self._source, self._keys, self._rows, self._starts, self._values = source, keys, rows, starts, values

    @property
    def table(self) -> RowTable:
        return self._source.table

    @property
    def schema(self) -> Schema:
        return self._source.schema

    def of(self, groups: Array) -> tuple[Array, Array]:
        return self._rows, self._starts

    def times(self, rows: Array) -> Array:
        return np.ones(len(rows), np.int64)

    def key_rows(self, groups: Array) -> list[tuple[Any, ...]]:
        schema = self._source.schema[: len(self._keys)]
        return decode_rows(self._values, schema, self._keys, len(groups))
