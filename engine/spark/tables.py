"""Rows that Spark holds: materialised tables behind temp views, and the changes that become such.

A table has the columns c0, c1, … of its schema, the weight `w`, and in a recursion the iteration `t`.
What is small is kept on the driver as an Arrow table, and travels to Spark as a local relation.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import interrupt
from ..schema import Column, Rows, Schema
from .codec import Codec
from .sqltext import listed, names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Plans are made while these hold: arithmetic wraps, and what an iteration costs is known beforehand.
_CONF = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Code is compiled once for each text: the same query over other tables must give the same text.
    "spark.sql.codegen.useIdInClassName": "false",
    # Checkpoints remember constraints on columns that are pruned later, and unions of them fail on those.
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
}
# A checkpoint says by which columns it is partitioned, and where this rule ran, it names another table's.
_EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
_EXCLUDED = "org.apache.spark.sql.catalyst.optimizer.RemoveRedundantAliases"
# Without these, answers would differ; without the others, queries are slower.
_NEEDED = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", _EXCLUDED_RULES)
WEIGHT = pa.field("w", pa.int64(), nullable=False)
TIME = pa.field("t", pa.int32(), nullable=False)
DEFAULT_PARTITIONS = "200"  # Spark's own, which nobody chose
_IN_PARTITION = (1 << 33) - 1  # the bits of monotonically_increasing_id that count within a partition
_ROW_BYTES = 32  # of text or columns, as a bound for guesses
_SIZE = re.compile(r"Statistics\(sizeInBytes=([\d.E+]+) (\w+)")
_FIGURES = ("count(*)", "min(w)", "sum(w)")
_UNITS = {f"{prefix}B": 1 << (10 * power) for power, prefix in enumerate(["", *(f"{c}i" for c in "KMGTPE")])}


@dataclass(frozen=True, slots=True)
class Options:
    """How the runtime uses Spark.

    `driver_rows`: a recursion with no more rows than this runs on the driver. `partitions`: of state and
    shuffles; None: the session's setting, or one a core. `small_rows`: up to so many rows a change is
    kept on the driver. `sent_rows`: up to so many rows one side of a join is sent to every task.
    """

    driver_rows: int = 2_000_000
    partitions: int | None = None
    small_rows: int = 10_000
    sent_rows: int = 200_000


class Table:
    """Materialised rows: on the executors, or, `local`, on the driver; then Spark is told of them when a
    query first needs them. `least` is the smallest weight, `total` their sum, `by` the columns by which
    the executors' rows are partitioned, as far as we know; `once`, whether no row is known to come twice.
    """

    __slots__ = ("_frame", "_kept", "_tables", "_view", "by", "least", "local", "once", "rows", "total")

    def __init__(
        self,
        tables: Tables,
        rows: int,
        least: int,
        total: int,
        *,
        frame: DataFrame | None = None,
        local: pa.Table | None = None,
        by: Sequence[str] = (),
        kept: bool = False,
    ) -> None:
        self._tables, self.rows, self.least, self.total, self.local = tables, rows, least, total, local
        self._frame, self._view, self.by = frame, "", tuple(by)
        self._kept, self.once = False, False
        if kept:
            self._keep()

    @property
    def frame(self) -> DataFrame:
        """The rows as a DataFrame."""
        if self._frame is None:
            assert self.local is not None
            if self.small:
                self._frame = _frame(self._tables.spark, self.local)
            else:  # sent once, not with every job
                columns = [name for name in self.local.column_names if name.startswith("c")]
                moved = self._tables.sent(self.local).repartition(self._tables.partitions, *columns)
                self._frame, self.by = checkpointed(moved), tuple(columns)
                self._keep()
        return self._frame

    def _keep(self) -> None:
        self._kept = True
        self._tables.kept(self)

    @property
    def shown(self) -> DataFrame:
        """The rows as a DataFrame to give out; many rows of the driver lie as they come."""
        if self._frame is not None or self.small or self.local is None:
            return self.frame
        return self._tables.sent(self.local)

    @property
    def view(self) -> str:
        """The temp view's name."""
        if not self._view:
            self._view = self._tables.named(self.frame)
            self._tables.kept(self)
        return self._view

    @property
    def small(self) -> bool:
        """Whether it is small, and on the driver."""
        return self.local is not None and self.rows <= self._tables.most_small

    def release(self) -> None:
        """Takes the view back, and the memory. Who still has the frame reads it from disk; without that,
        the rows go."""
        if self._view:
            self._tables.forget(self._view)
            self._view = ""
        if self._kept and self._frame is not None:
            self._kept = False
            with suppress(Exception):  # the session may have ended before us
                self._frame.unpersist()
        self._tables.released(self)


