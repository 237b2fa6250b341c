"""The ids of a few rows of a large table, found through an index of some of the columns.

A table finds ids by numbers at its slots, which are built when first asked for: in a table of a hundred
million rows that takes seconds and a gigabyte. Whether a row is there at all, the slots tell without numbers.
A few rows that are there are looked for among those of their key, until that has cost as much as numbering.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..derived import Position
from ..schema import Array
from .index import Index
from .kernels import hashing
from .table import RowTable

LARGE = 1 << 22
"""Rows from which numbering takes long."""

_FEW = 1 << 12  # rows that may be looked for
_MOST = 1 << 22  # rows that may be looked at for them
_PATIENCE = 2  # rows looked at for each row of the table, before it is numbered after all


class Locator:
    """Finds rows of one table by indexes that hold all its rows but the last ones. See `RowTable.locate`."""

    def __init__(self, table: RowTable, indexes: Mapping[tuple[Position, ...], Index]) -> None:
        self._table, self._indexes = table, indexes
        self._looked_at = 0

    def __call__(self, columns: Sequence[Array], words: Array) -> Array | None:
        """The ids of rows, -1 for a row that is not there; None where that costs more than numbering."""
        table = self._table
        if table.size < LARGE or len(words) > _FEW:
            return None
        found = np.full(len(words), -1, np.int64)
        slots, bits = table.slots()
        there = np.flatnonzero(hashing.contains_words(slots, bits, words))
        if not len(there):
            return found
        positions = self._positions()
        if positions is None:
            return None
        index = self._indexes[positions]
        late = table.size - index.size
        groups = index.groups([columns[p][there] for p in positions if isinstance(p, int)], len(there))
        total = index.matches(groups)
        self._looked_at += total + late
        if total + late > _MOST or self._looked_at > _PATIENCE * table.size:
            return None
        left, rows = index.expand(groups, total)
        same = table.words[rows] == words[there[left]]
        found[there[left[same]]] = rows[same]
        last = {word: at for at, word in enumerate(table.words[index.size : table.size].tolist())}
        for at in there[found[there] < 0].tolist():
            found[at] = index.size + last[int(words[at])]
        return found

    def _positions(self) -> tuple[Position, ...] | None:
        """The columns of the index with the fewest rows a key."""
        plain = [by for by in self._indexes if by and all(isinstance(p, int) for p in by)]
        return min(plain, key=lambda by: self._indexes[by].fanout, default=None)
