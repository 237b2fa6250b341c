"""A relation of a recursion with the history of its derivations.

Each row has a chain of (iteration, weight) entries, the number of its derivations at each iteration summed
over all epochs, and a birth (see `engine.births`). The changes that an epoch makes are entries (row,
iteration, change) of an *overlay* beside the births, chained by key into the same indexes. A reader sees
the rows of before the epoch at their births, and the overlay's entries below a mark. At the end of the
epoch the births are brought up to date and the overlay is emptied.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ... import thresholds
from ...derived import Position
from ...schema import Array
from ..arrangements.index import Index, all_alike, made_once
from ..arrangements.views import Groups, Part, expected, some_rows
from ..kernels import producttime, timelines
from ..storage.arrays import grow
from ..storage.batch import Batch
from ..storage.table import RowTable
from .growingset import GrowingSet


class RowChange(NamedTuple):
    """The change of a relation: row ids and weights."""

    rows: Array
    weights: Array


class History:
    """Rows with births. To readers outside the recursion it is a store: `weights` is not 0 for the rows
    present."""

    ghosts = False

    def __init__(self, grown_set: GrowingSet, births: Array) -> None:
        """The rows of a growing set with these births, and no derivations yet. Takes over its table and
        indexes."""
        self.schema, self.table, self.indexes = grown_set.schema, grown_set.table, grown_set.indexes
        self.table.locate = None
        size = self.table.size
        self.weights: Array = births + 1  # 1 + birth, 0 for absent rows
        self.present = size
        self.overlay_rows: Array = np.empty(0, np.int64)
        self.overlay_times: Array = np.empty(0, np.int64)
        self.overlay_weights: Array = np.empty(0, np.int64)
        self.overlay = 0
        self.mark = 0  # the overlay's size before the running iteration
        self.delta: RowChange | None = None  # of the running iteration
        self.pending: dict[int, list[Array]] = {}
        self._head: Array = np.full(size, -1, np.int64)
        self._following: Array = np.empty(0, np.int64)
        self._when: Array = np.empty(0, np.int64)
        self._weight: Array = np.empty(0, np.int64)
        self._stamp: Array = np.zeros(size, np.int64)
        self._used = 0
        self._compacted = 0
        self._touched: list[Array] = []
        self._log: list[tuple[Array, Array]] = []
        self._settled: tuple[Array, Array] | None = None  # rows, former `weights`
        self._net: RowChange | None = None  # the net change of presence, when the indexes have it
        self._chaining = False  # whether some of the indexes have the overlay's last entries

    # ------------------------------------------------------------- reading

    def rows(self) -> Array:
        """The ids of the rows present."""
        return np.flatnonzero(self.weights[: self.table.size])

    def batch(self) -> Batch:
        """The rows present."""
        rows = self.rows()
        return Batch(self.table.columns_at(rows), len(rows))

    def weight_of(self, columns: Sequence[Array], length: int) -> Array:
        """1 for each row that is there, else 0."""
        rows = self.table.find(columns, length)
        if not self.table.size:
            return np.zeros(length, np.int64)
        there: Array = ((rows >= 0) & (self.weights[rows] != 0)).astype(np.int64)
        return there

    def index(self, positions: tuple[Position, ...]) -> Index:
        """The arrangement by these columns, built when first asked for, with the overlay's chains."""

        def make() -> Index:
            index = Index(self.table, positions, self.rows())
            if self.overlay:
                index.chain(self.overlay_rows[: self.overlay], 0)
            return index

        return made_once(self.indexes, positions, make)

    # ------------------------------------------------------------- derivations

    def derive(self, batch: Batch) -> None:
        """Adds derivations: a row derived from rows of iteration t at the latest belongs to iteration t +
        1."""
        rows, times = self._record(batch)
        self._touched.append(rows)
        self._schedule(rows, times)

    def count(self, batch: Batch) -> None:
        """Adds derivations of rows whose births are known: the rows need not be looked at."""
        self._record(batch)
        self._log.clear()

    def _record(self, batch: Batch) -> tuple[Array, Array]:
        """Enters derivations into the rows' chains. Returns their rows and iterations."""
        rows = self.table.insert(batch.columns, batch.length)
        self._grow()
        times = np.zeros(batch.length, np.int64) if batch.times is None else batch.times + 1
        weights = batch.weight_array()
        room = self._used + len(rows)
        grow(self, "_following", room)
        grow(self, "_when", room)
        grow(self, "_weight", room)
        entries = np.empty(len(rows), np.int64)
        self._used = timelines.record(
            self._head, self._following, self._when, self._weight, self._used, rows, times, weights, entries
        )
        self._log.append((entries, weights))
        return rows, times

    def _grow(self) -> None:
        size = self.table.size
        if size > len(self._head):
            grow(self, "weights", size, 0)
            grow(self, "_stamp", size, 0)
            grow(self, "_head", size, -1)

    def _schedule(self, rows: Array, times: Array) -> None:
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

    # ------------------------------------------------------------- one epoch

    def step(self, time: int, epoch: int) -> bool:
        """Makes the change of the relation at an iteration the delta, puts it in the overlay, and says
        whether there is one. `epoch` is a number that no other epoch has."""
        self.mark, self.delta = self.overlay, None
        waiting = self.pending.pop(time, None)
        if waiting is None:
            return False
        rows = waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
        out, change, later, later_times = timelines.step_births(
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
        self._schedule(later, later_times)
        if not len(out):
            return False
        start, end = self.overlay, self.overlay + len(out)
        grow(self, "overlay_rows", end)
        grow(self, "overlay_times", end)
        grow(self, "overlay_weights", end)
        self.overlay_rows[start:end] = out
        self.overlay_times[start:end] = time
        self.overlay_weights[start:end] = change
        self._chaining = True
        with all_alike(self.indexes) as indexes:
            for index in indexes:
                index.chain(out, start)
        self.overlay, self._chaining = end, False
        self.delta = RowChange(out, change)
        return True

    def fresh(self) -> Batch:
        """The delta."""
        assert self.delta is not None
        rows, weights = self.delta
        return Batch(self.table.columns_at(rows), len(rows), weights)

    def finish(self) -> Batch:
        """Ends the iterations: brings the births up to date. Returns the net change of the rows present."""
        change = self._settle()
        self.mark, self.delta = 0, None
        return Batch(self.table.columns_at(change.rows), len(change.rows), change.weights)

    def _settle(self) -> RowChange:
        if not self._touched:
            return RowChange(np.empty(0, np.int64), np.empty(0, np.int64))
        rows = np.unique(np.concatenate(self._touched))
        before = np.empty(len(rows), np.int64)
        timelines.settle_births(
            rows, self._head, self._following, self._when, self._weight, self.weights, before
        )
        self._settled = rows, before
        after = self.weights[rows]
        come = rows[(before == 0) & (after > 0)]
        gone = rows[(before > 0) & (after == 0)]
        signs = np.concatenate([np.ones(len(come), np.int64), np.full(len(gone), -1)])
        change = RowChange(np.concatenate([come, gone]), signs)
        self._clear_overlay()
        self._exchange(gone, come)
        self._net = change
        self._touched.clear()
        return change

    def _exchange(self, gone: Array, come: Array) -> None:
        """Brings the indexes up to date with rows that left and rows that came."""
        with all_alike(self.indexes) as indexes:
            for index in indexes:
                if len(gone):
                    index.remove(gone)
                if len(come):
                    index.insert(come)
        self.present += len(come) - len(gone)

    def commit(self) -> None:
        """Ends the epoch: its changes stay."""
        self._log.clear()
        self._settled = self._net = None
        self._shorten()

    def give_back(self) -> None:
        """Gives back the room of rows and derivations that are gone, where there are many, and the
        overlay's."""
        self.overlay_rows = self.overlay_times = self.overlay_weights = np.empty(0, np.int64)
        self._shorten()

    def _shorten(self) -> None:
        with suppress(MemoryError):
            if self.table.size > thresholds.GHOSTS + 2 * self.present:
                self._forget_ghosts()
            elif self._used > 4096 + 2 * self._compacted:
                self._compact_history()

    def _compact_history(self) -> None:
        self._following, self._when, self._weight, self._used = producttime.without_zeros(
            self._head, self._following, self._when, self._weight, self.table.size
        )
        self._compacted = self._used

    def _forget_ghosts(self) -> None:
        """Forgets the rows that are absent. Between epochs these have no derivations at any time."""
        self._compact_history()
        kept = self.rows()
        table = RowTable(len(self.schema))
        table.insert(self.table.columns_at(kept), len(kept))
        self.weights, self._head, self._stamp = self.weights[kept], self._head[kept], self._stamp[kept]
        self.table = table
        self.indexes.clear()

    def rollback(self) -> None:
        """Takes back the running epoch, settled or not or in part; births are as they were."""
        for entries, weights in reversed(self._log):
            np.subtract.at(self._weight, entries, weights)
        self._log.clear()
        self._touched.clear()
        self.pending.clear()
        half = self._chaining or (self._settled is not None and self._net is None)
        if half:
            self.indexes.clear()
        self._clear_overlay()
        self.mark, self.delta = 0, None
        if self._settled is not None:
            rows, before = self._settled
            self.weights[rows] = before
        if half:
            self.present = int(np.count_nonzero(self.weights[: self.table.size]))
        elif self._net is not None:
            rows, signs = self._net
            self._exchange(rows[signs > 0], rows[signs < 0])
        self._settled, self._net, self._chaining = None, None, False

    def _clear_overlay(self) -> None:
        if self.overlay:
            with all_alike(self.indexes) as indexes:
                for index in indexes:
                    index.clear_chains(self.overlay_rows[: self.overlay])
            self.overlay = 0


class HistoryView:
    """A relation with history: the rows of before this epoch at their births, and the overlay's
    entries below `mark`."""

    def __init__(self, relation: History, mark: int) -> None:
        self.relation, self.mark = relation, mark

    @property
    def size(self) -> int:
        return self.relation.present

    def fanout(self, positions: tuple[Position, ...]) -> float:
        relation = self.relation
        return expected(relation.present, relation.indexes, positions, len(relation.schema))

    def arranged(self) -> Collection[tuple[Position, ...]]:
        return self.relation.indexes.keys()

    def counts(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array:
        index = self.relation.index(positions)
        groups = index.groups(keys, length)
        counts = index.sizes(groups)
        return counts + index.overlay_counts(groups) if self.mark else counts

    def some(self, positions: Sequence[int], most: int) -> tuple[list[Array], float]:
        table = self.relation.table
        return some_rows(table, table.size, self.relation.weights, positions, most)

    def groups(
        self, positions: tuple[Position, ...], keys: Sequence[Array], length: int
    ) -> tuple[Groups, int]:
        index = self.relation.index(positions)
        groups = index.groups(keys, length)
        total = index.matches(groups)
        changed = index.overlay_total(groups, self.mark) if self.mark else 0
        return (groups, np.array([total, changed])), total + changed

    def expand(self, positions: tuple[Position, ...], groups: Groups, total: int) -> list[Part]:
        relation = self.relation
        index = relation.index(positions)
        left, rows = index.expand(groups[0], int(groups[1][0]))
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
        raise ValueError("a relation cannot be negated inside its own recursion")
