"""Groups that add up, in product time: counts, and sums and means of integers.

At a time, the members of a group are those of all its changes up to there. So what they add up to is the sum
of what these changes add up to, and a visit looks at one entry for each time at which the group changes, and
at no member:

    change of the members at       (0, 0)     (0, 1)     (1, 0)
    count, sum                      3, 12     -1, -7      2, 5           at (1, 1):  4, 10
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import thresholds
from ...circuit import Group
from ...schema import INLINE_LIMIT, Array, Kind, Schema
from ...time import Lattice
from ..groups.accumulators import integer_sums
from ..kernels import producttime as kernels
from ..storage.arrays import grow
from ..storage.batch import Batch, no_rows
from ..storage.interner import Values
from ..storage.marks import Marks
from ..storage.table import RowTable


def adds_up(node: Group, source: Schema) -> bool:
    """Whether all aggregates of a group of a set are counts, and sums and means of integers."""
    return all(
        one.function == "count"
        or (one.function in ("sum", "avg") and source[one.columns[0]].kind is Kind.INT)
        for one in node.aggregates
    )


class LoopSums:
    """The sums over the members of the groups of one Group node, by key and time."""

    def __init__(self, node: Group, source: Schema, lattice: Lattice, values: Values) -> None:
        self._node, self._source, self._values = node, source, values
        self._lattice = lattice
        self.keys = RowTable(node.keys)
        self._columns = [one.columns[0] for one in node.aggregates if one.function != "count"]
        self._width = 1 + 2 * len(self._columns)  # the count, and two parts of each sum
        self._head: Array = np.empty(0, np.int64)
        self._following: Array = np.empty(0, np.int64)
        self._when: Array = np.empty(0, np.int64)
        self._amounts: Array = np.empty((0, self._width), np.int64)
        self._huge: dict[tuple[int, int], int] = {}  # by entry and sum: what interned integers add up to
        self._used = self._compacted = 0
        self._log: list[tuple[Array, Array, dict[tuple[int, int], int]]] = []

    def _grow(self) -> None:
        grow(self, "_head", self.keys.size, -1)

    # ------------------------------------------------------------- changing

    def add(self, batch: Batch, time: int) -> Array:
        """Adds a change of the members at a time. Returns its groups."""
        groups = self.keys.insert(batch.columns[: self._node.keys], batch.length)
        self._grow()
        weights = batch.weight_array()
        changes = np.empty((batch.length, self._width), np.int64)
        changes[:, 0] = weights
        wide: list[tuple[int, Array]] = []
        for k, position in enumerate(self._columns):
            codes = batch.columns[position]
            large = np.flatnonzero(codes >= INLINE_LIMIT)
            if len(large):
                wide.append((k, large))
                codes = np.where(codes >= INLINE_LIMIT, 0, codes)
            changes[:, 1 + 2 * k] = (codes & 0xFFFFFFFF) * weights
            changes[:, 2 + 2 * k] = (codes >> 32) * weights
        room = self._used + batch.length
        for name in ("_following", "_when", "_amounts"):
            grow(self, name, room)
        entries = np.empty(batch.length, np.int64)
        self._used = kernels.enter_amounts(
            self._head, self._following, self._when, self._amounts, self._used, groups, time, changes, entries
        )
        self._log.append((entries, changes, {}))
        for k, large in wide:
            self._add_huge(k, batch.columns[self._columns[k]], weights, large, entries)
        return groups

    def _add_huge(self, k: int, codes: Array, weights: Array, large: Array, entries: Array) -> None:
        noted = self._log[-1][2]
        values = self._values.decode_column(self._source[self._columns[k]], codes[large])
        for at, value in zip(large.tolist(), values, strict=True):
            place = int(entries[at]), k
            noted[place] = noted.get(place, 0) + value * int(weights[at])
        for place, value in noted.items():
            if place[1] == k:
                self._huge[place] = self._huge.get(place, 0) + value

    # ------------------------------------------------------------- reading

    def results(self, groups: Array, time: int) -> Batch:
        """The rows of groups at a time."""
        self._grow()
        amounts = np.zeros((len(groups), self._width), np.int64)
        chains = self._head, self._following, self._when
        guard = self._lattice.guard
        kernels.amounts_at(*chains, self._amounts, groups, time, guard, amounts)
        alive = np.flatnonzero(amounts[:, 0] > 0)
        if not len(alive):
            return no_rows(self._node.schema)
        groups, amounts = groups[alive], amounts[alive]
        counts = np.ascontiguousarray(amounts[:, 0])
        huge = self._huge_at(groups, time) if self._huge else None
        columns, sums = list(self.keys.columns_at(groups)), 0
        for one, out in zip(self._node.aggregates, self._node.schema[self._node.keys :], strict=True):
            if one.function == "count":
                columns.append(counts)
                continue
            low, high = amounts[:, 1 + 2 * sums], amounts[:, 2 + 2 * sums]
            more = None if huge is None else huge[sums]
            columns.append(integer_sums(one, out, self._values, low, high, counts, more))
            sums += 1
        return Batch(tuple(columns), len(groups))

    def _huge_at(self, groups: Array, time: int) -> list[list[int]]:
        """The part of each sum for each group at a time that interned integers make."""
        chains = self._head, self._following, self._when
        count = self._longest() * len(groups)
        left, entries = kernels.entries_upto(*chains, groups, time, self._lattice.guard, count)
        found = [[0] * len(groups) for _ in self._columns]
        for at, entry in zip(left.tolist(), entries.tolist(), strict=True):
            for k, sums in enumerate(found):
                sums[at] += self._huge.get((entry, k), 0)
        return found

    def _longest(self) -> int:
        return len(np.unique(self._when[: self._used]))

    def later(self, groups: Array, time: int) -> tuple[Array, Array]:
        """The joins of a time with the times of groups that are not at or before it: position in `groups`,
        and the join."""
        self._grow()
        room = 0
        lattice = self._lattice
        while True:
            left, times = np.empty(room, np.int64), np.empty(room, np.int64)
            found = kernels.later_amounts(
                self._head, self._following, self._when, self._amounts,
                groups, time, lattice.guard, lattice.bits, left, times,
            )  # fmt: skip
            if found <= room:
                return left[:found], times[:found]
            room = found

    # ------------------------------------------------------------- epochs

    def commit(self) -> None:
        """The epoch's changes stay."""
        self._log.clear()
        if self._used > thresholds.GHOSTS + 2 * self._compacted and not self._huge:
            self._grow()
            self._following, self._when, self._amounts, self._used = kernels.without_zero_amounts(
                self._head, self._following, self._when, self._amounts, self.keys.size
            )
            self._compacted = self._used

    def rollback(self) -> None:
        """Takes back the changes since the last commit."""
        for entries, changes, huge in reversed(self._log):
            np.subtract.at(self._amounts, entries, changes)
            for place, value in huge.items():
                self._huge[place] = self._huge.get(place, 0) - value
        self._log.clear()

    def mark(self, marks: Marks) -> None:
        """Marks the ids in the keys of groups with members, and forgets all others."""
        self._grow()
        kept = np.empty(self.keys.size, np.int64)
        found = kernels.alive_rows(self._head, self._following, self._amounts, self.keys.size, kept)
        if found < self.keys.size:
            held = RowTable(self._node.keys)
            held.insert(self.keys.columns_at(kept[:found]), found)
            self.keys, self._head = held, self._head[kept[:found]]
        marks.rows(self._node.schema[: self._node.keys], self.keys, None)

    @property
    def arrays(self) -> list[Any]:
        """All that it holds."""
        return [self._head, self._following, self._when, self._amounts, self.keys]
