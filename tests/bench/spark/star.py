"""A fact table and a dimension, made by Spark itself, and the plain query over them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from incremental import Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .ours import OnSpark

KEYS = 100_000
CLASSES = 1_000


def facts(spark: SparkSession, rows: int) -> DataFrame:
    """Facts with keys spread evenly and values under 1000."""
    return spark.range(rows).selectExpr(
        "id",
        f"CAST(pmod(id * 7919, {KEYS}) AS INT) AS key",
        "pmod(id * 48271, 1000) AS value",
    )


def dimension(spark: SparkSession) -> DataFrame:
    """The class of each key."""
    return spark.range(KEYS).selectExpr(
        "CAST(id AS INT) AS key", f"CAST(pmod(id, {CLASSES}) AS INT) AS class"
    )


def some_facts(rows: int, turn: int, count: int) -> list[Row]:
    """Some new facts, with ids beyond those of the table, each of another class."""
    start = rows + turn * count
    return [(start + k, (turn * 31 + k * 7) % KEYS, k) for k in range(count)]


def plain(facts: DataFrame, dimension: DataFrame) -> DataFrame:
    """The result of the program, as a plain Spark query."""
    return (
        facts.join(dimension, "key")
        .groupBy("class")
        .agg({"id": "count", "value": "sum"})
        .toDF("class", "n", "total")
    )


def load_star(ours: OnSpark, spark: SparkSession, rows: int) -> float:
    """The seconds to load the given number of facts."""
    started = time.perf_counter()
    ours.session.insert("Fact", facts(spark, rows))
    ours.session.insert("Dim", dimension(spark))
    ours.session.commit()
    return time.perf_counter() - started