class Tables:
    """The tables of one runtime on one Spark session."""

    def __init__(self, spark: SparkSession, codec: Codec, options: Options) -> None:
        self.spark, self.codec = spark, codec
        self.partitions = options.partitions or _partitions(spark)
        self.most_small, self.most_sent = options.small_rows, options.sent_rows
        self._prefix = f"ddlog_{uuid.uuid4().hex[:8]}_"
        self._made = 0
        self._known: set[Table] = set()  # to Spark: by a view, or by what it keeps
        self._depth = 0

    # ------------------------------------------------------------- the session

    @contextmanager
    def configured(self, reading: bool = True) -> Iterator[None]:
        """The settings under which plans are made; those of the session come back after. Without `reading`,
        what is not state is small, and one task reads it."""
        if self._depth:
            yield
            return
        self._depth += 1
        try:
            theirs = self.spark.conf.get(_EXCLUDED_RULES, None)
            ours = {
                "spark.sql.shuffle.partitions": str(self.partitions),
                _EXCLUDED_RULES: f"{theirs},{_EXCLUDED}" if theirs else _EXCLUDED,
            }
            if not reading:
                ours["spark.sql.leafNodeDefaultParallelism"] = "1"
            with self._set(_CONF | ours):
                yield
        finally:
            self._depth -= 1

    @contextmanager
    def _set(self, wanted: Mapping[str, str]) -> Iterator[None]:
        """Settings of the session, for a while."""
        before = {key: self.spark.conf.get(key, None) for key in wanted}
        changed = {key: value for key, value in wanted.items() if before[key] != value}
        try:
            for key, value in changed.items():
                with nullcontext() if key in _NEEDED else suppress(Exception):  # a service may refuse
                    self.spark.conf.set(key, value)
            yield
        finally:
            for key in changed:
                with suppress(Exception):  # a session that is gone has no settings to restore
                    held = before[key]
                    if held is None:
                        self.spark.conf.unset(key)
                    else:
                        self.spark.conf.set(key, held)

    # ------------------------------------------------------------- making tables

    def arrow_schema(self, schema: Schema, extra: Sequence[pa.Field] = ()) -> pa.Schema:
        """The Arrow schema of a local table."""
        return arrow_schema(self.codec, schema, extra)

    def moving(self, columns: Sequence[str]) -> str:
        """The hint of a SELECT that partitions its rows by columns, as state is."""
        return f"/*+ REPARTITION({self.partitions}, {listed(columns)}) */ " if columns else ""

    def local(self, rows: pa.Table) -> Table:
        """Rows of the driver as a table."""
        weights = rows.column("w")
        least, total = pc.min(weights).as_py(), pc.sum(weights).as_py()
        return Table(self, rows.num_rows, least or 0, total or 0, local=rows)

    def sent(self, rows: pa.Table) -> DataFrame:
        """A large table of the driver as a DataFrame whose rows the executors unpack."""
        with self._set({"spark.sql.execution.arrow.localRelationThreshold": "0B"}):
            return _frame(self.spark, rows)

    def gathered(self, table: Table, schema: Schema) -> Table:
        """A table with its rows on the driver, too."""
        if table.local is None:
            table.local = self.collected(
                table.frame.select(*(f"c{k}" for k in range(len(schema))), "w"), schema
            )
        return table

    def of_rows(self, schema: Schema, rows: Rows) -> Table:
        """Rows of Python values, each of weight 1."""
        listed = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
        columns = [self.codec.encode(c, list(v)) for c, v in zip(schema, listed, strict=True)]
        ones = pa.array([1] * len(rows), pa.int64())
        return self.local(pa.Table.from_arrays([*columns, ones], schema=self.arrow_schema(schema)))

    def nothing(self, schema: Schema, extra: Sequence[pa.Field] = ()) -> Table:
        """No rows."""
        return self.local(self.arrow_schema(schema, extra).empty_table())

    def concatenated(self, tables: Sequence[Table], without: Sequence[str] = ()) -> Table:
        """The rows of tables of the driver."""
        whole = pa.concat_tables([table.local for table in tables]).combine_chunks()
        return self.local(whole.drop_columns(list(without)) if without else whole)

    def united(self, parts: Sequence[Table], columns: Sequence[str]) -> DataFrame:
        """The rows of some tables as one frame, which needs no view."""
        frames = [part.shown.select(*columns, "w") for part in parts]
        whole = frames[0]
        for frame in frames[1:]:
            whole = whole.unionAll(frame)
        return whole

    def lazy(self, parts: Sequence[Table], columns: Sequence[str]) -> Table:
        """The rows of some tables as one, without moving them."""
        least = min((table.least for table in parts), default=0)
        rows, total = sum(t.rows for t in parts), sum(t.total for t in parts)
        by = columns if all(part.by == tuple(columns) for part in parts) else ()
        return Table(self, rows, least, total, frame=self.united(parts, columns), by=by)

    def of_columns(self, schema: Schema, columns: Sequence[Any]) -> Table:
        """Columns (arrays, lists of values, or pairs of a dictionary and positions), each row of weight 1."""
        arrays = [self._encoded(c, given) for c, given in zip(schema, columns, strict=True)]
        ones = np.ones(len(arrays[0]) if arrays else 0, np.int64)
        return self.local(pa.Table.from_arrays([*arrays, pa.array(ones)], schema=self.arrow_schema(schema)))

    def _encoded(self, column: Column, given: Any) -> pa.Array:
        if isinstance(given, tuple):
            dictionary, positions = given
            return self.codec.encode(column, dictionary).take(pa.array(positions))
        return self.codec.encode(column, given)

    def stored(self, sql: str, by: Sequence[str] | None = None, lies: Sequence[str] = ()) -> Table:
        """The rows of a query, computed now by one job and kept by the executors: partitioned by some
        columns, or as they come, by the columns `lies`."""
        interrupt.check()
        frame = self.spark.sql(sql)
        if by is not None:
            frame = frame.repartition(self.partitions, *by) if by else frame.coalesce(1)
            lies = by
        kept = checkpointed(frame)
        try:
            (row,) = kept.selectExpr(*_FIGURES).collect()
        except BaseException:
            with suppress(Exception):
                kept.unpersist()
            raise
        rows, least, total = (int(figure or 0) for figure in row)
        return Table(self, rows, least, total, frame=kept, by=lies, kept=True)

    def settled(
        self,
        sql: str,
        schema: Schema,
        *,
        small: bool,
        at_most: int | None = None,
        extra: Sequence[pa.Field] = (),
        lies: Sequence[str] = (),
    ) -> Table:
        """The rows of a query, computed now: on the driver when they are few, else on the executors.

        `small` says that few are expected, so that one job brings them; a wrong guess costs a second one,
        and cannot be where they are known to be `at_most` few. `lies`: the columns by which the query's
        rows come partitioned.
        """
        interrupt.check()
        if small:
            known = at_most is not None and at_most <= self.most_small
            rows = (
                self.fetch(sql, schema, extra) if known else self.at_most(sql, schema, self.most_small, extra)
            )
            if rows is not None:
                return self.local(rows)
        table = self.stored(sql, lies=lies)
        if table.rows > self.most_small:
            return table
        return self.local(self.fetch(f"SELECT * FROM {table.view}", schema, extra))

    def few(self, sql: str, schema: Schema, most: int) -> pa.Table | None:
        """The rows of a query, on the driver, if Spark expects few and they are no more than `most`."""
        expected = self._expected_bytes(sql)
        if expected is None or expected > most * _ROW_BYTES:
            return None
        return self.at_most(sql, schema, most)

    def at_most(self, sql: str, schema: Schema, most: int, extra: Sequence[pa.Field] = ()) -> pa.Table | None:
        """The rows of a query, on the driver, if they are no more than `most`; by one job, of which no
        partition gives many more. A LIMIT would bring all rows to one task first."""
        interrupt.check()
        limited = f"SELECT * FROM ({sql}) WHERE (monotonically_increasing_id() & {_IN_PARTITION}) <= {most}"
        rows = self.fetch(limited, schema, extra)
        return rows if rows.num_rows <= most else None

    def _expected_bytes(self, sql: str) -> float | None:
        """The size that Spark's optimizer guesses of a query's rows, if it says one."""
        (plan,) = self.spark.sql(f"EXPLAIN COST {sql}").collect()
        found = _SIZE.search(plan[0])
        return float(found[1]) * _UNITS[found[2]] if found else None

    def fetch(self, sql: str, schema: Schema, extra: Sequence[pa.Field] = ()) -> pa.Table:
        """The rows of a query, on the driver."""
        return self.collected(self.spark.sql(sql), schema, extra)

    def collected(self, frame: DataFrame, schema: Schema, extra: Sequence[pa.Field] = ()) -> pa.Table:
        """The rows of a frame, on the driver."""
        wanted = self.arrow_schema(schema, extra)
        rows = frame.toArrow()
        columns = [_whole(column, field.type) for column, field in zip(rows.columns, wanted, strict=True)]
        return pa.Table.from_arrays(columns, schema=wanted)

    # ------------------------------------------------------------- names

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

    def kept(self, table: Table) -> None:
        """Spark knows of a table, until it is released."""
        self._known.add(table)

    def released(self, table: Table) -> None:
        """Spark knows of a table no longer."""
        self._known.discard(table)

    def release_but(self, held: Iterable[Table]) -> None:
        """Releases all tables but these."""
        for table in self._known.difference(held):
            table.release()

    def close(self) -> None:
        """Releases all tables."""
        self.release_but(())


