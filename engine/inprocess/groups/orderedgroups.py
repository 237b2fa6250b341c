"""Rows in an order, kept up by looking only at the rows within reach of a change.

Of a large group that changed before, the rows are kept in their order, each with its value. Only the values
that are in reach of a row that comes or goes depend on it, and are computed anew. Where a value says all that
those behind it depend on, and stays, what is behind it stays, too.

    rows          r0 r1 r2 r3 +r4 r5 r6 r7 …          the change is r4
    in reach               ^^^^^^^^^^^                 of a function of the row before and the row behind

Any other group that changes is computed as it was before and as it is now, and nothing of it is kept. Where
many rows change, this is done in columns, for all groups at once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, repeat
from typing import Any

import numpy as np

from ... import thresholds
from ...circuit import DeltaOrdered
from ...interrupt import immediate
from ...schema import Array, RowFault, Schema, fault_message
from ...sortedrows import ArrangedColumns, Row, RowFunction, SortedRows
from ..arrangements.views import Readable, present
from ..storage.batch import Batch, concat, consolidate, no_rows
from ..storage.interner import Values, decode_rows, encode_rows
from ..storage.table import RowTable
from .orderedcolumns import in_order

_Key = tuple[Any, ...]
_Rows = Counter[Row]  # with their weights


class OrderedState:
    """The state of one Ordered node."""

    def __init__(self, node: DeltaOrdered, source: Schema, values: Values) -> None:
        assert node.aggregate.ordered is not None
        self.node, self.source, self.values = node, source, values
        self.function: RowFunction = node.aggregate.ordered
        self._kept: dict[_Key, SortedRows] = {}
        self._changed: set[_Key] = set()

    def change(self, delta: Batch, store: Readable) -> Batch:
        """The change of the result for a change of the source, already applied to the store that holds it."""
        keys = RowTable(self.node.keys)
        of = keys.insert(delta.columns[: self.node.keys], delta.length)
        touched = keys.columns()
        index = store.index(tuple(range(self.node.keys)))
        groups = index.groups(touched, keys.size)
        key_rows = decode_rows(self.values, self.source[: self.node.keys], touched, keys.size)
        self._changed.update(key_rows)
        known = [self._kept.pop(key, None) for key in key_rows]
        few = max(thresholds.SMALL_GROUP * keys.size, thresholds.ROWS_MOVED * delta.length)
        if delta.length > thresholds.FEW_ROWS and index.matches(groups) <= few:
            return self._change_of_all(delta, self._rows(store, groups))
        made: list[tuple[int, Row, int]] = []
        for at, key in enumerate(key_rows):
            part = delta if keys.size == 1 else delta.take(np.flatnonzero(of == at))
            before = known[at]
            with self._faults(key):
                if before is None:
                    before = self._sorted(self._rows(store, groups[at : at + 1]), part)
                change, kept = moved(self.function, before, self._counted(part))
            if kept is not None:
                self._kept[key] = kept
            made += [(at, row, weight) for row, weight in change.items() if weight]
        return self._batch(touched, made)

    def commit(self) -> None:
        """Ends an epoch: its changes stay."""
        self._changed.clear()

    def rollback(self) -> None:
        """Forgets the groups that changed since the last commit."""
        for key in self._changed:
            self._kept.pop(key, None)
        self._changed.clear()

    def _change_of_all(self, delta: Batch, now: Batch) -> Batch:
        """The change of the result, by computing all groups that change, which have these rows now, as they
        are and as they were."""
        come = int(delta.weight_array().sum())
        made = self._result(now)
        if delta.positive() and come == int(now.weight_array().sum()):  # there were no rows before
            return made
        width = len(self.node.schema)
        before = consolidate(concat([now, delta.negated()], len(self.source)))
        return consolidate(concat([made, self._result(before).negated()], width))

    def _rows(self, store: Readable, groups: Array) -> Batch:
        """The rows of groups of the store that holds the source, as often as they count."""
        index = store.index(tuple(range(self.node.keys)))
        _, rows = present(store, *index.expand(groups, index.matches(groups)))
        counted = self.node.bag and store.weights is not None
        weights = store.weights[rows] if counted and store.weights is not None else None
        columns = tuple(store.table.column_at(rows, k) for k in range(len(self.source)))
        return Batch(columns, len(rows), weights)

    def _arranged(self, batch: Batch) -> ArrangedColumns:
        """Rows of groups in their order, each as often as it is there."""
        node, function = self.node, self.function
        columns, places = batch.columns, node.aggregate.columns
        groups = RowTable(node.keys).insert(columns[: node.keys], batch.length)
        order, begins, differs = in_order(self.values, self.source, columns, groups, places, function.orders)
        if batch.weights is not None:
            times = batch.weights[order]
            first = np.zeros(int(times.sum()), np.bool_)
            first[np.cumsum(times) - times] = True
            number = np.cumsum(first) - 1
            order, begins, differs = order[number], begins[number] & first, differs[number] & first
        argument = self.source[places[-1]], columns[places[-1]][order]
        return ArrangedColumns(self.values, argument, node.schema[-1], order, begins, differs)

    def _result(self, batch: Batch) -> Batch:
        """The result for these rows."""
        if not batch.length:
            return no_rows(self.node.schema)
        arranged = self._arranged(batch)
        order, columns = arranged.order, batch.columns
        made = self.function.arrays(arranged)
        if made is not None:
            last = self.node.aggregate.columns[len(self.function.orders) : -1]
            shown = (*range(self.node.keys), *last)
            return Batch((*(columns[k][order] for k in shown), made), len(order))
        starts = np.flatnonzero(arranged.begins)
        keys = tuple(columns[k][order[starts]] for k in range(self.node.keys))
        key_rows = decode_rows(self.values, self.source[: self.node.keys], keys, len(starts))
        rows = self._members(self.source, [column[order] for column in columns], len(order))
        results: list[tuple[int, Row, int]] = []
        for at, (start, end) in enumerate(pairwise([*starts.tolist(), len(rows)])):
            with self._faults(key_rows[at]):
                part = SortedRows(rows[start:end], self.function.key)
                of_rows = self.function.values(part, 0, end - start)
                results += zip(repeat(at), map(self.function.result, rows[start:end], of_rows), repeat(1))
        return self._batch(keys, results)

    def _sorted(self, now: Batch, delta: Batch) -> SortedRows:
        """The rows of a group before a change in their order, with their values."""
        if now.length < thresholds.SORTED_COLUMNS:
            held = self._counted(now)
            held.subtract(self._counted(delta))
            return with_values(self.function, held)
        before = consolidate(concat([now, delta.negated()], len(self.source)))
        arranged = self._arranged(before)
        size, columns = len(arranged.order), [column[arranged.order] for column in before.columns]
        rows = SortedRows(self._members(self.source, columns, size), self.function.key)
        made = self.function.arrays(arranged)
        values = None if made is None else self.values.decode_column(arranged.out, made)
        rows.set_values(0, self.function.values(rows, 0, size) if values is None else values)
        return rows

    def _counted(self, batch: Batch) -> _Rows:
        """Rows with their weights; they may be alike in the columns that the function reads."""
        counts: _Rows = Counter()
        members = self._members(self.source, batch.columns, batch.length)
        for member, weight in zip(members, batch.weight_list(), strict=True):
            counts[member] += weight
        return counts

    @contextmanager
    def _faults(self, key: _Key) -> Iterator[None]:
        """Turns what goes wrong in the function into a fault of the group of a key."""
        try:
            with immediate():
                yield
        except MemoryError:
            raise
        except Exception as fault:
            message = fault_message(fault)
            raise RowFault(message, self.node.text, self.node.aggregate.origin, {"key": key}) from fault

    def _batch(self, columns: Sequence[Array], found: Sequence[tuple[int, Any, int]]) -> Batch:
        at = np.array([each for each, _, _ in found], np.int64)
        keys, schema = self.node.keys, self.node.schema
        made = encode_rows(self.values, schema[keys:], [each for _, each, _ in found])
        signs = np.array([each for _, _, each in found], np.int64)
        return Batch((*(columns[k][at] for k in range(keys)), *made), len(found), signs)

    def _members(self, schema: Schema, columns: Sequence[Array], length: int) -> list[Row]:
        places = self.node.aggregate.columns
        return decode_rows(self.values, [schema[k] for k in places], [columns[k] for k in places], length)


def with_values(function: RowFunction, rows: _Rows) -> SortedRows:
    """Rows in their order, with their values."""
    listed = sorted(rows.elements(), key=function.key)
    made = SortedRows(listed, function.key)
    made.set_values(0, function.values(made, 0, len(listed)))
    return made


def moved(function: RowFunction, rows: SortedRows, change: _Rows) -> tuple[Counter[Any], SortedRows | None]:
    """The change of the results when rows change, and the rows if they are worth keeping."""
    size, changed = len(rows), sum(map(abs, change.values()))
    if size <= max(thresholds.SMALL_GROUP, thresholds.ROWS_MOVED * changed):
        held = Counter(rows.part(0, size))
        held.update(change)
        made = _results(function, with_values(function, held))
        made.subtract(_results(function, rows))
        return made, None
    gone = rows.places({row: -weight for row, weight in change.items() if weight < 0})
    come = sorted((row for row, weight in change.items() for _ in range(weight)), key=rows.key)
    return _with_changes(function, rows, gone, come), rows


def _results(function: RowFunction, rows: SortedRows) -> Counter[Any]:
    """What stands for rows and their values."""
    return Counter(map(function.result, rows.part(0, len(rows)), rows.values(0, len(rows))))


def _with_changes(
    function: RowFunction, rows: SortedRows, gone: Sequence[int], come: Sequence[Row]
) -> Counter[Any]:
    """Takes the rows at some places away and puts others in; returns the change of the results."""
    made: Counter[Any] = Counter()
    before = [function.reach(rows, at) for at in gone]
    for at in reversed(gone):
        row = rows[at]
        made[function.result(row, rows.remove(at))] -= 1
    between = [rows.place(row) for row in come]
    for number, (at, row) in enumerate(zip(between, come, strict=True)):
        rows.insert(at + number, row)

    def moved_to(at: int, *, last: bool = False) -> int:
        """Where a place before the change is now, before or behind the rows that came there."""
        left = at - bisect_left(gone, at)
        return left + (bisect_right if last else bisect_left)(between, left)

    new = [at + number for number, at in enumerate(between)]
    reached = [(at, at + 1) for at in new]
    if not (function.alike and _stays(function, rows)):
        reached += [(moved_to(a), moved_to(b)) for a, b in before]
        reached += [function.reach(rows, at) for at in new]
    last = max((*new, *(moved_to(at, last=True) for at in gone)), default=0)
    for start, end in _stretches(reached):
        _renew(function, rows, start, end, last, made)
    return made


def _stays(function: RowFunction, rows: SortedRows) -> bool:
    """Whether the value that all rows have is the one that they had."""
    old = next((each for each in rows.all_values() if each is not None), None)
    return old is not None and same(old, function.values(rows, 0, 1)[0])


def _renew(
    function: RowFunction, rows: SortedRows, start: int, end: int, last: int, made: Counter[Any]
) -> None:
    """Computes the values of a stretch of rows anew, and adds the changes of their results."""
    size = thresholds.ORDER_FIRST if function.settles else end - start
    while start < end:
        stop = min(start + size, end)
        held, values = rows.values(start, stop), function.values(rows, start, stop)
        for row, old, value in zip(rows.part(start, stop), held, values, strict=True):
            if same(old, value):
                continue
            if old is not None:
                made[function.result(row, old)] -= 1
            made[function.result(row, value)] += 1
        rows.set_values(start, values)
        kept = function.settles and same(held[-1], values[-1])
        if kept and function.settled(rows, stop - 1, last):
            return
        start, size = stop, 2 * size


def _stretches(reached: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The stretches that some stretches cover."""
    start = end = 0
    for a, b in sorted(reached):
        if a > end:
            if start < end:
                yield start, end
            start, end = a, b
        end = max(end, b)
    if start < end:
        yield start, end


def same(old: Any, value: Any) -> bool:
    """Whether two values are one; NaN is itself."""
    return bool(old is value or old == value)
