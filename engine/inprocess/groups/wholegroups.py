"""Functions of whole groups: given all rows of a group in sorted order, or the first of them.

What depends on the first rows alone, such as the ten best of a million, keeps somewhat more than these of
each group in order. A change of the group goes into what is kept, or lies behind it and is of no account.
Where too few rows are left, the group is read again.

    kept rows of a group     x x x x | x x x . . . . . . . . . . . . .
                             most      spare   the rest of the group
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from itertools import islice
from typing import Any, Protocol

import numpy as np

from ... import thresholds
from ...circuit import Aggregate
from ...interrupt import immediate
from ...operators.group import First
from ...schema import Array, Column, RowFault, Schema, fault_message
from ...sortedrows import Falling
from ..storage.batch import Batch
from ..storage.interner import Values, decode_rows
from ..storage.table import RowTable
from .orderedcolumns import in_order

Row = tuple[Any, ...]


class Members(Protocol):
    """The rows of groups."""

    @property
    def table(self) -> RowTable:
        """The table of the rows."""

    @property
    def schema(self) -> Schema:
        """Its columns."""

    def of(self, groups: Array) -> tuple[Array, Array]:
        """The row ids of the groups, group after group, and where each group starts."""

    def times(self, rows: Array) -> Array:
        """How often each of these rows is in its group, which is a bag."""

    def key_rows(self, groups: Array) -> list[Row]:
        """The key values of the groups."""


class Whole:
    """Any function of the whole group."""

    def __init__(
        self, one: Aggregate, out: Column, members: Members, values: Values, rule: str, bag: bool
    ) -> None:
        self.one, self.out, self.members, self.values, self.rule = one, out, members, values, rule
        self.bag = bag

    def add(self, groups: Array, batch: Batch, weights: Array) -> None:
        """Nothing to keep: the rows are in the arrangement."""

    def result(self, groups: Array, counts: Array) -> Array:
        return self.made(groups, self.listed(groups, ordered=True))

    def keep(self, groups: Array) -> None:
        """Nothing is kept."""

    def listed(self, groups: Array, *, ordered: bool = False) -> list[list[Row]]:
        """The rows of groups, each as often as it is there; `ordered`, if they are many, by their
        columns: to sort the rows of a large group as tuples takes longer than all else."""
        rows, starts = self.members.of(groups)
        if self.bag:
            times = self.members.times(rows)
            starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(times)))[starts]
            rows = np.repeat(rows, times)
        table, schema = self.members.table, self.members.schema
        columns = [table.column_at(rows, k) for k in self.one.columns]
        types = [schema[k] for k in self.one.columns]
        many = ordered and len(rows) >= thresholds.SORTED_COLUMNS
        if many:
            keys = [self.values.order_keys(c, a) for c, a in zip(types, columns, strict=True)]
            places = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(rows)))
            order = np.lexsort([*reversed(keys), places])
            columns = [column[order] for column in columns]
        listed = decode_rows(self.values, types, columns, len(rows))
        ends = [*starts.tolist()[1:], len(rows)]
        parts = [listed[start:end] for start, end in zip(starts.tolist(), ends, strict=True)]
        return parts if many or not ordered else [sorted(part) for part in parts]

    def made(self, groups: Array, listed: list[list[Row]]) -> Array:
        """The values of the function for groups with these rows."""
        made = []
        assert self.one.make is not None
        for key, rows in zip(self.members.key_rows(groups), listed, strict=True):
            try:
                with immediate():
                    made.append(self.one.make(key, rows))
            except MemoryError:
                raise
            except Exception as fault:
                message = fault_message(fault)
                raise RowFault(message, self.rule, self.one.origin, {"key": key}) from fault
        return self.values.encode_column(self.out, made, len(made))


@dataclass(slots=True)
class _Kept:
    """The first rows of a group, with their keys, in order, about as many as there is `room` for; `whole`:
    all of its rows."""

    keys: list[Any]
    rows: list[Row]
    whole: bool
    room: int


class FirstRows:
    """A function of the first rows of a group."""

    def __init__(self, whole: Whole, first: First, source: Schema) -> None:
        self._whole, self._first, self._source = whole, first, source
        self._room = 2 * first.most + thresholds.FIRST_SPARE
        self._kept: dict[int, _Kept] = {}  # of the groups that are known

    def add(self, groups: Array, batch: Batch, weights: Array) -> None:
        listed: list[int] = groups.tolist()
        # While they change, and if that fails, the groups are not known.
        known = {group: self._kept.pop(group) for group in {*listed} & self._kept.keys()}
        if not known or batch.length > thresholds.GROUPS_READ_AGAIN:
            return
        places = self._whole.one.columns
        columns = [batch.columns[k] for k in places]
        schema = [self._source[k] for k in places]
        rows = decode_rows(self._whole.values, schema, columns, batch.length)
        with immediate():
            for group, row, weight in zip(listed, rows, weights.tolist(), strict=True):
                kept = known.get(group)
                if kept is not None and not self._changed(kept, row, weight):
                    del known[group]
        self._kept.update(known)

    def result(self, groups: Array, counts: Array) -> Array:
        listed: list[int] = groups.tolist()
        new = [at for at, group in enumerate(listed) if group not in self._kept]
        read: dict[int, list[Row]] = {}
        if new:
            few = len(new) <= thresholds.FIRST_SPARE
            large = thresholds.SMALL_GROUP * (1 if few else thresholds.FIRST_SPARE)
            for at, (rows, size) in zip(new, self._read(groups[new]), strict=True):
                group = listed[at]
                enough = len(rows) == size or self._first.counts == "row_number"  # any number may be equal
                read[group] = rows if enough and size <= large else self._taken(group, rows, size)
        firsts = [read[g] if g in read else self._firsts(self._kept[g]) for g in listed]
        return self._whole.made(groups, [sorted(rows) for rows in firsts])

    def keep(self, groups: Array) -> None:
        new = {old: place for place, old in enumerate(groups.tolist())}
        self._kept = {new[old]: kept for old, kept in self._kept.items() if old in new}

    def _key(self, row: Row) -> Any:
        key = self._first.key(row)
        return Falling(key) if self._first.last else key

    def _read(self, groups: Array) -> Iterator[tuple[list[Row], int]]:
        """Rows of groups, all or only the first of an order of columns, more than matter, and how many there
        are."""
        whole, orders = self._whole, self._first.orders
        if orders is None:
            yield from ((rows, len(rows)) for rows in whole.listed(groups))
            return
        schema, places = whole.members.schema, whole.one.columns
        rows, starts = whole.members.of(groups)
        columns = {k: whole.members.table.column_at(rows, k) for k in places}
        sizes = np.diff(starts, append=len(rows))
        order, _, _ = in_order(
            whole.values, schema, columns, np.repeat(np.arange(len(groups)), sizes), places, orders
        )
        room = min(self._room, len(rows))  # of any size is what LIMIT says
        first = np.arange(len(rows)) - np.repeat(starts, sizes) < room
        chosen, counts = order[first], np.minimum(sizes, room)
        times = whole.members.times(rows[chosen]) if whole.bag else np.ones(len(chosen), np.int64)
        types = [schema[k] for k in places]
        listed = decode_rows(whole.values, types, [columns[k][chosen] for k in places], len(chosen))
        parts = zip(listed, times.tolist(), strict=True)
        for count, size in zip(counts.tolist(), sizes.tolist(), strict=True):
            found = [row for row, often in islice(parts, count) for _ in range(often)]
            yield found, len(found) if count == size else len(found) + size - count

    def _taken(self, group: int, rows: list[Row], size: int) -> list[Row]:
        """The first rows of a large group of so many, at least, which are kept from now on; all rows of one
        with a row without a key, for which the function fails, too. `rows` are all, or begin the order."""
        take, most = nlargest if self._first.last else nsmallest, self._first.most
        while True:
            room = 2 * most + thresholds.FIRST_SPARE
            try:
                with immediate():
                    first = take(room, rows, key=self._first.key)
                    kept = _Kept([self._key(row) for row in first], first, len(first) >= size, room)
            except MemoryError:
                raise
            except Exception:
                return rows
            end = self._end(kept)
            if end is not None:
                break
            if len(rows) < size:  # many are equal
                (rows,) = self._whole.listed(np.array([group], np.int64))
                size = len(rows)
            most = room
        self._kept[group] = kept
        return first[:end]

    def _firsts(self, kept: _Kept) -> list[Row]:
        """The rows that matter."""
        return kept.rows[: self._end(kept)]

    def _end(self, kept: _Kept) -> int | None:
        """How many of the rows that are kept matter; None: perhaps others do, too."""
        most, keys = self._first.most, kept.keys
        match self._first.counts:
            case "row_number":
                end, more = min(most, len(keys)), len(keys) < most
            case "rank":
                end = bisect_right(keys, keys[most - 1][0], key=_order) if len(keys) >= most else len(keys)
                more = end == len(keys)
            case _:
                end = 0
                for _ in range(most):
                    if end < len(keys):
                        end = bisect_right(keys, keys[end][0], key=_order)
                more = end == len(keys)
        return None if more and not kept.whole else end

    def _changed(self, kept: _Kept, row: Row, weight: int) -> bool:
        """Brings what is kept up to date with rows that come or go; False: the group is to be read again."""
        try:
            key, keys = self._key(row), kept.keys
        except MemoryError:
            raise
        except Exception:
            return False
        if not kept.whole and (not keys or keys[-1] < key):
            return bool(keys)
        if weight > 0:
            at, count = bisect_right(keys, key), min(weight, 2 * kept.room)
            keys[at:at], kept.rows[at:at] = [key] * count, [row] * count
            if weight > count or len(keys) > 2 * kept.room:
                del keys[kept.room :], kept.rows[kept.room :]
                kept.whole = False
            return self._end(kept) is not None
        at, end = bisect_left(keys, key), bisect_right(keys, key)
        gone = min(-weight, end - at)
        if gone < -weight and (kept.whole or end < len(keys)):
            return False
        del keys[at : at + gone], kept.rows[at : at + gone]
        return self._end(kept) is not None


def _order(key: Any) -> Any:
    return key[0]
