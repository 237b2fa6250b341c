"""A group in nested time: the rows of its keys, round by round. See `engine.nestedtime`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ... import thresholds
from ...circuit import Aggregate, DeltaGroup
from ...schema import Array, Column, Schema
from ..arrangements.timeline import Timeline
from ..kernels import groupsbyround as kernels
from ..storage.arrays import grow
from ..storage.batch import Batch
from ..storage.interner import Values
from ..storage.table import RowTable
from .grouping import accumulator_of
from .grouptimeline import GroupTimeline
from .orderedmembers import OrderedMembers
from .timelinegroup import Present


class Visit(NamedTuple):
    """What is missing in a round: rows of the table of what was told, and their changes; and the groups to
    visit again, with the rounds in which."""

    missing: Array
    change: Array
    again: Array
    times: Array


class RoundGroup:
    """The output of one Group node, and the visits of its keys."""

    def __init__(
        self,
        node: DeltaGroup,
        schema: Schema,
        source: Timeline | None,
        told: Timeline,
        shift: int,
        values: Values,
    ) -> None:
        """`source` is the timeline of the source, which has this schema, if something looks it up; `told` is
        that of the output, `shift` rounds late."""
        self.node, self.schema, self.values = node, schema, values
        self.source, self.told, self.shift = source, told, shift
        members = source if node.reads_members else None
        self.members = None if members is None else _Members(node, members, values)
        self.groups = GroupTimeline(node, schema, members, values)
        self._rows = _RowsOfGroups(self.groups, told)
        self._touched: list[Array] = []

    def load(self, recorded: Sequence[tuple[int, Batch]]) -> RoundGroup:
        """Takes in the timeline of the source, or if there is none, its recorded changes."""
        if self.source is not None:
            self.groups.load_timeline(self.source)
        else:
            for time, change in recorded:
                self.groups.add(change, time)
                self.groups.commit()
        return self

    def change(self, change: Batch, time: int) -> Array:
        """Takes in a change of the source in a round. Returns the groups."""
        groups = self.groups.add(change, time)
        if self.members is not None:
            self.members.change(groups, change)
        self._touched.append(groups)
        return groups

    def visit(self, groups: Array, time: int) -> Visit:
        """Visits groups, each of which is given once, in a round."""
        split = self.groups.split(groups, time)
        counts = np.zeros(len(groups), np.int64)
        np.add.at(counts, split.past, self.groups.weight[split.entries])
        alive = np.flatnonzero(counts > 0)
        come = self.told.table.insert(*self._now(groups, alive, counts, split.past, split.entries, time))
        rows = self._rows.of(groups)
        weights, _ = self.told.at(rows, time + self.shift)
        held = np.flatnonzero(weights)
        missing, change = _net(come, rows[held], weights[held])
        self._rows.add(groups[alive], come)
        soonest = np.full(len(groups), _NEVER)
        np.minimum.at(soonest, split.later, split.rounds)
        again = np.flatnonzero(soonest < _NEVER)
        return Visit(missing, change, groups[again], soonest[again])

    def _now(
        self, groups: Array, alive: Array, counts: Array, past: Array, entries: Array, time: int
    ) -> tuple[list[Array], int]:
        """The rows of the groups that are not empty."""
        keys = list(self.groups.table.columns_at(groups[alive]))
        columns = list(keys)
        there = None
        if self.members is not None and len(alive):
            there = self.members.there(keys, groups[alive], time)
        outs = self.node.schema[self.node.keys :]
        for k, one in enumerate(self.node.aggregates):
            linear = self.groups.accumulators[k]
            if not len(alive):
                columns.append(np.empty(0, np.int64))
            elif linear is not None:
                columns.append(linear.gathered(past, entries, len(groups)).result(alive, counts[alive]))
            else:
                assert there is not None
                columns.append(there.result(one, outs[k]))
        return columns, len(alive)

    def commit(self) -> None:
        """The epoch's changes stay."""
        if self._touched:
            self._rows.forget_ghosts(np.concatenate(self._touched))
        self._touched.clear()

    def rollback(self) -> None:
        """Takes back the changes since the last commit."""
        if self.members is not None:
            self.members.forget()
        self._touched.clear()


_NEVER = np.iinfo(np.int64).max


