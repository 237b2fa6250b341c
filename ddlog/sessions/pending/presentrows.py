"""The rows of an input relation, as its pending changes ask for them: as of the last commit, and of the
batches that the transaction has taken since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core import Relation
from ...engine.runtime import Batch, Runtime
from ...values.rows import Row

SignedBatch = tuple[Batch, int]
"""A batch of rows to insert (1) or to delete (-1)."""


class Present:
    """The rows of a relation. `StoredRows` looks them up in process; `Queried` asks Spark."""

    by_query = False
    """Whether batches are compared by queries, and never row by row."""

    def __init__(self, relation: Relation, runtime: Runtime) -> None:
        self.relation, self._runtime = relation, runtime
        self.taken: list[SignedBatch] = []  # the batches that the transaction has taken, in order

    def batch(self, rows: Sequence[Row], alone: bool = False) -> Batch:
        """Rows as a batch. `alone`: each of them changes the relation, and the transaction has no others."""
        return self._runtime.batch(self.relation.name, rows)

    def hand_over(self) -> None:
        """Lets go of batches that only a transaction that goes on would ask for."""

    def weights(self, rows: Sequence[Row]) -> Sequence[int]:
        """The number of times that the relation held each row at the last commit."""
        return self._runtime.lookup(self.relation.name, rows)

    def counted(self) -> Mapping[Row, int]:
        """All rows as of the last commit, with their weights."""
        stored = self._runtime.rows(self.relation.name)
        return dict(zip(stored, stored.weights or [1] * len(stored), strict=True))

    def everything(self) -> Batch:
        """All rows of a set; by query, each row of a bag as often as it is there."""
        raise NotImplementedError

    def there(self, batch: Batch) -> Batch | None:
        """The part of a batch to delete that is there; None: its rows have to be looked up one by one."""
        raise NotImplementedError
