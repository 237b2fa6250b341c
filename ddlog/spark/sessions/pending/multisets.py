"""Pending changes of a multiset on Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ....core import Relation
from ....engine.runtime import Batch
from ....sessions.pending import RunLog, SignedBatch
from ....values.rows import Row
from .present import Present

if TYPE_CHECKING:
    from ....engine.spark.runtime import SparkRuntime


class SparkMultisetChanges(RunLog):
    """Runs of insertions and deletions. A deletion takes only rows that are present when the transaction
    comes to it; the commit finds out which."""

    def __init__(self, relation: Relation, runtime: SparkRuntime) -> None:
        self._relation, self._runtime = relation, runtime
        self._runs = list[tuple[int, Sequence[Row] | None, Batch | None]]()

    def insert(self, rows: Sequence[Row]) -> None:
        self._runs.append((1, rows, None))

    def delete(self, rows: Sequence[Row]) -> None:
        self._runs.append((-1, rows, None))

    def clear(self) -> None:
        self._runs.append((0, None, None))

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        self._runs.append((1, None, batch))

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        self._runs.append((sign, None, batch))

    def batches(self) -> list[SignedBatch]:
        if all(rows is not None for _, rows, _ in self._runs):
            return self._of_rows()
        present = Present(self._relation, self._runtime)
        for sign, rows, batch in self._runs:
            if rows is not None:
                batch = self._runtime.batch(self._relation.name, rows)
            with present.configured():
                if batch is None:
                    batch, sign = present.everything(), -1
                elif sign < 0:
                    batch = _capped(present, batch)
            present.batches.append((batch, sign))
        return present.batches

    def _of_rows(self) -> list[SignedBatch]:
        """The batches of a transaction of single rows: the rows to delete are looked up, all at once."""
        name = self._relation.name
        gone = list(dict.fromkeys(row for sign, rows, _ in self._runs if sign < 0 for row in rows or ()))
        weights = Counter(dict(zip(gone, self._runtime.lookup(name, gone), strict=True)))
        change: Counter[Row] = Counter()
        for sign, rows, _ in self._runs:
            for row in rows or ():
                if sign > 0 or weights[row] + change[row] > 0:
                    change[row] += sign
        signed = [
            ([row for row, count in change.items() for _ in range(count * sign)], sign) for sign in (1, -1)
        ]
        return [(self._runtime.batch(name, rows), sign) for rows, sign in signed if rows]


def _capped(present: Present, batch: Batch) -> Batch:
    """The part of a deletion whose rows are present."""
    columns = present.columns
    asked = batch.frame.groupBy(*columns).agg({"w": "sum"}).withColumnRenamed("sum(w)", "asked")
    both = asked.join(present.frame(), columns)
    repeated = f"inline(array_repeat(struct({', '.join(columns)}), CAST(least(asked, w) AS INT)))"
    return present.batch(both.selectExpr(repeated))
