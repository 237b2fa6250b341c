"""Changes of an input relation as rows that come (+) and go (-), in Spark and on the driver; their sum.

As a DataFrame a change has the columns _0, _1, … of the relation, `_op`, how many of the row come or (if
negative) go, and `_seq`, which orders changes. Within one `_seq` rows go before rows come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...core import Relation
from ...engine.spark.sqltext import quoted
from ...lowering.building import column
from ...values.rows import Row
from ..types.codec import SparkCodec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Signed = tuple[Row, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """A relation's columns as Spark stores them."""

    relation: Relation
    codec: SparkCodec

    @property
    def names(self) -> list[str]:
        """The columns' names in a change: whatever the relation's are, these do not clash."""
        return [f"_{position}" for position in range(len(self.relation.columns))]

    @property
    def sql_types(self) -> list[str]:
        """The columns' types as Spark writes them."""
        return [self.codec.sql_type(column(each.name, each.type)) for each in self.relation.columns]

    @property
    def stored(self) -> str:
        """The schema of a change in files."""
        pairs = zip((*self.names, "_op", "_seq"), (*self.sql_types, "BIGINT", "BIGINT"), strict=True)
        return ", ".join(f"{name} {type}" for name, type in pairs)

    @property
    def renamed(self) -> str:
        """Text for SELECT: the columns under the relation's own names."""
        pairs = zip(self.names, self.relation.columns, strict=True)
        return ", ".join(f"{name} AS {quoted(each.name)}" for name, each in pairs)


def as_change(rows: DataFrame, layout: Layout, op: int) -> DataFrame:
    """Rows of the relation's columns as a change: all of them come (1) or go (-1)."""
    columns = zip(layout.relation.columns, layout.names, strict=True)
    return rows.selectExpr(*(f"{quoted(each.name)} AS {name}" for each, name in columns), f"{op}L AS _op")


def write_frame(change: DataFrame, sequence: int, folder: Path) -> None:
    """Writes a change, all of which is of one `_seq`; what a failed attempt left is overwritten."""
    stored = change.selectExpr("*", f"{sequence}L AS _seq")
    stored.write.mode("overwrite").parquet(file_url(folder))


def write_rows(rows: Sequence[Signed], layout: Layout, sequence: int, folder: Path) -> None:
    """Writes a change whose rows are here. Raises ValueError for a value that Spark cannot hold."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = layout.relation.columns
    data = [
        layout.codec.encode(column(each.name, each.type), [row[position] for row, _ in rows])
        for position, each in enumerate(columns)
    ]
    data += [pa.array([op for _, op in rows], pa.int64()), pa.array([sequence] * len(rows), pa.int64())]
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    pq.write_table(pa.table(data, [*layout.names, "_op", "_seq"]), folder / "part-0.parquet")


def read_frame(spark: SparkSession, layout: Layout, folders: Iterable[Path]) -> DataFrame:
    """Changes that were written."""
    return spark.read.schema(layout.stored).parquet(*(file_url(folder, glob=True) for folder in folders))


def read_rows(layout: Layout, folders: Iterable[Path]) -> list[Signed]:
    """Changes that were written, here: rows that come (+1) and go (-1), one after another."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    read: list[Signed] = []
    for folder in folders:
        files = sorted(folder.glob("*.parquet"))
        if not files:
            continue
        table = pa.concat_tables(map(pq.read_table, files))
        ops = table["_op"].to_pylist()
        signed = sorted(zip(_values(table, layout), ops, strict=True), key=lambda each: each[1])
        read += [(row, 1 if op > 0 else -1) for row, op in signed for _ in range(abs(op))]
    return read


def file_url(path: Path, *, glob: bool = False) -> str:
    """A path as Spark takes it; where it reads `glob` patterns, their characters are guarded."""
    text = str(path)
    if glob:
        text = "".join(f"\\{each}" if each in "\\{}[]*?," else each for each in text)
    return f"file://{text}"


