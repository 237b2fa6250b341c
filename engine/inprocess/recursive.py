"""A relation inside a recursion: its rows, their births, and their histories of derivations.

While only insertions have come there is no history: the relation is a growing set, in order of
arrival (semi-naive). With a history, each row has a chain of (time, weight) entries, the number of
its derivations at each iteration summed over all epochs, and a birth: the first iteration at which
the sum is positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..schema import Array, Schema
from . import kernels
from .batch import Batch
from .index import Index
from .table import RowTable, grown
from .views import Groups, Part, expected

_FEW_GHOSTS = 4096  # absent rows that are not worth a compaction


class Change(NamedTuple):
    """Emitted changes of a relation at one iteration: row ids and weights."""

    rows: Array
    weights: Array


class RecursiveRelation:
    """Rows with births. To readers outside it is a store: `weights` is not 0 for the rows present."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.table = RowTable(len(schema))
        self.weights: Array | None = None  # 1 + birth, 0 for absent rows; None: all present, no history
        self.indexes: dict[tuple[int, ...], Index] = {}
        self.arranged = 0  # without history: the rows below this are in the indexes
        self.overlay_rows: Array = np.empty(0, np.int64)
        self.overlay_times: Array = np.empty(0, np.int64)
        self.overlay_weights: Array = np.empty(0, np.int64)
        self.overlay = 0
        self._head: Array = np.empty(0, np.int64)
        self._following: Array = np.empty(0, np.int64)
        self._when: Array = np.empty(0, np.int64)
        self._weight: Array = np.empty(0, np.int64)
        self._stamp: Array = np.empty(0, np.int64)
        self._used = 0
        self._compacted = 0
        self._present = 0
        self._touched: list[Array] = []
        self._log: list[tuple[Array, Array]] = []
        self._settled: tuple[Array, Array, Change] | None = None  # rows, what `weights` had, net change
        self.pending: dict[int, list[Array]] = {}

    # ------------------------------------------------------------- reading

    @property
    def present(self) -> int:
        """The number of rows present."""
        return self.table.size if self.weights is None else self._present

    def rows(self) -> Array:
        """The ids of the rows present."""
        if self.weights is None:
            return np.arange(self.table.size, dtype=np.int64)
        return np.flatnonzero(self.weights[: self.table.size])

    def batch(self) -> Batch:
        """The rows present."""
        if self.weights is None:
            return Batch(self.table.columns(), self.table.size)
        rows = self.rows()
        return Batch(self.table.columns_at(rows), len(rows))

    def weight_of(self, columns: Sequence[Array], length: int) -> Array:
        """1 for each row that is there, else 0."""
        rows = self.table.find(columns, length)
        if self.weights is None or not self.table.size:
            return (rows >= 0).astype(np.int64)
        there: Array = ((rows >= 0) & (self.weights[rows] != 0)).astype(np.int64)
        return there

    def index(self, positions: tuple[int, ...]) -> Index:
        """The arrangement by these columns, built when first asked for; with a history it also
        chains the running epoch's overlay."""
        found = self.indexes.get(positions)
        if found is None:
            rows = self.rows() if self.weights is not None else np.arange(self.arranged, dtype=np.int64)
            found = self.indexes[positions] = Index(self.table, positions, rows)
            if self.overlay:
                found.chain(self.overlay_rows[: self.overlay], 0)
        return found

    # ------------------------------------------------------------- sets without history

    def arrange(self, stop: int) -> None:
        """Puts the rows below `stop` in the indexes."""
        fresh = np.arange(self.arranged, stop, dtype=np.int64)
        for index in self.indexes.values():
            index.insert(fresh)
        self.arranged = stop

    def truncate(self, size: int) -> None:
        """Forgets the rows from `size` on."""
        self.table.truncate(size)
        self.indexes.clear()
        self.arranged = size

    # ------------------------------------------------------------- history

    def start_history(self, births: Array) -> None:
        """Begins to keep a history, of rows with these births."""
        self.weights = births + 1
        self._present = self.table.size
        self._head = np.full(self.table.size, -1, np.int64)
        self._stamp = np.zeros(self.table.size, np.int64)

    def forget_history(self) -> None:
        """Back to a growing set: for a history that was not finished."""
        self.weights = None
        self._present = 0
        self._head = self._following = self._when = self._weight = self._stamp = np.empty(0, np.int64)
        self._used = 0
        self._log.clear()

    def become(self, other: RecursiveRelation) -> None:
        """Takes over another relation's rows and state, which must hold the same set."""
        self.__dict__.update(other.__dict__)

    def derive(self, batch: Batch) -> None:
        """Adds derivations: a row derived from rows of time t at the latest belongs to time t + 1."""
        rows = self.table.insert(batch.columns, batch.length)
        self._grow()
        times = np.zeros(batch.length, np.int64) if batch.times is None else batch.times + 1
        weights = batch.weight_array()
        self._record(rows, times, weights)
        self._touched.append(rows)
        self.schedule(rows, times)

    def count(self, batch: Batch) -> None:
        """Adds derivations of rows whose births are known: nothing is scheduled."""
        rows = self.table.insert(batch.columns, batch.length)
        times = np.zeros(batch.length, np.int64) if batch.times is None else batch.times + 1
        self._record(rows, times, batch.weight_array())
        self._log.clear()

    def _grow(self) -> None:
        size = self.table.size
        assert self.weights is not None
        if size > len(self._head):
            self.weights = grown(self.weights, size, 0)
            self._head = grown(self._head, size, -1)
            self._stamp = grown(self._stamp, size, 0)

    def _record(self, rows: Array, times: Array, weights: Array) -> None:
        room = self._used + len(rows)
        self._following = grown(self._following, room)
        self._when = grown(self._when, room)
        self._weight = grown(self._weight, room)
        entries = np.empty(len(rows), np.int64)
        self._used = kernels.record(
            self._head, self._following, self._when, self._weight, self._used, rows, times, weights, entries
        )
        self._log.append((entries, weights))

    def schedule(self, rows: Array, times: Array) -> None:
        """Notes that rows are to be looked at when their times come."""
        if not len(rows):
            return
        first = int(times[0])
        if len(times) == 1 or bool((times == first).all()):
            self.pending.setdefault(first, []).append(rows)
            return
        order = np.argsort(times, kind="stable")
        ordered = times[order]
        cuts = np.flatnonzero(np.diff(ordered)) + 1
        for piece in np.split(order, cuts):
            self.pending.setdefault(int(times[piece[0]]), []).append(rows[piece])

    def step(self, time: int, epoch: int) -> Change | None:
        """The change of the relation at this time; puts it in the overlay. None: no change."""
        waiting = self.pending.pop(time, None)
        if waiting is None:
            return None
        rows = waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
        assert self.weights is not None
        out, change, later, later_times = kernels.step_births(
            rows,
            time,
            self._head,
            self._following,
            self._when,
            self._weight,
            self.weights,
            self._stamp,
            epoch,
        )
        self.schedule(later, later_times)
        if not len(out):
            return None
        start, end = self.overlay, self.overlay + len(out)
        self.overlay_rows = grown(self.overlay_rows, end)
        self.overlay_times = grown(self.overlay_times, end)
        self.overlay_weights = grown(self.overlay_weights, end)
        self.overlay_rows[start:end] = out
        self.overlay_times[start:end] = time
        self.overlay_weights[start:end] = change
        for index in self.indexes.values():
            index.chain(out, start)
        self.overlay = end
        return Change(out, change)

    def settle(self) -> Change:
        """Ends the iterations: new births, and the net change of the set of rows present."""
        if not self._touched:
            return Change(np.empty(0, np.int64), np.empty(0, np.int64))
        rows = np.unique(np.concatenate(self._touched))
        assert self.weights is not None
        before = np.empty(len(rows), np.int64)
        kernels.settle_births(
            rows, self._head, self._following, self._when, self._weight, self.weights, before
        )
        after = self.weights[rows]
        come = rows[(before == 0) & (after > 0)]
        gone = rows[(before > 0) & (after == 0)]
        self._clear_overlay()
        self._exchange(gone, come)
        signs = np.concatenate([np.ones(len(come), np.int64), np.full(len(gone), -1)])
        change = Change(np.concatenate([come, gone]), signs)
        self._settled = rows, before, change
        self._touched.clear()
        return change

    def _exchange(self, gone: Array, come: Array) -> None:
        """Brings the indexes up to date with rows that left and rows that came."""
        for index in self.indexes.values():
            if len(gone):
                index.remove(gone)
            if len(come):
                index.insert(come)
        self._present += len(come) - len(gone)

    def commit(self) -> None:
        """Ends the epoch: its changes stay."""
        self._log.clear()
        self._settled = None
        if self.weights is None:
            return
        if self.table.size > _FEW_GHOSTS + 2 * self._present:
            self._forget_ghosts()
        elif self._used > 4096 + 2 * self._compacted:
            self._compact_history()

    def _compact_history(self) -> None:
        self._following, self._when, self._weight, self._used = kernels.compact_history(
            self._head, self._following, self._when, self._weight, self.table.size
        )
        self._compacted = self._used

    def _forget_ghosts(self) -> None:
        """Forgets the rows that are absent. Between epochs these have no derivations at any time."""
        assert self.weights is not None
        self._compact_history()
        kept = self.rows()
        columns = self.table.columns_at(kept)
        self.table = RowTable(len(self.schema))
        self.table.insert(columns, len(kept))
        self.weights, self._head, self._stamp = self.weights[kept], self._head[kept], self._stamp[kept]
        self.indexes.clear()

    def rollback(self) -> None:
        """Takes back the running epoch, settled or not; births are as they were."""
        for entries, weights in reversed(self._log):
            np.subtract.at(self._weight, entries, weights)
        self._log.clear()
        self._touched.clear()
        self.pending.clear()
        self._clear_overlay()
        if self._settled is not None:
            rows, before, change = self._settled
            assert self.weights is not None
            self.weights[rows] = before
            self._exchange(change.rows[change.weights > 0], change.rows[change.weights < 0])
            self._settled = None

    def _clear_overlay(self) -> None:
        if self.overlay:
            for index in self.indexes.values():
                index.clear_chains(self.overlay_rows[: self.overlay])
            self.overlay = 0


