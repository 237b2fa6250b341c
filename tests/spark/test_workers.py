"""Sessions on Spark whose state is in workers: what becomes of them when workers are killed, or are done."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ddlog
from ddlog import SparkOptions
from ddlog.engine.memory import Exhausted
from ddlog.engine.shards import runtime
from ddlog.engine.shards.runtime import Sharded
from ddlog.engine.spark import advice
from ddlog.engine.spark import workers as workers_of_spark
from ddlog.engine.spark.settings import is_encrypted
from ddlog.engine.spark.tables import Tables
from ddlog.sessions.session import Session
from ddlog.spark.sessions.connect import end_jobs_at_interrupts

from ..state import test_windows as windows
from ..trying import longer
from .processes import kill, workers
from .streaming import Source, contents, program, run_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="workers are found in /proc")
ON_WORKERS = SparkOptions(driver_rows=0, workers=2)


def test_killed_workers_cost_time_alone(spark: SparkSession, tmp_path: Path) -> None:
    """They are killed between commits and under them; what was committed is there, also in the state."""
    paths, chosen, others = program(), Random(33), workers()
    with (
        paths.session() as here,
        paths.session(spark=spark, spark_options=ON_WORKERS, state=tmp_path) as there,
    ):
        for turn in range(longer(2, 40)):
            chain = [(10 * turn + k, 10 * turn + k + 1) for k in range(1, 30)]
            for session in (here, there):
                session.insert("Edge", *chain)
                session.delete("Edge", (10 * turn + 5, 10 * turn + 6))
            own = sorted(workers() - others)
            killing = threading.Timer(chosen.random() / 5, kill, chosen.sample(own, min(1, len(own))))
            killing.start()
            assert there.commit().rows("Path") == here.commit().rows("Path")
            killing.join()
            assert contents(there, "Path") == contents(here, "Path")
        expected = contents(here, "Path")
    with paths.session(spark=spark, state=tmp_path) as again:
        assert contents(again, "Path") == expected


def test_what_a_question_meets_when_workers_end(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """They end again, and have no memory for the last commit; at last they have."""
    others, full = workers(), Exhausted("Path", 1 << 30, None, ())
    with program().session(spark=spark, spark_options=ON_WORKERS) as session:
        session.insert("Edge", (1, 2), (2, 3))
        session.commit()
        kill(*(workers() - others))
        with monkeypatch.context() as patched:
            patched.setattr(runtime, "_TRIES", 1)
            unheard = mock.patch.object(Sharded, "_start_again")  # as if their end was not heard of yet
            with unheard, pytest.raises(ddlog.DDlogError, match="workers of the session ended"):
                session.size("Path")
            patched.setattr(Sharded, "_together", mock.Mock(side_effect=full))
            with pytest.raises(ddlog.DDlogError, match=r"memory limit of 1\.0 GB is reached, in `Path`"):
                session.size("Path")
        assert session.size("Path") == 3


def test_windows_are_in_workers(spark: SparkSession, tmp_path: Path) -> None:
    """What they hold, and their clocks, come from the driver, outlive workers, and are in the state."""
    program, others = windows.program("relation"), workers()
    some = [[("Event", 1, 3, True), ("Flow", 0, 2, True), ("Now", 0, 1, True), ("Other", 1, 0, True)],
            [("Event", 2, -3, True), ("Event", 1, 0, True), ("Now", 0, 5, True), ("Flow", 1, 5, True)],
            [("Event", 0, -2, True), ("Event", 1, 2, False), ("Flow", 2, -1, True)],
            [("Event", 0, 4, True), ("Flow", 1, 3, True)]]  # fmt: skip

    def opened() -> Session:
        few = SparkOptions(driver_rows=9, workers=2, partitions=1)
        return program.session(spark=spark, spark_options=few, state=tmp_path)

    with program.session() as here:
        there = opened()
        for step, changes in enumerate(some):
            assert windows.commit(there, step, changes) == windows.commit(here, step, changes)
            assert windows.held(there) == windows.held(here)
            if step == 2:
                kill(*(workers() - others))
        assert workers() - others
        there.close()
        with opened() as there:
            assert windows.held(there) == windows.held(here)


def test_a_session_in_workers_begins_anew_with_a_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    with program().session(spark=spark, spark_options=ON_WORKERS) as session:
        session.insert("Name", (1, "a"), (2, "b"))
        session.insert("Visit", (1,), (1,), (2,))
        session.commit()
        visits = Source(spark, tmp_path / "in", "at INT, op INT")
        visits.put({"at": 1, "op": -1}, {"at": 2, "op": -1})
        run_once(session, visits, "Visit", checkpoint=str(tmp_path / "checkpoint"))
        assert contents(session, "Seen") == {(1, "a")}


def test_large_results_go_from_workers_to_executors(spark: SparkSession, tmp_path: Path) -> None:
    """A DataFrame has the rows of the moment at which it was asked for, of any type; workers may end."""
    shapes = ddlog.compile("""
    typedef Shape = Circle{radius: double} | Point
    input relation Drawn(k: s32, at: (s32, s32), shape: Shape, tags: Set<string>, note: Option<string>)
    output relation Copy(k: s32, at: (s32, s32), shape: Shape, tags: Set<string>, note: Option<string>)
    Copy(k, a, s, t, n) :- Drawn(k, a, s, t, n).
    """)
    some = pa.table({
        "k": range(9), "at": [{"0": k, "1": -k} for k in range(9)],
        "shape": ["Circle{1.5}", "Point", "Circle{nan}"] * 3,
        "tags": [["b", "a"], [], ["ä"]] * 3, "note": ["x", None, "y"] * 3,
    })  # fmt: skip
    others = workers()
    with shapes.session(spark=spark, spark_options=ON_WORKERS) as session:
        session.insert("Drawn", spark.createDataFrame(some))
        session.commit()
        rows = set(session["Copy"].tuples())
        kill(*(workers() - others))
        frame = session["Copy"].to_spark()
        written = session.write("Copy", str(tmp_path), "parquet").removeprefix("file:")
        assert pq.read_table(written).num_rows == len(rows) == 9
        session.delete("Drawn", frame.where("k = 3"))
        session.commit()
        assert set(session["Copy"].tuples()) == {row for row in rows if row[0] != 3}
        session.insert("Drawn", frame)
        assert session.commit().rows("Copy") == [(row, 1) for row in rows if row[0] == 3]


LINKS = """
input relation Link(id: s64, from: string, to: string) primary key (x) x.id
input multiset Seen(at: string)
output relation Reach(from: string, to: string)
output relation Count(at: string, n: u64)
Reach(a, b) :- Link(_, a, b).
Reach(a, c) :- Reach(a, b), Link(_, b, c).
Count(at, n) :- Seen(at), var n = at.group_by(at).count().
"""


def links(spark: SparkSession, first: int, end: int) -> Any:
    """A chain, in four partitions."""
    columns = "id", "concat('ä', id) AS `from`", "concat('ä', id + 1) AS to"
    return spark.range(first, end, 1, 4).selectExpr(*columns)


def lose_blocks(spark: SparkSession) -> None:
    """Lets executors lose what they keep, as if they had ended."""
    context: Any = spark.sparkContext
    for stored in context._jsc.getPersistentRDDs().values():
        stored.unpersist()


def test_rows_of_frames_go_from_executors_to_workers(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver gets none of them: neither in a commit, nor to check it, nor when workers end. They are
    encrypted."""

    def refused(*_: object) -> None:
        pytest.fail("the rows came to the driver")

    others, encrypted = workers(), replace(ON_WORKERS, encrypt=True)
    with ddlog.compile(LINKS).session(spark=spark, spark_options=encrypted) as session:
        monkeypatch.setattr(Tables, "collected", refused)
        session.insert("Link", links(spark, 0, 30))
        seen = spark.range(12).selectExpr("concat('ä', id % 3) AS at")
        session.insert("Seen", seen)
        session.commit()
        assert session.size("Reach") == 31 * 30 // 2
        session.delete("Link", links(spark, 5, 6))
        session.delete("Seen", seen.where("at = 'ä1'"))
        session.insert("Link", (40, "ä30", "ä31"))
        changes = session.commit()
        assert changes.rows("Count") == [(("ä1", 1), -1)]
        kill(*(workers() - others))
        assert session.size("Reach") == 6 * 5 // 2 + 26 * 25 // 2
        session.insert("Link", links(spark, 5, 6))
        session.commit()
        assert session.size("Reach") == 32 * 31 // 2
        lose_blocks(spark)
        kill(*(workers() - others))
        assert session.size("Reach") == 32 * 31 // 2
        monkeypatch.undo()
        with pytest.raises(ddlog.DDlogError, match="already has a row with the key 3"):
            session.insert("Link", links(spark, 3, 50).selectExpr("id", "`from`", "'ä0' AS to"))
        session.insert("Link", links(spark, 50, 60))
        session.commit()


