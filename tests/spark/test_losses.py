"""Rows that no executor has any more: what is made again, and what a session says of the others.

The blocks of checkpoints are taken away, as if their executors had ended; `test_cluster.py` ends executors.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import ddlog
from ddlog.engine.spark.losses import repeatable
from ddlog.engine.spark.runtime import SparkOptions
from ddlog.spark.sessions.failures import diagnose

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.skipif("DDLOG_TEST_REMOTE" in os.environ, reason="a client cannot take blocks away"),
    pytest.mark.usefixtures("interpreted"),
]

PROGRAM = """
input relation Edge(x: s32, y: s32)
input relation Other(x: s32)
input multiset Seen(x: s32)
output relation Path(x: s32, y: s32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
output relation Degree(x: s32, n: u64)
Degree(x, n) :- Edge(x, y), not Other(y), var n = y.group_by(x).count().
output relation Pair(x: s32, y: s32)
Pair(x, y) :- Edge(x, _), Edge(_, y).
output multiset Times(x: s32)
Times(x) :- Seen(x).
"""
LARGE = SparkOptions(driver_rows=0, small_rows=4)  # four rows are few: the driver has them, too


def take_blocks(spark: SparkSession) -> None:
    """Takes the rows of all checkpoints from the executors."""
    known = spark.sparkContext._jsc.getPersistentRDDs()  # type: ignore[attr-defined]
    for number in list(known):
        known[number].unpersist(True)


def edges(spark: SparkSession) -> DataFrame:
    """A chain, which lies on the executors alone."""
    return spark.range(2).selectExpr("CAST(id AS INT) AS x", "CAST(id + 1 AS INT) AS y")


@contextmanager
def loaded(spark: SparkSession, options: SparkOptions) -> Iterator[ddlog.Session]:
    """A session whose inputs the driver has, too."""
    with ddlog.compile(PROGRAM).session(
        spark=spark, spark_options=options, maintain="always", updates=True
    ) as session:
        session.insert("Edge", *((x, x + 1) for x in range(4)))
        session.insert("Seen", (5,), (5,))
        session.commit()
        yield session


@pytest.mark.parametrize("options", [LARGE, SparkOptions()], ids=["cluster", "driver"])
def test_derived_rows_are_made_again(options: SparkOptions, spark: SparkSession) -> None:
    with loaded(spark, options) as session:
        take_blocks(spark)
        session.delete("Edge", (0, 1))
        session.insert("Other", (2,))
        changes = session.commit()
        assert changes.rows("Path") == [((0, y), -1) for y in (1, 2, 3, 4)]
        assert changes.rows("Degree") == [((0, 1), -1), ((1, 1), -1)]
        take_blocks(spark)
        if options is LARGE:
            with pytest.raises(ddlog.DDlogError, match=r"rows of .*Pair(.|\n)*repeat the request"):
                list(session["Pair"].tuples())
        assert len(list(session["Pair"].tuples())) == 9
        assert list(session["Path"].tuples()) == [(x, y) for x in (1, 2, 3) for y in range(x + 1, 5)]
        session.insert("Edge", (4, 5))
        session.delete("Seen", (5,))
        changes = session.commit()
        assert changes.rows("Path") == [((x, 5), 1) for x in (1, 2, 3, 4)]
        assert changes.rows("Times") == [((5,), -1)]


def test_rows_of_a_transaction_may_be_lost(spark: SparkSession) -> None:
    with loaded(spark, LARGE) as session:
        session.insert("Edge", edges(spark).selectExpr("x + 4 AS x", "y + 4 AS y"))
        take_blocks(spark)
        with pytest.raises(ddlog.DDlogError, match=r"rows of this transaction for Edge"):
            session.commit()
        session.insert("Edge", (4, 5))
        assert session.commit().rows("Path") == [((x, 5), 1) for x in range(5)]


def test_a_session_says_what_is_gone(spark: SparkSession) -> None:
    with ddlog.compile(PROGRAM).session(
        spark=spark, spark_options=SparkOptions(driver_rows=0), updates=True
    ) as session:
        session.insert("Edge", edges(spark))
        session.insert("Other", (1,))
        session.commit()
        take_blocks(spark)
        for _ in range(2):
            session.insert("Other", (9,))
            with pytest.raises(ddlog.DDlogError, match=r"the only copies of rows of .*Edge") as raised:
                session.commit()
            assert "the session has ended" in str(raised.value) and "Other" not in str(raised.value)
        assert list(session["Other"].tuples()) == [(1,)], "the driver has these"
        with pytest.raises(ddlog.DDlogError, match=r"the only copies of rows of .*Edge"):
            session.query("Edge(x, y)")


@pytest.mark.parametrize(
    "rule",
    ["input stream S(x: s32)\nR(x) :- S'(x).", 'import print\nR(x) :- I(x), Inspect print("a").'],
    ids=["stream", "effect"],
)
def test_what_happened_once_is_not_evaluated_again(rule: str) -> None:
    """A stream and an effect; a delayed relation is an input."""
    text = "input relation I(x: s32)\noutput relation R(x: s32)\n"
    assert repeatable(ddlog.compile(text + "R(x) :- I(x), I-1(x).").circuit())
    assert not repeatable(ddlog.compile(text + rule).circuit())


def test_the_cause_is_told_and_not_the_call() -> None:
    from pyspark.errors import PySparkException

    error = PySparkException(
        "An error occurred while calling o38.load.\n: org.apache.hadoop.fs.UnsupportedFileSystemException: "
        'No FileSystem for scheme "s3"\n\tat org.apache.hadoop.fs.FileSystem.get(FileSystem.java:3443)\n'
    )
    found = diagnose(error)
    assert found is not None and 'Spark: no FileSystem for scheme "s3"' in str(ddlog.DDlogError([found]))


def test_an_application_that_has_ended() -> None:
    from pyspark.errors import PySparkException

    found = diagnose(PySparkException("Cannot call methods on a stopped SparkContext."))
    assert found is not None and "Spark has ended" in str(ddlog.DDlogError([found]))
