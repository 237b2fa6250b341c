"""Pending changes of a multiset: how often each row comes and goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ...core import Relation
from ...engine.runtime import Batch, ComparingRuntime, Runtime
from ...values.rows import Row
from .protocol import SignedBatch


@dataclass(slots=True, eq=False)
class _Loaded:
    """A batch to insert (1) or delete (-1), and the rows of it once they are counted one by one."""

    batch: Batch
    rows: Callable[[], Iterable[Row]]
    sign: int
    counted: list[Row] | None = None


class MultisetChanges:
    """The change of each row's weight. Deleting an absent row has no effect. Batches stay batches until a
    deletion asks how often a row is there. `comparing` is the runtime, where it tells that of batches."""

    def __init__(
        self, relation: Relation, runtime: Runtime, comparing: ComparingRuntime | None = None
    ) -> None:
        self._relation, self._runtime, self._comparing = relation, runtime, comparing
        self._stored: dict[Row, int] = {}  # the weights of the last commit that this transaction asked for
        self._pending: Counter[Row] = Counter()
        self._log: list[tuple[Row, int] | _Loaded] = []
        self._batches: list[_Loaded] = []  # those that are not counted

    def insert(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._add(row, 1)

    def delete(self, rows: Sequence[Row]) -> None:
        self._count_batches()
        self._ask(rows)
        for row in rows:
            if self._stored[row] + self._pending[row] > 0:
                self._add(row, -1)

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        self.change(batch, rows, 1)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        if sign > 0 or self._are_there(batch):
            self._batches.append(_Loaded(batch, rows, sign))
            self._log.append(self._batches[-1])
        else:
            self.delete(list(rows()))

    def _are_there(self, batch: Batch) -> bool:
        """Whether all rows of a batch to delete are surely there."""
        if self._comparing is None or self._pending:
            return False
        gone = [each.batch for each in self._batches if each.sign < 0]
        return self._comparing.covers(self._relation.name, [*gone, batch])

    def clear(self) -> None:
        self._count_batches()
        stored = self._runtime.rows(self._relation.name)
        self._stored = dict(zip(stored, stored.weights or [1] * len(stored), strict=True))
        for row in {*self._stored, *self._pending}:
            present = self._stored.get(row, 0) + self._pending[row]
            if present:
                self._add(row, -present)

    def batches(self) -> list[SignedBatch]:
        come = [row for row, count in self._pending.items() for _ in range(count)]
        gone = [row for row, count in self._pending.items() for _ in range(-count)]
        signed = ((come, 1), (gone, -1))
        loaded = [(each.batch, each.sign) for each in self._batches]
        return loaded + [
            (self._runtime.batch(self._relation.name, rows), sign) for rows, sign in signed if rows
        ]

    def mark(self) -> int:
        return len(self._log)

    def undo(self, mark: int) -> None:
        while len(self._log) > mark:
            match self._log.pop():
                case _Loaded(counted=None):
                    self._batches.pop()
                case _Loaded(counted=rows, sign=sign):
                    self._count(rows or (), -sign)
                case row, count:
                    self._pending[row] -= count

    def settle(self, committed: bool) -> None:
        self._stored, self._pending, self._log, self._batches = {}, Counter(), [], []

    def _add(self, row: Row, count: int) -> None:
        self._pending[row] += count
        self._log.append((row, count))

    def _count_batches(self) -> None:
        for each in self._batches:
            each.counted = list(each.rows())
            self._count(each.counted, each.sign)
        self._batches = []

    def _count(self, rows: Iterable[Row], sign: int) -> None:
        (self._pending.update if sign > 0 else self._pending.subtract)(rows)

    def _ask(self, rows: Sequence[Row]) -> None:
        """Has the weights of rows looked up."""
        new = [row for row in dict.fromkeys(rows) if row not in self._stored]
        if new:
            self._stored.update(zip(new, self._runtime.lookup(self._relation.name, new), strict=True))
