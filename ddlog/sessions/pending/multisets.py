"""Pending changes of a multiset: how often each row comes and goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ...core import Relation
from ...engine.runtime import Batch, Runtime
from ...values.rows import Row
from .protocol import SignedBatch


class MultisetChanges:
    """The change of each row's weight. Deleting an absent row has no effect."""

    def __init__(self, relation: Relation, runtime: Runtime) -> None:
        self._relation, self._runtime = relation, runtime
        self._stored: Counter[Row] | None = None
        self._pending: Counter[Row] = Counter()
        self._log: list[tuple[Row, int]] = []

    def insert(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._add(row, 1)

    def delete(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if self._weights()[row] + self._pending[row] > 0:
                self._add(row, -1)

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        self.change(batch, rows, 1)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        (self.insert if sign > 0 else self.delete)(list(rows()))

    def clear(self) -> None:
        for row in {*self._weights(), *self._pending}:
            present = self._weights()[row] + self._pending[row]
            if present:
                self._add(row, -present)

    def batches(self) -> list[SignedBatch]:
        come = [row for row, count in self._pending.items() for _ in range(count)]
        gone = [row for row, count in self._pending.items() for _ in range(-count)]
        signed = ((come, 1), (gone, -1))
        return [(self._runtime.batch(self._relation.name, rows), sign) for rows, sign in signed if rows]

    def mark(self) -> int:
        return len(self._log)

    def undo(self, mark: int) -> None:
        while len(self._log) > mark:
            row, count = self._log.pop()
            self._pending[row] -= count

    def settle(self, committed: bool) -> None:
        if committed and self._stored is not None:
            self._stored.update(self._pending)
            for row in self._pending:
                if not self._stored[row]:
                    del self._stored[row]
        self._pending, self._log = Counter(), []

    def _add(self, row: Row, count: int) -> None:
        self._pending[row] += count
        self._log.append((row, count))

    def _weights(self) -> Counter[Row]:
        """The weights of the last commit."""
        if self._stored is None:
            stored = self._runtime.rows(self._relation.name)
            self._stored = Counter(dict(zip(stored, stored.weights or [1] * len(stored), strict=True)))
        return self._stored
