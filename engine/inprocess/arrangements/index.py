"""Indexes: the row ids of a table by the values of some columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np

from ... import thresholds
from ...clock import done_once
from ...derivedcolumns import Position
from ...schema import Array
from ..kernels import postings
from ..storage import threadpool
from ..storage.arrays import grow
from ..storage.derivedcolumns import EvaluatedColumn, derived_values, note_value
from ..storage.table import RowTable
from ..storage.unread import read_now
from . import bulkindex
from .bulkindex import Rows
from .stretches import Stretched

ALL = 1 << 62  # more than any row id


class FaultyKey(Exception):
    """A look-up by a derived column that faults on a row: it cannot say which rows match."""


class _Keyed(NamedTuple):
    """The ids of the rows among some that have a key, and the keys; and how many others have none because of
    a fault."""

    rows: Array
    keys: list[Array]
    faulty: int = 0


class RowIndex(Stretched):
    """For each key, a stretch of row ids, at first built in bulk by counting.

    A row without a value in a derived column is not in the index. While one faults there, look-ups raise
    FaultyKey.
    """

    def __init__(self, table: RowTable, positions: tuple[Position, ...], rows: Rows) -> None:
        self.table = table
        self.positions = positions
        self._derived = [p for p in positions if isinstance(p, EvaluatedColumn)]
        self._own = [p for p in positions if isinstance(p, int)]
        self._pick = picking(tuple(self._own))
        self._faulty = 0
        self.keys = RowTable(len(positions))
        read_now(table)  # threads that help wait for `building`, which this one may hold
        rows, groups = self._grouped(rows)
        super().__init__(bulkindex.stretches(groups, rows, self.keys.size))
        self.size = len(rows)

    def _keyed(self, rows: Array) -> _Keyed:
        own = self._own
        if not self._derived:
            return _Keyed(rows, [self.table.column_at(rows, p) for p in own])
        columns = [derived_values(self.table, p, rows) for p in self._derived]
        faulty = np.logical_or.reduce([column.faulty(rows) for column in columns])
        rows = rows[np.logical_and.reduce([column.present(rows) for column in columns])]
        keys = [self.table.column_at(rows, p) for p in own]
        return _Keyed(rows, keys + [column.at(rows) for column in columns], int(faulty.sum()))

    def _grouped(self, rows: Rows) -> tuple[Rows, Array]:
        """The rows that have a key, and the ids of their keys, new ones for keys not seen before."""
        if not self._derived and len(rows) > thresholds.INDEX_CHUNK:
            return rows, bulkindex.groups_of(self.keys, lambda some: self._keyed(some).keys, rows)
        keyed = self._keyed(bulkindex.ids(rows))
        self._faulty += keyed.faulty
        return keyed.rows, self.keys.insert(keyed.keys, len(keyed.rows)).astype(np.int32)

    @property
    def derives(self) -> bool:
        """Whether some column of the keys is computed from the columns of the rows."""
        return bool(self._derived)

    @property
    def fanout(self) -> float:
        """The mean number of rows a key."""
        return self.size / max(1, self.keys.size)

    # ------------------------------------------------------------- lookups

    def searched(self) -> RowTable:
        """The table of the keys: an id there is a group."""
        if self._faulty:
            raise FaultyKey
        return self.keys

    def groups(self, columns: Sequence[Array], length: int) -> Array:
        """The group of each key, -1 for a key never seen."""
        return self.searched().find(columns, length)

    def matches(self, groups: Array) -> int:
        """The number of rows in all groups together."""
        return int(postings.total_matches(groups, self._count))

    def sizes(self, groups: Array) -> Array:
        """The number of rows in each group."""
        if not self.keys.size:
            return np.zeros(len(groups), np.int64)
        sizes: Array = np.where(groups < 0, 0, self._count[groups]).astype(np.int64)
        return sizes

    def expand(self, groups: Array, total: int, below: int = ALL) -> tuple[Array, Array]:
        """Every (position in `groups`, row id of that group), of row ids less than `below`."""
        return postings.expand(groups, self._first, self._count, self._slab, total, below)  # type: ignore[no-any-return]

    def rows_of(self, key: tuple[int, ...], most: int) -> list[int] | None:
        """The row ids of one key; None: they are more than `most`."""
        if self._faulty:
            raise FaultyKey
        group = self.keys.find_row(key)
        size = 0 if group < 0 else self._count.item(group)
        if size > most:
            return None
        if size == 0:
            return []
        first = self._first.item(group)
        return [self._slab.item(first)] if size == 1 else self._slab[first : first + size].tolist()

    def stretches(self) -> tuple[Array, Array, Array]:
        """The places of each group's row ids, as kernels read them: first, count, slab."""
        return self._first, self._count, self._slab

    # ------------------------------------------------------------- changes

    def insert(self, rows: Rows) -> None:
        """Adds row ids."""
        rows, groups = self._grouped(rows)
        self._reach(self.keys.size)
        self._track(self.table.size)
        self._enter(groups, rows)
        self.size += len(rows)

    def remove(self, rows: Array) -> None:
        """Takes row ids out."""
        keyed = self._keyed(rows)
        self._faulty -= keyed.faulty
        groups = self.keys.insert(keyed.keys, len(keyed.rows))
        self._reach(self.keys.size)
        self._leave(groups, keyed.rows, self.table.size)
        self.size -= len(keyed.rows)

    def insert_one(self, at: int, row: tuple[int, ...]) -> None:
        """Adds one row id, given the columns of the row."""
        if not self._derived:
            group = self.keys.insert_row(self._pick(row))
        else:
            key = self._key(row)
            if not key:
                self.insert(np.array([at], np.int64))
                return
            for column, value in zip(self._derived, key[len(self._own) :], strict=True):
                note_value(self.table, column, at, value)
            group = self.keys.insert_row(key)
        if group >= len(self._count):
            self._reach(group + 1)
        used = self._count.item(group)
        if len(self._place):
            self._track(self.table.size)
        if used == self._room.item(group):
            self._move(group, used)
        place = self._first.item(group) + used
        self._slab[place] = at
        self._count[group] = used + 1
        if len(self._place):
            self._place[at] = place
        self.size += 1

    def _key(self, row: tuple[int, ...]) -> tuple[int, ...] | None:
        """The key of a row, an empty one if a derived column has no value. None: it is to be computed in the
        general way."""
        key = self._pick(row)
        for column in self._derived:
            found = column.compute_one(row)
            if found is None or not found[1]:
                return None if found is None else ()
            key += (found[0],)
        return key

    def _move(self, group: int, used: int) -> None:
        """Moves a full stretch to the end of the slab, as `postings.link` does."""
        size, end, first = max(4, 2 * used), self._end, self._first.item(group)
        grow(self, "_slab", end + size)
        moved = self._slab[first : first + used]
        self._slab[end : end + used] = moved
        if used and len(self._place):
            self._place[moved] = np.arange(end, end + used)
        self._first[group], self._room[group], self._end = end, size, end + size

    def remove_one(self, at: int, row: tuple[int, ...]) -> None:
        """Takes one row id out, given the columns of the row."""
        group = -1 if self._derived else self.keys.find_row(self._pick(row))
        placed = len(self._place) > 0
        if group < 0 or not (placed or self._count.item(group) <= thresholds.IDS_LOOKED_AT):
            self.remove(np.array([at], np.int64))
            return
        self._track(self.table.size)
        first = self._first.item(group)
        last = first + self._count.item(group) - 1
        place = self._place.item(at) if placed else first + self._slab[first : last + 1].tolist().index(at)
        moved = self._slab.item(last)
        self._slab[place] = moved
        if placed:
            self._place[moved] = place
        self._count[group] -= 1
        self.size -= 1


@lru_cache(maxsize=256)
def picking(columns: tuple[int, ...]) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    """The function that gives some columns of a row."""
    picked: Callable[[tuple[int, ...]], tuple[int, ...]] = eval(
        f"lambda row: ({''.join(f'row[{k}], ' for k in columns)})"
    )
    return picked


K = TypeVar("K")


def made_once(indexes: dict[K, RowIndex], positions: K, make: Callable[[], RowIndex]) -> RowIndex:
    """The index by these columns, made when first asked for, also if several threads ask for it at once."""
    found = indexes.get(positions)
    if found is None:
        with threadpool.building:
            found = indexes.get(positions)
            if found is None:
                with done_once():
                    found = indexes[positions] = make()
    return found


class all_alike:
    """The indexes of a table, to be changed. If computing a key is interrupted, all are forgotten, so that
    those that are left tell of the same rows. A class, as every round of a recursion comes here."""

    __slots__ = ("_indexes",)

    def __init__(self, indexes: dict[tuple[Position, ...], RowIndex]) -> None:
        self._indexes = indexes

    def __enter__(self) -> Iterable[RowIndex]:
        return self._indexes.values()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._indexes.clear()
