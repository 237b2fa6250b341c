"""Windows in process: a store of the rows of a window, which knows their times, and its clock."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ... import thresholds
from ...circuit import DeltaClock, DeltaLate, DeltaWindow
from ...schema import INLINE_LIMIT, Array, RowFault, Schema
from ..storage.arrays import grow
from ..storage.batch import Batch, concat, consolidate
from .store import Store
from .timeindex import TimeIndex


class ClockState:
    """The greatest value that a clock has had, `now` and `before` this epoch; None: it has had none."""

    def __init__(self) -> None:
        self.now: int | None = None
        self.before: int | None = None

    def change(self, greatest: int | None) -> Batch | None:
        """The change of the clock's one row, given the greatest value that comes."""
        if greatest is None or (self.now is not None and greatest <= self.now):
            return None
        gone = [] if self.now is None else [self.now]
        self.now = greatest
        weights = np.array([-1] * len(gone) + [1], np.int64)
        return Batch((np.array([*gone, greatest], np.int64),), len(weights), weights if gone else None)

    def commit(self) -> None:
        """Ends an epoch."""
        self.before = self.now

    def rollback(self) -> None:
        """Takes the change of this epoch back."""
        self.now = self.before

    def begin_with(self, value: int) -> None:
        """Begins with a value that it has had. In its first epoch no row is late by it."""
        self.now = value


class WindowStore(Store):
    """The contents of a window, with an index of its rows by their times."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self._times: Array = np.empty(16, np.int64)  # by row, for those that are present
        self._index = self._index_before = TimeIndex()

    def begin_with(self, batch: Batch, times: Array) -> None:
        """Begins with rows."""
        self._add(batch, times, False)
        self.commit()

    def take_in(self, change: Batch) -> Batch:
        """Changes by rows with their times as a last column. Returns them without."""
        columns = tuple(change.columns)
        return self._add(Batch(columns[:-1], change.length, change.weights), columns[-1], False)

    def times_of(self, batch: Batch) -> Array:
        """The times of rows that it holds, or held before this epoch."""
        found: Array = self._times[self.table.find(batch.columns, batch.length)]
        return found

    def change(self, node: DeltaWindow, source: Batch | None, clock: ClockState) -> Batch | None:
        """The change of the window for a change of its source, and for its clock's."""
        limit = None if clock.now is None else clock.now - node.range
        parts = []
        if source is not None and source.length:
            parts.append(self._coming(node, source, clock, limit))
        if limit is not None:
            parts.append(self._leaving(limit))
        found = [part for part in parts if part.length]
        return concat(found, len(self.schema)) if found else None

    def _coming(self, node: DeltaWindow, source: Batch, clock: ClockState, limit: int | None) -> Batch:
        batch = source if source.weights is None else consolidate(source)
        times = times_of(batch, node)
        kept = None if limit is None else times >= limit
        if node.lateness is not None and clock.before is not None:
            on_time = times >= clock.before - node.lateness
            if batch.weights is not None:
                on_time |= batch.weights < 0
            kept = on_time if kept is None else kept & on_time
        if kept is not None and not bool(kept.all()):
            places = np.flatnonzero(kept)
            batch, times = batch.take(places), times[places]
        rows = Batch(tuple(batch.columns)[:-1], batch.length, batch.weights)
        return self._add(rows, times, node.lateness is not None)

    def _add(self, batch: Batch, times: Array, limited: bool) -> Batch:
        """Takes rows in. `limited`: no more is taken away of a row than there is."""
        rows = self._rows_of(batch)
        weights = batch.weight_array()
        assert self.weights is not None
        if limited and batch.weights is not None:
            weights = np.maximum(weights, -self.weights[rows])
            batch = Batch(batch.columns, batch.length, weights)
        new = np.flatnonzero((self.weights[rows] == 0) & (weights != 0))
        self._net(*self._add_rows(rows, weights))
        grow(self, "_times", self.table.size, 0)
        self._times[rows[new]] = times[new]
        self._index = self._index.with_rows(times[new], rows[new])
        return batch

    def _leaving(self, limit: int) -> Batch:
        """Takes the rows out whose time lies before the limit."""
        found, self._index = self._index.split(limit)
        if not len(found):
            return Batch((), 0)
        assert self.weights is not None
        rows = np.unique(found)
        rows = rows[(self.weights[rows] != 0) & (self._times[rows] < limit)]
        weights = -self.weights[rows]
        self._net(*self._add_rows(rows, weights))
        return Batch(self.table.columns_at(rows), len(rows), weights)

    def commit(self) -> None:
        self._index_before = self._index
        super().commit()
        if len(self._index) > thresholds.GHOSTS + 2 * self.table.size:
            with suppress(MemoryError):
                rows = self.rows()
                self._index = self._index_before = TimeIndex().with_rows(self._times[rows], rows)

    def rollback(self) -> None:
        super().rollback()
        self._index = self._index_before

    def _compact(self) -> None:
        times = self._times[self.rows()]
        index = TimeIndex().with_rows(times, np.arange(len(times)))
        super()._compact()
        self._index = self._index_before = index
        self._times = times


def greatest(node: DeltaClock, change: Batch | None) -> int | None:
    """The greatest value that comes in the change of a clock's source."""
    if change is None:
        return None
    come = consolidate(change)
    if come.weights is not None:
        come = come.take(np.flatnonzero(come.weights > 0))
    return int(times_of(come, node).max()) if come.length else None


def late(node: DeltaLate, source: Batch | None, clock: ClockState) -> Batch | None:
    """The rows of a change that come late."""
    if source is None or not source.length or clock.before is None:
        return None
    batch = consolidate(source)
    found = times_of(batch, node) < clock.before - node.lateness
    if batch.weights is not None:
        found &= batch.weights > 0
    batch = batch.take(np.flatnonzero(found))
    return Batch(tuple(batch.columns)[:-1], batch.length, batch.weights)


def times_of(batch: Batch, node: DeltaClock | DeltaWindow | DeltaLate) -> Array:
    """The last column of a batch, as numbers. Raises RowFault for a number that is not stored as itself."""
    times: Array = batch.columns[len(batch.columns) - 1]
    if not len(times) or int(times.max()) < INLINE_LIMIT:
        return times
    raise RowFault("a time is out of range: it must lie between -2^62 and 2^62", node.text, node.origin, {})
