"""Streams that end in the middle and are started again: no batch is lost, none is applied or told twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ddlog
from ddlog.console.epochfiles import EpochFiles
from ddlog.errors.diagnostics import DDlogError
from ddlog.sessions.persistence.durable import Durable
from ddlog.sessions.program import compile
from ddlog.sessions.session import Session
from ddlog.spark.state.durable import FolderDurable
from ddlog.spark.streaming.epochs import StreamBatch, StreamEpochs
from ddlog.spark.streaming.inputchange import InputChange
from ddlog.spark.streaming.stream import epochs_of

from ..trying import longer
from .streaming import PATHS, WINDOWED, Source, Told, closure, contents, edge, edges, program, run_once

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
    """What the end of a process does: the lock is free, and nothing more is written."""
    kept, session.state.durable = session.state.durable, None
    if isinstance(kept, Durable | FolderDurable):
        kept._background.stop()
    if isinstance(kept, Durable):
        kept.store.close()
    elif isinstance(kept, FolderDurable):
        kept.folder.close()


# Where the second of three batches ends the process: which function, and before or after it.
POINTS = {
    "before the commit": (Session, "commit", False),
    "before it is written": (Durable, "seal", False),
    "when it is written": (Durable, "seal", True),
    "after the commit": (Session, "commit", True),
    "before Spark knows": (StreamEpochs, "apply", True),
}


@pytest.mark.parametrize(
    "point", longer(["before it is written", "when it is written", "before Spark knows"], list(POINTS))
)
def test_a_crash_loses_and_repeats_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    source, told, state = edges(spark, tmp_path / "in"), Told(), tmp_path / "state"
    source.put(edge(1, 2), edge(2, 3))
    source.put(edge(3, 4), edge(2, 3, "-1"))
    session = program().session(engine="in-process")
    owner, name, after = POINTS[point]
    with monkeypatch.context() as patch:
        at = 3 if name == "seal" else 2  # the first is that of the program's facts
        patch.setattr(owner, name, crashing(at, after=after, of=getattr(owner, name)))
        with pytest.raises(Crash):
            run_once(session, source, "Edge", on_change=told, checkpoint=state)
    forget(session)
    recorded = not point.startswith("before") or point == "before Spark knows"
    if told.batches[-1][0] == 1:
        told.batches.pop()  # told of, and Spark does not know: it is told of again
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


def changed(name: str, signed: Sequence[tuple[Any, int]]) -> InputChange:
    """The change of a relation by rows with their signs."""
    deleted, inserted = ([row for row, sign in signed if sign == each] for each in (-1, 1))
    return InputChange(name, deleted, inserted)


def applied(session: Session, spark: SparkSession, place: Path | None, first: int, last: int) -> list[Any]:
    """The changes of some of BATCHES, each an epoch of a stream."""
    told: list[Any] = []
    found = epochs_of(session, spark, place)

    def tell(changes: Any, number: int) -> None:
        told.append({name: changes.rows(name) for name in sorted(changes) if changes.rows(name)})

    for number in range(first, last):
        changes = [changed(name, rows) for name, rows in BATCHES[number]]
        found.apply(StreamBatch("s", "q", number), changes, tell)
    return told


@pytest.mark.parametrize("engine", ["in-process", "spark"])
def test_streams_and_delays_go_on(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    """A session that ends after any epoch and goes on has the same changes."""
    declared, end = compile(TIMED), len(BATCHES) if engine == "in-process" else 4
    with declared.session(engine="in-process") as session:
        expected = applied(session, spark, None, 0, end)
        contents_at_end = {name: sorted(session[name].weighted()) for name in ("Two", "Ever", "Thrice")}
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
    one, two, three = ([InputChange("R", (), [(x,)])] for x in (1, 2, 3))
    for number, (each, change) in enumerate([(declared, one), (later, two), (later, three)]):
        session = each.session(engine="in-process")
        found = epochs_of(session, spark, tmp_path / "state")
        found.apply(StreamBatch("s", "q", number), change, None)
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


def test_a_session_on_spark_gives_its_rows_to_the_state(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(2):
        session = program().session(spark=spark)
        if number == 0:
            session.insert("Edge", (1, 2), (2, 3))
            session.insert("Visit", (7,), (7,))
            session.commit()
        found = epochs_of(session, spark, tmp_path / "state")
        found.apply(StreamBatch("s", "q", number), [InputChange("Edge", (), [(3, 4 + number)])], None)
        pairs = {(1, 2), (2, 3), (3, 4), *([(3, 5)] if number else [])}
        assert contents(session, "Path") == closure(pairs)
        assert [count for _, count in session["Visit"].weighted()] == [2]
        forget(session)


def test_commits_between_batches_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    with compile(TIMED).session(engine="in-process") as session:
        expected = applied(session, spark, None, 0, 1)
        session.insert("Edge", (2, 9))
        session.commit()
        expected += applied(session, spark, None, 1, 4)
    found = []
    for first, last in [(0, 1), (1, 4)]:
        session = compile(TIMED).session(engine="in-process")
        found += applied(session, spark, tmp_path / "state", first, last)
        if first == 0:
            session.insert("Edge", (2, 9))
            session.commit()
        forget(session)
    assert found == expected


TIMES = [[(1, 5), (2, 40)], [(3, 9), (4, 31)], [(5, 95), (6, 29)], [(7, 30)], [(8, 200), (9, 130)]]


@pytest.mark.parametrize("engine", ["in-process", "spark"])
def test_windows_follow_streams_durably(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    """A session that ends after a batch and goes on tells what one tells that never ends."""
    declared = compile(WINDOWED)

    def run(session: Session, place: Path | None, first: int, last: int) -> list[Any]:
        told: list[Any] = []
        found = epochs_of(session, spark, place)

        def tell(changes: Any, number: int) -> None:
            told.append({name: changes.rows(name) for name in sorted(changes) if changes.rows(name)})

        for number in range(first, last):
            now = max(time for batch in TIMES[: number + 1] for _, time in batch)
            before = [(row.time,) for row in session["Now"]]
            changes = [InputChange("Event", (), TIMES[number]), InputChange("Now", before, [(now,)])]
            found.apply(
                StreamBatch("s", "q", number),
                changes,
                lambda changes, _: told.append(
                    {n: changes.rows(n) for n in sorted(changes) if changes.rows(n)}
                ),
            )
        return told

    with declared.session(engine=engine) as session:
        expected = run(session, None, 0, len(TIMES))
    for cut in range(1, len(TIMES)) if engine == "in-process" else (2,):
        place, found = tmp_path / str(cut), []
        for first, last in [(0, cut), (cut, len(TIMES))]:
            session = declared.session(engine=engine)
            found += run(session, place, first, last)
            forget(session)
        assert found == expected, cut


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


def test_a_checkpoint_is_used_by_one_at_a_time(spark: SparkSession, tmp_path: Path) -> None:
    with program().session(engine="in-process") as held, program().session(engine="in-process") as other:
        epochs_of(held, spark, tmp_path / "state")
        with pytest.raises(DDlogError, match="is in use by the process"):
            epochs_of(other, spark, tmp_path / "state")
    with program().session(engine="in-process") as session:
        epochs_of(session, spark, tmp_path / "state")


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
        forget(session)
    for before, now, what in [
        ("input multiset", "input relation", r"now input relation Visit\("),
        ("name: string)", "name: istring)", r"now input relation Name\(.*name: istring\)"),
    ]:
        changed = compile(f"typedef istring = T{{x: string}}\n{PATHS}".replace(before, now))
        with changed.session(engine="in-process") as session, pytest.raises(DDlogError, match=what):
            run_once(session, source, "Edge", checkpoint=state)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda state: (state / "state").write_text("{" * 4096), "is not a state of ddlog"),
        (lambda state: (state / "streams" / "Edge" / "metadata").unlink(), "Spark's part is missing"),
        (lambda state: [each.unlink() for each in state.glob("state*")], "the state knows none"),
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


def test_other_places_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    with program().session(engine="in-process") as session:
        with pytest.raises(DDlogError, match="must be a directory that this machine"):
            epochs_of(session, spark, "s3a://bucket/state")
        (tmp_path / "mine.txt").write_text("x")
        with pytest.raises(DDlogError, match=r"a folder with other files, such as mine\.txt"):
            epochs_of(session, spark, tmp_path)
        with pytest.raises(DDlogError, match="cannot be used: "):
            epochs_of(session, spark, tmp_path / "mine.txt")
        epochs_of(session, spark, f"file://{tmp_path}/new state")
        assert (tmp_path / "new state" / "state").exists()


def test_a_stream_needs_commits_on_disk(spark: SparkSession, tmp_path: Path) -> None:
    for durability in ("interval", "exit"):
        place = tmp_path / durability
        with (
            program().session(state=place, durability=durability) as session,
            pytest.raises(DDlogError, match=f"with {durability} batches could be lost"),
        ):
            epochs_of(session, spark, None)


@pytest.mark.parametrize("engine", ["in-process", "spark"])
def test_a_state_knows_the_streams(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    source, told, state = edges(spark, tmp_path / "in"), Told(), tmp_path / "state"
    for number in range(2):
        source.put(edge(number, number + 1))
        with program().session(engine=engine, state=state) as session:
            assert run_once(session, source, "Edge", on_change=told).applied == 1
            assert session.epoch == number + 2
            with pytest.raises(DDlogError, match="cannot be a second checkpoint"):
                run_once(session, source, "Edge", checkpoint=tmp_path / "other")
    assert [batch for batch, _ in told.batches] == [0, 1]
    assert told.sum("Path") == closure({(0, 1), (1, 2)})


# ---------------------------------------------------------------- a real end

DRIVER = """
import sys, time
from pathlib import Path
from pyspark.sql import SparkSession
import ddlog
from ddlog.sessions.session import Session
from ddlog.spark.streaming.epochs import StreamEpochs
sys.path.insert(0, sys.argv[1])
from streaming import Told, edges, program, run_once
place, point = Path(sys.argv[2]), sys.argv[3]
owner = {"commit": Session, "apply": StreamEpochs}[point]
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


@pytest.mark.long
@pytest.mark.parametrize("point", ["commit", "apply"])
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
        assert [batch for batch, _ in told.batches] == [2, 3, 4]
        assert running.applied == 2
        pairs = {(n, m) for n in range(5) for m in (n + 1, n + 10)}
        assert contents(session, "Path") == closure(pairs)
        forget(session)
