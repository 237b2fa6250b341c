"""Rows of relations as Parquet files of a state: written and read by the driver where they are few, by the
executors where they are many.

A file has the columns of the relation under their own names, in the form of Spark's types, and `$weight`. The
sum of the weights of a row over all files of a relation is its weight; 0 means that it is not there.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from ...core import Relation
from ...engine.schema import Schema
from ...engine.spark.arrowrows import netted
from ...engine.spark.sqltext import consolidated, names, quoted
from ...engine.spark.tables import arrow_schema
from ...errors.diagnostics import DDlogError
from ...errors.state import StateDamaged
from ...io.arrowfiles import checked, rows_of_parquet
from ...lowering.builder import column
from ..types.codec import SparkCodec
from .files import Files
from .manifest import RowFiles, StoredFile

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

FolderTable: TypeAlias = "pa.Table | DataFrame"
"""Rows of a relation, on the driver or on the executors: columns c0, c1, … and `w`."""

WEIGHT: Final = "$weight"

EPOCH: Final = "$epoch"
"""The column with the epochs of rows of several epochs, in the history."""

FEW = 100_000
"""The most rows that the driver reads and adds up."""

_FILE_ROWS = 1 << 21  # so that a task can hold the bytes of a file, of which it makes a checksum
_SMALL_FILE = 1 << 20


class RelationRows:
    """The rows of one relation in files. `relation` is its id."""

    def __init__(self, id: int, relation: Relation, codec: SparkCodec) -> None:
        self.id, self.name, self._codec = id, relation.name, codec
        self.schema: Schema = tuple(column(each.name, each.type) for each in relation.columns)
        self.columns = names(self.schema)
        self._file = f"{re.sub(r'[^A-Za-z0-9_]', '_', self.name)}-{id}"
        self._shown = _unique([each.name for each in relation.columns])

    # ------------------------------------------------------------- writing

    def write(self, files: Files, folder: str, rows: pa.Table) -> RowFiles:
        """Writes rows of the driver: columns c0, c1, … and `w`, perhaps their epochs. Raises OSError."""
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        sink, named = io.BytesIO(), [*self._shown, WEIGHT, EPOCH][: rows.num_columns]
        pq.write_table(rows.rename_columns(named), sink, write_page_checksum=True)
        data, name = sink.getvalue(), f"{folder}/{self._file}.parquet"
        files.write(name, data)
        least = pc.min(rows.column("w")).as_py()
        return RowFiles(self.id, rows.num_rows, least or 0, (StoredFile(name, len(data), zlib.crc32(data)),))

    def _write_frame(
        self, files: Files, folder: str, frame: DataFrame, spark: SparkSession
    ) -> tuple[StoredFile, ...]:
        """Lets the executors write rows. Raises OSError, and what Spark raises."""
        place = f"{folder}/{self._file}"
        renamed = zip([*self.columns, "w"], [*self._shown, WEIGHT], strict=True)
        shown = frame.selectExpr(*(f"{old} AS {quoted(new)}" for old, new in renamed))
        shown.write.option("maxRecordsPerFile", _FILE_ROWS).mode("overwrite").parquet(files.url(place))
        files.settle(place)
        made = {f"{place}/{n}": size for n, size in files.sizes(place).items() if n.endswith(".parquet")}
        sums = checksums(spark, files, made)
        return tuple(StoredFile(n, made[n], sums[n]) for n in sorted(made))

    def keep(self, files: Files, folder: str, rows: FolderTable, spark: SparkSession | None) -> RowFiles:
        """Writes rows from where they are. Raises OSError, and what Spark raises."""
        import pyarrow as pa

        if isinstance(rows, pa.Table):
            return self.write(files, folder, rows)
        assert spark is not None
        written = self._write_frame(files, folder, rows, spark)
        part = RowFiles(self.id, 0, 0, written)
        (found,) = self.read_frame(spark, files, [part]).selectExpr("count(*)", "min(w)").collect()
        return RowFiles(self.id, int(found[0]), int(found[1] or 0), written)

    # ------------------------------------------------------------- reading

    def read(
        self, files: Files, parts: Iterable[RowFiles], epochs: tuple[int, int] | None = None
    ) -> pa.Table:
        """The rows of some parts on the driver, one after another; only those of the `epochs` between two, if
        the rows say them. Raises OSError."""
        import pyarrow as pa
        import pyarrow.compute as pc

        found = [arrow_schema(self._codec, self.schema).empty_table()]
        for each in (each for part in parts for each in part.files):
            rows = table_in(files, each)
            if epochs is not None:
                of = rows.column(EPOCH)
                rows = rows.filter(pc.and_(pc.greater_equal(of, epochs[0]), pc.less_equal(of, epochs[1])))
            found.append(self.taken(rows))
        return pa.concat_tables(found).combine_chunks()

    def read_epochs(self, files: Files, part: RowFiles, last: int) -> pa.Table:
        """The rows of a part with the column `$epoch`: that of rows that do not say theirs is `last`. Raises
        OSError."""
        import pyarrow as pa

        found, field = list["pa.Table"](), pa.field(EPOCH, pa.int64(), nullable=False)
        for rows in (table_in(files, each) for each in part.files):
            known = EPOCH in rows.column_names
            epochs = rows.column(EPOCH) if known else pa.array([last] * rows.num_rows, pa.int64())
            found.append(self.taken(rows).append_column(field, epochs))
        return pa.concat_tables(found)

    def taken(self, rows: pa.Table) -> pa.Table:
        """Rows of a file as columns c0, c1, … and `w`."""
        import pyarrow as pa

        wanted = arrow_schema(self._codec, self.schema)
        columns = [rows.column(k).combine_chunks() for k in range(len(wanted))]
        plain = [c if c.type == f.type else c.cast(f.type) for c, f in zip(columns, wanted, strict=True)]
        return pa.Table.from_arrays(plain, schema=wanted)

    def read_frame(
        self,
        spark: SparkSession,
        files: Files,
        parts: Iterable[RowFiles],
        epochs: tuple[int, int] | None = None,
    ) -> DataFrame:
        """The rows of some parts on the executors, one after another; only those of the `epochs` between two,
        if the rows say them."""
        urls = [files.url(each.name) for part in parts for each in part.files]
        types = [self._codec.sql_type(each) for each in self.schema]
        stored = zip([*self._shown, WEIGHT, EPOCH], [*types, "BIGINT", "BIGINT"], strict=True)
        schema = ", ".join(f"{quoted(name)} {type}" for name, type in stored)
        frame = spark.read.schema(schema).parquet(*urls)
        if epochs is not None:
            frame = frame.where(f"{quoted(EPOCH)} BETWEEN {epochs[0]} AND {epochs[1]}")
        renamed = zip([*self._shown, WEIGHT], [*self.columns, "w"], strict=True)
        return frame.selectExpr(*(f"{quoted(old)} AS {new}" for old, new in renamed))

    def sum(self, spark: SparkSession | None, some: Sequence[FolderTable]) -> FolderTable:
        """The rows of tables and frames, each once, with the sum of its weights. Raises ValueError."""
        import pyarrow as pa

        tables = [each for each in some if isinstance(each, pa.Table)]
        if len(tables) == len(some):
            return self._netted(tables)
        assert spark is not None
        frames = [spark.createDataFrame(each) if isinstance(each, pa.Table) else each for each in some]
        frame = reduce(lambda one, other: one.unionAll(other), frames)
        view = f"ddlog_state_{self.id}_{id(frame)}"
        frame.createOrReplaceTempView(view)
        try:
            return spark.sql(str(consolidated(self.columns, view)))
        finally:
            spark.catalog.dropTempView(view)

    def _netted(self, tables: Sequence[pa.Table]) -> pa.Table:
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = arrow_schema(self._codec, self.schema)
        whole = pa.concat_tables([table.cast(wanted) for table in tables]).combine_chunks()
        if self.schema:
            return netted(self._codec, self.schema, whole)
        total = pc.sum(whole.column("w")).as_py() or 0
        return pa.table({"w": [total] if total else []}, wanted)

    def encoded(self, signed: Sequence[tuple[Sequence[Any], int]]) -> pa.Table:
        """Rows of values with weights, as rows of the driver. Raises ValueError."""
        import pyarrow as pa

        values = [[row[k] for row, _ in signed] for k in range(len(self.schema))]
        columns = [self._codec.encode(each, of) for each, of in zip(self.schema, values, strict=True)]
        weights = pa.array([weight for _, weight in signed], pa.int64())
        return pa.Table.from_arrays([*columns, weights], schema=arrow_schema(self._codec, self.schema))

    def decoded(self, rows: pa.Table) -> list[list[object]]:
        """The columns of rows as values. Raises ValueError."""
        return [self._codec.decode(each, rows.column(k)) for k, each in enumerate(self.schema)]

    def difference(self, spark: SparkSession, held: DataFrame, known: FolderTable | None) -> pa.Table:
        """The rows of a session's relation beyond some rows, with weights; on the driver."""
        import pyarrow as pa

        counted = len(held.columns) > len(self.columns)
        frame = (
            held.toDF(*self.columns, "w") if counted else held.toDF(*self.columns).selectExpr("*", "1L AS w")
        )
        change = [frame] if known is None else [frame, negated(known)]
        found = cast("DataFrame", self.sum(spark, change)).toArrow()
        wanted = arrow_schema(self._codec, self.schema)
        columns = [c.combine_chunks().cast(f.type) for c, f in zip(found.columns, wanted, strict=True)]
        return pa.Table.from_arrays(columns, schema=wanted)


