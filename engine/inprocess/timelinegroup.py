"""A group in nested time: the rows of its keys, round by round. See `engine.nestedtime`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..circuit import DeltaGroup
from ..schema import Array, Schema
from .batch import Batch
from .grouping import accumulator_of
from .interner import Values, decode_rows
from .table import RowTable
from .timeline import Timeline


class Visit(NamedTuple):
    """What is missing in a round: rows of the table of what was told, and their changes; the groups to visit
    again, the rounds in which; and the number of rows that were looked at."""

    missing: Array
    change: Array
    again: Array
    times: Array
    looked_at: int


class TimelineGroup:
    """The output of one Group node, and the visits of its keys."""

    def __init__(
        self, node: DeltaGroup, source: Timeline, told: Timeline, shift: int, values: Values
    ) -> None:
        """`told` is the timeline of the output, `shift` rounds late."""
        self.node, self.source, self.values = node, source, values
        self.told, self.shift = told, shift
        self.positions = tuple(range(node.keys))

    def visit(self, keys: RowTable, groups: Array, time: int) -> Visit:
        """Visits these groups of `keys` in a round."""
        columns = keys.columns_at(groups)
        index = self.source.index(self.positions)
        places = index.groups(columns, len(groups))
        left, rows = index.expand(places, index.matches(places))
        there, later = self.source.at(rows, time)
        ahead = np.flatnonzero(later >= 0)
        soonest = np.full(len(groups), np.iinfo(np.int64).max, np.int64)
        np.minimum.at(soonest, left[ahead], later[ahead])
        again = np.flatnonzero(soonest < np.iinfo(np.int64).max)
        present = np.flatnonzero(there > 0)
        new = self._results(columns, left[present], rows[present])
        held, weights = self._held(columns, len(groups), time)
        missing, change = self._difference(new, held, weights)
        return Visit(missing, change, groups[again], soonest[again], len(rows) + len(held))

    def _results(self, keys: tuple[Array, ...], left: Array, rows: Array) -> Batch:
        """The rows of the groups, given the members present, group after group."""
        alive, starts, counts = np.unique(left, return_index=True, return_counts=True)
        columns = [column[alive] for column in keys]
        if not len(alive):
            return Batch(tuple(np.empty(0, np.int64) for _ in self.node.schema), 0)
        members = _Present(self.source, columns, rows, starts, self.values)
        local = np.arange(len(alive), dtype=np.int64)
        of_rows = np.repeat(local, counts)
        schema = self.source.schema
        batch = Batch(self.source.table.columns_at(rows), len(rows))
        for one, out in zip(self.node.aggregates, self.node.schema[self.node.keys :], strict=True):
            accumulator = accumulator_of(one, schema, out, members, self.values, self.node.text)
            accumulator.add(of_rows, batch, np.ones(len(rows), np.int64))
            columns.append(accumulator.result(local, counts.astype(np.int64)))
        return Batch(tuple(columns), len(alive))

    def _held(self, keys: tuple[Array, ...], length: int, time: int) -> tuple[Array, Array]:
        """The rows that the readers have in the round, and their weights."""
        index = self.told.index(self.positions)
        places = index.groups(keys, length)
        _, rows = index.expand(places, index.matches(places))
        weights, _ = self.told.at(rows, time + self.shift)
        held = np.flatnonzero(weights)
        return rows[held], weights[held]

    def _difference(self, new: Batch, held: Array, weights: Array) -> tuple[Array, Array]:
        """The new rows without those held: rows of the table of what was told, and their changes."""
        come = self.told.table.insert(new.columns, new.length)
        rows, places = np.unique(np.concatenate([held, come]), return_inverse=True)
        change = np.zeros(len(rows), np.int64)
        np.add.at(change, places, np.concatenate([-weights, np.ones(len(come), np.int64)]))
        some = np.flatnonzero(change)
        return rows[some], change[some]


class _Present:
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
