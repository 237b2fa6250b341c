"""The law of missing rows: those that a distinct or a group has to emit at a time. See `engine.time`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...circuit import Group
from ...schema import Array, Schema
from ..arrangements.timeline import Timeline
from ..groups.group import accumulator_of
from ..kernels import producttime as kernels
from ..storage.batch import Batch
from ..storage.interner import Values, decode_rows
from ..storage.table import RowTable


class Missing(NamedTuple):
    """The rows that an operator has to emit at a time, by the table of its output, with their changes; and
    the keys to visit again, with the times."""

    rows: Array
    change: Array
    again: Array
    times: Array


def missing_presence(sums: Timeline, told: Timeline, rows: Array, time: int) -> Missing:
    """The law for *distinct*, row by row; both timelines share their table."""
    out, change = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    weights, left, times = sums.look(rows, time)
    found = kernels.missing_presence(weights, told.weights_at(rows, time), out, change)
    return Missing(rows[out[:found]], change[:found], rows[left], times)


class TimelineGroup:
    """The output of one Group node, whose members have a timeline: at each visit they are read."""

    def __init__(self, node: Group, source: Timeline, told: Timeline, values: Values) -> None:
        """`told` is the timeline of the output."""
        self.node, self.source, self.told, self.values = node, source, told, values
        self.positions = tuple(range(node.keys))

    def missing(self, keys: RowTable, groups: Array, time: int) -> Missing:
        """The law for these groups of `keys`."""
        columns = keys.columns_at(groups)
        left, rows = self._members(columns, len(groups))
        weights, position, times = self.source.look(rows, time)
        present = np.flatnonzero(weights > 0)
        new = self._results(columns, left[present], rows[present])
        return missing_rows(self.told, new, columns, time, groups[left[position]], times)

    def _members(self, keys: tuple[Array, ...], length: int) -> tuple[Array, Array]:
        index = self.source.index(self.positions)
        places = index.groups(keys, length)
        return index.expand(places, index.matches(places))

    def _results(self, keys: tuple[Array, ...], left: Array, rows: Array) -> Batch:
        """The rows of the groups, given the members present, group after group."""
        alive, starts, counts = np.unique(left, return_index=True, return_counts=True)
        columns = [column[alive] for column in keys]
        if not len(alive):
            return Batch(tuple(np.empty(0, np.int64) for _ in self.node.schema), 0)
        members = PresentMembers(self.source, columns, rows, starts, self.values)
        local = np.arange(len(alive), dtype=np.int64)
        of_rows = np.repeat(local, counts)
        schema = self.source.schema
        batch = Batch(self.source.table.columns_at(rows), len(rows))
        for one, out in zip(self.node.aggregates, self.node.schema[self.node.keys :], strict=True):
            accumulator = accumulator_of(one, schema, out, members, self.values, self.node.text)
            accumulator.add(of_rows, batch, np.ones(len(rows), np.int64))
            columns.append(accumulator.result(local, counts.astype(np.int64)))
        return Batch(tuple(columns), len(alive))


class PresentMembers:
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


def missing_rows(
    told: Timeline, new: Batch, keys: tuple[Array, ...], time: int, again: Array, times: Array
) -> Missing:
    """The law for groups, given the keys of those visited, their rows at the time, and what to visit
    again."""
    index = told.index(tuple(range(len(keys))))
    places = index.groups(keys, len(keys[0]) if keys else 1)
    _, held = index.expand(places, index.matches(places))
    weights = told.weights_at(held, time)
    some = np.flatnonzero(weights)
    held, weights = held[some], weights[some]
    come = told.table.insert(new.columns, new.length)
    if not len(held):
        return Missing(come, np.ones(len(come), np.int64), again, times)
    rows, places = np.unique(np.concatenate([held, come]), return_inverse=True)
    change = np.zeros(len(rows), np.int64)
    np.add.at(change, places, np.concatenate([-weights, np.ones(len(come), np.int64)]))
    some = np.flatnonzero(change)
    return Missing(rows[some], change[some], again, times)
