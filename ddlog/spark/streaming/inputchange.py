"""Changes of input relations that a batch makes: on Spark as a DataFrame, or on the driver as rows."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...codegen.sqlvalues import string
from ...engine.spark.settings import is_connect
from ...engine.spark.sqltext import quoted
from ...io.columns import TypeDefs
from ..files.read import FactReader
from ..sessions.failures import fault_sql
from .changelog import ChangeColumns, Signed, as_change

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class FrameChange:
    """A change that Spark holds: a DataFrame with the columns that `changelog` describes. `signs` are the
    only signs that its rows can have."""

    relation: str
    frame: DataFrame
    signs: tuple[int, ...] = (-1, 1)


@dataclass(frozen=True, slots=True)
class RowsChange:
    """A change on the driver: insertions (+1) and deletions (-1) of rows, one after another."""

    relation: str
    rows: Sequence[Signed]


InputChange = FrameChange | RowsChange


def runs(rows: Sequence[Signed]) -> Iterator[tuple[int, list[Any]]]:
    """The changes of rows as runs of insertions (+1) or of deletions (-1)."""
    begin = 0
    for position in range(1, len(rows) + 1):
        if position == len(rows) or rows[position][1] != rows[begin][1]:
            yield rows[begin][1], [row for row, _ in rows[begin:position]]
            begin = position


@contextmanager
def bridged(spark: SparkSession, frame: DataFrame) -> Iterator[DataFrame]:
    """A batch in the user's own Spark session. Spark hands it over in a copy of that session, whose temporary
    views are visible nowhere else; through Connect it comes in the user's own."""
    if is_connect(spark):
        yield frame
        return
    name = f"ddlog_{uuid.uuid4().hex}"
    frame.createGlobalTempView(name)
    try:
        yield spark.table(f"{spark.conf.get('spark.sql.globalTempDatabase')}.{name}")
    finally:
        spark.catalog.dropGlobalTempView(name)


def typed_change(
    spark: SparkSession, rows: DataFrame, columns: ChangeColumns, typedefs: TypeDefs, op: str, name: str
) -> FrameChange:
    """The change by the rows of a DataFrame. Its columns are cast to the relation's types, and a value that
    does not fit ends the job that reads it. A column with the name `op`, unless it is the relation's, holds
    the signs. `name` is how messages call the rows."""
    relation = columns.relation
    reader = FactReader(spark, columns.codec, typedefs)
    if op not in rows.columns or op in (each.name for each in relation.columns):
        return FrameChange(relation.name, as_change(reader.table(relation, rows, name), columns, 1), (1,))
    sign = _sign(op, name)
    come, gone = (
        as_change(reader.table(relation, rows.where(f"{sign} = {each}").drop(op), name), columns, each)
        for each in (1, -1)
    )
    return FrameChange(relation.name, come.unionAll(gone), (-1, 1))


def _sign(column: str, name: str) -> str:
    """SQL for the sign, 1 or -1, of a column that holds it as a number or a text."""
    text = f"trim(CAST({quoted(column)} AS STRING))"
    expected = "'expected +1 or -1'"
    fault = fault_sql(string(name), expected, string(column), f"coalesce({text}, 'null')")
    return f"CASE WHEN {text} IN ('1', '+1') THEN 1 WHEN {text} = '-1' THEN -1 ELSE {fault} END"
