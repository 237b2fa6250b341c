"""Groups: one row for each key, kept up by touching only the keys that change.

Counts, sums and averages come from exact accumulators, and the least and greatest values are kept; any other
function is given the whole group in sorted order.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ... import thresholds
from ...circuit import Aggregate, DeltaGroup
from ...schema import Array, Column, Schema
from ..arrangements.views import Readable, present
from ..kernels import addition
from ..storage.arrays import grow, grown
from ..storage.batch import Batch, Rows, consolidate, few_rows, no_rows
from ..storage.interner import Values, decode_rows
from ..storage.marks import Marks
from ..storage.table import RowTable
from ..storage.unread import Unread
from .accumulators import Accumulator, Count, linear_of
from .extremes import Extreme
from .wholegroups import FirstRows, Members, Whole


def _take_back(accumulator: Accumulator, groups: Array, batch: Batch, weights: Array) -> None:
    accumulator.add(groups, batch, -weights)


class _Members:
    """The rows of groups, from the source's arrangement by key."""

    def __init__(self, store: Readable, keys: RowTable, arity: int, values: Values) -> None:
        self.store, self.keys, self.arity, self.values = store, keys, arity, values

    @property
    def table(self) -> RowTable:
        return self.store.table

    @property
    def schema(self) -> Schema:
        return self.store.schema

    def of(self, groups: Array) -> tuple[Array, Array]:
        index = self.store.index(tuple(range(self.arity)))
        found = index.groups(self.keys.columns_at(groups), len(groups))
        left, rows = present(self.store, *index.expand(found, index.matches(found)))
        return rows, np.searchsorted(left, np.arange(len(groups)))

    def times(self, rows: Array) -> Array:
        weights = self.store.weights
        return np.ones(len(rows), np.int64) if weights is None else weights[rows]

    def key_rows(self, groups: Array) -> list[tuple[Any, ...]]:
        schema = self.store.schema[: self.arity]
        return decode_rows(self.values, schema, self.keys.columns_at(groups), len(groups))