def test_rows_that_a_state_keeps(spark: SparkSession, tmp_path: Path) -> None:
    """What went past the driver is in a folder, also of commits that were not the first."""
    with ddlog.compile(LINKS).session(spark=spark, spark_options=ON_WORKERS, state=tmp_path) as session:
        for first in (0, 20):
            session.insert("Link", links(spark, first, first + 10))
            session.commit()
        session.delete("Link", links(spark, 3, 4))
        session.commit()
        expected = contents(session, "Reach")
    with ddlog.compile(LINKS).session(spark=spark, state=tmp_path) as session:
        assert contents(session, "Reach") == expected


@pytest.mark.parametrize("problem", ["are others now", "can no longer be computed"])
def test_rows_that_changed_meanwhile(spark: SparkSession, tmp_path: Path, problem: str) -> None:
    """What executors keep is enough as long as they run; what is read again must be the same."""
    file, others = tmp_path / "links.csv", workers()
    file.write_text("".join(f"{k},{k},{k + 1}\n" for k in range(9)))
    with ddlog.compile(LINKS).session(spark=spark, spark_options=ON_WORKERS) as session:
        session.insert("Link", spark.read.csv(str(file), "id BIGINT, from STRING, to STRING"))
        session.commit()
        if problem == "are others now":
            file.write_text(file.read_text().replace("5,5,6", "5,7,6"))
        else:
            file.unlink()
        kill(*(workers() - others))
        assert session.size("Reach") == 10 * 9 // 2
        lose_blocks(spark)
        kill(*(workers() - others))
        with pytest.raises(ddlog.DDlogError, match=problem):
            session.insert("Link", (77, "a", "b"))


