"""States in folders whose commits are not there when they return: durabilities `interval` and `exit`."""

from __future__ import annotations

import atexit
import errno
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from ddlog.durability import background
from ddlog.durability import log as durability_log
from ddlog.durability.log import Durability, Log
from ddlog.engine.spark.tables import arrow_schema
from ddlog.errors.diagnostics import DDlogError
from ddlog.sessions.program import compile
from ddlog.sessions.session import Session
from ddlog.sessions.transactions.durable_state import StateListener
from ddlog.spark.state import durable, log
from ddlog.spark.state.files import LocalFiles
from ddlog.spark.state.folder import StateFolder
from ddlog.spark.state.log import FolderEpoch, FolderWriter

from .test_folder import (
    CODEC,
    COMMITS,
    PROGRAM,
    PROGRAM_OF_R,
    ROWS,
    SCHEMA,
    SCRIPT,
    STATES,
    STORED,
    append,
    contents,
    dying,
    folds,
    opened,
    session_on,
    told,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LATE: list[Durability] = ["interval", "exit"]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits does so until a test asks for it, and goes together."""
    monkeypatch.setattr(background, "INTERVAL", 1000)
    monkeypatch.setattr(log, "_APART", 0)


def spans(session: Session) -> list[tuple[int, int]]:
    """The epochs of the spans in the folder of a session."""
    keeping = session.state.durable
    assert isinstance(keeping, durable.FolderDurable)
    return [(span.first, span.last) for span in keeping.folder.manifest.spans]


@dataclass
class Finished(StateListener):
    """Notes the epochs that are on disk."""

    epochs: list[int]

    def on_disk(self, epoch: int) -> None:
        self.epochs.append(epoch)


def log_of(session: Session) -> Log[FolderEpoch]:
    keeping = session.state.durable
    assert isinstance(keeping, durable.FolderDurable)
    return keeping._log


@pytest.mark.parametrize("durability", LATE)
def test_commits_go_to_the_folder_together(
    spark: SparkSession, tmp_path: Path, durability: Durability
) -> None:
    """Epochs that are not read with a delay become one span, and the next session has the same changes."""
    with compile(PROGRAM).session(engine="in-process") as session:
        expected = [told(session, number) for number in range(len(COMMITS))]
        everything = {name: sorted(map(str, session[name].weighted())) for name in ("Edge", "Bag", "Ever")}
    place = tmp_path / "state"
    finished = list[int]()
    with session_on(spark, place, durability=durability) as session:
        assert session.state.durable is not None
        session.state.durable.listen(Finished(finished))
        assert [told(session, number) for number in range(3)] == expected[:3]
        assert (spans(session), finished, session.epoch) == ([], [], 4)
        shutil.copytree(place, tmp_path / "crashed", ignore=shutil.ignore_patterns("lock"))
    assert finished == [4]
    with session_on(spark, tmp_path / "crashed") as session:
        assert session.epoch == 0  # none of them, or all
    with session_on(spark, place, durability=durability) as session:
        assert spans(session) == [(1, 2), (3, 3), (4, 4)]  # PROGRAM reads the epoch before the last
        assert told(session, 3) == expected[3]
    with session_on(spark, place, read_only=True) as session:
        session.start()
        assert {name: sorted(map(str, session[name].weighted())) for name in everything} == everything


def test_a_failed_write_is_tried_again_and_told(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "input relation R(x: u8)\noutput relation S(x: u8)\nS(x) :- R(x)."

    def commit(session: Session, x: int) -> None:
        session.insert("R", (x,))
        session.commit()

    def refuse(*given: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for durability in LATE:
        session = session_on(spark, tmp_path / durability, text, durability=durability)
        commit(session, 1)
        with monkeypatch.context() as patch:
            patch.setattr(LocalFiles, "create", refuse)
            if durability == "interval":
                log_of(session).flush_quietly()
                with pytest.raises(DDlogError, match="2 earlier commits are not on disk yet and cannot be"):
                    commit(session, 2)
                session.rollback()
            patch.setattr(durability_log, "_MANY", 0)
            if durability == "interval":
                log_of(session)._failed = False
                with pytest.raises(DDlogError, match="3 earlier commits are not on disk yet and cannot be"):
                    commit(session, 3)
                session.rollback()
            else:
                with pytest.raises(DDlogError, match="2 earlier commits are not on disk yet"):
                    log_of(session).finish()
        commit(session, 4)
        session.close()
        with session_on(spark, tmp_path / durability, text) as session:
            assert list(session["S"].tuples()) == [(1,), (4,)]
        assert len(list((tmp_path / durability / "data").iterdir())) == 2
    at_exit = list[Any]()
    monkeypatch.setattr(atexit, "register", at_exit.append)
    session_on(spark, tmp_path / "open", text, durability="exit").start()
    at_exit[0]()
    assert opened(LocalFiles(tmp_path / "open")).manifest.epoch == 1
    session = session_on(spark, tmp_path / "closed", text, durability="exit")
    commit(session, 1)
    with monkeypatch.context() as patch:
        patch.setattr(LocalFiles, "write", refuse)
        with pytest.raises(DDlogError, match="2 earlier commits are not on disk yet"):
            session.close()
    session_on(spark, tmp_path / "closed", text).close()  # nobody holds it


def test_at_most_a_second_later(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "INTERVAL", 0.05)
    text = "input relation R(x: u8)\noutput relation S(x: u8)\nS(x) :- R(x)."
    with session_on(spark, tmp_path, text, durability="interval") as session:
        session.insert("R", (1,))
        session.commit()
        until = time.monotonic() + 20
        while not spans(session) and time.monotonic() < until:
            time.sleep(0.01)
        assert spans(session)[-1][1] == 2


@pytest.mark.parametrize("durability", LATE)
def test_the_past_of_commits_that_wait(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: Durability
) -> None:
    """It is told of few commits; many become one."""
    monkeypatch.setattr(log, "_APART", 3)
    text = "input relation R(x: u8)\noutput relation S(x: u8)\nS(x) :- R(x)."
    with session_on(spark, tmp_path, text, durability=durability) as session:
        for x in (1, 2):
            session.insert("R", (x,))
            session.commit()
        assert session.changes_of(3).rows("S") == [((2,), 1)]
        with session.at(2) as past:
            assert list(past["S"].tuples()) == [(1,)]
        for x in range(3, 8):
            session.insert("R", (x,))
            session.commit()
        assert session.changes_of(8).rows("S") == [((7,), 1)]
        with pytest.raises(DDlogError, match="no record of epoch 6: the state has the epochs 8 to 8"):
            session.changes_of(6)
    with session_on(spark, tmp_path, text) as session:
        assert session.size("S") == 7


# ---------------------------------------------------------------- without Spark


def log_on(folder: StateFolder, durability: Durability) -> Log[FolderEpoch]:
    writer = FolderWriter(folder, PROGRAM_OF_R, STORED, set(), 0)  # type: ignore[arg-type]
    return Log(writer, durability, lambda epoch: None)


def changes(rows: list[tuple[int, str, int]]) -> list[Any]:
    """The changes of an epoch, as rows of the driver."""
    data = [CODEC.encode(each, [row[k] for row in rows]) for k, each in enumerate(SCHEMA)]
    weights = pa.array([row[2] for row in rows], pa.int64())
    table = pa.Table.from_arrays([*data, weights], schema=arrow_schema(CODEC, SCHEMA))
    return [(ROWS, SimpleNamespace(local=table))] if rows else []


def run(folder: StateFolder, durability: Durability, staged: bool) -> Iterator[int]:
    """Appends SCRIPT, and gives the epochs that are in the folder for sure."""
    kept = log_on(folder, durability)
    for epoch, rows in enumerate(SCRIPT, 1):
        kept.append(epoch, changes(rows), [f"id {epoch}"])
        if durability == "interval" and epoch % 4 == 0:
            kept.finish()
            yield epoch
        if staged and epoch == 3:
            kept._write(False)
    kept.finish()
    yield len(SCRIPT)


@pytest.mark.parametrize("durability", LATE)
@pytest.mark.parametrize("half", [False, True])
def test_a_crash_loses_whole_commits(tmp_path: Path, durability: Durability, half: bool) -> None:
    """Those since the last manifest; with durability `exit`, all or none."""
    steps, dead = 0, ["not yet"]
    while dead:
        steps += 1 + half
        place = tmp_path / str(steps)
        folder, done = opened(LocalFiles(place)), 0
        with dying(steps, half) as dead:
            for done in run(folder, durability, steps % 2 == 0):  # noqa: B007
                pass
        folder.close()
        again = opened(LocalFiles(place))
        epoch = again.manifest.epoch
        assert epoch in ((0, 4, 6) if durability == "interval" else (0, 6)) and epoch >= done
        assert contents(again) == STATES[epoch]
        assert folds(again).ids() == {f"id {n}" for n in range(1, epoch + 1)}
        assert len(list((place / "data").glob("*"))) == len(again.manifest.spans) if epoch else True
        for rows in SCRIPT[epoch:]:
            append(again, rows)
        assert contents(again) == STATES[-1]
        again.close()
    assert steps > 4


def test_what_is_being_written_stays(tmp_path: Path) -> None:
    """A fold beside a commit leaves the files of the commit, which nothing names yet."""
    folder = opened(LocalFiles(tmp_path))
    for rows in SCRIPT[:3]:
        append(folder, rows)
    kept = log_on(folder, "exit")
    kept.append(4, changes(SCRIPT[3]), [])
    kept._write(False)
    assert folds(folder).fold(whole=True)
    kept.finish()
    folder.close()
    again = opened(LocalFiles(tmp_path))
    assert contents(again) == STATES[4]
    again.close()