def arrow_schema(codec: Codec, schema: Schema, extra: Sequence[pa.Field] = ()) -> pa.Schema:
    """The Arrow schema of a table: c0, c1, …, the weight, and more."""
    fields = [
        pa.field(name, codec.arrow_type(column), nullable=False)
        for name, column in zip(names(schema), schema, strict=True)
    ]
    return pa.schema([*fields, WEIGHT, *extra])


def checkpointed(frame: DataFrame) -> DataFrame:
    """The rows of a frame without their history, computed when they are first read: as columns in memory,
    from which Spark has their size, and as rows on the disk of the executors. Rows in memory would take ten
    times as much."""
    from pyspark import StorageLevel

    return frame.localCheckpoint(eager=False, storageLevel=StorageLevel.DISK_ONLY).persist()


def _frame(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Rows of the driver as a DataFrame."""
    if rows.num_rows:
        return spark.createDataFrame(rows)
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame(rows, from_arrow_schema(rows.schema))  # Connect does not look for it


def _whole(column: pa.ChunkedArray, type: pa.DataType) -> pa.Array:
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return array if array.type == type else array.cast(type)


def _partitions(spark: SparkSession) -> int:
    """The session's number of shuffle partitions, if somebody chose one; else one for each core."""
    chosen = spark.conf.get("spark.sql.shuffle.partitions", DEFAULT_PARTITIONS)
    if chosen and chosen != DEFAULT_PARTITIONS:
        return max(int(chosen), 1)
    with suppress(Exception):  # a Connect session has no context to ask
        return max(int(spark.sparkContext.defaultParallelism), 2)
    master = spark.conf.get("spark.master", "") or ""
    if master.startswith("local["):
        import os

        cores = master[len("local[") :].partition("]")[0].partition(",")[0]
        return max(int(cores) if cores.isdigit() else os.cpu_count() or 2, 2)
    return int(chosen or DEFAULT_PARTITIONS)