class SetView:
    """A relation without history: the rows with ids below `limit`."""

    def __init__(self, relation: RecursiveRelation, limit: int, births: Array | None = None) -> None:
        self.relation, self.limit, self.births = relation, limit, births

    @property
    def size(self) -> int:
        return self.limit

    def fanout(self, positions: tuple[int, ...]) -> float:
        relation = self.relation
        return expected(self.limit, relation.indexes, positions, len(relation.schema))

    def groups(self, positions: tuple[int, ...], keys: Sequence[Array], length: int) -> tuple[Groups, int]:
        if len(positions) == len(self.relation.schema) and positions:
            rows = self.relation.table.find(keys, length)
            return (np.where(rows < self.limit, rows, -1),), length
        index = self.relation.index(positions)
        groups = index.groups(keys, length)
        return (groups,), index.matches(groups)

    def expand(self, positions: tuple[int, ...], groups: Groups, total: int) -> list[Part]:
        if len(positions) == len(self.relation.schema) and positions:
            left = np.flatnonzero(groups[0] >= 0)
            rows = groups[0][left]
        else:
            index = self.relation.index(positions)
            below = None if self.limit >= index.size else self.limit
            left, rows = index.expand(groups[0], total, below)
        times = None if self.births is None else self.births[rows]
        return [Part(left, rows, self.relation.table, None, times)]

    def presence(self, keys: Sequence[Array], length: int) -> Array:
        raise ValueError("negation inside its own recursion")


