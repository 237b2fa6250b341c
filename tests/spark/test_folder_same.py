"""Random programs whose state is in a folder: a session that ends after any epoch changes nothing, nor does
the grouping of changes into transactions, and both runtimes agree."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, seed
from hypothesis import strategies as st

import ddlog
from ddlog.engine.spark.runtime import SparkOptions

from ..programs.random_programs import programs, timed_programs, timed_transactions, transactions
from ..state.test_same import Stream, go_on, group
from .alike import sampled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FEW = SparkOptions(partitions=1)
OUTGROWING = SparkOptions(driver_rows=6, partitions=2)


@pytest.mark.parametrize("options, count", [(FEW, 4), (OUTGROWING, 1)], ids=["few", "outgrowing"])
def test_closing_and_opening_changes_nothing(spark: SparkSession, options: SparkOptions, count: int) -> None:
    opened = partial(ddlog.Program.session, spark=spark, spark_options=options)

    @seed(7)
    @sampled(count)
    @given(timed_programs(), timed_transactions(), st.lists(st.booleans(), min_size=1))
    def check(text: str, stream: Stream, closed: list[bool]) -> None:
        go_on(opened, text, stream, closed)

    check()


def test_any_grouping_of_changes_gives_the_same(spark: SparkSession) -> None:
    opened = partial(ddlog.Program.session, spark=spark, spark_options=FEW)

    @seed(7)
    @sampled(2)
    @given(programs(), transactions(), st.integers(2, 5))
    def check(text: str, stream: Stream, size: int) -> None:
        group(opened, text, stream, size)

    check()