def negated(rows: FolderTable) -> FolderTable:
    """Rows with the opposite weights."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(rows, pa.Table):
        return rows.selectExpr(*rows.columns[:-1], "-w AS w")
    at = rows.num_columns - 1
    return rows.set_column(at, rows.field(at), pc.negate(rows.column(at)))


def table_in(files: Files, stored: StoredFile) -> pa.Table:
    """The rows of a file, with their values checked. Raises OSError and DDlogError."""
    data = io.BytesIO(files.read(stored.name))
    try:
        return checked(lambda: rows_of_parquet(data))
    except (ValueError, MemoryError) as error:
        raise DDlogError([StateDamaged(files.root, f"{stored.name}: {error}", "")]) from None


def _unique(columns: Sequence[str]) -> list[str]:
    """Names for columns that differ for Spark, too, which tells no capital letters apart."""
    if len({name.lower() for name in columns}) == len(columns):
        return list(columns)
    return [f"{name}_{k}" for k, name in enumerate(columns)]


def checksums(spark: SparkSession | None, files: Files, sizes: dict[str, int]) -> dict[str, int]:
    """The CRC-32 of files: small ones are read here, large ones by the executors. Raises OSError."""
    large = [name for name, size in sizes.items() if size > _SMALL_FILE and spark is not None]
    found = {name: zlib.crc32(files.read(name)) for name in sizes if name not in set(large)}
    if large and spark is not None:
        frame = spark.read.format("binaryFile").load([files.url(name) for name in large])
        rows = frame.selectExpr("path", "crc32(content) AS sum").collect()
        by_end = {tuple(row["path"].rsplit("/", 4)[1:]): int(row["sum"]) for row in rows}
        for name in large:
            key = tuple(files.url(name).rsplit("/", 4)[1:])
            found[name] = by_end[key] if key in by_end else zlib.crc32(files.read(name))
    return found


def check_files(spark: SparkSession | None, files: Files, stored: Sequence[StoredFile]) -> None:
    """Raises DDlogError if a file is missing, or is not what was written."""
    folders = {each.name.rpartition("/")[0] for each in stored}
    there = {
        f"{folder}/{name}": size for folder in sorted(folders) for name, size in files.sizes(folder).items()
    }
    for each in stored:
        if each.name not in there:
            raise DDlogError([StateDamaged(files.root, f"{each.name} is missing", "")])
        if there[each.name] != each.bytes:
            raise DDlogError([StateDamaged(files.root, f"{each.name} is not what was written", "")])
    sums = checksums(spark, files, {each.name: each.bytes for each in stored})
    for each in stored:
        if sums[each.name] != each.checksum:
            raise DDlogError([StateDamaged(files.root, f"{each.name} is not what was written", "")])
