"""Timelines: rows with the changes of their weights by vectors of rounds. See `engine.time`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ... import thresholds
from ...derivedcolumns import Position
from ...schema import Array, Schema
from ...time import Lattice
from ..storage import threadpool as sharing
from ..storage.batch import Batch
from ..storage.marks import Marks
from ..storage.table import RowTable
from .chains import Chains
from .index import RowIndex
from .views import Groups, Matches, Without, expected, some_rows, whole_row


class Timeline:
    """Rows with the changes of their weights by time. Several may share one table of rows."""

    def __init__(self, schema: Schema, lattice: Lattice, table: RowTable | None = None) -> None:
        self.schema, self.chains = schema, Chains(lattice)
        self.table = RowTable(len(schema)) if table is None else table
        self.indexes: dict[tuple[Position, ...], RowIndex] = {}
        self._indexed: dict[tuple[Position, ...], int] = {}  # rows of the table that are in each index

    # ------------------------------------------------------------- reading

    def index(self, positions: tuple[Position, ...]) -> RowIndex:
        """The arrangement of all rows of the table by these columns."""
        with sharing.building:  # other workers may ask, in threads of their own
            size = self.table.size
            found = self.indexes.get(positions)
            if found is None:
                found = self.indexes[positions] = RowIndex(
                    self.table, positions, np.arange(size, dtype=np.int64)
                )
            elif self._indexed[positions] < size:
                found.insert(np.arange(self._indexed[positions], size, dtype=np.int64))
            self._indexed[positions] = size
            return found

    def _grown(self) -> Chains:
        """The chains, with room for all rows of the table."""
        self.chains.grow(self.table.size)
        return self.chains

    def weights_at(self, rows: Array, time: int) -> Array:
        """The weight of each row at a time."""
        return self._grown().amounts_at(rows, time).reshape(-1)

    def entries(self, rows: Array, time: int, constant: int = 0) -> tuple[Array, Array, Array]:
        """The changes of rows as seen from a time on. See `Chains.entries`."""
        return self._grown().entries(rows, time, constant)

    def look(self, rows: Array, time: int) -> tuple[Array, Array, Array]:
        """The weight of each row at a time, and the joins with later changes. See `Chains.look`."""
        weights, left, times = self._grown().look(rows, time)
        return weights.reshape(-1), left, times

    # ------------------------------------------------------------- changing

    def add(self, batch: Batch, time: int) -> Array:
        """Adds the changes of a time. Returns their rows."""
        rows = self.table.insert(batch.columns, batch.length)
        self.add_rows(rows, batch.weight_array(), time)
        return rows

    def add_rows(self, rows: Array, changes: Array, time: int) -> None:
        """Adds changes of rows of the table at a time."""
        self._grown().add(rows, changes.reshape(-1, 1), time)

    def load(self, changes: Sequence[tuple[int, Batch]]) -> None:
        """Adds changes by time; they stay."""
        self.chains.make_room(sum(batch.length for _, batch in changes))
        for time, batch in changes:
            self.add(batch, time)
            self.chains.keep_all()
        self.chains.settled()

    def commit(self) -> None:
        """The epoch's changes stay."""
        self.chains.keep_all()
        if self.chains.are_many():
            self.compact()

    def compact(self) -> None:
        """Forgets the entries of weight 0."""
        self._grown().compact(self.table.size)

    def forget_derived(self) -> None:
        """Forgets the derived columns, and the indexes by them."""
        self.table.derived.clear()
        for positions in [by for by in self.indexes if not all(isinstance(p, int) for p in by)]:
            del self.indexes[positions]

    def rollback(self) -> None:
        """Takes back the changes since the last commit."""
        self.chains.rollback()

    def with_entries(self) -> Array:
        """The rows of the table that have an entry."""
        return self._grown().with_entries(self.table.size)

    def move(self, table: RowTable, kept: Array) -> None:
        """Makes this a timeline of the rows of another table, which are the rows `kept` of the present
        one."""
        self._grown().move(kept)
        self.table = table
        self.indexes.clear()


def forget_ghosts(sharing: Sequence[Timeline]) -> None:
    """Forgets the rows that have no entry in any of the timelines, which share a table, if there are more
    than a few, and than other rows."""
    table, few = sharing[0].table, thresholds.GHOSTS
    if table.size <= few + 2 * max(timeline.chains.used for timeline in sharing):
        return
    kept = _with_entries(sharing)
    if table.size > few + 2 * len(kept):
        _keep(sharing, kept)


