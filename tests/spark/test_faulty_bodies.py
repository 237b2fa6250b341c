"""Which faults count on the cluster: those of valuations that the rest of the body does not exclude."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, seed
from hypothesis import strategies as st

import ddlog
from ddlog.engine.spark.runtime import SparkOptions

from ..programs.faulty_bodies import HEADER, Commits, bodies, changes
from ..programs.taken_back import Pair
from .alike import sampled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ON_CLUSTER = SparkOptions(partitions=2)
TWO = "output relation O(k: s32, n: s32)\nO(x, z) :- A(x, y), B(x, z), 4 / (z - x) < 0, 4 / (z - y) {} 0."


def compared(rule: str, commits: Commits, spark: SparkSession) -> None:
    """Compares commits on Spark with those in process."""
    program = ddlog.compile(HEADER + rule)
    with program.session() as here, program.session(spark=spark, spark_options=ON_CLUSTER) as there:
        pair = Pair(there, here, readable=False)
        for each in commits:
            pair.commit(each)
        pair.readable = True
        pair.compare()


@pytest.mark.parametrize("sign", "<>")
def test_two_steps_fault_on_rows_of_one_row(sign: str, spark: SparkSession) -> None:
    first = [("B", (2, 2), 1), ("B", (2, 3), 1)]
    compared(TWO.format(sign), [first, [("A", (2, 3), 1)]], spark)


def test_a_fault_counts_if_its_valuation_is_there(spark: SparkSession) -> None:
    @seed(3)
    @sampled(2)
    @given(bodies(), st.lists(changes(), min_size=1, max_size=3))
    def check(rule: str, commits: Commits) -> None:
        compared(rule, commits, spark)

    check()
