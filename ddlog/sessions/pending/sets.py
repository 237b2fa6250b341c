"""Pending changes of a relation that is a set and has no primary key.

Inserting a present row and deleting an absent one have no effect, and the runtime sees to that: nothing is
looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...core import Relation
from ...engine.runtime import Batch, Runtime
from ...values.rows import Row
from .protocol import RunLog, SignedBatch


class SetChanges(RunLog):
    """Runs of insertions and deletions; the last one decides whether a row is present."""

    def __init__(self, relation: Relation, runtime: Runtime) -> None:
        self._relation, self._runtime = relation, runtime
        self._runs = list[tuple[int, Sequence[Row] | None, Batch | None]]()

    def insert(self, rows: Sequence[Row]) -> None:
        self._runs.append((1, rows, None))

    def delete(self, rows: Sequence[Row]) -> None:
        self._runs.append((-1, rows, None))

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        self.change(batch, rows, 1)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        self._runs.append((sign, None, batch))

    def clear(self) -> None:
        self._runs.append((0, None, None))

    def batches(self) -> list[SignedBatch]:
        batches: list[SignedBatch] = []
        gathered: list[Row] = []
        for position, (sign, rows, batch) in enumerate(self._runs):
            if rows is not None:
                gathered.extend(rows)
                following = self._runs[position + 1] if position + 1 < len(self._runs) else None
                if following is None or following[0] != sign or following[1] is None:
                    batches.append((self._runtime.batch(self._relation.name, gathered), sign))
                    gathered = []
            elif batch is not None:
                batches.append((batch, sign))
            else:
                batches = self._everything()
        return batches

    def _everything(self) -> list[SignedBatch]:
        """The deletion of the rows of the last commit."""
        name, stored = self._relation.name, self._runtime.rows(self._relation.name)
        if not len(stored):
            return []
        if not self._relation.columns:  # a batch from no columns has no rows
            return [(self._runtime.batch(name, [()]), -1)]
        return [(self._runtime.batch_from_columns(name, stored.columns()), -1)]
