"""Look-ups in indexes on Spark: what their patterns say, after rows came and went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sessions.test_indexes import DOT, PROGRAM, check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_an_index_finds_what_its_pattern_says(spark: SparkSession) -> None:
    with PROGRAM.session(spark=spark) as session:
        check(session)
        session.insert("Edge", (0, 1, 0), (1, 2, 1), (2, 0, 0), (1, 1, 0))
        session.insert_rows("Thing", [(0, DOT), (1, (1, 2, 2)), (2, (1, 2, 0))])
        session.insert("Bag", (0, 1), (0, 1), (1, 2))
        session.commit()
        check(session)
        session.delete("Edge", (1, 2, 1))
        session.delete_rows("Thing", [(1, (1, 2, 2))])
        session.delete("Bag", (0, 1))
        session.commit()
        check(session)
