"""The rows of a relation with a primary key on Spark.

Tables are checked by queries over the present rows. Single rows are checked by their keys: a small relation
is kept by key on the driver, in a large one the touched keys are looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....core import Relation
from ....engine.runtime import Batch
from ....engine.schema import RowExpr
from ....engine.spark.numbered import all_differ_by
from ....engine.spark.table import Table
from ....errors.changes import DifferentValue, KeyMissing
from ....errors.diagnostics import DDlogError
from ....sessions.pending import RelationKey, StoredByKey
from ....values.rows import Row
from .queried import Queried

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ....engine.spark.runtime import SparkRuntime

FEW = 200_000
"""A relation with a primary key and at most so many rows is kept by key on the driver once a row of it is
changed."""


class QueriedByKey(Queried):
    """The rows of a relation with a primary key, the column `k` of queries. See `PresentByKey`."""

    def __init__(
        self, relation: Relation, runtime: SparkRuntime, key: RelationKey, expression: RowExpr
    ) -> None:
        super().__init__(relation, runtime)
        assert relation.key is not None
        self.key, self._column = key, expression.column
        names = [parameter.name for parameter in relation.key.parameters]
        inputs = [f"c{names.index(name)}" for name in expression.inputs]
        compiled = runtime.expressions.value(expression, inputs)
        self._sql = f"{compiled.text}.v" if compiled.udf else compiled.text
        self._here = StoredByKey(relation, runtime, replace(key, places=()))
        self._known: dict[Hashable, Row | None] = {}  # rows that were looked up after the batches

    def batch(self, rows: Sequence[Row], alone: bool = False) -> Batch:
        batch = super().batch(rows)
        if alone and isinstance(batch, Table):
            batch.checked = True  # the commit need not look
        return batch

    # ------------------------------------------------------------- single rows

    def get(self, key: Hashable) -> Row | None:
        if self._is_small():
            return self._here.get(key)
        self.learn([key])
        return self._known[key]

    def keys(self) -> Iterable[Hashable]:
        return self._here.keys()

    def learn(self, keys: Iterable[Hashable]) -> None:
        asked = [] if self._is_small() else [key for key in dict.fromkeys(keys) if key not in self._known]
        if asked:
            self._known.update(dict.fromkeys(asked))
            self._known.update({self.key.of(row): row for row in self._rows(asked)})

    def settle(self, changed: Mapping[Hashable, Row | None] | None) -> None:
        if self.taken and changed is not None:
            self._here.forget()
        else:
            self._here.settle(changed)
        self.untake(0)

    def _is_small(self) -> bool:
        return not self.taken and self._runtime.size(self.relation.name) <= FEW

    def _rows(self, keys: Sequence[Any]) -> list[Row]:
        """The present rows with some keys."""
        import pyarrow as pa

        wanted = pa.table({"k": self._runtime.codec.encode(self._column, list(keys))})
        with self._configured():
            asked = self._runtime.spark.createDataFrame(wanted).hint("broadcast")
            return self._collected(self._keyed(self._frame()).join(asked, "k", "left_semi"))

    # ------------------------------------------------------------- batches

    def take(self, batch: Batch, sign: int, rows: Callable[[], Iterable[Row]]) -> None:
        self.taken.append((batch, sign))
        self._known.clear()

    def untake(self, count: int) -> None:
        del self.taken[count:]
        self._known.clear()

    def legal(self, batch: Batch, sign: int, again: bool) -> Batch | None:
        is_empty = not self.taken and not self._runtime.size(self.relation.name)
        if again and is_empty and self._keys_differ(batch):
            return batch
        with self._configured():
            if again:
                new = batch.frame.select(*self._columns).distinct()
                there = self._frame().select(*self._columns)
                batch = self._batch_of(new.join(there, self._columns, "left_anti"))
            (self._check_new if sign > 0 else self._check_present)(batch)
        return batch

    def _keyed(self, frame: DataFrame) -> DataFrame:
        """The rows of a frame with their keys."""
        return frame.selectExpr("*", f"{self._sql} AS k")

    def _check_new(self, batch: Batch) -> None:
        """Raises DDlogError for a key that a batch has twice, or that is present."""
        new = self._keyed(batch.frame.select(*self._columns))
        there = self._keyed(self._frame().select(*self._columns))
        self._refuse_twice(new.groupBy("k").count().where("count > 1"), new, new)
        self._refuse_twice(new.join(there.select("k"), "k", "left_semi"), there, new)

    def _check_present(self, batch: Batch) -> None:
        """Raises DDlogError for a row of a batch that is not present, or that the batch has twice."""
        gone = self._keyed(batch.frame.select(*self._columns))
        present = self._keyed(self._frame().select(*self._columns))
        self._refuse(KeyMissing, gone.join(present, "k", "left_anti"))
        self._refuse(KeyMissing, gone.groupBy("k").count().where("count > 1"))
        self._refuse(DifferentValue, gone.join(present, self._columns, "left_anti"))

    def _refuse_twice(self, keys: DataFrame, there: DataFrame, new: DataFrame) -> None:
        """Raises DDlogError for a key of a frame, if it has rows, with two rows that have it: of those that
        are there, or else one of the new ones."""
        found = keys.select("k").limit(1).toArrow()
        if found.num_rows:
            asked = self._runtime.spark.createDataFrame(found)
            other, *more = self._collected(there.join(asked, "k", "left_semi").limit(2))
            row = more or self._collected(new.join(asked, "k", "left_semi").limit(1))
            raise self.key.exists(self.relation.name, row[0], other)

    def _refuse(self, kind: type[KeyMissing | DifferentValue], frame: DataFrame) -> None:
        """Raises DDlogError for a key of a frame, if it has rows."""
        rows = frame.selectExpr("k").limit(1).toArrow()
        if rows.num_rows:
            key = self._runtime.codec.decode(self._column, rows.column(0))[0]
            raise DDlogError([kind(self.relation.name, self.key.show(key))])

    def _keys_differ(self, batch: Batch) -> bool:
        """Whether no two rows of a batch have the same key."""
        places = self.key.places
        if isinstance(batch, Table) and batch.local is not None and places:
            schema = self._runtime.schema(self.relation.name)
            keys = batch.local.select([f"c{place}" for place in places])
            return all_differ_by(self._runtime.codec, [schema[place] for place in places], keys)
        with self._configured():
            keys = self._keyed(batch.frame.select(*self._columns))
            return not keys.groupBy("k").count().where("count > 1").limit(1).toArrow().num_rows
