"""Streams that end in the middle and are started again: no batch is lost, none is applied or told twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ddlog
from ddlog.console.epochfiles import EpochFiles
from ddlog.errors.diagnostics import DDlogError
from ddlog.sessions.program import compile
from ddlog.sessions.session import Session
from ddlog.spark.streaming import checkpoint as log
from ddlog.spark.streaming import epochs, identity, inputchange, past
from ddlog.spark.streaming.checkpoint import Checkpoint, open_checkpoint
from ddlog.spark.streaming.stream import epochs_of

from .streaming import PATHS, Source, Told, closure, contents, edge, edges, program, run_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Crash(BaseException):
    """The process is gone: nothing of it runs on."""


def crashing(at: int = 1, *, after: bool = False, of: Callable[..., Any]) -> Callable[..., Any]:
    """A function that ends the process when it is called for the `at`-th time: before, or after its work."""
    calls = 0

    def call(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at and not after:
            raise Crash
        result = of(*arguments, **named)
        if calls == at:
            raise Crash
        return result

    return call


def forget(session: Session) -> None:
    """What the end of a process does: the lock is free, the state is gone."""
    found = session.streams
    if found.checkpoint is not None:
        found.checkpoint.close()


# Where the second of three batches ends the process: which function, and before or after it.
POINTS = {
    "before its data is written": (epochs, "write_change", False),
    "when its data is written": (epochs, "write_change", True),
    "in the commit": (Session, "commit", False),
    "after the commit": (Session, "commit", True),
    "before it is recorded": (Checkpoint, "record", False),
    "while its file is written": (log.os, "replace", False),
    "before Spark knows": (Checkpoint, "record", True),
}


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_loses_and_repeats_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    source, told, state = edges(spark, tmp_path / "in"), Told(), tmp_path / "state"
    source.put(edge(1, 2), edge(2, 3))
    source.put(edge(3, 4), edge(2, 3, "-1"))
    session = program().session(engine="in-process")
    owner, name, after = POINTS[point]
    with monkeypatch.context() as patch:
        at = 3 if name == "replace" else 2  # the first writes the header
        patch.setattr(owner, name, crashing(at, after=after, of=getattr(owner, name)))
        with pytest.raises(Crash):
            run_once(session, source, "Edge", on_change=told, checkpoint=state)
    forget(session)
    recorded = point == "before Spark knows"
    if told.batches[-1][0] == 1 and not recorded:
        told.batches.pop()  # told of and not recorded: it is told of again
    source.put(edge(2, 5))
    with program().session(engine="in-process") as again:
        running = run_once(again, source, "Edge", on_change=told, checkpoint=state)
        assert running.applied == (1 if recorded else 2)
        assert contents(again, "Path") == told.sum("Path") == closure({(1, 2), (3, 4), (2, 5)})
        assert [batch for batch, _ in told.batches] == [0, 1, 2]
        forget(again)


def test_what_was_applied_and_not_told_is_told_by_the_same_session(
    spark: SparkSession, tmp_path: Path
) -> None:
    visits, state = Source(spark, tmp_path / "in", "at INT"), tmp_path / "state"
    visits.put({"at": 1}, {"at": 1})
    told: list[int] = []

    def tell(changes: Any, batch: int) -> None:
        told.append(batch)
        if len(told) == 1:
            raise RuntimeError("the receiver is ill")

    with program().session(engine="in-process") as session:
        with pytest.raises(RuntimeError, match="is ill"):
            run_once(session, visits, "Visit", on_change=tell, checkpoint=state)
        run_once(session, visits, "Visit", on_change=tell, checkpoint=state)
        assert told == [0, 0]
        assert [count for _, count in session["Visit"].weighted()] == [2]
        forget(session)


COMPACTION = {
    "before it is in the log": (Checkpoint, "_publish", False),
    "when it is in the log": (Checkpoint, "_publish", True),
    "before what is summed up is gone": (Checkpoint, "sweep", False),
    "when what is summed up is gone": (Checkpoint, "sweep", True),
    "while what is summed up goes": (log.shutil, "rmtree", True),
}


@pytest.mark.parametrize("point", COMPACTION)
@pytest.mark.parametrize("small", [True, False])
def test_a_crash_while_the_log_is_summed_up(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, small: bool
) -> None:
    monkeypatch.setattr(epochs, "_SMALL", 1 << 20 if small else 0)
    declared = compile("input multiset R(x: u8)\noutput multiset S(x: u8)\nS(x) :- R(x).")

    def opened() -> epochs.StreamEpochs:
        session = declared.session(engine="in-process")
        return epochs_of(session, spark, tmp_path / "state")

    def weights(found: epochs.StreamEpochs) -> dict[int, int]:
        return {row.x: count for row, count in found.session["R"].weighted()}

    first = opened()
    for number in range(4):
        rows = [((number,), 1), ((number,), 1), ((9,), -1), ((9,), 1), ((number - 1,), -1)]
        change = inputchange.RowsChange("R", rows if number else rows[:4])
        assert first.apply(epochs.StreamBatch("s", "q", number), [change], epochs.Receiver())
    expected = weights(first)
    assert expected == {0: 1, 1: 1, 2: 1, 3: 2, 9: 1}
    owner, name, after = COMPACTION[point]
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, crashing(1, after=after, of=getattr(owner, name)))
        with pytest.raises(Crash):
            first.compact(2)
    forget(first.session)
    second = opened()
    assert weights(second) == expected
    assert not second.apply(epochs.StreamBatch("s", "q", 3), [], epochs.Receiver())
    second.compact(2)
    assert [entry.base for entry in second.checkpoint.entries] == [True]  # type: ignore[union-attr]
    assert second.apply(
        epochs.StreamBatch("s", "q", 4), [inputchange.RowsChange("R", [((3,), -1)])], epochs.Receiver()
    )
    forget(second.session)
    third = opened()
    assert weights(third) == {**expected, 3: 1}
    assert len(list((tmp_path / "state" / "data").iterdir())) == 2
    forget(third.session)


def test_the_log_is_summed_up_now_and_then(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(epochs, "COMPACT_AFTER", 3)
    session = program().session(engine="in-process")
    found = epochs_of(session, spark, tmp_path / "state")
    assert found.checkpoint is not None
    most = 0
    for number in range(20):
        change = inputchange.RowsChange("Edge", [((number, number + 1), 1), ((number - 2, number - 1), -1)])
        found.apply(epochs.StreamBatch("s", "q", number), [change], epochs.Receiver())
        most = max(most, len(found.checkpoint.entries))
    assert most <= 4
    assert contents(session, "Edge") == {(18, 19), (19, 20)}
    forget(session)


# ---------------------------------------------------------------- the past

TIMED = """
input relation Edge(a: u8, b: u8)
input stream Came(x: u8)
input multiset Bag(x: u8)
Edge(0, 1).
output relation Two(a: u8, b: u8)
output multiset Thrice(x: u8)
output stream Now(x: u8, y: u8)
output relation Ever(x: u8)
output stream Late(x: u8)
relation Path(a: u8, b: u8)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
Two(a, b) :- Path-2(a, b), not Path(a, b).
Thrice(x) :- Bag-3(x), Bag(x).
Now(x, y) :- Came(x), Path-1(x, y).
Ever(x) :- Came'(x).
Ever(x) :- Ever-1(x), not Edge(x, x).
Late(x) :- Came-2(x).
Late(y) :- Now-1(_, y).
"""
BATCHES = [
    [("Edge", [((1, 2), 1), ((2, 3), 1)]), ("Came", [((1,), 1), ((1,), 1), ((5,), 1)])],
    [("Bag", [((7,), 1), ((7,), 1), ((8,), 1)]), ("Came", [((2,), 1)])],
    [("Edge", [((1, 2), -1), ((3, 4), 1)])],
    [("Came", [((2,), 1), ((3,), 1)]), ("Bag", [((7,), -1)])],
    [("Edge", [((5, 5), 1)]), ("Came", [((9,), 1)])],
    [("Edge", [((1, 2), 1), ((5, 5), -1)]), ("Came", [((1,), 1)])],
    [("Bag", [((8,), -1), ((7,), 1)])],
    [("Came", [((0,), 1)]), ("Edge", [((2, 3), -1)])],
]


def applied(session: Session, spark: SparkSession, place: Path | None, first: int, last: int) -> list[Any]:
    """The changes of some of BATCHES, each an epoch of a stream."""
    told: list[Any] = []
    found = epochs_of(session, spark, place)

    def tell(changes: Any, number: int) -> None:
        told.append({name: changes.rows(name) for name in sorted(changes) if changes.rows(name)})

    for number in range(first, last):
        changes = [inputchange.RowsChange(name, rows) for name, rows in BATCHES[number]]
        found.apply(epochs.StreamBatch("s", "q", number), changes, epochs.Receiver(tell))
    return told


@pytest.mark.parametrize("engine", ["in-process", "spark"])
def test_streams_and_delays_go_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """A session that ends after any epoch and goes on has the same changes."""
    declared, end = compile(TIMED), len(BATCHES) if engine == "in-process" else 4
    with declared.session(engine="in-process") as session:
        expected = applied(session, spark, None, 0, end)
        contents_at_end = {name: sorted(session[name].weighted()) for name in ("Two", "Ever", "Thrice")}
    if engine == "spark":  # as if there were many rows
        monkeypatch.setattr(past, "_SMALL", -1)
        monkeypatch.setattr(past, "_FEW", 0)
    else:
        monkeypatch.setattr(epochs, "COMPACT_AFTER", 2)
    cuts = range(1, end) if engine == "in-process" else (3,)
    for cut in cuts:
        place = tmp_path / str(cut)
        session = declared.session(engine=engine)
        assert applied(session, spark, place, 0, cut) == expected[:cut]
        forget(session)
        session = declared.session(engine=engine)
        assert applied(session, spark, place, cut, end) == expected[cut:]
        assert {name: sorted(session[name].weighted()) for name in contents_at_end} == contents_at_end
        forget(session)
    place = tmp_path / "each"
    for number in range(end) if engine == "in-process" else ():
        session = declared.session(engine=engine)
        assert applied(session, spark, place, number, number + 1) == expected[number : number + 1]
        forget(session)


def test_a_relation_that_is_read_with_a_delay_follows_other_rules(
    spark: SparkSession, tmp_path: Path
) -> None:
    declared = compile("input relation R(x: u8)\noutput relation S(x: u8)\nS(x) :- R(x).")
    later = compile(
        "input relation R(x: u8)\nrelation T(x: u8)\noutput relation S(x: u8)\n"
        "T(x + 10) :- R(x).\nS(x) :- T-1(x)."
    )
    one, two, three = ([inputchange.RowsChange("R", [((x,), 1)])] for x in (1, 2, 3))
    for number, (each, change) in enumerate([(declared, one), (later, two), (later, three)]):
        session = each.session(engine="in-process")
        found = epochs_of(session, spark, tmp_path / "state")
        found.apply(epochs.StreamBatch("s", "q", number), change, epochs.Receiver())
        assert contents(session, "S") == [{(1,)}, {(11,)}, {(11,), (12,)}][number]
        forget(session)


def test_commits_before_the_streams_have_a_past_too(spark: SparkSession, tmp_path: Path) -> None:
    def begun(commits: int) -> Session:
        session = compile(TIMED).session(engine="in-process")
        for x in range(commits):
            session.insert("Edge", (x, x + 1), (x, x + 7))
            session.insert("Came", (x,))
            session.commit()
        return session

    for commits in (2, 5):
        with begun(commits) as session:
            expected = applied(session, spark, None, 0, 6)
        place = tmp_path / str(commits)
        for first, last in [(0, 1), (1, 2), (2, 6)]:
            session = begun(commits)
            assert applied(session, spark, place, first, last) == expected[first:last]
            forget(session)


def test_commits_beside_the_log_are_refused_where_they_count(spark: SparkSession, tmp_path: Path) -> None:
    with compile(TIMED).session(engine="in-process") as session:
        applied(session, spark, tmp_path / "state", 0, 1)
        session.commit()
        with pytest.raises(DDlogError, match="a commit that no stream made"):
            applied(session, spark, tmp_path / "state", 1, 2)
        forget(session)


# ---------------------------------------------------------------- files of changes


def test_files_of_changes_appear_when_their_epoch_is_recorded(spark: SparkSession, tmp_path: Path) -> None:
    home = tmp_path / "changes"
    session = program().session(engine="in-process")
    session.insert("Edge", (1, 2))
    changes = session.commit()
    files = EpochFiles(session, ["Path"], tmp_path)
    files.continue_after(-1)
    for epoch in (0, 1):
        files.write(changes, epoch)
    files.publish(0)
    assert sorted(path.name for path in home.iterdir()) == [".epoch=1", "epoch=0"]
    files.continue_after(0)  # 1 was not recorded: it comes again
    assert [path.name for path in home.iterdir()] == ["epoch=0"]
    files.write(changes, 1)
    files.continue_after(1)  # 1 was recorded, and the process ended before it could be shown
    assert sorted(path.name for path in home.iterdir()) == ["epoch=0", "epoch=1"]
    text = '{"insert": {"Path": {"from": 1, "to": 2}}}\n{"commit": true}\n'
    assert (home / "epoch=1" / "changes.jsonl").read_text("utf-8") == text
    with pytest.raises(DDlogError, match="holds the changes of another run"):
        EpochFiles(session, ["Path"], tmp_path).continue_after(0)


# ---------------------------------------------------------------- what is refused


def inputs() -> dict[str, Any]:
    """The description of some inputs."""
    return identity.described_inputs(program(), program().checked.typedefs)


def test_a_checkpoint_is_used_by_one_at_a_time(tmp_path: Path) -> None:
    held = open_checkpoint(tmp_path, inputs())
    with pytest.raises(DDlogError, match="another session is using"):
        open_checkpoint(tmp_path, inputs())
    held.close()
    open_checkpoint(tmp_path, inputs()).close()


def test_other_rules_may_go_on_and_other_inputs_not(spark: SparkSession, tmp_path: Path) -> None:
    source, state = edges(spark, tmp_path / "in"), tmp_path / "state"
    source.put(edge(1, 2))
    with program().session(engine="in-process") as session:
        run_once(session, source, "Edge", checkpoint=state)
        forget(session)
    other = compile(PATHS + "output relation Back(a: u32, b: u32)\nBack(b, a) :- Path(a, b).")
    source.put(edge(2, 3))
    with other.session(engine="in-process") as session:
        assert run_once(session, source, "Edge", checkpoint=state).applied == 1
        assert contents(session, "Back") == {(2, 1), (3, 2), (3, 1)}
        assert session.streams.other_program is False  # the last epoch is its own
        forget(session)
    for before, now, what in [
        ("input multiset", "input relation", "Visit differs in its kind"),
        ("name: string)", "name: istring)", "Name differs in its columns"),
        (" primary key (x) x.at", "", "Name differs in its primary key"),
    ]:
        changed = compile(f"typedef istring = T{{x: string}}\n{PATHS}".replace(before, now))
        with changed.session(engine="in-process") as session, pytest.raises(DDlogError, match=what):
            run_once(session, source, "Edge", checkpoint=state)


def test_a_changed_type_is_another_input() -> None:
    text = "typedef T = A{x: u8} | B\ntypedef P = P{t: T}\ninput relation R(p: P)"
    described = [
        identity.described_inputs(each, each.checked.typedefs)
        for each in (compile(text), compile(text.replace("A{x: u8}", "A{x: u16}")), compile(text + "\n"))
    ]
    assert described[0] != described[1]
    assert described[0] == described[2]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda state: (state / "log" / "epoch-0000000001.json").unlink(), "epoch 1 is missing"),
        (lambda state: (state / "log" / "epoch-0000000001.json").write_text("{"), "is not what was written"),
        (lambda state: (state / "ddlog.json").write_text('{"format": 7}'), "another version"),
        (
            lambda state: (state / "data" / "epoch-0000000001").rename(state / "elsewhere"),
            "data/epoch-0000000001/0-Edge is missing",
        ),
        (lambda state: (state / "streams" / "Edge" / "metadata").unlink(), "Spark's part is missing"),
        (lambda state: [each.unlink() for each in (state / "log").iterdir()], "the log knows none"),
    ],
)
def test_a_damaged_checkpoint_is_no_reason_to_guess(
    spark: SparkSession, tmp_path: Path, spoil: Callable[[Path], None], message: str
) -> None:
    source, state = edges(spark, tmp_path / "in"), tmp_path / "state"
    for number in range(3):
        source.put(edge(number, number + 1))
    with program().session(engine="in-process") as session:
        run_once(session, source, "Edge", checkpoint=state)
        forget(session)
    spoil(state)
    source.put(edge(7, 8))
    with program().session(engine="in-process") as session, pytest.raises(DDlogError, match=message):
        run_once(session, source, "Edge", checkpoint=state)


def test_other_places_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DDlogError, match="must be a directory that this machine"):
        open_checkpoint("s3a://bucket/state", inputs())
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(DDlogError, match="holds other files, not a checkpoint"):
        open_checkpoint(tmp_path, inputs())
    with pytest.raises(DDlogError, match="cannot be used: "):
        open_checkpoint(tmp_path / "mine.txt", inputs())
    open_checkpoint(f"file://{tmp_path}/new state", inputs()).close()
    assert (tmp_path / "new state" / "ddlog.json").exists()


# ---------------------------------------------------------------- a real end

DRIVER = """
import sys, time
from pathlib import Path
from pyspark.sql import SparkSession
import ddlog
from ddlog.sessions.session import Session
from ddlog.spark.streaming.checkpoint import Checkpoint
sys.path.insert(0, sys.argv[1])
from streaming import Told, edges, program, run_once
place, point = Path(sys.argv[2]), sys.argv[3]
owner = {"commit": Session, "record": Checkpoint}[point]
work, calls = getattr(owner, point), []
def wait_at_the_third(*arguments):
    calls.append(1)
    result = work(*arguments)
    if len(calls) == 3:
        (place / "here").touch()
        time.sleep(600)
    return result
