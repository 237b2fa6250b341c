"""Chains: for each row of a table entries, each a time and amounts that change there. See `engine.time`."""

from __future__ import annotations

import numpy as np

from ... import thresholds
from ...schema import Array
from ...time import Lattice
from ..kernels import producttime as kernels
from ..storage.arrays import grow, lengthen


class Chains:
    """Rows, by their ids, with the changes of so many amounts by time. Whoever asks says how many rows there
    are."""

    def __init__(self, lattice: Lattice, width: int = 1) -> None:
        self._guard, self._bits = lattice.guard, lattice.bits
        self._head: Array = np.empty(0, np.int64)
        self._following: Array = np.empty(0, np.int64)
        self._when: Array = np.empty(0, np.int64)
        self._amounts: Array = np.empty((0, width), np.int64)
        self.used = 0
        self._compacted = 0
        self._log: list[tuple[Array, Array]] = []

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """All that it holds."""
        return self._head, self._following, self._when, self._amounts

    def grow(self, rows: int) -> None:
        """Makes room for so many rows."""
        grow(self, "_head", rows, -1)

    def make_room(self, entries: int) -> None:
        """Makes room for so many more entries."""
        for name in ("_following", "_when", "_amounts"):
            lengthen(self, name, self.used + entries)

    # ------------------------------------------------------------- reading

    def amounts_at(self, rows: Array, time: int) -> Array:
        """The amounts of each row at a time."""
        return kernels.amounts_at(*self.arrays, rows, time, self._guard)  # type: ignore[no-any-return]

    def entries(self, rows: Array, time: int, constant: int) -> tuple[Array, Array, Array]:
        """The changes of the first amount of rows as seen from a time on: position in `rows`, time and change
        of each. What is not at or before the time is at the join with it; all else is one change, with a
        constant added. A row may be -1: no such row."""
        count = kernels.count_entries(*self.arrays, rows, time, self._guard) + (len(rows) if constant else 0)
        return kernels.expand_entries(  # type: ignore[no-any-return]
            *self.arrays, rows, time, self._guard, self._bits, constant, count
        )

    def look(self, rows: Array, time: int) -> tuple[Array, Array, Array]:
        """The amounts of each row at a time; and the joins of the time with the changes of rows that are not
        at or before it: position in `rows`, and the join."""
        room = len(rows)
        while True:
            left, times = np.empty(room, np.int64), np.empty(room, np.int64)
            amounts, found = kernels.look(*self.arrays, rows, time, self._guard, self._bits, left, times)
            if found <= room:
                return amounts, left[:found], times[:found]
            room = found

    def entries_upto(self, rows: Array, time: int) -> tuple[Array, Array]:
        """The entries of rows at or before a time: position in `rows`, and number of the entry."""
        count = len(np.unique(self._when[: self.used])) * len(rows)
        head, following, when, _ = self.arrays
        return kernels.entries_upto(  # type: ignore[no-any-return]
            head, following, when, rows, time, self._guard, count
        )

    def with_entries(self, rows: int) -> Array:
        """The first rows, without those that have no entry."""
        return np.flatnonzero(self._head[:rows] >= 0)

    def alive(self, rows: int) -> Array:
        """The first rows, without those that have no entry other than 0."""
        found = np.empty(rows, np.int64)
        head, following, _, amounts = self.arrays
        return found[: kernels.alive_rows(head, following, amounts, rows, found)]

    # ------------------------------------------------------------- changing

    def add(self, rows: Array, changes: Array, time: int) -> Array:
        """Adds changes of rows at a time, which have a column for each amount. Returns their entries."""
        room = self.used + len(rows)
        for name in ("_following", "_when", "_amounts"):
            grow(self, name, room)
        entries = np.empty(len(rows), np.int64)
        self.used = kernels.enter(*self.arrays, self.used, rows, time, changes, entries)
        self._log.append((entries, changes))
        return entries

    def keep_all(self) -> None:
        """The changes so far stay."""
        self._log.clear()

    def are_many(self) -> bool:
        """Whether there are many more entries than when those of 0 were forgotten last."""
        return self.used > thresholds.GHOSTS + 2 * self._compacted

    def settled(self) -> None:
        """Notes that few entries are 0."""
        self._compacted = self.used

    def compact(self, rows: int) -> None:
        """Forgets the entries of the first rows that are 0."""
        self._following, self._when, self._amounts, self.used = kernels.without_zeros(*self.arrays, rows)
        self.settled()

    def rollback(self) -> None:
        """Takes back the changes since they last stayed."""
        for entries, changes in reversed(self._log):
            np.subtract.at(self._amounts, entries, changes)
        self._log.clear()

    def move(self, kept: Array) -> None:
        """Makes these the chains of those rows, which get new ids, from 0 in order."""
        self._head = self._head[kept]
