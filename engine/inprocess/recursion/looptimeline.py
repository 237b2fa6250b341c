"""Timelines in product time: rows with the changes of their weights by vectors of rounds. See
`engine.looptime`."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...looptime import Lattice
from ...schema import Array, Schema
from ..arrangements.timeline import Timeline
from ..groups.timelinegroup import TimelineGroup
from ..kernels import looptimes as kernels
from ..storage.batch import Batch
from ..storage.table import RowTable


class LoopTimeline(Timeline):
    """A timeline whose times are those of a lattice."""

    _times: ClassVar[Any] = kernels

    def __init__(self, schema: Schema, lattice: Lattice, table: RowTable | None = None) -> None:
        super().__init__(schema, table)
        self.lattice = lattice
        self._guard, self._bits = lattice.guard, lattice.bits

    def weights_at(self, rows: Array, time: int) -> Array:
        """The weight of each row at a time."""
        self._grow()
        return kernels.weights_at(  # type: ignore[no-any-return]
            self.head, self.following, self.when, self.weight, rows, time, self._guard
        )

    def entries(self, rows: Array, time: int, constant: int = 0) -> tuple[Array, Array, Array]:
        """The changes of rows as seen from a time on: position in `rows`, time and weight of each. What is
        not at or before the time is at the join with it; all else is one change, with a constant added. A row
        may be -1: no such row."""
        self._grow()
        chains = self.head, self.following, self.when, self.weight
        count = kernels.count_entries(*chains, rows, time, self._guard) + (len(rows) if constant else 0)
        return kernels.expand_entries(  # type: ignore[no-any-return]
            *chains, rows, time, self._guard, self._bits, constant, count
        )

    def look(self, rows: Array, time: int) -> tuple[Array, Array, Array]:
        """The weight of each row at a time; and the joins of the time with the changes of rows that are not
        at or before it: position in `rows`, and the join."""
        self._grow()
        room = len(rows)
        while True:
            left, times = np.empty(room, np.int64), np.empty(room, np.int64)
            weights, found = kernels.look(
                self.head, self.following, self.when, self.weight,
                rows, time, self._guard, self._bits, left, times,
            )  # fmt: skip
            if found <= room:
                return weights, left[:found], times[:found]
            room = found


class Missing(NamedTuple):
    """What an operator has to emit at a time: rows of the table of what it told, and their changes; and the
    keys to visit again, with the times."""

    rows: Array
    change: Array
    again: Array
    times: Array


def missing_presence(sums: LoopTimeline, told: LoopTimeline, rows: Array, time: int) -> Missing:
    """The law for *distinct*, row by row; both timelines share their table."""
    out, change = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    weights, left, times = sums.look(rows, time)
    found = kernels.missing_presence(weights, told.weights_at(rows, time), out, change)
    return Missing(rows[out[:found]], change[:found], rows[left], times)


class LoopGroup(TimelineGroup):
    """The output of one Group node in product time: its members are asked for."""

    source: LoopTimeline
    told: LoopTimeline

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


def missing_rows(
    told: LoopTimeline, new: Batch, keys: tuple[Array, ...], time: int, again: Array, times: Array
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
