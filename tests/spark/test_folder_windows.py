"""States in folders of programs with windows: a session that goes on is the one that never ended, as in
process."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ddlog
from ddlog.engine.spark.runtime import SparkOptions
from ddlog.errors.diagnostics import DDlogError
from ddlog.sessions.session import Session
from ddlog.spark.state import contents, folding, log, reports
from ddlog.spark.state import rows as staterows

from ..state.test_windows import EPOCHS, FORGETTING, OF_R, commit, held, program, short, times
from ..trying import trying
from .test_folder import session_on

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ddlog.durability.log import Durability


SOME: list[Any] = [
    ([("Event", 1, 3, True), ("Flow", 0, 2, True), ("Now", 0, 1, True), ("Other", 1, 0, True)], True),
    ([("Event", 2, -3, True), ("Event", 1, 0, True), ("Now", 0, 5, True), ("Flow", 1, 5, True)], False),
    ([("Event", 0, -2, True), ("Event", 1, 2, False), ("Flow", 2, -1, True)], True),
]


@trying(1, long=100)
@given(
    st.sampled_from(("relation", "multiset", "stream")),
    EPOCHS,
    st.sampled_from(("plain", "cluster", "large")),
)
@example("multiset", SOME, "large")
@example("relation", SOME, "plain")
def test_closing_and_opening_changes_nothing(spark: SparkSession, kind: str, epochs: list, how: str) -> None:
    """`how`: "large", if executors read and write the rows, and spans are folded."""
    large = how == "large"
    durability: Durability = "commit" if how == "cluster" else "interval"
    options = SparkOptions(partitions=1)

    def opened() -> Session:
        return program(kind).session(spark=spark, state=home, durability=durability, spark_options=options)

    with (
        tempfile.TemporaryDirectory() as home,
        mock.patch.object(staterows, "FEW", -1 if large else staterows.FEW),
        mock.patch.object(contents, "FEW", -1 if large else contents.FEW),
        mock.patch.object(log, "_APART", 0 if large else log._APART),
        mock.patch.object(folding, "FEW", -1 if large else folding.FEW),
        mock.patch.object(folding, "MANY", 4 if large else folding.MANY),
        program(kind).session() as plain,
    ):
        plain.start()
        kept, known = opened(), dict[int, tuple[dict, dict]]()
        for step, (changes, closes) in enumerate(epochs[:4]):
            told = commit(plain, step, changes)
            assert commit(kept, step, changes) == told
            known[kept.epoch] = told, held(plain)
            if closes:
                kept.close()
                kept = opened()
                assert held(kept) == held(plain)
        for epoch, (told, then) in [] if large else list(known.items())[-1:]:
            with kept.at(epoch) as past:
                assert held(past) == then
            changed = kept.changes_of(epoch)
            assert {name: sorted(map(repr, changed.rows(name))) for name in changed} == told
        kept.close()


def test_a_program_that_changes_goes_on_with_its_windows(spark: SparkSession, tmp_path: Path) -> None:
    def session(program: ddlog.Program, **options: Any) -> Session:
        return program.session(
            spark=spark, state=tmp_path, spark_options=SparkOptions(partitions=1), **options
        )

    with session(short()) as kept:
        for time in (10, 13, 19):
            kept.insert("S", (1, time))
            kept.insert("R", (1, time))
            kept.insert("Now", (time,))
            kept.commit()
    with session(short(more="\n// another place in the text\n" + OF_R)) as kept:
        assert times(kept, "Recent") == [10, 13, 19]
        assert times(kept, "OfR") == times(kept, "R") == [19]  # which nothing else reads
        kept.insert("S", (2, 16), (2, 18))
        assert kept.commit().rows("Late") == [((2, 16), 1)]
    with session(short(6), read_only=True) as kept:
        assert times(kept, "Recent") == [13, 18, 19] and times(kept, "R") == [19]
    with session(short(6)) as kept:
        kept.clear("Now")
        kept.commit()
    fails = "output relation F(x: u64)\nF(100 / ((x - 1) as u64)) :- Recent(x, _).\n"
    with session(short(20, fails)) as kept:
        for _ in range(2):
            with pytest.raises(DDlogError, match="division by zero"):
                kept.start()
    with session(short(20)) as kept:
        assert times(kept, "Recent") == [13, 18, 19]  # what has left does not come back
        kept.insert("S", (3, 17))
        assert kept.commit().rows("Late") == [((3, 17), 1)]  # the clock stays
    listed = "\n".join(reports.described(str(tmp_path)))
    assert "window multiset Recent$window(x: bit<32>, time: bit<64>, $time: bit<64>)  3 rows" in listed
    assert "window relation Now$clock($time: bit<64>)  1 row" in listed
    changed = short(20, columns="y: string, time: u64, x: u64")
    with pytest.raises(DDlogError, match=r"window multiset Recent\$window"):
        session(changed)
    with session(changed, migrate={"S.y": "new"}) as kept:
        rows = [row for row, _ in kept["Recent"].weighted()]
        assert sorted((row.time, row.x) for row in rows) == [(13, 1), (18, 2), (19, 1)]


def test_the_folder_does_not_grow_with_what_windows_let_go(spark: SparkSession, tmp_path: Path) -> None:
    for start in (0, 12):
        with session_on(spark, tmp_path, FORGETTING, durability="exit") as session:
            for time in range(start, start + 12):
                session.insert("R", *((x, time) for x in range(5)))
                session.commit()
            assert session.size("R") == session.size("Recent") == 50
        list(reports.compacted(str(tmp_path)))
        listed = "\n".join(reports.described(str(tmp_path)))
        assert "input relation R(x: bit<64>, time: bit<64>)  50 rows" in listed