def folded(spark: SparkSession, layout: Layout, change: DataFrame) -> DataFrame:
    """Changes of many `_seq` as one of none: it has the same effect on any contents of the relation."""
    names = ", ".join(layout.names)
    if layout.relation.kind != "relation":
        text = _MULTISET
    elif layout.relation.key is not None:
        text = _KEYED
    else:
        text = _SET
    return spark.sql(text.format(names=names, change="{change}"), change=change)


# What was said last of a row counts, and coming back counts after going.
_SET = """
SELECT {names}, max(struct(_seq, _op))._op AS _op FROM {change} GROUP BY {names}
"""

# Every insertion and deletion was a legal one, so they add up.
_KEYED = """
SELECT {names}, sum(_op) AS _op FROM {change} GROUP BY {names} HAVING sum(_op) <> 0
"""

# A deletion of what is not there does nothing, so the lowest point of the running count tells how many
# rows go at first; from there on all that follows adds up.
_MULTISET = """
WITH steps AS (
    SELECT {names}, _seq, sum(_op) AS change, sum(greatest(_op, 0L)) AS come
    FROM {change} GROUP BY {names}, _seq
), counts AS (
    SELECT {names}, change,
        sum(change) OVER (PARTITION BY {names} ORDER BY _seq ROWS UNBOUNDED PRECEDING) - come AS low
    FROM steps
), sums AS (
    SELECT {names}, -least(min(low), 0L) AS gone, sum(change) AS net FROM counts GROUP BY {names}
), both AS (
    SELECT {names}, explode(array(-gone, net + gone)) AS _op FROM sums
)
SELECT {names}, _op FROM both WHERE _op <> 0
"""


def folded_rows(relation: Relation, rows: Iterable[Signed]) -> list[Signed]:
    """Rows that come (+1) and go (-1) one after another, as one change."""
    if relation.kind != "relation":
        return list(_multiset(rows))
    if relation.key is None:
        return list(dict(rows).items())
    sums: dict[Row, int] = {}
    for row, op in rows:
        sums[row] = sums.get(row, 0) + op
    return [(row, op) for row, op in sums.items() if op]


def _multiset(rows: Iterable[Signed]) -> Iterator[Signed]:
    gone: dict[Row, int] = {}
    come: dict[Row, int] = {}
    for row, op in rows:
        if op > 0:
            come[row] = come.get(row, 0) + 1
        elif come.get(row, 0):
            come[row] -= 1
        else:
            gone[row] = gone.get(row, 0) - 1
    for counts in (gone, come):
        yield from ((row, count) for row, count in counts.items() if count)


def part(spark: SparkSession, layout: Layout, change: DataFrame, sign: int) -> DataFrame:
    """The rows of a change that come (1) or go (-1), under the relation's names, each as often as it does."""
    text = f"SELECT {layout.renamed} FROM {{change}} WHERE {sign} * _op > 0"
    if layout.relation.kind != "relation":
        names = ", ".join(layout.names)
        text = (
            f"SELECT {layout.renamed} FROM (SELECT {names}, explode(sequence(1L, {sign} * _op)) "
            f"FROM {{change}} WHERE {sign} * _op > 0)"
        )
    return spark.sql(text, change=change)


def signs(spark: SparkSession, change: DataFrame) -> set[int]:
    """Whether a change has rows that come (1), that go (-1)."""
    (row,) = spark.sql("SELECT min(_op) AS least, max(_op) AS most FROM {change}", change=change).collect()
    if row.least is None:
        return set()
    return ({-1} if row.least < 0 else set()) | ({1} if row.most > 0 else set())


def rows_of(change: DataFrame, layout: Layout) -> list[Row]:
    """The rows of a DataFrame of the relation's columns, on the driver."""
    return _values(change.toArrow(), layout)


def _values(table: pa.Table, layout: Layout) -> list[Row]:
    """The rows of an Arrow table that begins with the relation's columns."""
    values = [
        layout.codec.decode(column(each.name, each.type), table.column(position))
        for position, each in enumerate(layout.relation.columns)
    ]
    return list(zip(*values, strict=True))
