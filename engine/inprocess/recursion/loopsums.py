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

from ...circuit import Group
from ...schema import INLINE_LIMIT, Array, Kind, Schema
from ...time import Lattice
from ..arrangements.chains import Chains
from ..groups.accumulators import integer_sums
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
        self.keys = RowTable(node.keys)
        self._columns = [one.columns[0] for one in node.aggregates if one.function != "count"]
        self._width = 1 + 2 * len(self._columns)  # the count, and two parts of each sum
        self._chains = Chains(lattice, self._width)
        self._huge: dict[tuple[int, int], int] = {}  # by entry and sum: what interned integers add up to
        self._log: dict[tuple[int, int], int] = {}  # the changes of `_huge` since the last commit

    # ------------------------------------------------------------- changing

    def add(self, batch: Batch, time: int) -> Array:
        """Adds a change of the members at a time. Returns its groups."""
        groups = self.keys.insert(batch.columns[: self._node.keys], batch.length)
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
        self._chains.grow(self.keys.size)
        entries = self._chains.add(groups, changes, time)
        for k, large in wide:
            self._add_huge(k, batch.columns[self._columns[k]], weights, large, entries)
        return groups

    def _add_huge(self, k: int, codes: Array, weights: Array, large: Array, entries: Array) -> None:
        values = self._values.decode_column(self._source[self._columns[k]], codes[large])
        for at, value in zip(large.tolist(), values, strict=True):
            place, change = (int(entries[at]), k), value * int(weights[at])
            for noted in (self._log, self._huge):
                noted[place] = noted.get(place, 0) + change

    # ------------------------------------------------------------- reading

    def look(self, groups: Array, time: int) -> tuple[Batch, Array, Array]:
        """The rows of groups at a time; and the joins of the time with the times of groups that are not at or
        before it: position in `groups`, and the join."""
        self._chains.grow(self.keys.size)
        amounts, left, times = self._chains.look(groups, time)
        return self._results(groups, amounts, time), left, times

    def _results(self, groups: Array, amounts: Array, time: int) -> Batch:
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
        left, entries = self._chains.entries_upto(groups, time)
        found = [[0] * len(groups) for _ in self._columns]
        for at, entry in zip(left.tolist(), entries.tolist(), strict=True):
            for k, sums in enumerate(found):
                sums[at] += self._huge.get((entry, k), 0)
        return found

    # ------------------------------------------------------------- epochs

    def commit(self) -> None:
        """The epoch's changes stay."""
        self._log.clear()
        self._chains.keep_all()
        if self._chains.are_many() and not self._huge:
            self._chains.grow(self.keys.size)
            self._chains.compact(self.keys.size)

    def rollback(self) -> None:
        """Takes back the changes since the last commit."""
        self._chains.rollback()
        for place, value in self._log.items():
            self._huge[place] -= value
        self._log.clear()

    def mark(self, marks: Marks) -> None:
        """Marks the ids in the keys of groups with members, and forgets all others."""
        self._chains.grow(self.keys.size)
        kept = self._chains.alive(self.keys.size)
        if len(kept) < self.keys.size:
            held = self.keys.only(kept)  # first, since it may run out of memory
            self._chains.move(kept)
            self.keys = held
        marks.rows(self._node.schema[: self._node.keys], self.keys, None)

    @property
    def arrays(self) -> list[Any]:
        """All that it holds."""
        return [*self._chains.arrays, self.keys]
