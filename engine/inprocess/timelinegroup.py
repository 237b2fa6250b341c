"""A group in nested time: the rows of its keys, round by round. See `engine.nestedtime`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..circuit import DeltaGroup
from ..schema import Array, Schema
from .batch import Batch
from .grouping import accumulator_of
from .interner import Values, decode_rows
from .table import RowTable
from .timeline import Timeline


class TimelineGroup:
    """The output of one Group node, and the visits of its keys."""

    def __init__(self, node: DeltaGroup, source: Timeline, values: Values) -> None:
        self.node, self.source, self.values = node, source, values
        self.told = Timeline(node.schema)
        self.positions = tuple(range(node.keys))

    def visit(self, keys: RowTable, groups: Array, time: int) -> tuple[Batch, Array, Array, int]:
        """What is missing of these groups of `keys` in a round. Returns the change, the groups to visit
        later, the rounds in which, and the number of rows that were looked at."""
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
        change = self._difference(new, held, weights, time)
        return change, groups[again], soonest[again], len(rows) + len(held)

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
        weights, _ = self.told.at(rows, time)
        held = np.flatnonzero(weights)
        return rows[held], weights[held]

    def _difference(self, new: Batch, held: Array, weights: Array, time: int) -> Batch:
        """The new rows without those held, told from now on."""
        come = self.told.table.insert(new.columns, new.length)
        rows, places = np.unique(np.concatenate([held, come]), return_inverse=True)
        change = np.zeros(len(rows), np.int64)
        np.add.at(change, places, np.concatenate([-weights, np.ones(len(come), np.int64)]))
        some = np.flatnonzero(change)
        rows, change = rows[some], change[some]
        self.told.add_rows(rows, change, time)
        return Batch(self.told.table.columns_at(rows), len(rows), change)


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

    def key_rows(self, groups: Array) -> list[tuple[Any, ...]]:
        schema = self._source.schema[: len(self._keys)]
        return decode_rows(self._values, schema, self._keys, len(groups))
