"""Changes of input relations that a batch makes, as DataFrames of Spark or as rows on the driver."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...codegen.sqlvalues import string
from ...core import Relation
from ...engine.spark.settings import is_connect
from ...engine.spark.sqltext import quoted
from ...values.rows import Row
from ..files.read import FactReader
from ..sessions.failures import fault_sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class InputChange:
    """The rows that leave a relation, and those that come after that: rows, or DataFrames of its columns."""

    relation: str
    deleted: DataFrame | Sequence[Row]
    inserted: DataFrame | Sequence[Row]


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


def typed_change(reader: FactReader, rows: DataFrame, relation: Relation, op: str, name: str) -> InputChange:
    """The change by the rows of a DataFrame. Its columns are cast to the relation's types, and a value that
    does not fit ends the job that reads it. A column with the name `op`, unless it is the relation's, holds
    the signs. `name` is how messages call the rows."""
    if op not in rows.columns or op in (each.name for each in relation.columns):
        return InputChange(relation.name, (), reader.table(relation, rows, name))
    sign = _sign(op, name)
    deleted, inserted = (
        reader.table(relation, rows.where(f"{sign} = {each}").drop(op), name) for each in (-1, 1)
    )
    return InputChange(relation.name, deleted, inserted)


def _sign(column: str, name: str) -> str:
    """SQL for the sign, 1 or -1, of a column that holds it as a number or a text."""
    text = f"trim(CAST({quoted(column)} AS STRING))"
    expected = "'expected +1 or -1'"
    fault = fault_sql(string(name), expected, string(column), f"coalesce({text}, 'null')")
    return f"CASE WHEN {text} IN ('1', '+1') THEN 1 WHEN {text} = '-1' THEN -1 ELSE {fault} END"
