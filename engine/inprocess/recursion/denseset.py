"""A growing set of pairs as bits.

    held     the rows with the delta, a bit each
    births   the iteration at which each came, counted from 1; 0: it is not there
    delta    the rows that came at the last iteration, as a list or as a matrix
    fresh    the rows derived in this iteration: bits that `held` does not have, once they are taken in

The law: bits are another way of keeping the same rows. After each iteration the rows, and the iterations at
which they came, are those of the table that they replace. So an epoch that began in a table goes on in bits
when the rows have become dense, and its end makes a table again, whose rows are in the order of their births;
it is filled when somebody reads it. An epoch that begins from rows goes on in their table.

A matrix has a row and a column for each value of its axes (`products`). All values are known when an epoch
changes over: rules that are not products have run by then, and products bring no values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...memory import reserve
from ...schema import Array
from ..kernels import bits as kernels
from ..storage.batch import Batch
from ..storage.bits import BitMatrix, PairList, Pairs, no_bits
from ..storage.layout import PackedLayout
from ..storage.table import RowTable

_LISTED = 16  # words of a matrix for each row of a delta from which it is a list


class DenseSet:
    """A relation as bits."""

    def __init__(
        self,
        table: RowTable,
        low: int,
        came: list[tuple[int, int]],
        axes: tuple[RowTable, RowTable],
        layout: PackedLayout,
    ) -> None:
        """The rows of a table, whose values are on the axes. `came`: the iterations at which they came, and
        how many. Those from `low` on are the delta, those that came at no iteration are fresh."""
        high = sum(count for _, count in came)
        left, right = (axis.insert((table.column(k),), table.size) for k, axis in enumerate(axes))
        self.axes, self.came, self._layout = axes, came, layout
        self.height, self.width = axes[0].size, axes[1].size
        reserve(self.height * self.width)
        self.births: Any = np.zeros((self.height, self.width), _fitting(len(came)))
        births: Any = np.arange(1, len(came) + 1)
        self.births[left[:high], right[:high]] = np.repeat(births, [count for _, count in came])
        self.held = self._list(left[:high], right[:high]).bits
        self.delta: Pairs = self._list(left[low:high], right[low:high])
        self._fresh = no_bits(self.height, self.width)
        self._lists: list[PairList] | None = []  # the fresh rows, if they are few
        self.size = high
        self.add(self._list(left[high:], right[high:]))

    def _list(self, left: Array, right: Array) -> PairList:
        return PairList(left, right, self.height, self.width)

    def add(self, found: Pairs) -> None:
        """Takes derived rows in."""
        if isinstance(found, BitMatrix):
            self._fresh |= found.words
            self._lists = None
        elif self._lists is None:
            kernels.set_bits(self._fresh, found.left, found.right)
        else:
            left, right = found.left.copy(), found.right.copy()
            count = kernels.new_pairs(left, right, self.held.words, self._fresh)
            self._lists.append(self._list(left[:count], right[:count]))

    @property
    def pending(self) -> bool:
        """True if there are fresh rows."""
        if self._lists is None:
            return bool((self._fresh & ~self.held.words).any())
        return any(each.count for each in self._lists)

    def advance(self, iteration: int) -> int:
        """Makes the fresh rows the delta. Returns their number."""
        birth = len(self.came) + 1
        if birth > np.iinfo(self.births.dtype).max:
            reserve(2 * self.births.nbytes)
            self.births = self.births.astype(_fitting(birth))
        if self._lists is None:
            fresh, self._fresh = self._fresh, no_bits(self.height, self.width)
            count = kernels.take_new(fresh, self.held.words, self.births, birth)
            matrix = BitMatrix(fresh, self.width)
            matrix.count = count
            self.delta = matrix.pairs() if count * _LISTED <= fresh.size else matrix
        else:
            none = np.empty(0, np.int64)
            left, right = (
                np.concatenate([none, *side])
                for side in ([each.left for each in self._lists], [each.right for each in self._lists])
            )
            count = len(left)
            kernels.take_pairs(left, right, self._fresh, self.held.words, self.births, birth)
            self.delta = self._list(left, right)
        self._lists = []
        self.held = BitMatrix(self.held.words, self.width)  # without what was derived of it
        if count:
            self.came.append((iteration, count))
        self.size += count
        return count

    def fresh(self) -> Batch:
        """The delta."""
        some = self.delta if isinstance(self.delta, PairList) else self.delta.pairs()
        return Batch((self.values(some.left, 0), self.values(some.right, 1)), some.count)

    def values(self, places: Array, axis: int) -> Array:
        """The values at some places of an axis."""
        return self.axes[axis].column_at(places, 0)

    def table(self) -> RowTable:
        """The rows in the order of their births. They are filled in when they are needed."""
        found = RowTable(2)
        births, axes, counts = self.births, self.axes, [count for _, count in self.came]
        layout = self._layout

        def words() -> Array:
            reserve(8 * found.size)
            rows = np.empty(found.size, np.int64)
            at = np.cumsum([0, 0, *counts])  # of birth 0 there are none
            left, right = (
                (axis.column(0) - field.offset) << field.shift
                for axis, field in zip(axes, layout.fields, strict=True)
            )
            kernels.rows_in_order(births, at, left, right, rows)
            return rows

        found.fill_later(sum(counts), layout, words)
        return found


def _fitting(birth: int) -> Any:
    """The type of births that has room for a number."""
    return next(each for each in (np.uint8, np.uint16, np.uint32) if birth <= np.iinfo(each).max)
