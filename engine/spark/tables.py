"""Materialising: rows that Spark or the driver holds, made of given rows and of queries.

A table has the columns c0, c1, … of its schema, the weight `w`, and in a recursion the iteration `t`.
A small table is kept on the driver as an Arrow table, and travels to Spark as a local relation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import interrupt
from ..budget import Budget
from ..schema import Column, Rows, Schema
from .codec import Codec
from .merging import Merging
from .pruning import in_order, leading
from .settings import Settings, session_partitions
from .sqltext import Query, everything
from .table import TIME, WEIGHT, Registry, Table, arrow_schema, checkpointed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["TIME", "WEIGHT", "Guard", "Options", "Table", "Tables", "arrow_schema"]

_IN_PARTITION = (1 << 33) - 1  # the bits of monotonically_increasing_id that count within a partition
_ROW_BYTES = 32  # of text or columns, as a bound for guesses
_SIZE = re.compile(r"Statistics\(sizeInBytes=([\d.E+]+) (\w+)")
_FIGURES = ("count(*)", "min(w)", "sum(w)")
_UNITS = {f"{prefix}B": 1 << (10 * power) for power, prefix in enumerate(["", *(f"{c}i" for c in "KMGTPE")])}


Guard: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Entered where Spark runs outside of epochs: what fails there is told as the session tells it."""


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of the runtime on Spark.

    `driver_rows`: a relation, a group or a recursion with no more rows than this is on the driver.
    `partitions`: of state and shuffles; None: the session's setting, or one a core. `small_rows`: up to so
    many rows a change is kept on the driver. `sent_rows`: up to so many rows one side of a join is sent to
    every task. `placement`: "auto", by size; or, for tests, "driver", "cluster", or "flip", at each commit.
    `copies`: so many executors have each row of the state on their disks.
    """

    driver_rows: int = 2_000_000
    partitions: int | None = None
    small_rows: int = 10_000
    sent_rows: int = 200_000
    placement: str = "auto"
    copies: int = 1


class Tables:
    """The tables of one runtime on one Spark session."""

    def __init__(
        self, spark: SparkSession, codec: Codec, options: Options, guard: Guard = nullcontext
    ) -> None:
        self._spark, self.codec, self.guard = spark, codec, guard
        self.partitions = options.partitions or session_partitions(spark)
        self.most_small, self.most_sent = options.small_rows, options.sent_rows
        self.most_fetched = 4 * options.small_rows  # rows that the driver reads to make a small change
        self.merging = Merging()
        self.budget = Budget()
        self._settings = Settings(spark, self.partitions)
        self._registry = Registry(
            spark, self.partitions, self.most_small, options.copies, self._settings.take
        )

    @property
    def spark(self) -> SparkSession:
        """The session; from now on with the settings under which plans are made, inside a block of them."""
        self._settings.take()
        return self._spark

    @contextmanager
    def configured(self, reading: bool = True) -> Iterator[None]:
        """The settings under which plans are made; those of the session come back after. Without `reading`,
        all that is not state is small, and one task reads it, and the settings are taken when Spark is first
        used."""
        with self._settings.planning(reading):
            if reading:
                self._settings.take()
            yield

    # ------------------------------------------------------------- tables of given rows

    def local(self, rows: pa.Table) -> Table:
        """Rows of the driver as a table."""
        weights = rows.column("w")
        least, total = pc.min(weights).as_py(), pc.sum(weights).as_py()
        return Table(self._registry, rows.num_rows, least or 0, total or 0, local=rows)

    def gathered(self, table: Table, schema: Schema) -> Table:
        """A table with its rows on the driver, too."""
        if table.local is None:
            table.local = self.collected(
                table.frame.select(*(f"c{k}" for k in range(len(schema))), "w"), schema
            )
        return table

    def of_rows(self, schema: Schema, rows: Rows) -> Table:
        """Rows of Python values, each of weight 1."""
        values = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
        columns = [self.codec.encode(c, list(v)) for c, v in zip(schema, values, strict=True)]
        ones = pa.array([1] * len(rows), pa.int64())
        return self.local(pa.Table.from_arrays([*columns, ones], schema=arrow_schema(self.codec, schema)))

    def nothing(self, schema: Schema, extra: Sequence[pa.Field] = ()) -> Table:
        """No rows."""
        return self.local(arrow_schema(self.codec, schema, extra).empty_table())

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
        return Table(self._registry, rows, least, total, frame=self.united(parts, columns), by=by)

    def selected(self, query: Query, of: Table, least: int, total: int) -> Table:
        """The result of a query for each row of a table, without a table of its own."""
        return Table(self._registry, of.rows, least, total, frame=self.spark.sql(str(query)))

    def of_columns(self, schema: Schema, columns: Sequence[Any]) -> Table:
        """Columns (arrays, lists of values, or pairs of a dictionary and positions), each row of weight 1."""
        arrays = [self._encoded(c, given) for c, given in zip(schema, columns, strict=True)]
        ones = np.ones(len(arrays[0]) if arrays else 0, np.int64)
        return self.local(
            pa.Table.from_arrays([*arrays, pa.array(ones)], schema=arrow_schema(self.codec, schema))
        )

    def _encoded(self, column: Column, given: Any) -> pa.Array:
        if isinstance(given, tuple):
            dictionary, positions = given
            return self.codec.encode(column, dictionary).take(pa.array(positions))
        return self.codec.encode(column, given)

    # ------------------------------------------------------------- tables of queries

    def stored(
        self,
        query: Query,
        by: Sequence[str] | None = None,
        lies: Sequence[str] = (),
        ordered: Sequence[str] = (),
    ) -> Table:
        """The rows of a query, computed now by one job and kept by the executors: partitioned by some
        columns, or as they come, by the columns `lies`; each partition `ordered` by some columns."""
        interrupt.check()
        frame = self.spark.sql(str(query))
        if by is not None:
            frame = frame.repartition(self.partitions, *by) if by else frame.coalesce(1)
            lies = by
        kept = checkpointed(in_order(frame, ordered), self._registry.copies)
        try:
            (row,) = kept.selectExpr(*_FIGURES, _bytes(kept)).collect()
        except BaseException:
            with suppress(Exception):
                kept.unpersist()
            raise
        rows, least, total, size = (int(figure or 0) for figure in row)
        return Table(self._registry, rows, least, total, frame=kept, by=lies, kept=True, size=size)

    def settled(
        self,
        query: Query,
        schema: Schema,
        *,
        small: bool,
        at_most: int | None = None,
        extra: Sequence[pa.Field] = (),
        lies: Sequence[str] = (),
        ordered: bool = False,
    ) -> Table:
        """The rows of a query, computed now: on the driver when they are few, else on the executors.

        `small`: few rows are expected, so that one job brings them; a wrong guess costs a second job. The
        guess cannot be wrong if the rows are known to be `at_most` few. `lies`: the columns by which the
        query's rows come partitioned. `ordered`: they are to be found by their first columns. See `pruning`.
        """
        interrupt.check()
        if small:
            known = at_most is not None and at_most <= self.most_small
            rows = (
                self.fetch(query, schema, extra)
                if known
                else self.at_most(query, schema, self.most_small, extra)
            )
            if rows is not None:
                return self.local(rows)
        table = self.stored(query, lies=lies, ordered=leading(self.codec, schema) if ordered else ())
        if table.rows > self.most_small:
            return table
        return self.local(self.fetch(everything(table.view), schema, extra))

    # ------------------------------------------------------------- rows on the driver

    def few(self, query: Query, schema: Schema, most: int) -> pa.Table | None:
        """The rows of a query, on the driver, if Spark expects few and they are no more than `most`."""
        return None if self.are_many(query, most) else self.at_most(query, schema, most)

    def are_many(self, query: Query, most: int) -> bool:
        """Whether Spark expects that a query gives many more than `most` rows, or expects nothing."""
        expected = self._expected_bytes(query)
        return expected is None or expected > most * _ROW_BYTES

    def at_most(
        self, query: Query, schema: Schema, most: int, extra: Sequence[pa.Field] = ()
    ) -> pa.Table | None:
        """The rows of a query, on the driver, if they are no more than `most`; by one job, of which no
        partition gives many more. A LIMIT would bring all rows to one task first."""
        interrupt.check()
        rows = self.fetch(_first(query, most), schema, extra)
        return rows if rows.num_rows <= most else None

    def limited(self, query: Query, most: int) -> pa.Table | None:
        """The rows of a query of any columns, as `at_most` brings them."""
        interrupt.check()
        rows = self.spark.sql(str(_first(query, most))).toArrow()
        return rows if rows.num_rows <= most else None

    def _expected_bytes(self, query: Query) -> float | None:
        """The size that Spark's optimizer guesses of a query's rows; None if it says none."""
        (plan,) = self.spark.sql(f"EXPLAIN COST {query}").collect()
        found = _SIZE.search(plan[0])
        return float(found[1]) * _UNITS[found[2]] if found else None

    def fetch(self, query: Query, schema: Schema, extra: Sequence[pa.Field] = ()) -> pa.Table:
        """The rows of a query, on the driver."""
        return self.collected(self.spark.sql(str(query)), schema, extra)

    def collected(self, frame: DataFrame, schema: Schema, extra: Sequence[pa.Field] = ()) -> pa.Table:
        """The rows of a frame, on the driver."""
        wanted = arrow_schema(self.codec, schema, extra)
        rows = frame.toArrow()
        columns = [_whole(column, field.type) for column, field in zip(rows.columns, wanted, strict=True)]
        return pa.Table.from_arrays(columns, schema=wanted)

    # ------------------------------------------------------------- temp views

    def named(self, frame: DataFrame) -> str:
        """A temp view of a frame."""
        return self._registry.named(frame)

    def forget(self, view: str) -> None:
        """Drops a temp view."""
        self._registry.forget(view)

    def release_but(self, held: Iterable[Table]) -> None:
        """Releases all tables but these."""
        self._registry.release_but(held)

    def close(self) -> None:
        """Releases all tables."""
        self._registry.release_but(())


def _first(query: Query, most: int) -> Query:
    """A query for the first rows of each partition, one more than `most`."""
    return everything(query, where=f"(monotonically_increasing_id() & {_IN_PARTITION}) <= {most}")


def _bytes(frame: DataFrame) -> str:
    """SQL of the bytes of the texts and collections of a frame, about."""
    each = ["8"]
    for name, type in frame.dtypes:
        if type in ("string", "binary"):
            each.append(f"octet_length({name})")
        elif type.startswith(("array", "map")):
            each.append(f"16 * size({name})")
    return f"sum(CAST({' + '.join(each)} AS BIGINT))" if len(each) > 1 else "0"


def _whole(column: pa.ChunkedArray, type: pa.DataType) -> pa.Array:
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return array if array.type == type else array.cast(type)