class _RowsOfGroups:
    """For each group the rows that it has in some round, and perhaps some that it had."""

    def __init__(self, groups: Timeline, told: Timeline) -> None:
        self._groups, self._told = groups, told
        self._tables: tuple[RowTable, RowTable] | None = None
        self._first: Array = np.empty(0, np.int64)
        self._following: Array = np.empty(0, np.int64)

    def of(self, groups: Array) -> Array:
        """The rows of some groups."""
        self._grow()
        return kernels.listed(self._first, self._following, groups)  # type: ignore[no-any-return]

    def add(self, groups: Array, rows: Array) -> None:
        """Groups come to have these rows."""
        self._grow()
        kernels.link(self._first, self._following, groups, rows)

    def _grow(self) -> None:
        tables = self._groups.table, self._told.table
        anew = self._tables != tables
        if anew:
            self._tables, self._first, self._following = tables, np.empty(0, np.int64), np.empty(0, np.int64)
        grow(self, "_first", self._groups.table.size, -1)
        grow(self, "_following", self._told.table.size, -2)
        if anew:
            rows = self._told.with_entries()
            keys = self._told.table.columns_at(rows)[: self._groups.table.arity]
            groups = self._groups.table.find(keys, len(rows))
            some = np.flatnonzero(groups >= 0)
            kernels.link(self._first, self._following, groups[some], rows[some])

    def forget_ghosts(self, groups: Array) -> None:
        """Forgets the rows of some groups that they have in no round."""
        self._grow()
        told = self._told
        head = told.heads()
        kernels.unlink_ghosts(self._first, self._following, groups, head, told.following, told.weight)


class _Members:
    """The members of the groups, where some aggregate has to look at them."""

    def __init__(self, node: DeltaGroup, source: Timeline, values: Values) -> None:
        self.node, self.source, self.values = node, source, values
        self._positions = tuple(range(node.keys))
        extremes = {one.columns[0] for one in node.aggregates if one.function in ("min", "max")}
        if any(one.function == "group" for one in node.aggregates):
            extremes.clear()  # all members are read anyway
        self.ordered = {position: OrderedMembers(source, position, values) for position in extremes}

    def change(self, groups: Array, change: Batch) -> None:
        """Members have changed."""
        if self.ordered:
            rows = self.source.table.find(change.columns, change.length)
            for order in self.ordered.values():
                order.change(groups, rows)

    def forget(self) -> None:
        """Forgets all orders: changes are taken back."""
        for order in self.ordered.values():
            order.forget()

    def there(self, keys: list[Array], groups: Array, time: int) -> _There:
        """The members of groups that are not empty in a round."""
        index = self.source.index(self._positions)
        places = index.groups(keys, len(groups))
        is_large = index.sizes(places) > (thresholds.LARGE_GROUP if self.ordered else _NEVER)
        small, large = np.flatnonzero(~is_large), np.flatnonzero(is_large)
        left, rows = index.expand(places[small], index.matches(places[small]))
        weights, _ = self.source.at(rows, time)
        present = np.flatnonzero(weights > 0)
        _, starts = np.unique(left[present], return_index=True)
        members = Present(self.source, [key[small] for key in keys], rows[present], starts, self.values)
        return _There(self, members, small, large, groups[large], places[large], time)

    def whole(self, place: int) -> Array:
        """All rows of the group at a place of the arrangement by key."""
        index, places = self.source.index(self._positions), np.array([place], np.int64)
        _, rows = index.expand(places, index.matches(places))
        return rows


class _There(NamedTuple):
    """The members of groups in a round: of small groups those present, and where large ones are."""

    of: _Members
    members: Present
    small: Array
    large: Array
    groups: Array
    places: Array
    time: int

    def result(self, one: Aggregate, out: Column) -> Array:
        """An aggregate of the groups."""
        found = np.empty(len(self.small) + len(self.large), np.int64)
        if len(self.small):
            node, schema = self.of.node, self.of.source.schema
            made = accumulator_of(one, schema, out, self.members, self.of.values, node.text)
            some = np.arange(len(self.small), dtype=np.int64)
            found[self.small] = made.result(some, some)
        for at, group, place in zip(self.large, self.groups.tolist(), self.places.tolist(), strict=True):
            order, members = self.of.ordered[one.columns[0]], partial(self.of.whole, place)
            found[at] = order.best(group, members, self.time, one.function == "max")
        return found


def _net(come: Array, held: Array, weights: Array) -> tuple[Array, Array]:
    """Rows that come, each once, without those held: rows and their changes."""
    rows, places = np.unique(np.concatenate([held, come]), return_inverse=True)
    change = np.zeros(len(rows), np.int64)
    np.add.at(change, places, np.concatenate([-weights, np.ones(len(come), np.int64)]))
    some = np.flatnonzero(change)
    return rows[some], change[some]
