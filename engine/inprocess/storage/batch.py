"""Batches: immutable columns of rows with weights, and times inside a recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeAlias

import numpy as np

from ... import thresholds
from ...memory import reserve
from ...schema import Array, Schema
from .layout import PackedColumns
from .lazycolumns import LazyColumns
from .table import RowTable


@dataclass(slots=True, eq=False, weakref_slot=True)
class Batch:
    """`length` rows of int64 columns. `weights` None: all 1. `times` None: all outside a recursion
    (or, inside it, of before its first iteration). Nobody changes it: a frozen class would take twice as long
    to make, and a small commit makes many."""

    columns: Sequence[Array]
    length: int
    weights: Array | None = None
    times: Array | None = None

    def weight_array(self) -> Array:
        """The weights, spelt out."""
        return np.ones(self.length, np.int64) if self.weights is None else self.weights

    def weight_list(self) -> list[int]:
        """The weights, one by one."""
        return [1] * self.length if self.weights is None else self.weights.tolist()

    def rows(self) -> list[tuple[int, ...]]:
        """The rows, one by one."""
        columns = self.columns
        if columns.__class__ is RowColumns:  # faster than `isinstance`
            return columns.given
        if columns.__class__ is TableColumns:
            return columns.rows()
        return list(zip(*[c.tolist() for c in columns], strict=True)) if columns else [()] * self.length

    def take(self, rows: Array) -> Batch:
        """The rows at these positions."""
        return Batch(
            tuple(c[rows] for c in self.columns),
            len(rows),
            None if self.weights is None else self.weights[rows],
            None if self.times is None else self.times[rows],
        )

    def slice(self, start: int, stop: int) -> Batch:
        """The rows start .. stop."""
        stop = min(stop, self.length)
        columns = self.columns
        return Batch(
            columns.part(start, stop)
            if isinstance(columns, TableColumns | PackedColumns)
            else tuple(c[start:stop] for c in columns),
            stop - start,
            None if self.weights is None else self.weights[start:stop],
            None if self.times is None else self.times[start:stop],
        )

    def unread(self) -> Batch:
        """The same rows, without the columns that were unpacked to be read."""
        return self.slice(0, self.length) if isinstance(self.columns, PackedColumns) else self

    def negated(self) -> Batch:
        """The same rows with opposite weights."""
        return Batch(self.columns, self.length, -self.weight_array(), self.times)

    def scaled(self, factor: int) -> Batch:
        """The same rows with their weights times a factor."""
        return (
            self
            if factor == 1
            else Batch(self.columns, self.length, self.weight_array() * factor, self.times)
        )

    def positive(self) -> bool:
        """Whether no weight is negative."""
        return self.weights is None or not self.length or int(self.weights.min()) >= 0


length_of: Callable[[Batch], int] = attrgetter("length")
"""The rows of a batch."""


class TableColumns(LazyColumns):
    """The columns of a table's rows start .. stop: valid while no row among them is forgotten. `known` are
    those columns, if they are there already."""

    def __init__(self, table: RowTable, start: int, stop: int, known: Iterable[Array] = ()) -> None:
        self._known = dict(enumerate(known))
        self._table, self._start, self._stop = table, start, stop

    def __len__(self) -> int:
        return self._table.arity

    def unpack(self, position: int) -> Array:
        return self._table.column(position, self._start, self._stop)

    def rows(self) -> list[tuple[int, ...]]:
        """The rows, one by one."""
        return [self._table.row(at) for at in range(self._start, self._stop)]

    def part(self, start: int, stop: int) -> TableColumns:
        """The columns of rows start .. stop of these, unpacked for themselves."""
        part = TableColumns(self._table, self._start + start, self._start + stop)
        part._known = {position: column[start:stop] for position, column in self._known.items()}
        return part


class RowColumns(LazyColumns):
    """The columns of rows that are given one by one, and that nobody changes."""

    def __init__(self, rows: list[tuple[int, ...]], arity: int) -> None:
        self._known = {}
        self.given, self._arity = rows, arity

    def __len__(self) -> int:
        return self._arity

    def unpack(self, position: int) -> Array:
        return np.array([row[position] for row in self.given], np.int64)


def few_rows(rows: list[tuple[int, ...]], weights: Sequence[int], arity: int) -> Batch:
    """The batch of some rows, which nobody changes, with their weights."""
    plain = weights.count(1) == len(weights)
    return Batch(RowColumns(rows, arity), len(rows), None if plain else np.array(weights, np.int64))


Rows: TypeAlias = tuple[list[tuple[int, ...]], list[int]]
"""Rows, at least one, and their weights."""


def no_rows(schema: Schema) -> Batch:
    """A batch without rows."""
    return Batch(tuple(np.empty(0, np.int64) for _ in schema), 0)


def concat(batches: Sequence[Batch], arity: int) -> Batch:
    """The sum of batches, not consolidated."""
    batches = [b for b in batches if b.length]
    if len(batches) == 1:
        return batches[0]
    if not batches:
        return Batch(tuple(np.empty(0, np.int64) for _ in range(arity)), 0)
    length = sum([b.length for b in batches])
    if length <= thresholds.FEW_ROWS and not any(b.times is not None for b in batches):
        rows = [row for b in batches for row in b.rows()]
        return few_rows(rows, [weight for b in batches for weight in b.weight_list()], arity)
    reserve(8 * length * (arity + 1))
    weights = None
    if any(b.weights is not None for b in batches):
        weights = np.concatenate([b.weight_array() for b in batches])
    times = None
    if any(b.times is not None for b in batches):
        times = np.concatenate([np.full(b.length, -1) if b.times is None else b.times for b in batches])
    columns = tuple(np.concatenate([b.columns[k] for b in batches]) for k in range(arity))
    return Batch(columns, length, weights, times)


def consolidate(batch: Batch) -> Batch:
    """The batch with one row for each distinct row and no zero weights. Times are dropped."""
    if _is_consolidated(batch):
        return batch if batch.times is None else Batch(batch.columns, batch.length, batch.weights)
    table = RowTable(len(batch.columns))
    ids = table.insert(batch.columns, batch.length)
    totals = np.zeros(table.size, np.int64)
    np.add.at(totals, ids, batch.weight_array())
    kept = np.flatnonzero(totals)
    weights = totals[kept]
    return Batch(table.columns_at(kept), len(kept), None if bool((weights == 1).all()) else weights)


def _is_consolidated(batch: Batch) -> bool:
    """Whether it is plain that a batch is consolidated: the rows of a table are."""
    if batch.weights is None and batch.columns.__class__ is TableColumns:
        return True
    if batch.length > thresholds.FEW_ROWS:
        return False
    if batch.weights is not None and 0 in batch.weights.tolist():
        return False
    return batch.length <= 1 or len(set(batch.rows())) == batch.length


class Gathering:
    """A sum of batches in the making. When many rows have come, `take` takes them, if there is one; else they
    are consolidated, so that rows found over and over do not pile up."""

    def __init__(
        self, arity: int, room: int = 1 << 24, take: Callable[[Batch], object] | None = None
    ) -> None:
        self._arity, self._least, self._room, self._take = arity, room, room, take
        self._parts: list[Batch] = []
        self._rows = 0

    @property
    def rows(self) -> int:
        """The rows so far."""
        return self._rows

    @property
    def bytes(self) -> int:
        """The bytes of the rows so far."""
        return 8 * self._rows * (self._arity + any(part.weights is not None for part in self._parts))

    def extend(self, batches: Iterable[Batch]) -> None:
        """Adds batches. Their times are of no account."""
        for batch in batches:
            self._parts.append(batch)
            self._rows += batch.length
            if self._rows <= self._room:
                continue
            if self._take is not None:
                for part in self._parts:
                    self._take(part)
                self._parts, self._rows = [], 0
            else:
                whole = consolidate(concat(self._parts, self._arity))
                self._parts, self._rows = [whole], whole.length
                self._room = max(self._least, 4 * whole.length)

    def total(self) -> Batch | None:
        """The sum, not consolidated, without what was taken; None: no batch came."""
        return concat(self._parts, self._arity) if self._parts else None
