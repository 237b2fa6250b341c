"""States in folders of programs with windows: a session that goes on is the one that never ended, as in
process."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from hypothesis import example, given
from hypothesis import strategies as st

import ddlog
from ddlog.engine.spark.runtime import SparkOptions
from ddlog.sessions.session import Session
from ddlog.spark.state import contents, folding, log, reports
from ddlog.spark.state import rows as staterows

from ..state.test_windows import EPOCHS, FORGETTING, change_programs, commit, held, program
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
    options = SparkOptions(partitions=1)
    opened = partial(ddlog.Program.session, spark=spark, state=tmp_path, spark_options=options)
    change_programs(opened, partial(reports.described, str(tmp_path)))


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