SAYING = """
import print
input relation A(x: s32)
output relation B(x: s32)
B(x) :- A(x), Inspect print(".").
"""


def test_what_is_said_of_a_large_state(spark: SparkSession) -> None:
    """Before it is evaluated: that it stays, and what executors should have."""
    few = SparkOptions(driver_rows=2, workers=2)
    with (
        ddlog.compile(SAYING).session(spark=spark, spark_options=few) as session,
        pytest.warns(ddlog.DDlogWarning, match="3 rows, more than `driver_rows`.*rule with an effect"),
    ):
        session.insert("A", (1,), (2,), (3,))
        session.commit()
    conf = {"spark.master": "yarn", "spark.executor.memory": "2g", "spark.dynamicAllocation.enabled": "true"}
    assert advice.overhead({"spark.master": "local[2]"}) is None
    assert advice.overhead(conf) == 384 << 20
    assert advice.overhead(conf | {"spark.executor.memory": "8g"}) == int((8 << 30) * 0.1)
    assert advice.overhead(conf | {"spark.executor.memoryOverhead": "3000"}) == 3000 << 20
    on_yarn = mock.Mock()
    on_yarn.sparkContext.getConf.return_value = conf
    on_yarn.sparkContext._jsc.sc().getExecutorMemoryStatus().size.return_value = 3
    assert [*advice.notices(on_yarn, 1000, 4)] == [advice.Removed()]
    assert [*advice.notices(on_yarn, 10**7, 4)][1:] == [advice.Overhead(715, 384)]
    assert advice.share(on_yarn, 4) == 192 << 20


def test_executors_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    session = mock.Mock()
    workers_of_spark.launch_on(session)(("nowhere", 1), b"", 1)
    begin = session.range.return_value.mapInArrow.call_args.args[0]
    monkeypatch.setattr(workers_of_spark, "version", lambda _: "0.1")
    with pytest.raises(RuntimeError, match=r"an executor has ddlog 0\.1, and the driver ddlog"):
        next(begin(iter(())))


def test_workers_encrypt_where_spark_does(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package for it, nothing is sent."""
    encrypting, few = "spark.network.crypto.enabled", SparkOptions(driver_rows=2, workers=2)
    assert not is_encrypted(spark)
    monkeypatch.setattr(spark.conf, "get", lambda name, other: "true" if name == encrypting else other)
    assert is_encrypted(spark)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with program().session(spark=spark, spark_options=few) as session:
        session.insert("Edge", (1, 2), (2, 3), (3, 4))
        with pytest.raises(ddlog.DDlogError, match=r"needs cryptography.*is to be encrypted"):
            session.commit()


def test_ctrl_c_while_executors_do_not_answer(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It ends the job that reads a DataFrame, or the wait for workers, and the session goes on."""
    before, context = signal.getsignal(signal.SIGINT), spark.sparkContext
    asleep = "int(java_method('java.lang.Thread', 'sleep', 5000L * id)) AS to"
    slow = spark.range(2).selectExpr("int(id) AS `from`", asleep)

    status, jobs = context.statusTracker(), list[int]()

    def press() -> None:
        while not jobs:
            jobs.extend(status.getActiveJobsIds())
        os.kill(os.getpid(), signal.SIGINT)

    def launched(*_: Any) -> None:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

    end_jobs_at_interrupts(context, signal.default_int_handler)
    try:
        with program().session(spark=spark, spark_options=ON_WORKERS) as session:
            threading.Thread(target=press, daemon=True).start()
            with pytest.raises(KeyboardInterrupt):
                session.insert("Edge", slow)
            while (job := status.getJobInfo(jobs[0])) and job.status == "RUNNING":
                time.sleep(0.01)
            assert job and job.status == "FAILED"
            session.insert("Edge", (1, 2), (2, 3))
            with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
                patched.setattr(workers_of_spark, "launch_on", lambda _: launched)
                session.commit()
            session.insert("Edge", (1, 2), (2, 3))
            assert len(session.commit().rows("Path")) == 3
    finally:
        signal.signal(signal.SIGINT, before)
    assert not caplog.records