class GroupState(Unread):
    """The state of one Group node."""

    def __init__(
        self,
        node: DeltaGroup,
        source: Schema,
        store: Readable | None,
        values: Values,
        net: bool = False,
    ) -> None:
        """`store` holds the source, if members are read; `net`: no row of the source comes and goes in one
        change."""
        self.node = node
        self.arity = node.keys
        self.keys = RowTable(node.keys)
        self.counts: Array = np.zeros(16, np.int64)
        self.alive = 0  # keys with a count
        self._mark: Array = np.zeros(16, np.int8)
        self._members = None if store is None else _Members(store, self.keys, node.keys, values)
        outs = node.schema[node.keys :]
        self.accumulators = [
            accumulator_of(one, source, out, self._members, values, node.text, node.bag)
            for one, out in zip(node.aggregates, outs, strict=True)
        ]
        self._only_counts = all(isinstance(each, Count) for each in self.accumulators)
        self._is_to_net = not net and any(isinstance(each, Extreme) for each in self.accumulators)
        self.results: list[Array] = [np.zeros(16, np.int64) for _ in node.aggregates]
        self._undo: list[Callable[[], None]] = []

    def read_from(self, store: Readable) -> None:
        """Reads members from another store with the same contents from now on."""
        if self._members is not None:
            self._members.store = store

    def change(self, delta: Batch) -> Batch:
        """The change of the result for a change of the source (already applied to its store)."""
        if delta.length == 1:
            return few_rows(*self.change_few(delta.rows(), delta.weight_list()), len(self.node.schema))
        if self._is_to_net and not delta.positive():
            delta = consolidate(delta)
        if not delta.length:
            return no_rows(self.node.schema)
        weights, groups = delta.weight_array(), self._groups_of(delta)
        touched = addition.first_seen(groups, self._mark)
        before = self.counts[touched]
        old = [r[touched] for r in self.results]
        self._undo.append(partial(self._restore, touched, before, old, self.alive))
        addition.add(self.counts, groups, weights)
        for accumulator in self.accumulators:
            accumulator.add(groups, delta, weights)
            self._undo.append(partial(_take_back, accumulator, groups, delta, weights))
        return self._changed(touched, before, old)

    def add_part(self, part: Batch) -> None:
        """Adds a part of the change of the source, of which no members are read, to a state that had no
        groups before the epoch; see `as_change`."""
        if not self._undo:
            self._undo.append(self._clear)
        weights, groups = part.weight_array(), self._groups_of(part)
        addition.add(self.counts, groups, weights)
        for accumulator in self.accumulators:
            accumulator.add(groups, part, weights)

    def as_change(self) -> Batch:
        """The change of the result by the parts that were added: all groups."""
        nothing = np.zeros(self.keys.size, np.int64)
        return self._changed(np.arange(self.keys.size), nothing, [nothing] * len(self.results))

    def _groups_of(self, delta: Batch) -> Array:
        """The groups of rows of the source, each with its place."""
        groups = self.keys.insert(delta.columns[: self.arity], delta.length)
        self._make_room()
        return groups

    def _changed(self, touched: Array, before: Array, old: list[Array]) -> Batch:
        """The change of the result, and of what is kept of it, in some groups, which had these counts and
        results."""
        now = self.counts[touched]
        alive = now > 0
        self.alive += int(np.count_nonzero(alive)) - int(np.count_nonzero(before > 0))
        new = []
        for accumulator, held in zip(self.accumulators, self.results, strict=True):
            column = np.zeros(len(touched), np.int64)
            if alive.any():
                column[alive] = accumulator.result(touched[alive], now[alive])
            held[touched] = column
            new.append(column)
        changed = np.zeros(len(touched), np.bool_)
        for a, b in zip(old, new, strict=True):
            changed |= a != b
        minus = (before > 0) & (changed | ~alive)
        plus = alive & (changed | (before <= 0))
        return self._rows(touched, old, np.flatnonzero(minus), new, np.flatnonzero(plus))

    def _make_room(self) -> None:
        """Gives each group its place."""
        if self.keys.size > min([len(self.counts), len(self._mark), *map(len, self.results)]):
            grow(self, "counts", self.keys.size, 0)
            grow(self, "_mark", self.keys.size, 0)
            self.results = [grown(r, self.keys.size, 0) for r in self.results]

    def change_few(self, rows: list[tuple[int, ...]], weights: list[int]) -> Rows:
        """`change` for a few rows, group by group, where that takes less time: the rows of the result, and
        their weights."""
        if len(rows) > 1 and self._is_to_net and min(weights) < 0:
            delta = consolidate(few_rows(rows, weights, len(rows[0])))
            rows, weights = delta.rows(), delta.weight_list()
        if len(rows) == 1:
            return self._change_one(rows[0][: self.arity], rows, weights)
        by_key: dict[tuple[int, ...], Rows] = {}
        for row, weight in zip(rows, weights, strict=True):
            its, theirs = by_key.setdefault(row[: self.arity], ([], []))
            its.append(row)
            theirs.append(weight)
        if not self._only_counts and len(by_key) > thresholds.GROUPS_ONE_BY_ONE:
            delta = self.change(few_rows(rows, weights, len(rows[0])))
            return delta.rows(), delta.weight_list()
        found: Rows = [], []
        for key, part in by_key.items():
            changed, signs = self._change_one(key, *part)
            found[0].extend(changed)
            found[1].extend(signs)
        return found

    def _change_one(self, key: tuple[int, ...], rows: list[tuple[int, ...]], weights: list[int]) -> Rows:
        """`change` for some rows of one group, with less done by NumPy, which is slow on single numbers."""
        group, results = self.keys.insert_row(key), self.results
        if group >= len(self.counts) or (results and group >= len(results[0])):
            self._make_room()
            results = self.results
        before, old = self.counts.item(group), tuple([held.item(group) for held in results])
        self._undo.append(partial(self._restore_one, group, before, old, self.alive))
        now = self.counts[group] = before + sum(weights)
        was, is_alive = before > 0, now > 0
        self.alive += is_alive - was
        if self._only_counts:
            new = (now if is_alive else 0,) * len(old)
        else:
            new = self._added(group, few_rows(rows, weights, len(rows[0])), is_alive)
        for held, result in zip(results, new, strict=True):
            held[group] = result
        goes, comes = was and (old != new or not is_alive), is_alive and (old != new or not was)
        if goes and comes:
            return [(*key, *old), (*key, *new)], [-1, 1]
        return ([(*key, *old)], [-1]) if goes else ([(*key, *new)], [1]) if comes else ([], [])

    def _added(self, group: int, delta: Batch, is_alive: bool) -> tuple[int, ...]:
        """Adds rows of one group to the accumulators. Returns their results."""
        touched, weights = np.full(delta.length, group, np.int64), delta.weight_array()
        for accumulator in self.accumulators:
            accumulator.add(touched, delta, weights)
            self._undo.append(partial(_take_back, accumulator, touched, delta, weights))
        if not is_alive:
            return (0,) * len(self.accumulators)
        touched = touched[:1]
        counts = self.counts[touched]
        return tuple([each.result(touched, counts).item(0) for each in self.accumulators])

    def _rows(self, touched: Array, old: list[Array], gone: Array, new: list[Array], come: Array) -> Batch:
        groups = np.concatenate([touched[gone], touched[come]])
        columns = list(self.keys.columns_at(groups))
        columns += [np.concatenate([a[gone], b[come]]) for a, b in zip(old, new, strict=True)]
        signs = np.concatenate([np.full(len(gone), -1), np.ones(len(come), np.int64)]) if len(gone) else None
        return Batch(tuple(columns), len(groups), signs)

    def _clear(self) -> None:
        """Forgets all groups."""
        self.counts[:], self.alive = 0, 0
        self._forget_ghosts()

    def _restore(self, touched: Array, counts: Array, old: list[Array], alive: int) -> None:
        self.counts[touched], self.alive = counts, alive
        for held, column in zip(self.results, old, strict=True):
            held[touched] = column

    def _restore_one(self, group: int, count: int, old: tuple[int, ...], alive: int) -> None:
        self.counts[group], self.alive = count, alive
        for held, result in zip(self.results, old, strict=True):
            held[group] = result

    def contents(self) -> Batch:
        """The rows of all groups."""
        alive = np.flatnonzero(self.counts[: self.keys.size] > 0)
        return Batch((*self.keys.columns_at(alive), *(held[alive] for held in self.results)), len(alive))

    def mark(self, marks: Marks) -> None:
        """Marks the ids in the keys that have rows, and in their results."""
        alive = np.flatnonzero(self.counts[: self.keys.size] > 0)
        marks.rows(self.node.schema[: self.arity], self.keys, alive)
        marks.columns(self.node.schema[self.arity :], [held[alive] for held in self.results])

    def commit(self) -> None:
        """Ends an epoch: its changes stay."""
        self._undo.clear()
        if self.keys.size > thresholds.GHOSTS + 2 * self.alive:
            with suppress(MemoryError):
                self._forget_ghosts()

    def _forget_ghosts(self) -> None:
        """Forgets the keys without rows."""
        kept = np.flatnonzero(self.counts[: self.keys.size] > 0)
        self.keys = self.keys.only(kept)
        if self._members is not None:
            self._members.keys = self.keys
        self.counts = self.counts[kept]
        self._mark = np.zeros(len(kept), np.int8)
        self.results = [held[kept] for held in self.results]
        for accumulator in self.accumulators:
            accumulator.keep(kept)

    def rollback(self) -> None:
        """Takes back the changes since the last commit."""
        while self._undo:
            self._undo.pop()()


def accumulator_of(
    one: Aggregate,
    source: Schema,
    out: Column,
    members: Members | None,
    values: Values,
    rule: str,
    bag: bool = False,
) -> Accumulator:
    """A new accumulator for an aggregate of a source with these columns. `members` are not None if the
    aggregate reads members; `bag`: the source is a bag."""
    linear = linear_of(one, source, out, values)
    if linear is not None:
        return linear
    match one.function:
        case "min" | "max":
            position = one.columns[0]
            return Extreme(position, source[position], one.function == "max", members, values)
        case "group":
            assert members is not None
            whole = Whole(one, out, members, values, rule, bag)
            return whole if one.first is None else FirstRows(whole, one.first, source)
        case other:
            raise ValueError(f"unknown aggregate {other}")
