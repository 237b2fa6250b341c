"""The rows of an input relation on Spark, by queries: those of the last commit, in union with the batches
that came after, each with its sign."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ....core import Relation
from ....engine.runtime import Batch
from ....sessions.pending import Present
from ....values.rows import Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ....engine.spark.runtime import SparkRuntime


class Queried(Present):
    """The rows of a relation on Spark, as columns c0, c1, … and `w`, the weight. Without columns there is
    nothing that a query could group or join by, and one weight to look up."""

    _runtime: SparkRuntime

    def __init__(self, relation: Relation, runtime: SparkRuntime) -> None:
        super().__init__(relation, runtime)
        self.by_query = bool(relation.columns)
        self._columns = [f"c{place}" for place in range(len(relation.columns))]

    def everything(self) -> Batch:
        if self.relation.kind == "relation" and not self.taken:
            return self._runtime.batch_from_frame(self.relation.name, self._runtime.frame(self.relation.name))
        with self._configured():
            return self._repeated(self._frame(), "w")

    def there(self, batch: Batch) -> Batch | None:
        if not self.by_query:
            return None
        with self._configured():
            asked = batch.frame.groupBy(*self._columns).agg({"w": "sum"}).withColumnRenamed("sum(w)", "asked")
            return self._repeated(asked.join(self._frame(), self._columns), "least(asked, w)")

    def _configured(self) -> AbstractContextManager[None]:
        """The settings of Spark under which the runtime makes its plans."""
        return self._runtime.tables.configured()

    def _frame(self) -> DataFrame:
        """The rows with their weights, which are positive."""
        contents = self._runtime.frame(self.relation.name)
        weighted = len(contents.columns) > len(self._columns)
        stored = contents.toDF(*self._columns, *(["w"] if weighted else []))
        if not weighted:
            stored = stored.selectExpr(*self._columns, "1L AS w")
        if not self.taken:
            return stored
        for batch, sign in self.taken:
            stored = stored.unionAll(batch.frame.selectExpr(*self._columns, f"w * {sign}L AS w"))
        summed = stored.groupBy(*self._columns).agg({"w": "sum"}).withColumnRenamed("sum(w)", "w")
        return summed.where("w > 0")

    def _batch_of(self, frame: DataFrame) -> Batch:
        """The rows of a frame as a batch, computed now."""
        return self._runtime.batch_from_frame(self.relation.name, frame.select(*self._columns))

    def _repeated(self, frame: DataFrame, times: str) -> Batch:
        """The rows of a frame as a batch, each so many times."""
        columns = ", ".join(self._columns)
        return self._batch_of(
            frame.selectExpr(f"inline(array_repeat(struct({columns}), CAST({times} AS INT)))")
        )

    def _collected(self, frame: DataFrame) -> list[Row]:
        """The rows of a frame on the driver, as values."""
        schema = self._runtime.schema(self.relation.name)
        table = frame.select(*self._columns).toArrow()
        decode = self._runtime.codec.decode
        return list(zip(*(decode(each, table.column(i)) for i, each in enumerate(schema)), strict=True))
