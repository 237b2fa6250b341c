"""Random programs whose state is in a folder: a session that ends after any epoch changes nothing, nor does
the grouping of changes into transactions, and both runtimes agree."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, seed
from hypothesis import strategies as st

import ddlog
from ddlog.engine.spark.runtime import SparkOptions

from ..programs.random_programs import programs, timed_programs, timed_transactions, transactions
from ..state.test_same import Stream, apply, held
from .alike import sampled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FEW = SparkOptions(partitions=1)
OUTGROWING = SparkOptions(driver_rows=6, partitions=2)


@pytest.mark.parametrize("options, count", [(FEW, 4), (OUTGROWING, 2)], ids=["few", "outgrowing"])
def test_closing_and_opening_changes_nothing(spark: SparkSession, options: SparkOptions, count: int) -> None:
    @seed(7)
    @sampled(count)
    @given(timed_programs(), timed_transactions(), st.lists(st.booleans(), min_size=1))
    def check(text: str, stream: Stream, closed: list[bool]) -> None:
        program = ddlog.compile(text)
        with tempfile.TemporaryDirectory() as home, program.session() as plain:
            plain.start()
            place = Path(home) / "s"
            kept = program.session(spark=spark, spark_options=options, state=place)
            try:
                for number, transaction in enumerate(stream):
                    assert apply(kept, transaction) == apply(plain, transaction)
                    if closed[number % len(closed)]:
                        kept.close()
                        kept = program.session(spark=spark, spark_options=options, state=place)
                        assert held(kept) == held(plain)
            finally:
                kept.close()

    check()


def test_any_grouping_of_changes_gives_the_same(spark: SparkSession) -> None:
    @seed(7)
    @sampled(2)
    @given(programs(), transactions(), st.integers(2, 5))
    def check(text: str, stream: Stream, size: int) -> None:
        program, changes = ddlog.compile(text), [change for transaction in stream for change in transaction]
        with tempfile.TemporaryDirectory() as home, program.session() as plain:
            apply(plain, changes)
            for number, count in enumerate((1, size, max(1, len(changes)))):
                place = Path(home) / f"{number}"
                for start in range(0, len(changes), count):
                    with program.session(spark=spark, spark_options=FEW, state=place) as session:
                        apply(session, changes[start : start + count])
                with program.session(spark=spark, spark_options=FEW, state=place) as session:
                    assert held(session) == held(plain)

    check()