class HistoryView:
    """A relation with history: the rows of before this epoch at their births, and the overlay's
    entries below `mark`."""

    def __init__(self, relation: RecursiveRelation, mark: int) -> None:
        self.relation, self.mark = relation, mark

    @property
    def size(self) -> int:
        return self.relation.present

    def fanout(self, positions: tuple[int, ...]) -> float:
        relation = self.relation
        return expected(relation.present, relation.indexes, positions, len(relation.schema))

    def groups(self, positions: tuple[int, ...], keys: Sequence[Array], length: int) -> tuple[Groups, int]:
        index = self.relation.index(positions)
        groups = index.groups(keys, length)
        total = index.matches(groups)
        changed = index.overlay_total(groups, self.mark) if self.mark else 0
        return (groups, np.array([total, changed])), total + changed

    def expand(self, positions: tuple[int, ...], groups: Groups, total: int) -> list[Part]:
        relation = self.relation
        index = relation.index(positions)
        left, rows = index.expand(groups[0], int(groups[1][0]))
        assert relation.weights is not None
        parts = [Part(left, rows, relation.table, None, relation.weights[rows] - 1)]
        if self.mark:
            left, entries = index.overlay_matches(groups[0], self.mark, int(groups[1][1]))
            parts.append(
                Part(
                    left,
                    relation.overlay_rows[entries],
                    relation.table,
                    relation.overlay_weights[entries],
                    relation.overlay_times[entries],
                )
            )
        return parts

    def presence(self, keys: Sequence[Array], length: int) -> Array:
        raise ValueError("negation inside its own recursion")
