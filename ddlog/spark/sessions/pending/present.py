"""A relation as a transaction sees it so far: the rows of the last commit, and the batches that came after.

Its rows stay on Spark. A question about them is a query over the union of all these, each batch with its
sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ....core import Relation
from ....engine.runtime import Batch
from ....engine.schema import RowExpr
from ....sessions.pending import SignedBatch
from ....values.rows import Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ....engine.spark.runtime import SparkRuntime


class Present:
    """The rows of a relation after the batches so far, as columns c0, c1, … and `w`, the weight."""

    def __init__(self, relation: Relation, runtime: SparkRuntime) -> None:
        self.relation, self.runtime = relation, runtime
        self.columns = [f"c{place}" for place in range(len(relation.columns))]
        self.batches: list[SignedBatch] = []

    def configured(self) -> AbstractContextManager[None]:
        """The settings of Spark under which the runtime makes its plans."""
        return self.runtime.tables.configured()

    def size(self) -> int:
        """The number of rows of the last commit."""
        return self.runtime.size(self.relation.name)

    def is_empty(self) -> bool:
        """Whether no row is there, and none has come."""
        return not self.batches and not self.size()

    def frame(self) -> DataFrame:
        """The rows with their weights, which are positive."""
        contents = self.runtime.frame(self.relation.name)
        weighted = len(contents.columns) > len(self.columns)
        stored = contents.toDF(*self.columns, *(["w"] if weighted else []))
        if not weighted:
            stored = stored.selectExpr(*self.columns, "1L AS w")
        if not self.batches:
            return stored
        for batch, sign in self.batches:
            stored = stored.unionAll(batch.frame.selectExpr(*self.columns, f"w * {sign}L AS w"))
        summed = stored.groupBy(*self.columns).agg({"w": "sum"}).withColumnRenamed("sum(w)", "w")
        return summed.where("w > 0")

    def batch(self, frame: DataFrame) -> Batch:
        """The rows of a frame as a batch, computed now."""
        return self.runtime.batch_from_frame(self.relation.name, frame.select(*self.columns))

    def everything(self) -> Batch:
        """All rows as a batch, each as often as its weight says."""
        repeated = f"inline(array_repeat(struct({', '.join(self.columns)}), CAST(w AS INT)))"
        return self.batch(self.frame().selectExpr(repeated))

    def collected(self, frame: DataFrame) -> list[Row]:
        """The rows of a frame on the driver, as values."""
        schema = self.runtime.schema(self.relation.name)
        table = frame.select(*self.columns).toArrow()
        codec = self.runtime.codec
        return list(zip(*(codec.decode(each, table.column(i)) for i, each in enumerate(schema)), strict=True))


class Keys:
    """The primary keys of rows, computed by Spark as the column `k`."""

    def __init__(self, present: Present, key: RowExpr) -> None:
        self._present, self._key = present, key
        assert present.relation.key is not None
        names = [parameter.name for parameter in present.relation.key.parameters]
        inputs = [f"c{names.index(name)}" for name in key.inputs]
        compiled = present.runtime.expressions.value(key, inputs)
        self._sql = f"{compiled.text}.v" if compiled.udf else compiled.text

    def of(self, frame: DataFrame) -> DataFrame:
        """The rows of a frame with their keys."""
        return frame.selectExpr("*", f"{self._sql} AS k")

    def rows(self, keys: Sequence[Any]) -> list[Row]:
        """The present rows with some keys, on the driver."""
        present, codec = self._present, self._present.runtime.codec
        import pyarrow as pa

        wanted = pa.table({"k": codec.encode(self._key.column, list(keys))})
        with present.configured():
            asked = present.runtime.spark.createDataFrame(wanted).hint("broadcast")
            return present.collected(self.of(present.frame()).join(asked, "k", "left_semi"))

    def first(self, frame: DataFrame) -> Any:
        """One key of a frame, or None if it has no rows."""
        rows = frame.selectExpr("k").limit(1).toArrow()
        decode = self._present.runtime.codec.decode
        return decode(self._key.column, rows.column(0))[0] if rows.num_rows else None
