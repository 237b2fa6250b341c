"""Rows of the driver on their way to Spark, and rows of queries that Spark keeps.

A table has the columns c0, c1, … of its schema, and the weight `w`. It is one of Arrow, and travels to Spark
when a query first needs it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from .. import interrupt
from ..runtime import Coded
from ..schema import Column, Rows, Schema
from .codec import Codec
from .settings import changed, planning, session_partitions
from .sqltext import Query, names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WEIGHT = pa.field("w", pa.int64(), nullable=False)

_ROW_BYTES = 32  # of text or columns, as a bound for guesses
_SIZE = re.compile(r"Statistics\(sizeInBytes=([\d.E+]+) (\w+)")
_UNITS = {f"{prefix}B": 1 << (10 * power) for power, prefix in enumerate(["", *(f"{c}i" for c in "KMGTPE")])}
_SMALL = 10_000
"""Up to so many rows of the driver are part of the query that reads them; more are unpacked by executors."""


Guard: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Entered where Spark runs outside of epochs: what fails there is told as the session tells it."""


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of a session on Spark.

    `driver_rows`: a state whose inputs have no more rows than this is in the driver, and a larger one in
    workers on the executors. `workers`: the number of these; None: one a core. `encrypt`: whether what they
    send each other is encrypted also where Spark encrypts nothing. `partitions`: of shuffles of a session
    without updates; None: the session's setting, or one a core.
    """

    driver_rows: int = 2_000_000
    workers: int | None = None
    partitions: int | None = None
    encrypt: bool = False


class LocalTable:
    """Rows of the driver, in `local`."""

    __slots__ = ("_frame", "_tables", "local")

    def __init__(self, tables: Tables, local: pa.Table) -> None:
        self._tables, self.local = tables, local
        self._frame: DataFrame | None = None

    @property
    def frame(self) -> DataFrame:
        """The rows as a DataFrame."""
        if self._frame is None:
            self._frame = self._tables.sent(self.local)
        return self._frame


class Tables:
    """The tables of one runtime on one Spark session."""

    def __init__(
        self, spark: SparkSession, codec: Codec, options: Options, guard: Guard = nullcontext
    ) -> None:
        self.spark, self.codec, self.guard = spark, codec, guard
        self.partitions = options.partitions or session_partitions(spark)
        self._prefix = f"ddlog_{uuid.uuid4().hex[:8]}_"
        self._made = 0
        self._kept: list[DataFrame] = []

    def configured(self) -> AbstractContextManager[None]:
        """The settings under which plans are made; those of the session come back after."""
        return planning(self.spark, self.partitions)

    # ------------------------------------------------------------- tables of given rows

    def local(self, rows: pa.Table) -> LocalTable:
        """Rows of the driver as a table."""
        return LocalTable(self, rows)

    def sent(self, rows: pa.Table) -> DataFrame:
        """Rows of the driver as a DataFrame; many are unpacked by the executors."""
        if rows.num_rows <= _SMALL:
            return _frame_of(self.spark, rows)
        with changed(self.spark, {"spark.sql.execution.arrow.localRelationThreshold": "0B"}):
            return _frame_of(self.spark, rows)

    def of_rows(self, schema: Schema, rows: Rows) -> LocalTable:
        """Rows of Python values, each of weight 1."""
        values = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
        columns = [self.codec.encode(c, list(v)) for c, v in zip(schema, values, strict=True)]
        ones = pa.array([1] * len(rows), pa.int64())
        return self.local(pa.Table.from_arrays([*columns, ones], schema=arrow_schema(self.codec, schema)))

    def nothing(self, schema: Schema) -> LocalTable:
        """No rows."""
        return self.local(arrow_schema(self.codec, schema).empty_table())

    def of_columns(self, schema: Schema, given: Coded) -> LocalTable:
        """Columns in forms that do not depend on the runtime."""
        arrays = [self._encoded(c, column) for c, column in zip(schema, given.columns, strict=True)]
        weights = np.ones(given.length, np.int64) if given.weights is None else given.weights
        return self.local(
            pa.Table.from_arrays([*arrays, pa.array(weights)], schema=arrow_schema(self.codec, schema))
        )

    def _encoded(self, column: Column, given: Any) -> pa.Array:
        if isinstance(given, tuple):
            dictionary, positions = given
            return self.codec.encode(column, dictionary).take(pa.array(positions))
        return self.codec.encode(column, given)

    # ------------------------------------------------------------- tables of queries

    def taken(self, frame: DataFrame) -> DataFrame:
        """The rows of a frame, computed now by one job; executors keep them on disk as long as a plan reads
        them."""
        from pyspark import StorageLevel

        return frame.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)

    def kept(self, frame: DataFrame, most: int) -> tuple[DataFrame, int] | None:
        """The rows of a frame of a classic session, computed by one job and kept on disks of executors, and
        their number; None: Spark expects no more than so many."""
        from pyspark import StorageLevel

        plan: Any = frame
        if int(plan._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()) <= most:
            return None  # of a byte or more each
        kept = frame.localCheckpoint(eager=False, storageLevel=StorageLevel.DISK_ONLY)
        return kept, kept.count()

    def stored(self, query: Query) -> DataFrame:
        """The rows of a query, computed now by one job and kept by the executors."""
        interrupt.check()
        kept = _checkpointed(self.spark.sql(str(query)))
        try:
            kept.count()
        except BaseException:
            with suppress(Exception):
                kept.unpersist()
            raise
        self._kept.append(kept)
        return kept

    # ------------------------------------------------------------- rows on the driver

    def are_many(self, query: Query, most: int) -> bool:
        """Whether Spark expects that a query gives many more than `most` rows, or expects nothing."""
        expected = self._expected_bytes(query)
        return expected is None or expected > most * _ROW_BYTES

    def _expected_bytes(self, query: Query) -> float | None:
        """The size that Spark's optimizer guesses of a query's rows; None if it says none."""
        (plan,) = self.spark.sql(f"EXPLAIN COST {query}").collect()
        found = _SIZE.search(plan[0])
        return float(found[1]) * _UNITS[found[2]] if found else None

    def collected(self, frame: DataFrame, schema: Schema) -> pa.Table:
        """The rows of a frame, on the driver."""
        wanted = arrow_schema(self.codec, schema)
        rows = frame.toArrow()
        columns = [_whole(column, field.type) for column, field in zip(rows.columns, wanted, strict=True)]
        return pa.Table.from_arrays(columns, schema=wanted)

    # ------------------------------------------------------------- temp views

    def named(self, frame: DataFrame) -> str:
        """A temp view of a frame."""
        self._made += 1
        view = f"{self._prefix}{self._made}"
        frame.createOrReplaceTempView(view)
        return view

    def forget(self, view: str) -> None:
        """Drops a temp view."""
        with suppress(Exception):  # the session may have ended before us
            self.spark.catalog.dropTempView(view)

    def close(self) -> None:
        """Takes the memory of the executors back. A frame that was given out is read from disk from then
        on."""
        for frame in self._kept:
            with suppress(Exception):  # the session may have ended before us
                frame.unpersist()
        self._kept.clear()


def arrow_schema(codec: Codec, schema: Schema) -> pa.Schema:
    """The Arrow schema of a table: c0, c1, …, and the weight."""
    fields = [
        pa.field(name, codec.arrow_type(column), nullable=False)
        for name, column in zip(names(schema), schema, strict=True)
    ]
    return pa.schema([*fields, WEIGHT])


def _checkpointed(frame: DataFrame) -> DataFrame:
    """The rows of a frame without their history, computed when they are first read: as columns in memory,
    from which Spark has their size, and as rows on the disks of executors. Rows in memory would take ten
    times as much."""
    from pyspark import StorageLevel

    level = StorageLevel(True, False, False, False, 1)
    return frame.localCheckpoint(eager=False, storageLevel=level).persist()


def _frame_of(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Rows of the driver as a DataFrame."""
    if rows.num_rows:
        return spark.createDataFrame(rows)
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame(rows, from_arrow_schema(rows.schema))  # Connect does not look for it


def _whole(column: pa.ChunkedArray, type: pa.DataType) -> pa.Array:
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return array if array.type == type else array.cast(type)
