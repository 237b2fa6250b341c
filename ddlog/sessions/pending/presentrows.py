"""The rows of an input relation, as its pending changes ask for them: as of the last commit, and of the
batches that the transaction has taken since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core import Relation
from ...engine.runtime import Batch, ComparingRuntime
from ...values.rows import Row

SignedBatch = tuple[Batch, int]
"""A batch of rows to insert (1) or to delete (-1)."""


class Present:
    """The rows of a relation. The runtime compares batches with those of the last commit."""

    def __init__(self, relation: Relation, runtime: ComparingRuntime) -> None:
        self.relation, self._runtime = relation, runtime
        self.taken: list[SignedBatch] = []  # the batches that the transaction has taken, in order

    def batch(self, rows: Sequence[Row]) -> Batch:
        """Rows as a batch."""
        return self._runtime.batch(self.relation.name, rows)

    def weights(self, rows: Sequence[Row]) -> Sequence[int]:
        """The number of times that the relation held each row at the last commit."""
        return self._runtime.lookup(self.relation.name, rows)

    def counted(self) -> Mapping[Row, int]:
        """All rows as of the last commit, with their weights."""
        stored = self._runtime.rows(self.relation.name)
        return dict(zip(stored, stored.weights or [1] * len(stored), strict=True))

    def everything(self) -> Batch:
        """All rows of a set."""
        name, stored = self.relation.name, self._runtime.rows(self.relation.name)
        if not self.relation.columns:  # a batch from no columns has no rows
            return self._runtime.batch(name, [()] * len(stored))
        return self._runtime.batch_from_columns(name, stored.columns())

    def covers(self, batch: Batch) -> bool:
        """Whether the relation has all rows of a batch, beside those that the transaction deletes before."""
        gone = [each for each, sign in self.taken if sign < 0]
        return self._runtime.covers(self.relation.name, [*gone, batch])
