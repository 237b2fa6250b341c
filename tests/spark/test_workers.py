"""Sessions on Spark whose state is in workers: what becomes of them when workers are killed, or are done."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ddlog
from ddlog import SparkOptions

from ..trying import longer
from .streaming import Source, contents, program, run_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="workers are found in /proc")
ON_WORKERS = SparkOptions(driver_rows=0, workers=2)


def workers() -> set[int]:
    """The processes on this machine that work for sessions."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"ddlog.engine.shards.worker" in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    return found


def kill(*processes: int) -> None:
    """Ends processes as a failing machine does."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


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
