"""Stores: the contents of a relation outside a recursion, with its arrangements.

A store is the integral of a stream of changes: rows with weights, and an index for each set of
columns that some join looks rows up by. All changes are additive, so that a rollback adds the
opposite changes in reverse order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from ... import thresholds
from ...derivedcolumns import Position
from ...memory import reserve
from ...schema import Array, Schema
from ..kernels import addition
from ..storage import threadpool
from ..storage.arrays import grow
from ..storage.batch import Batch, TableColumns, few_rows, no_rows
from ..storage.table import RowTable
from ..storage.unread import Unread
from .index import RowIndex, all_alike, made_once


class Store(Unread):
    """Rows and weights. While nothing was ever deleted and only presence matters, the weights are
    left out: every row of the table has weight 1. In a set the weights count derivations, and to
    readers every row present has weight 1."""

    ghosts = False
    signed = False  # whether rows of negative weight are present

    def __init__(self, schema: Schema, is_set: bool = False) -> None:
        self.schema = schema
        self.is_set = is_set
        self.table = RowTable(len(schema))
        self.weights: Array | None = None
        self.present = 0
        self._indexes: dict[tuple[Position, ...], RowIndex] = {}
        self._arriving: list[int] = []  # rows that the indexes take in when somebody asks for these
        self._undo: list[tuple[Array | Sequence[int], Array | Sequence[int]] | int] = []
        self._whole = True  # whether `present` and the indexes are what the weights say

    # ------------------------------------------------------------- reading

    def rows(self) -> Array:
        """The ids of the rows present."""
        if self.weights is None:
            return np.arange(self.table.size, dtype=np.int64)
        return np.flatnonzero(self.weights[: self.table.size])

    def emptied(self) -> Store:
        """A store without rows, with room for as many."""
        store = Store(self.schema, self.is_set)
        store.table = self.table.only(np.empty(0, np.int64), self.present)
        return store

    def batch(self) -> Batch:
        """The contents, with their weights."""
        if self.weights is None:
            return Batch(self.table.columns(), self.table.size)
        rows = self.rows()
        if len(rows) <= thresholds.ROWS_ONE_BY_ONE:
            return self._few(rows.tolist())
        if self.is_set:
            return Batch(self.table.columns_at(rows), len(rows))
        weights = self.weights[rows]
        plain = bool((weights == 1).all())
        return Batch(self.table.columns_at(rows), len(rows), None if plain else weights)

    def as_change(self) -> Batch:
        """The contents, as the change of an epoch before which there were none."""
        if self.present < self.table.size:
            return self.batch()
        weights = None
        if not self.is_set and self.weights is not None:
            held = self.weights[: self.table.size]
            weights = held.copy() if held.max() > 1 else None
        return Batch(self.since(0).columns, self.table.size, weights)

    def counted(self) -> Batch:
        """The rows present with the weights that they have in the store, also of a set."""
        rows = self.rows()
        weights = None if self.weights is None else self.weights[rows]
        return Batch(self.table.columns_at(rows), len(rows), weights)

    def _few(self, ids: Sequence[int]) -> Batch:
        """The rows with these ids."""
        assert self.weights is not None
        weights = [1] * len(ids) if self.is_set else [self.weights.item(at) for at in ids]
        return few_rows([self.table.row(at) for at in ids], weights, len(self.schema))

    def weight_of(self, columns: Sequence[Array], length: int) -> Array:
        """The weight of each row, 0 for a row that is not there."""
        rows = self.table.find(columns, length)
        if self.weights is None:
            return (rows >= 0).astype(np.int64)
        if not self.table.size:
            return np.zeros(length, np.int64)
        return np.where(rows >= 0, self.weights[rows], 0)

    @property
    def indexes(self) -> dict[tuple[Position, ...], RowIndex]:
        """The arrangements that there are."""
        if self._arriving:
            self._take_in()
        return self._indexes

    def _take_in(self) -> None:
        """Lets the indexes take in the rows that came one by one. Many of them cost less at once."""
        with threadpool.building:
            coming, few = self._arriving, len(self._arriving) <= thresholds.ROWS_ONE_BY_ONE
            try:
                with all_alike(self._indexes) as indexes:
                    for index in indexes if coming else ():
                        if few:
                            for at in coming:
                                index.insert_one(at, self.table.row(at))
                        else:
                            index.insert(np.array(coming, np.int64))
            finally:
                self._arriving = []

    def index(self, positions: tuple[Position, ...]) -> RowIndex:
        """The arrangement by these columns, built when first asked for."""

        def make() -> RowIndex:
            every = range(self.table.size)
            return RowIndex(self.table, positions, every if self.weights is None else self.rows())

        return made_once(self.indexes, positions, make)

    # ------------------------------------------------------------- changes

    def add_present(self, batch: Batch) -> Batch:
        """Adds rows of positive weight to a set of which only presence matters; returns the new ones."""
        if self.weights is not None:
            return self.add_counted(batch, as_set=True)
        if batch.length <= thresholds.ROWS_ONE_BY_ONE:
            return self._add_present_few(batch)
        before = self.table.size
        self._undo.append(before)  # first, since the insertion may run out of memory
        self.table.insert_new(batch.columns, batch.length)
        self._arrange_since(before)
        every = self.present == before + batch.length and batch.columns.__class__ is tuple
        return self.since(before, batch.columns if every else ())

    def _arrange_since(self, start: int) -> None:
        """Makes the rows present that came from `start` on."""
        self.present = self.table.size
        if self.indexes and self.present > start:
            fresh = np.arange(start, self.present, dtype=np.int64)
            with all_alike(self.indexes) as indexes:
                for index in indexes:
                    index.insert(fresh)

    def _add_present_few(self, batch: Batch) -> Batch:
        before = self.table.size
        self._add_new(batch.rows())
        if self.present == before + batch.length:
            plain = batch.weights is None and batch.times is None
            return batch if plain else Batch(batch.columns, batch.length)
        return self.since(before)

    def _add_new(self, rows: Sequence[tuple[int, ...]]) -> None:
        """Adds the rows that are new, one by one."""
        self._undo.append(self.table.size)
        for row in rows:
            if self.table.add_row(row):
                self.present += 1
                if self._indexes:
                    self._arrange(self.present - 1, row, 1)

    def since(self, start: int, known: Iterable[Array] = ()) -> Batch:
        """The rows that came from `start` on. Their columns are unpacked when they are read, if they are not
        `known`."""
        return Batch(TableColumns(self.table, start, self.table.size, known), self.table.size - start)

    def add_counted(self, batch: Batch, as_set: bool) -> Batch:
        """Adds weighted rows. Returns the change: of presence when `as_set`, else the batch itself."""
        if batch.length <= thresholds.ROWS_ONE_BY_ONE:
            change = self.add_rows(batch.rows(), batch.weight_list())
            return self._changed_few(batch, change) if as_set else batch
        start = self.table.size
        if not start or (self.weights is None and batch.weights is None):
            self._undo.append(start)
        if self.weights is None and batch.weights is None:
            rows = self.table.insert(batch.columns, batch.length)
            if self.table.size == start + batch.length:  # all of them are new: there is nothing to count
                self._arrange_since(start)
                return Batch(batch.columns, batch.length)
            self._begin_to_weigh()
        else:
            rows = self._rows_of(batch)
        weights = batch.weight_array()
        touched, signs = self._net(*self._add_rows(rows, weights))
        if not as_set:
            return batch
        if np.array_equal(touched, rows) and np.array_equal(signs, weights):
            return Batch(batch.columns, batch.length, batch.weights)
        return self._changed(touched, signs)

    def set_rows(self, changes: Sequence[tuple[Batch, int]]) -> Batch:
        """Makes rows present (+1) or absent (-1), change by change; returns the net change of the set.

        The insertion of a present row and the deletion of an absent row change nothing.
        """
        if self.weights is None and len(changes) == 1 and changes[0][1] > 0:
            return self.add_present(changes[0][0])
        if self.weights is None and all(sign > 0 for _, sign in changes):
            start = self.table.size
            for batch, _ in changes:
                self.add_present(batch)
            return self.since(start)
        if sum(batch.length for batch, _ in changes) <= thresholds.ROWS_ONE_BY_ONE:
            return self._set_few(changes)
        found = np.concatenate([self._rows_of(batch) for batch, _ in changes])
        signs = np.repeat([sign for _, sign in changes], [batch.length for batch, _ in changes])
        rows, last = np.unique(found[::-1], return_index=True)  # the last change of a row decides
        signs = signs[::-1][last]
        assert self.weights is not None
        differs = self.weights[rows] == np.where(signs > 0, 0, 1)
        return self._changed(*self._net(*self._add_rows(rows[differs], signs[differs])))

    def _rows_of(self, batch: Batch) -> Array:
        """The ids of rows, each with a place for its weight."""
        self._begin_to_weigh()
        rows = self.table.insert(batch.columns, batch.length)
        grow(self, "weights", self.table.size, 0)
        return rows

    def _begin_to_weigh(self) -> None:
        if self.weights is None:
            reserve(8 * self.table.size)
            weights = np.zeros(max(16, self.table.size), np.int64)
            weights[: self.present] = 1
            self.weights = weights

    def _add_rows(self, rows: Array, change: Array) -> tuple[Array, Array]:
        assert self.weights is not None
        self._whole = False
        touched, before = self._weigh(rows, change)
        self._note((rows, change))
        return touched, before

    def _note(self, change: tuple[Array | Sequence[int], Array | Sequence[int]]) -> None:
        """Notes a change to take back, unless that will leave no rows."""
        undo = self._undo
        if not undo or undo[0] != 0:
            undo.append(change)

    def _weigh(self, rows: Array, change: Array) -> tuple[Array, Array]:
        """Adds to weights. Returns the rows whose presence may have changed, with their weights before."""
        assert self.weights is not None
        touched, before = addition.add_weights(self.weights, rows, change)
        return touched, before

    def _net(self, touched: Array, before: Array) -> tuple[Array, Array]:
        """Applies the net change of presence to the indexes: the rows, with +1 or -1 for each."""
        touched, signs = self._signs(touched, before)
        gone = touched[signs < 0]
        self.present += len(touched) - 2 * len(gone)
        if self.indexes and len(touched):
            come = touched[signs > 0]
            with all_alike(self.indexes) as indexes:
                for index in indexes:
                    if len(gone):
                        index.remove(gone)
                    if len(come):
                        index.insert(come)
        self._whole = True
        return touched, signs

    def _changed(self, rows: Array, signs: Array) -> Batch:
        """Rows that come and go, as a batch."""
        plain = bool((signs > 0).all())
        return Batch(self.table.later_at(rows), len(rows), None if plain else signs)

    def _signs(self, touched: Array, before: Array) -> tuple[Array, Array]:
        """The rows whose presence changed, and +1 or -1 for each."""
        assert self.weights is not None
        if len(touched) * 8 > self.table.size:
            scratch = np.zeros(self.table.size, np.int8)
            rows, signs = addition.net_presence(self.weights, touched, before, scratch)
            return rows, signs
        _, first = np.unique(touched, return_index=True)
        touched, before = touched[first], before[first]
        touched = touched[(before > 0) != (self.weights[touched] > 0)]
        return touched, np.where(self.weights[touched] > 0, 1, -1)

    def keep(self, change: Batch, is_net: bool) -> None:
        """Adds weighted rows. `is_net`: they are the change of a set."""
        if is_net and change.weights is None and self.weights is None:
            self.add_present(change)
        else:
            self.add_counted(change, as_set=False)

    # ------------------------------------------------------------- a few rows, one by one

    def add_rows(self, rows: Sequence[tuple[int, ...]], weights: Sequence[int]) -> dict[int, int]:
        """Adds a few weighted rows. Returns the change of presence: +1 or -1 by the ids of rows."""
        return self._add_few(self._ids_of(rows), rows, weights)

    def add_one(self, row: tuple[int, ...], weight: int, held: int | None = None) -> int:
        """As `add_rows`, of one row: the change of its presence. `held`: only if it has this weight."""
        if self.weights is None:
            self._begin_to_weigh()
        at, weights = self.table.insert_row(row), self.weights
        if weights is None or at >= len(weights):
            grow(self, "weights", self.table.size, 0)
            weights = self.weights
        assert weights is not None
        before = weights.item(at)
        if held is not None and before != held:
            return 0
        self._whole = False
        weights[at] = after = before + weight
        self._note(((at,), (weight,)))
        sign = (after != 0) - (before != 0) if self.signed else (after > 0) - (before > 0)
        if sign:
            self.present += sign
            if self._indexes:
                self._arrange(at, row, sign)
        self._whole = True
        return sign

    def set_one(self, row: tuple[int, ...], sign: int) -> int:
        """As `set_rows`, of one row: the change of its presence."""
        if self.weights is not None or sign < 0:
            return self.add_one(row, sign, 0 if sign > 0 else 1)
        before = self.present
        self._add_new((row,))
        return self.present - before

    def keep_rows(self, rows: Sequence[tuple[int, ...]], weights: Sequence[int], is_net: bool) -> None:
        """As `keep`, of a few rows."""
        if is_net and self.weights is None and min(weights) > 0:
            self._add_new(rows)
        else:
            for row, weight in zip(rows, weights, strict=True):
                self.add_one(row, weight)

    def _ids_of(self, rows: Sequence[tuple[int, ...]]) -> list[int]:
        """As `_rows_of`."""
        if self.weights is None:
            self._begin_to_weigh()
        ids = [*map(self.table.insert_row, rows)]
        if self.weights is None or self.table.size > len(self.weights):
            grow(self, "weights", self.table.size, 0)
        return ids

    def _set_few(self, changes: Sequence[tuple[Batch, int]]) -> Batch:
        """As `set_rows`."""
        rows = [(row, sign) for batch, sign in changes for row in batch.rows()]
        now: dict[int, int] = {}
        counted: list[tuple[int, tuple[int, ...], int]] = []
        for at, (row, sign) in zip(self._ids_of([row for row, _ in rows]), rows, strict=True):
            assert self.weights is not None
            weight = now.get(at)
            weight = self.weights.item(at) if weight is None else weight
            if weight == (0 if sign > 0 else 1):
                now[at] = weight + sign
                counted.append((at, row, sign))
        signs = self._add_few(*map(list, zip(*counted, strict=True))) if counted else {}
        return self._changed_few(changes[0][0], signs, len(rows))

    def _add_few(
        self, ids: Sequence[int], rows: Sequence[tuple[int, ...]], changes: Sequence[int]
    ) -> dict[int, int]:
        """As `_net` of `_add_rows`."""
        weights, signed = self.weights, self.signed
        assert weights is not None
        self._whole = False
        crossed: dict[int, tuple[bool, bool, tuple[int, ...]]] = {}  # `dict[…]()` would make a type each time
        for at, row, change in zip(ids, rows, changes, strict=True):
            before = weights.item(at)
            weights[at] = after = before + change
            was, is_there = (before != 0, after != 0) if signed else (before > 0, after > 0)
            if was != is_there:
                crossed[at] = crossed[at][0] if at in crossed else was, is_there, row
        self._note((ids, changes))
        signs: dict[int, int] = {}
        for at, (was, is_there, row) in crossed.items():
            if was != is_there:
                signs[at] = sign = -1 if was else 1
                self.present += sign
                if self._indexes:
                    self._arrange(at, row, sign)
        self._whole = True
        return signs

    def _arrange(self, at: int, row: tuple[int, ...], sign: int) -> None:
        """Changes the indexes by one row."""
        if sign > 0:
            self._arriving.append(at)
            if len(self._arriving) >= thresholds.ROWS_LATER:
                self._take_in()
            return
        with all_alike(self.indexes) as indexes:
            for index in indexes:
                index.remove_one(at, row)

    def _forget_indexes(self) -> None:
        self._indexes.clear()
        self._arriving.clear()

    def _changed_few(self, batch: Batch, signs: Mapping[int, int], rows: int | None = None) -> Batch:
        """As `_changed`, after a change by so many rows, those of a batch the first of them."""
        if not signs:
            return no_rows(self.schema)
        if len(signs) == batch.length == (rows or batch.length):
            weights = None if min(signs.values()) > 0 else np.array([*signs.values()], np.int64)
            return Batch(batch.columns, batch.length, weights)
        return few_rows([self.table.row(at) for at in signs], [*signs.values()], len(self.schema))

    # ------------------------------------------------------------- epochs

    def commit(self) -> None:
        """Ends an epoch: its changes stay."""
        self._undo.clear()
        if self.weights is not None and self.table.size > thresholds.GHOSTS + 2 * self.present:
            self.give_back()

    def give_back(self) -> None:
        """Gives back the room of rows that are absent, where there are many."""
        if self.weights is not None and self.table.size > thresholds.GHOSTS + 2 * self.present:
            with suppress(MemoryError):
                self._compact()

    def rollback(self) -> None:
        """Takes back the changes since the last commit, the last of which may be half made."""
        whole = self._whole
        if not whole:
            self._forget_indexes()
        while self._undo:
            entry = self._undo.pop()
            if isinstance(entry, int):
                self.table.truncate(entry)
                self.present = entry
                if self.weights is not None:
                    self.weights[entry:] = 0
                self._forget_indexes()
            else:
                rows, change = (np.asarray(each, np.int64) for each in entry)
                self._net(*self._weigh(rows, -change))
        if not whole and self.weights is not None:
            self.present = self._count()
            self._whole = True

    def _count(self) -> int:
        """The rows present, by their weights."""
        assert self.weights is not None
        return int(np.count_nonzero(self.weights[: self.table.size] > 0))

    def _compact(self) -> None:
        """Forgets the rows of weight 0."""
        assert self.weights is not None
        kept = np.flatnonzero(self.weights[: self.table.size])
        table = self.table.only(kept)
        weights = np.zeros(max(16, table.size), np.int64)
        weights[: table.size] = self.weights[kept]
        self.table, self.weights = table, weights
        self._forget_indexes()


def store_of(schema: Schema, batch: Batch) -> Store:
    """A store that holds just this batch; negative weights allowed."""
    store = Store(schema)
    if batch.length:
        rows = store.table.insert(batch.columns, batch.length)
        store.weights = np.zeros(max(16, store.table.size), np.int64)
        np.add.at(store.weights, rows, batch.weight_array())
        store.present = int(np.count_nonzero(store.weights))
    return store