setattr(owner, point, wait_at_the_third)
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
session = program().session(engine="in-process")
run_once(session, edges(spark, place / "in"), "Edge", checkpoint=place / "state")
"""


@pytest.mark.parametrize("point", ["commit", "record"])
def test_the_driver_is_killed_in_an_epoch(spark: SparkSession, tmp_path: Path, point: str) -> None:
    source = edges(spark, tmp_path / "in")
    for number in range(5):
        source.put(edge(number, number + 1), edge(number, number + 10))
    here = str(Path(__file__).parent)
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, here, str(tmp_path), point],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(ddlog.__file__).parent.parent)},
    )
    try:
        for _ in range(1200):
            if (tmp_path / "here").exists() or driver.poll() is not None:
                break
            time.sleep(0.1)
    finally:
        os.killpg(driver.pid, signal.SIGKILL)  # the driver and its JVM
        errors = driver.communicate()[1]
    assert (tmp_path / "here").exists(), errors.decode()
    told = Told()
    with program().session(engine="in-process") as session:
        running = run_once(session, source, "Edge", checkpoint=tmp_path / "state", on_change=told)
        assert [batch for batch, _ in told.batches] == ([2, 3, 4] if point == "commit" else [3, 4])
        assert running.applied == len(told.batches)
        pairs = {(n, m) for n in range(5) for m in (n + 1, n + 10)}
        assert contents(session, "Path") == closure(pairs)
        forget(session)
