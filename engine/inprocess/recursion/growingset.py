"""A relation of a recursion as a growing set: its rows in order of arrival, for semi-naive evaluation.

0          low         high        table.size
├───────────┼───────────┼───────────────┤
│  stable   │   delta   │  just derived │
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ... import thresholds
from ...derivedcolumns import Position
from ...memory import give_back
from ...schema import Array, Schema
from ..arrangements.index import RowIndex, all_alike, made_once
from ..storage import threadpool
from ..storage.batch import Batch, TableColumns
from ..storage.layout import bounds, fit
from ..storage.table import RowTable
from .denseset import DenseSet


class GrowingSet:
    """Rows that only come. To readers outside the recursion it is a store of weights 1."""

    ghosts = False

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.weights: Array | None = None
        self.table = RowTable(len(schema))
        self.indexes: dict[tuple[Position, ...], RowIndex] = {}  # of the rows below `high`
        self.start = self.low = self.high = 0
        self._iterations = self._before = 0  # of all epochs, and of those before this one
        self._came = array("q")  # those that rows came at, and
        self._reached = array("q")  # the size reached
        self._former: dict[str, Any] | None = None  # the state that an evaluation anew has replaced
        self._dense: DenseSet | None = None  # the rows as bits, in the rest of the epoch

    # ------------------------------------------------------------- reading

    @property
    def present(self) -> int:
        """The number of rows."""
        return self.table.size

    @property
    def size(self) -> int:
        """The number of rows, also in the middle of an epoch."""
        return self.table.size if self._dense is None else self._dense.size

    @property
    def pending(self) -> bool:
        """True if rows were derived since the last call of `advance`."""
        return self.high != self.table.size if self._dense is None else self._dense.pending

    def pending_rows(self) -> list[tuple[int, ...]]:
        """The rows that were derived since the last call of `advance`."""
        return [self.table.row(at) for at in range(self.high, self.table.size)]

    def rows(self) -> Array:
        """The ids of the rows."""
        return np.arange(self.table.size, dtype=np.int64)

    def batch(self) -> Batch:
        """The rows."""
        return Batch(self.table.columns(), self.table.size)

    def weight_of(self, columns: Sequence[Array], length: int) -> Array:
        """1 for each row that is there, else 0."""
        there: Array = self.table.holds(columns, length).astype(np.int64)
        return there

    def index(self, positions: tuple[Position, ...]) -> RowIndex:
        """The arrangement by these columns of the rows below `high`, built when first asked for."""

        def make() -> RowIndex:
            return RowIndex(self.table, positions, range(self.high))

        return made_once(self.indexes, positions, make)

    # ------------------------------------------------------------- one epoch

    def begin(self) -> None:
        """Begins an epoch: nothing is new."""
        self.start = self.low = self.high = self.table.size
        self._before = self._iterations

    def grow(self, batch: Batch) -> None:
        """Adds the rows of a batch that are new."""
        self.table.insert_new(batch.columns, batch.length)

    def advance(self) -> bool:
        """Makes the rows that came since the last call the delta, and says whether there are any."""
        self._iterations += 1
        if self._dense is not None:
            return self._dense.advance(self._iterations - 1) > 0
        self.low, self.high = self.high, self.table.size
        if self.high == self.low:
            return False
        self._came.append(self._iterations - 1)
        self._reached.append(self.high)
        if self.indexes:
            with all_alike(self.indexes) as indexes:
                self._arrange(indexes, range(self.low, self.high))
        if self.high - self.low >= thresholds.GIVEN_BACK_ROWS:
            give_back()  # what arrays that grow will not take: they lie apart
        return True

    def advance_through(self, reached: Sequence[int]) -> None:
        """As `advance`, of rounds whose rows are all there: the delta of each ends at one of these sizes."""
        first = self._iterations
        self._iterations += len(reached)
        self._came.extend(range(first, self._iterations))
        self._reached.extend(reached)
        fresh = range(self.high, reached[-1])
        self.low, self.high = (self.high, *reached)[-2:]
        if self.indexes:
            with all_alike(self.indexes) as indexes:
                self._arrange(indexes, fresh)

    def _arrange(self, indexes: Iterable[RowIndex], fresh: range) -> None:
        """Enters rows into indexes: many by threads, each into other indexes. What derived columns are
        computed by may be for the thread that commits alone."""
        if len(fresh) >= thresholds.SHARED_WORDS:
            alone = [index for index in indexes if index.derives]
            threadpool.run_parts([partial(index.insert, fresh) for index in indexes if not index.derives])
            indexes = alone
        if len(fresh) > thresholds.ROWS_ONE_BY_ONE:
            for index in indexes:
                index.insert(fresh)
            return
        for index in indexes:
            for at in fresh:
                index.insert_one(at, self.table.row(at))

    def fresh(self) -> Batch:
        """The delta."""
        if self._dense is not None:
            return self._dense.fresh()
        return Batch(self.table.columns(self.low, self.high), self.high - self.low)

    def finish(self) -> Batch:
        """Ends the iterations; gives the rows that the epoch added."""
        if self._dense is not None:
            self._back_in_table(self._dense)
        stop = self.table.size
        return Batch(TableColumns(self.table, self.start, stop), stop - self.start)

    def densified(self, axes: tuple[RowTable, RowTable]) -> DenseSet:
        """The rows as bits, in an epoch that began without rows. They are in a table again when it ends."""
        layout = fit([bounds(axis.column(0)) if axis.size else (0, 0) for axis in axes])
        assert layout is not None, "values too large for packed rows, which there are"
        self._dense = DenseSet(self.table, self.low, [*self.depths().items()], axes, layout)
        self._new_table(RowTable(len(self.schema)))
        return self._dense

    def _back_in_table(self, dense: DenseSet) -> None:
        self._new_table(dense.table())
        self.low, self.high = self.start, self.table.size
        self._came = array("q", [iteration for iteration, _ in dense.came])
        self._reached = array("q", np.cumsum([count for _, count in dense.came]).tolist())
        self._dense = None

    def _new_table(self, table: RowTable) -> None:
        self.table = table
        self.indexes.clear()

    def replace(self, anew: GrowingSet) -> Batch:
        """Takes the rows of another set in place of its own; gives the change."""
        change = changed_rows(self.table, self.rows(), anew.table)
        self._former = {name: vars(self)[name] for name in _STATE}
        vars(self).update({name: vars(anew)[name] for name in _STATE})
        return change

    def rollback(self) -> None:
        """Forgets what this epoch changed."""
        if self._former is not None:
            vars(self).update(self._former)
            self._former = None
        if self.start:
            self.table.truncate(self.start)
        else:
            self._dense = None
            self._new_table(RowTable(len(self.schema)))
        self.indexes.clear()
        self.low = self.high = self.start
        kept = bisect_right(self._reached, self.start)
        del self._came[kept:], self._reached[kept:]
        self._iterations = self._before

    def commit(self) -> None:
        """Rows stay by themselves."""
        self._former = None

    @property
    def iterations(self) -> Array:
        """The iterations at which rows came, counted on from epoch to epoch."""
        return np.array(self._came, np.int64)

    def came_at(self, rows: Array) -> Array:
        """The iterations at which some rows came."""
        return self.iterations[np.searchsorted(np.array(self._reached, np.int64), rows, "right")]

    def at_birth(self, of_iterations: Array) -> Array:
        """For each row, the one of the numbers of `iterations` that belongs to its birth."""
        reached: Array = np.array(self._reached, np.int64)
        return np.repeat(of_iterations, np.diff(reached, prepend=0))

    @property
    def iterations_run(self) -> int:
        """The number of iterations of all epochs."""
        return self._iterations

    @property
    def arrivals(self) -> tuple[array[int], array[int]]:
        """The iterations at which rows came, and the size that each reached."""
        return self._came, self._reached

    def restore(self, iterations: int, came: array[int], reached: array[int]) -> None:
        """Takes up what was kept beside the table."""
        self.start = self.low = self.high = self.table.size
        self._iterations = self._before = iterations
        self._came, self._reached = came, reached

    def depths(self) -> dict[int, int]:
        """The number of rows that came at each iteration, counted on from epoch to epoch."""
        sizes = [0, *self._reached]
        return {came: sizes[k + 1] - sizes[k] for k, came in enumerate(self._came)}


_STATE = (
    "table",
    "indexes",
    "start",
    "low",
    "high",
    "_iterations",
    "_before",
    "_came",
    "_reached",
)
"""The attributes that an evaluation anew replaces."""


def changed_rows(held: RowTable, present: Array, anew: RowTable) -> Batch:
    """The change from the rows present in one table to those of another."""
    there = held.find(anew.columns(), anew.size)
    is_present = np.zeros(held.size + 1, bool)  # the last is for rows that are not in the table
    is_present[present] = True
    come = np.flatnonzero(~is_present[there])
    gone = present[anew.find(held.columns_at(present), len(present)) < 0]
    columns = [np.concatenate([anew.column_at(come, k), held.column_at(gone, k)]) for k in range(held.arity)]
    weights = np.ones(len(come) + len(gone), np.int64)
    weights[len(come) :] = -1
    return Batch(tuple(columns), len(weights), weights if len(gone) else None)
