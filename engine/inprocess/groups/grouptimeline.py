"""Groups with the changes of their accumulators by round. See `engine.nestedtime`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ... import thresholds
from ...circuit import DeltaGroup
from ...schema import Array, Schema
from ..arrangements.timeline import Timeline
from ..kernels import groupsbyround as kernels
from ..storage.arrays import grow
from ..storage.batch import Batch
from ..storage.interner import Values
from .accumulators import Bools, Linear, linear_of


class Split(NamedTuple):
    """The entries of some groups: position and entry of each up to a round, and position and round of each
    later one."""

    past: Array
    entries: Array
    later: Array
    rounds: Array


class _Added(NamedTuple):
    """What a batch added: the entry of each row with its weight; and entries with the changes of the number
    of members that change in them."""

    entries: Array
    batch: Batch
    weights: Array
    touched: Array
    turned: Array


_NONE: Array = np.empty(0, np.int64)


class GroupTimeline(Timeline):
    """The keys of groups. The weight of an entry is the change of the number of members in its round; beside
    it are the changes of the accumulators, and if members are looked at, the number of those that change."""

    def __init__(self, node: DeltaGroup, source: Schema, members: Timeline | None, values: Values) -> None:
        """`members` is the timeline of the source, if members are looked at."""
        super().__init__(node.schema[: node.keys])
        outs = node.schema[node.keys :]
        self.accumulators: list[Linear | None] = [
            linear_of(one, source, out, values) for one, out in zip(node.aggregates, outs, strict=True)
        ]
        self._members = members
        self._changing: Array = np.empty(0, np.int64)  # by entry: members that change
        self._added: list[_Added] = []

    @property
    def _linear(self) -> Iterable[Linear]:
        return (each for each in self.accumulators if each is not None)

    def add(self, batch: Batch, time: int) -> Array:
        """Adds the changes of the source in a round, which the timeline of the members has. Returns the group
        of each row."""
        groups = self.table.insert(batch.columns[: len(self.schema)], batch.length)
        if not batch.length:
            return groups
        weights = batch.weight_array()
        self.add_rows(groups, weights, time)
        entries, _ = self._log[-1]
        for accumulator in self._linear:
            accumulator.add(entries, batch, weights)
        touched = turned = _NONE
        if self._members is not None:
            grow(self, "_changing", self.used, 0)
            touched, turned = self._turned(self._members, batch, weights, entries, time)
            np.add.at(self._changing, touched, turned)
        self._added.append(_Added(entries, batch, weights, touched, turned))
        return groups

    def _turned(
        self, members: Timeline, batch: Batch, weights: Array, entries: Array, time: int
    ) -> tuple[Array, Array]:
        found = members.table.find(batch.columns, batch.length)
        rows, first, places = np.unique(found, return_index=True, return_inverse=True)
        changes = np.zeros(len(rows), np.int64)
        np.add.at(changes, places, weights)
        return entries[first], members.turned(rows, changes, time)

    def load_timeline(self, source: Timeline) -> None:
        """Adds all changes of the source; they stay."""
        every = source.with_entries()
        for start in range(0, len(every), thresholds.CHUNK):
            rows = every[start : start + thresholds.CHUNK]
            left, times, weights = source.entries(rows, -1)
            order = np.argsort(times, kind="stable")
            cuts = np.flatnonzero(np.diff(times[order])) + 1
            for some in np.split(order, cuts) if len(order) else ():
                columns = source.table.columns_at(rows[left[some]])
                self.add(Batch(columns, len(some), weights[some]), int(times[some[0]]))
                self.commit()

    def split(self, groups: Array, time: int) -> Split:
        """The entries of groups that are not empty, up to a round and later."""
        self._grow()
        past, entries, later, ahead = kernels.split_entries(
            self.head, self.following, self.when, groups, time
        )
        some = np.flatnonzero(self._is_kept(ahead)) if len(ahead) else ahead
        return Split(past, entries, later[some], self.when[ahead[some]])

    def _is_kept(self, entries: Array) -> Bools:
        kept: Bools = self.weight[entries] != 0
        for accumulator in self._linear:
            kept |= accumulator.is_kept(entries)
        if self._members is not None:
            kept |= self._changing[entries] != 0
        return kept

    def commit(self) -> None:
        self._added.clear()
        super().commit()

    def rollback(self) -> None:
        for added in reversed(self._added):
            for accumulator in self._linear:
                accumulator.add(added.entries, added.batch, -added.weights)
            np.subtract.at(self._changing, added.touched, added.turned)
        self._added.clear()
        super().rollback()

    def compact(self) -> None:
        self._grow()
        kept = self._is_kept(np.arange(self.used, dtype=np.int64))
        former = np.empty(int(np.count_nonzero(kept)), np.int64)
        self.following = kernels.chains_of(self.head, self.following, self.table.size, kept, former)
        self.when, self.weight = self.when[former], self.weight[former]
        for accumulator in self._linear:
            accumulator.keep(former)
        if self._members is not None:
            self._changing = self._changing[former]
        self.used = self._compacted = len(former)
