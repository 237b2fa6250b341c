"""The ids of a few rows of a large table, found without numbers at its slots, or without an index.

A table finds ids by numbers at its slots, which are built when first asked for: in a table of a hundred
million rows that takes seconds and a gigabyte. Whether a row is there at all, the slots tell without numbers.
A few rows that are there are looked for among those of their key, if there is an index, until that has cost
as much as numbering. Without an index all rows are looked through, and some of them numbered, until all are. In that
way the rows of a few keys are found, too, until it has cost a good part of what an index of them does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import thresholds
from ...derivedcolumns import Position
from ...schema import Array
from ..kernels import hashing, scan
from ..storage import threadpool
from ..storage.table import RowTable
from .index import RowIndex


class Locator:
    """Finds rows of one table by indexes that hold all its rows but the last ones, or by looking through the
    table. See `RowTable.found_by`."""

    def __init__(self, table: RowTable, indexes: Mapping[tuple[Position, ...], RowIndex]) -> None:
        self._table, self._indexes = table, indexes
        self._looked_at = 0
        self.sought = Counter[tuple[Position, ...]]()  # keys that were looked for without an index

    def __call__(self, columns: Sequence[Array], words: Array) -> Array | None:
        """The ids of rows, -1 for a row that is not there; None where that costs more than numbering."""
        table = self._table
        if table.size < thresholds.LARGE_TABLE or len(words) > thresholds.LOCATED_ROWS:
            return None
        found = np.full(len(words), -1, np.int64)
        slots, bits = table.slots()
        there = np.flatnonzero(hashing.find_words(slots, slots, bits, words) >= 0)
        if not len(there):
            return found
        positions = self._positions()
        if positions is None:
            with threadpool.building:
                ids = self._scanned(words[there])
            if ids is None:
                return None
            found[there] = ids
            return found
        index = self._indexes[positions]
        late = table.size - index.size
        groups = index.groups([columns[p][there] for p in positions if isinstance(p, int)], len(there))
        total = index.matches(groups)
        if late > thresholds.LOCATED_ROWS:
            return None
        self._looked_at += total + late
        if (
            total + late > thresholds.LOCATING_READS
            or self._looked_at > thresholds.LOCATING_TIMES * table.size
        ):
            return None
        left, rows = index.expand(groups, total)
        same = table.words[rows] == words[there[left]]
        found[there[left[same]]] = rows[same]
        others = there[found[there] < 0].tolist()
        if others:
            last = {word: at for at, word in enumerate(table.words[index.size : table.size].tolist())}
            for at in others:
                found[at] = index.size + last[int(words[at])]
        return found

    def matching(self, positions: tuple[Any, ...], keys: Sequence[Array], length: int) -> Array | None:
        """The ids of the rows that have one of some keys in these columns, found by looking through the
        table. None: that has come to cost more than an index, or the keys are not of packed columns."""
        table, layout = self._table, self._table.layout
        if table.size < thresholds.SOUGHT_TABLE or length > thresholds.SCANNED_ROWS or layout is None:
            return None
        if not positions or not all(isinstance(p, int) for p in positions):
            return None
        if self.sought[positions] + length > thresholds.SOUGHT_KEYS:
            return None
        self.sought[positions] += length
        mask, values, fits = 0, np.zeros(length, np.int64), np.ones(length, np.bool_)
        for position, key in zip(positions, keys, strict=True):
            field = layout.fields[position]
            value = key - field.offset
            fits &= (value >= 0) & (value <= field.mask)
            mask |= field.mask << field.shift
            values |= value << field.shift
        values = np.unique(values[fits])
        ids = np.empty(thresholds.SOUGHT_ROWS, np.int64)
        count = scan.agreeing(table.words, table.size, np.full(len(values), mask), values, ids)
        return None if count < 0 else ids[:count]

    def _positions(self) -> tuple[Position, ...] | None:
        """The columns of the index with the fewest rows a key."""
        plain = [by for by in self._indexes if by and all(isinstance(p, int) for p in by)]
        return min(plain, key=lambda by: self._indexes[by].fanout, default=None)

    def _scanned(self, words: Array) -> Array | None:
        """The ids of rows that are there, by looking through the table; None for too many rows."""
        if len(words) > thresholds.SCANNED_ROWS:
            return None
        table = self._table
        table.number_some()
        sought, places = np.unique(words, return_inverse=True)
        ids = np.empty(len(sought), np.int64)
        count = scan.agreeing(table.words, table.size, np.full(len(sought), -1), sought, ids)
        assert count == len(sought), "the slots have said that these rows are there"
        return ids[np.argsort(table.words[ids])][places]
