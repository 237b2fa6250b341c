"""Rows in an order, kept up by looking only at the rows within reach of a change.

Of a large group that changed before, the rows are kept in their order, each with its value. Only the values
that are in reach of a row that comes or goes depend on it, and are computed anew. Where a value says all that
those behind it depend on, and stays, what is behind it stays, too.

    rows          r0 r1 r2 r3 +r4 r5 r6 r7 …          the change is r4
    in reach               ^^^^^^^^^^^                 of a function of the row before and the row behind

Any other group that changes is computed as it was before and as it is now, and nothing of it is kept.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from ... import thresholds
from ...circuit import DeltaOrdered
from ...interrupt import immediate
from ...schema import Array, RowFault, Schema, fault_message
from ...sortedrows import Row, RowFunction, SortedRows
from ..arrangements.views import Readable, present
from ..storage.batch import Batch
from ..storage.interner import Values, decode_rows

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
        keys = self.node.keys
        columns, weights = delta.columns, delta.weight_list()
        key_rows = decode_rows(self.values, self.source[:keys], columns[:keys], delta.length)
        members = self._members(self.source, columns, delta.length)
        first: dict[_Key, int] = {}  # a row of each key
        changes: dict[_Key, _Rows] = {}
        for at, (key, row, weight) in enumerate(zip(key_rows, members, weights, strict=True)):
            if first.setdefault(key, at) == at:
                changes[key] = Counter()
            changes[key][row] += weight
        known = {key: self._kept.pop(key) for key in changes if key in self._kept}
        others = [key for key in changes if key not in known]
        self._changed |= changes.keys()
        found: list[tuple[int, Any, int]] = []
        listed = zip(others, self._listed(store, columns, [first[key] for key in others]), strict=True)
        every: Iterator[tuple[_Key, SortedRows | _Rows]] = chain(known.items(), listed)
        for key, now in every:
            made = self._made(key, now, changes[key])
            found += [(first[key], result, weight) for result, weight in made.items() if weight]
        return self._batch(columns, found)

    def commit(self) -> None:
        """Ends an epoch: its changes stay."""
        self._changed.clear()

    def rollback(self) -> None:
        """Forgets the groups that changed since the last commit."""
        for key in self._changed:
            self._kept.pop(key, None)
        self._changed.clear()

    def _batch(self, columns: Sequence[Array], found: Sequence[tuple[int, Any, int]]) -> Batch:
        at = np.array([each for each, _, _ in found], np.int64)
        out = self.values.encode_column(self.node.schema[-1], [each for _, each, _ in found], len(found))
        signs = np.array([each for _, _, each in found], np.int64)
        return Batch((*(columns[k][at] for k in range(self.node.keys)), out), len(found), signs)

    def _made(self, key: _Key, now: SortedRows | _Rows, change: _Rows) -> Counter[Any]:
        """The change of the results of a group, whose rows are kept as they were, or given as they are."""
        try:
            with immediate():
                made, rows = moved(self.function, self._before(now, change), change)
        except MemoryError:
            raise
        except Exception as fault:
            message = fault_message(fault)
            raise RowFault(message, self.node.text, self.node.aggregate.origin, {"key": key}) from fault
        if rows is not None:
            self._kept[key] = rows
        return made

    def _members(self, schema: Schema, columns: Sequence[Array], length: int) -> list[Row]:
        places = self.node.aggregate.columns
        return decode_rows(self.values, [schema[k] for k in places], [columns[k] for k in places], length)

    def _listed(self, store: Readable, columns: Sequence[Array], at: Sequence[int]) -> Iterator[_Rows]:
        """The rows of groups as they are now, given a changed row of each."""
        if not at:
            return
        chosen = np.array(at, np.int64)
        index = store.index(tuple(range(self.node.keys)))
        found = index.groups([columns[k][chosen] for k in range(self.node.keys)], len(at))
        left, rows = present(store, *index.expand(found, index.matches(found)))
        table = [store.table.column_at(rows, k) for k in range(len(store.schema))]
        members = self._members(store.schema, table, len(rows))
        counted = self.node.bag and store.weights is not None
        weights = store.weights[rows].tolist() if counted and store.weights is not None else [1] * len(rows)
        starts = np.searchsorted(left, np.arange(len(at) + 1)).tolist()
        for start, end in pairwise(starts):
            counts: _Rows = Counter()  # rows may be alike in the columns that the function reads
            for member, weight in zip(members[start:end], weights[start:end], strict=True):
                counts[member] += weight
            yield counts

    def _before(self, now: SortedRows | _Rows, change: _Rows) -> SortedRows:
        """The rows of a group before a change, with their values."""
        if isinstance(now, SortedRows):
            return now
        now.subtract(change)
        return with_values(self.function, now)


def with_values(function: RowFunction, rows: _Rows) -> SortedRows:
    """Rows in their order, with their values."""
    listed = function.in_order(sorted(rows.elements()))
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
