"""The least or greatest value of each group.

A change without a deletion of the best value, or with a better one, does not read the group: the best values
are kept, and no row comes and goes in one change. Otherwise the rows are read from the arrangement by key.
Small integers are compared as they are. Other values are ranked, those of a change together with the
best ones so far of the groups that it touches:

    change        k: "pear"   k: "fig"    m: "kiwi"
    best so far   k: "lime"               m: "date"
    ranks         k: 4, 1     k: 3        m: 2, 0       k becomes "fig", m stays "date"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...schema import INLINE_LIMIT, Array, Column, Kind
from ..kernels import addition
from ..storage.arrays import grown
from ..storage.batch import Batch
from ..storage.interner import Values
from ..storage.unread import Unread, read_later
from .wholegroups import Members

AS_NUMBERS, BY_RANK = range(2)
"""How values are kept: as integers that are their own order, complements for the greatest; or as codes, whose
values are ranked."""
_NONE = np.iinfo(np.int64).max


class Extreme(Unread):
    """The least or greatest value of a column."""

    def __init__(
        self,
        position: int,
        column: Column,
        greatest: bool,
        members: Members | None,
        values: Values,
    ) -> None:
        self.position, self.column, self.members, self.values = position, column, members, values
        self.greatest = greatest
        plain = column.kind in (Kind.INT, Kind.BOOL)
        self.mode = AS_NUMBERS if plain else BY_RANK
        self._best: Array = np.zeros(0, np.int64)
        self._known: Array = np.zeros(0, np.int8)

    def add(self, groups: Array, batch: Batch, weights: Array) -> None:
        codes = batch.columns[self.position]
        self._admit(codes)
        self._grow(int(groups.max()) + 1)
        if self.mode == AS_NUMBERS:
            keys = ~codes if self.greatest else codes
            addition.improve(self._best, self._known, groups, keys, weights)
        else:
            self._add_by_rank(groups, codes, weights)

    def _admit(self, codes: Array) -> None:
        """Goes over to ranks if an integer is not its own order."""
        if self.mode == AS_NUMBERS and len(codes) and int(codes.max()) >= INLINE_LIMIT:
            self.mode = BY_RANK
            if self.greatest:
                self._best = np.where(self._best == _NONE, _NONE, ~self._best)

    def _grow(self, size: int) -> None:
        self._best = grown(self._best, size, _NONE)
        self._known = grown(self._known, size, 1)

    def _add_by_rank(self, groups: Array, codes: Array, weights: Array) -> None:
        touched, at = np.unique(groups, return_inverse=True)
        known = self._known[touched]
        held = np.flatnonzero((known != 0) & (self._best[touched] != _NONE))
        every = np.concatenate([codes, self._best[touched[held]]])
        keys = self.values.order_keys(self.column, every)
        _, first, ranks = np.unique(keys, return_index=True, return_inverse=True)
        if self.greatest:
            first, ranks = first[::-1], len(first) - 1 - ranks
        best = np.full(len(touched), _NONE, np.int64)
        best[held] = ranks[len(codes) :]
        before = best.copy()
        addition.improve(best, known, at, ranks[: len(codes)], weights)
        self._known[touched] = known
        better = np.flatnonzero(best != before)
        self._best[touched[better]] = every[first[best[better]]]

    def result(self, groups: Array, counts: Array) -> Array:
        unknown = np.flatnonzero(self._known[groups] == 0)
        if len(unknown):
            found = self._read(groups[unknown])
            self._admit(found)
            self._best[groups[unknown]] = self._as_kept(found)
            self._known[groups[unknown]] = 1
        return self._as_kept(self._best[groups])

    def _as_kept(self, codes: Array) -> Array:
        """Codes as they are kept, or the codes of what is kept."""
        return ~codes if self.greatest and self.mode == AS_NUMBERS else codes

    def kept(self, size: int) -> tuple[Array, Array]:
        """The values of so many groups, and for which of them they are known."""
        best = grown(self._best, size, _NONE)
        return best[:size], grown(self._known, size, 1)[:size]

    def restore(self, mode: int, kept: Sequence[Callable[[], Array]]) -> None:
        """Takes up what was kept, when it is first needed."""
        self.mode = int(mode)
        for name, read in zip(("_best", "_known"), kept, strict=True):
            read_later(self, name, read)

    def _read(self, groups: Array) -> Array:
        assert self.members is not None
        rows, starts = self.members.of(groups)
        codes = self.members.table.column_at(rows, self.position)
        keys = self.values.order_keys(self.column, codes)
        best = (np.maximum if self.greatest else np.minimum).reduceat(keys, starts)
        sizes = np.diff(np.append(starts, len(rows)))
        hits = np.flatnonzero(keys == np.repeat(best, sizes))
        _, first = np.unique(np.repeat(np.arange(len(groups)), sizes)[hits], return_index=True)
        return codes[hits[first]]

    def keep(self, groups: Array) -> None:
        self._grow(int(groups.max()) + 1 if len(groups) else 0)
        self._best, self._known = self._best[groups], self._known[groups]
