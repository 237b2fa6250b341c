"""Least ranks after insertions, found when somebody asks for them.

An insertion moves no rank, so a row may keep a rank that is no longer its least (`engine.ranks`). Rows can
be lowered only by what came: rows of imports, and new rows of the recursion. So these are noted. Rules are
run from them, in order of iteration, as by an epoch; but a row that is derived at an iteration before its
rank gets that rank, and becomes a row to derive from:

    iteration            0      1      2      3
    rank of a            .      .      .      a          its rank so far
    derivation now       .      a      .      .          from an edge that came: a is lowered to 1 …
    rank of b            .      .      b      .   ◄────  … and from a at 1, b at 2 instead of 4

At each moment a row has a derivation of its rank, as before. So the work may end at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ... import interrupt, thresholds
from ...derivedcolumns import Position
from ...rules import FixpointRule, Source
from ...schema import Array
from ..arrangements.views import GrowingView, Matches, View
from ..joins.join import Joiner
from ..storage.batch import Batch, RowColumns
from ..storage.lazycolumns import LazyColumns
from .growingset import GrowingSet
from .memories import Imported, outside, run_rule
from .rankedrelation import Ranked, RankedView

Numbers: TypeAlias = Any
"""1 + rank for each row of a table, of 32 bits; 0 for a row that is absent."""


class Lowered(NamedTuple):
    """The numbers of the first `size` rows of a growing set, and room for more."""

    numbers: Numbers
    size: int


def lengthened(known: Lowered | None, relation: GrowingSet, first: int) -> Lowered:
    """The numbers of all rows of a set: those that are known, and of other rows those of the iterations at
    which they came, counted from `first` on."""
    size = relation.table.size
    if known is None:
        of_iterations: Any = (relation.iterations - first + 1).astype(np.int32)
        return Lowered(relation.at_birth(of_iterations), size)
    numbers = known.numbers
    if len(numbers) < size:
        numbers = np.empty(size + size // 8, np.int32)
        numbers[: known.size] = known.numbers[: known.size]
    numbers[known.size : size] = relation.came_at(np.arange(known.size, size)) - first + 1
    return Lowered(numbers, size)


@dataclass
class Since:
    """The rows that came since the ranks were the least: of imports, and of the recursion, by their ids."""

    imports: dict[int, list[Batch]] = field(default_factory=dict)
    new: dict[str, list[Array]] = field(default_factory=dict)
    size: int = 0
    count: int = 0

    def add(self, changes: Mapping[int, Batch], new: Mapping[str, Array]) -> bool:
        """Notes an epoch, by the changes of imports and the new rows; False if it is too much to be noted."""
        self.size += sum([change.length for change in changes.values()])
        self.count += sum([len(rows) for rows in new.values()])
        if self.size > thresholds.LOWERED_ROWS or self.count > thresholds.LOWERED_NEW:
            return False
        for node, change in changes.items():
            parts = self.imports.setdefault(node, [])
            parts.append(_came(change))
            if len(parts) > thresholds.LOWERED_BATCHES:
                parts[:] = [_together(parts)]
        for head, rows in new.items():
            if len(rows):
                self.new.setdefault(head, []).append(rows)
        return True


def _came(change: Batch) -> Batch:
    """The rows that come by a change, by columns that later epochs do not change."""
    if change.weights is not None:
        rows = np.flatnonzero(change.weights > 0)
        return Batch(tuple(column[rows] for column in change.columns), len(rows))
    columns = change.columns
    if columns.__class__ is RowColumns and change.times is None:
        return change
    if isinstance(columns, LazyColumns) and not isinstance(columns, RowColumns):
        columns = tuple(columns)
    return Batch(columns, change.length)


def _together(batches: Sequence[Batch]) -> Batch:
    arity = len(batches[0].columns)
    single = [row for each in batches if isinstance(each.columns, RowColumns) for row in each.columns.given]
    parts = [each.columns for each in batches if not isinstance(each.columns, RowColumns)]
    columns = zip(*parts, RowColumns(single, arity), strict=True)
    return Batch(tuple(np.concatenate(each) for each in columns), sum(each.length for each in batches))


class _SetView(GrowingView):
    """The rows of a growing set at their ranks."""

    def __init__(self, relation: GrowingSet, numbers: Numbers) -> None:
        super().__init__(relation, True)
        self._numbers = numbers

    @property
    def size(self) -> int:
        return self.table.size

    def alike(self, positions: tuple[Position, ...]) -> bool:
        return False

    def part(self, left: Array, rows: Array) -> Matches:
        return Matches(left, rows, self.table, None, self._numbers[rows].astype(np.int64) - 1)


class Lowering:
    """Lowers the `numbers` of the rows of a recursion."""

    def __init__(
        self,
        rules: Sequence[FixpointRule[Joiner]],
        relations: Mapping[str, GrowingSet | Ranked],
        imports: Mapping[int, Imported],
        numbers: Mapping[str, Numbers],
        since: Since,
    ) -> None:
        self._rules, self._relations, self._imports = rules, relations, imports
        self._numbers, self._since = numbers, since
        self._pending: dict[int, dict[str, list[Array]]] = {}  # rows to be lowered, by iteration
        self._new: dict[int, dict[str, list[Array]]] = {}  # new rows, by their ranks

    def run(self) -> bool:
        """Lowers all rows that can be lowered; False if the time does not suffice."""
        until = monotonic() + thresholds.LOWERED_WITHIN
        self._seed()
        while self._pending or self._new:
            interrupt.check()
            if monotonic() > until:
                return False
            time = min([*self._pending, *self._new])
            deltas = self._lowered(time)
            for rule in self._rules:
                for start, relation, _ in rule.starts:
                    for batch in deltas.get(relation, ()):
                        self._derive(rule, start, batch)
        return True

    def _seed(self) -> None:
        for node, batches in self._since.imports.items():
            came = self._present(node, _together(batches))
            for rule in self._rules:
                for k, source in enumerate(rule.sources):
                    if source == node and not rule.node.terms[k].negated and came.length:
                        self._derive(rule, k, came)
        for head, rows in self._since.new.items():
            ids = np.concatenate([np.zeros(0, np.int64), *rows])
            numbers = self._numbers[head][ids].astype(np.int64)
            self._schedule(self._new, head, ids[numbers > 0], numbers[numbers > 0] - 1)

    def _present(self, node: int, batch: Batch) -> Batch:
        there = np.flatnonzero(self._imports[node].store.weight_of(batch.columns, batch.length) > 0)
        return Batch(tuple(column[there] for column in batch.columns), len(there))

    def _schedule(
        self, pending: dict[int, dict[str, list[Array]]], head: str, rows: Array, times: Array
    ) -> None:
        if not len(rows):
            return
        order = np.argsort(times, kind="stable")
        rows, times = rows[order], times[order]
        starts = np.flatnonzero(np.diff(times, prepend=-1)).tolist()
        for start, stop in zip(starts, [*starts[1:], len(times)], strict=True):
            pending.setdefault(int(times[start]), {}).setdefault(head, []).append(rows[start:stop])

    def _lowered(self, time: int) -> dict[str, list[Batch]]:
        """Lowers the rows that are derived at an iteration. Gives those from which to derive further."""
        lower, new = self._pending.pop(time, {}), self._new.pop(time, {})
        deltas: dict[str, list[Batch]] = {}
        for head in lower.keys() | new.keys():
            numbers = self._numbers[head]
            rows = np.unique(np.concatenate([np.zeros(0, np.int64), *lower.get(head, ())]))
            rows = rows[numbers[rows] > time + 1]
            numbers[rows] = time + 1
            own = np.concatenate([np.zeros(0, np.int64), *new.get(head, ())])
            rows = np.unique(np.concatenate([rows, own[numbers[own] == time + 1]]))
            table = self._relations[head].table
            deltas[head] = [
                Batch(table.columns_at(part), len(part), None, np.full(len(part), time, np.int64))
                for part in (rows[at : at + thresholds.CHUNK] for at in range(0, len(rows), thresholds.CHUNK))
            ]
        return deltas

    def _derive(self, rule: FixpointRule[Joiner], start: int, batch: Batch) -> None:
        views = [None if k == start else self._view(source) for k, source in enumerate(rule.sources)]
        for head, found in run_rule(rule, start, batch, views):
            times = np.zeros(found.length, np.int64) if found.times is None else found.times + 1
            rows = self._relations[head].table.find(found.columns, found.length)
            numbers = self._numbers[head][rows].astype(np.int64)
            lower = np.flatnonzero((rows >= 0) & (numbers > times + 1))
            self._schedule(self._pending, head, rows[lower], times[lower])

    def _view(self, source: Source) -> View:
        if isinstance(source, int):
            return outside(self._imports[source], True)
        relation = self._relations[source]
        if isinstance(relation, Ranked):
            return RankedView(relation)
        return _SetView(relation, self._numbers[source])
