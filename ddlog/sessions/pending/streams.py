"""Pending changes of a stream: the elements of the transaction. A stream begins each transaction empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ...core import Relation
from ...engine.runtime import Batch, Runtime
from ...errors.changes import NothingToClear
from ...errors.diagnostics import DDlogError
from ...values.rows import Row
from .protocol import RunLog, SignedBatch


class StreamChanges(RunLog):
    """Runs of insertions and deletions. A deletion takes back an element that was inserted before it."""

    def __init__(self, relation: Relation, runtime: Runtime) -> None:
        self._relation, self._runtime = relation, runtime
        self._runs = list[tuple[int, Callable[[], Iterable[Row]], Batch | None]]()

    def insert(self, rows: Sequence[Row]) -> None:
        self._runs.append((1, lambda: rows, None))

    def delete(self, rows: Sequence[Row]) -> None:
        self._runs.append((-1, lambda: rows, None))

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        self.change(batch, rows, 1)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        self._runs.append((sign, rows, batch))

    def clear(self) -> None:
        raise DDlogError([NothingToClear(self._relation.name)])

    def batches(self) -> list[SignedBatch]:
        runs = self._runs if all(sign > 0 for sign, _, _ in self._runs) else [(1, self._left, None)]
        alone = [row for _, rows, batch in runs if batch is None for row in rows()]
        whole = [batch for _, _, batch in runs if batch is not None]
        if alone:
            whole.append(self._runtime.batch(self._relation.name, alone))
        return [(batch, 1) for batch in whole]

    def _left(self) -> Iterable[Row]:
        """The elements that no deletion took back."""
        left: Counter[Row] = Counter()
        for sign, rows, _ in self._runs:
            for row in rows():
                if sign > 0 or left[row]:
                    left[row] += sign
        return left.elements()