def mark(sharing: Sequence[Timeline], marks: Marks) -> None:
    """Marks the ids in the rows of timelines that share a table, and forgets all other rows, and all that is
    computed of rows: ids in them may come to be those of other values."""
    for timeline in sharing:
        timeline.compact()
        timeline.forget_derived()
    kept = _with_entries(sharing)
    if len(kept) < sharing[0].table.size:
        _keep(sharing, kept)
    marks.rows(sharing[0].schema, sharing[0].table, None)


def _with_entries(sharing: Sequence[Timeline]) -> Array:
    return np.unique(np.concatenate([timeline.with_entries() for timeline in sharing]))


def _keep(sharing: Sequence[Timeline], kept: Array) -> None:
    held = sharing[0].table.only(kept)
    for timeline in sharing:
        timeline.move(held, kept)


class TimedView:
    """A view in product time: its matches have times."""

    def absence(self, keys: Sequence[Array], length: int) -> tuple[Array, Array, Array]:
        """The timeline of 1 minus the presence of each full row: position in `keys`, time and weight."""
        raise NotImplementedError


class TimelineView(TimedView):
    """A timeline from a time on, for the changes at that time."""

    def __init__(self, timeline: Timeline, time: int) -> None:
        self.timeline, self.time = timeline, time

    @property
    def size(self) -> int:
        return self.timeline.table.size

    def fanout(self, positions: tuple[Position, ...]) -> float:
        timeline = self.timeline
        return expected(timeline.table.size, timeline.indexes, positions, len(timeline.schema))

    def arranged(self) -> Collection[tuple[Position, ...]]:
        return self.timeline.indexes.keys()

    def counts(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array:
        index = self.timeline.index(positions)
        return index.sizes(index.groups(keys, length))

    def some(self, positions: Sequence[int], most: int) -> tuple[list[Array], float]:
        table = self.timeline.table
        return some_rows(table, table.size, None, positions, most)

    def groups(
        self, positions: tuple[Position, ...], keys: Sequence[Array], length: int
    ) -> tuple[Groups, int]:
        if whole_row(positions, self.timeline.schema):
            return (self.timeline.table.find(keys, length),), length
        index = self.timeline.index(positions)
        groups = index.groups(keys, length)
        return (groups,), index.matches(groups)

    def expand(self, positions: tuple[Position, ...], groups: Groups, total: int) -> list[Matches]:
        if whole_row(positions, self.timeline.schema):
            left = np.flatnonzero(groups[0] >= 0)
            rows = groups[0][left]
        else:
            left, rows = self.timeline.index(positions).expand(groups[0], total)
        entry, times, weights = self.timeline.entries(rows, self.time)
        return [Matches(left[entry], rows[entry], self.timeline.table, weights, times)]

    def presence(self, keys: Sequence[Array], length: int) -> Array:
        raise ValueError("in product time a row is absent at some times: see `absence`")

    def absence(self, keys: Sequence[Array], length: int) -> tuple[Array, Array, Array]:
        left, times, weights = self.timeline.entries(self.timeline.table.find(keys, length), self.time, -1)
        return left, times, -weights


class TimelineBeforeView(Without[TimelineView], TimedView):
    """A timeline from a time on, without the change at that time."""

    def __init__(self, timeline: Timeline, time: int, change: Batch) -> None:
        super().__init__(TimelineView(timeline, time), timeline.schema, change)
        self.time = time

    def expand(self, positions: tuple[Position, ...], groups: Groups, total: int) -> list[Matches]:
        now, change, totals = groups
        parts = self.now.expand(positions, (now,), int(totals[0]))
        for part in self.change.expand(positions, (change,), int(totals[1])):
            weights = np.zeros(0, np.int64) if part.weights is None else -part.weights
            times = np.full(len(part.rows), self.time, np.int64)
            parts.append(Matches(part.left, part.rows, part.table, weights, times))
        return parts

    def presence(self, keys: Sequence[Array], length: int) -> Array:
        return self.now.presence(keys, length)

    def absence(self, keys: Sequence[Array], length: int) -> tuple[Array, Array, Array]:
        left, times, weights = self.now.absence(keys, length)
        there = np.flatnonzero(change := self.change.presence(keys, length))
        return (
            np.concatenate([left, there]),
            np.concatenate([times, np.full(len(there), self.time, np.int64)]),
            np.concatenate([weights, change[there]]),
        )
