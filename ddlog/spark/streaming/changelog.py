"""Changes of an input relation as tables of Spark.

A change has the columns _0, _1, … of the relation, and `_op`, the number of times that the row is inserted
or, if negative, deleted. Deletions come before insertions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core import Relation
from ...engine.spark.sqltext import quoted
from ...lowering.builder import column
from ...values.rows import Row
from ..types.codec import SparkCodec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Signed = tuple[Row, int]


@dataclass(frozen=True, slots=True)
class ChangeColumns:
    """The columns of a relation in tables of its changes."""

    relation: Relation
    codec: SparkCodec

    @property
    def names(self) -> list[str]:
        """The names of the columns, which clash with no other column."""
        return [f"_{position}" for position in range(len(self.relation.columns))]

    @property
    def renamed(self) -> str:
        """Text for SELECT: the columns under the relation's own names."""
        pairs = zip(self.names, self.relation.columns, strict=True)
        return ", ".join(f"{name} AS {quoted(each.name)}" for name, each in pairs)


def as_change(rows: DataFrame, columns: ChangeColumns, op: int) -> DataFrame:
    """Rows of the relation's columns as a change that inserts (1) or deletes (-1) all of them."""
    renamed = zip(columns.relation.columns, columns.names, strict=True)
    return rows.selectExpr(*(f"{quoted(each.name)} AS {name}" for each, name in renamed), f"{op}L AS _op")


def part(spark: SparkSession, columns: ChangeColumns, change: DataFrame, sign: int) -> DataFrame:
    """The rows that a change inserts (1) or deletes (-1), each as often, under the relation's column
    names."""
    text = f"SELECT {columns.renamed} FROM {{change}} WHERE {sign} * _op > 0"
    if columns.relation.kind != "relation":
        names = ", ".join(columns.names)
        text = (
            f"SELECT {columns.renamed} FROM (SELECT {names}, explode(sequence(1L, {sign} * _op)) "
            f"FROM {{change}} WHERE {sign} * _op > 0)"
        )
    return spark.sql(text, change=change)


def signs(spark: SparkSession, change: DataFrame) -> set[int]:
    """The signs of the rows in a change: 1 for insertions, -1 for deletions."""
    (row,) = spark.sql("SELECT min(_op) AS least, max(_op) AS most FROM {change}", change=change).collect()
    if row.least is None:
        return set()
    return ({-1} if row.least < 0 else set()) | ({1} if row.most > 0 else set())


def rows_of(change: DataFrame, columns: ChangeColumns) -> list[Row]:
    """The rows of a DataFrame with the relation's columns, on the driver."""
    return _values(change.toArrow(), columns)


def _values(table: pa.Table, columns: ChangeColumns) -> list[Row]:
    """The rows of an Arrow table that begins with the relation's columns."""
    values = [
        columns.codec.decode(column(each.name, each.type), table.column(position))
        for position, each in enumerate(columns.relation.columns)
    ]
    return list(zip(*values, strict=True))
