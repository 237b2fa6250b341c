"""More than one machine: a master and two workers with their own processes, folders and disks.

In a process of its own, since a process has one classic session. What runs there beside the tests of this
file is chosen to be short; to run all of it: `DDLOG_TEST_CLUSTER=2 pytest tests/spark`. Tasks are tried
again, and slow ones are run a second time, wherever Spark can.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ddlog
from ddlog import SparkOptions

from .cluster import EXECUTOR, Cluster
from .inner import run_inner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHOSEN = "cluster-holdings"
FILES = ["test_cluster.py", "test_parity.py"]
ON_CLUSTER = "DDLOG_TEST_CLUSTER" in os.environ

on_cluster = pytest.mark.needs_cluster

EDGES = """
input relation Edge(x: s32, y: s32)
output relation Degree(x: s32, n: u64)
Degree(x, n) :- Edge(x, y), var n = y.group_by(x).count().
output relation Path(x: s32, y: s32)
Path(x, y) :- Edge(x, y).
"""
PROGRAMS = {
    "joins": EDGES + "Path(x, z) :- Edge(x, y), Edge(y, z).",
    "paths": EDGES + "Path(x, z) :- Path(x, y), Edge(y, z).",
}
CHAIN = {(0, 1), (1, 2)}
PATHS = CHAIN | {(0, 2)}
ON_WORKERS = SparkOptions(driver_rows=0)


@pytest.mark.long
@pytest.mark.java
@pytest.mark.skipif(ON_CLUSTER, reason="this run is on a cluster")
@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs Linux: executors are found in /proc")
def test_a_cluster_gives_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    chosen = f"on_a_cluster and not paths and not tried or {CHOSEN}"
    passed = run_inner(FILES, chosen, ("DDLOG_TEST_CLUSTER", "2"), least=4)
    with capsys.disabled():
        print(f"\na standalone cluster of two workers: {passed}")


@pytest.fixture
def machines(cluster: Cluster | None, spark: SparkSession) -> Iterator[Cluster]:
    """The cluster, with both its executors."""
    assert cluster is not None
    yield cluster
    await_executors(cluster, spark)


def await_executors(cluster: Cluster, spark: SparkSession) -> None:
    """Waits until an executor runs in each worker, after one has ended."""
    known = spark.sparkContext._jsc.sc()  # type: ignore[attr-defined]
    for _ in range(600):
        if len(cluster.executors()) == 2 and known.getExecutorMemoryStatus().size() == 3:
            return
        time.sleep(0.1)
    pytest.fail("the master has not started another executor")


def edges(spark: SparkSession) -> DataFrame:
    """A chain, which lies on the executors alone."""
    return spark.range(2, numPartitions=2).selectExpr("CAST(id AS INT) AS x", "CAST(id + 1 AS INT) AS y")


@on_cluster
@pytest.mark.parametrize("name", PROGRAMS)
def test_on_a_cluster_a_session_outlives_executors(
    name: str, machines: Cluster, spark: SparkSession, tmp_path: Path
) -> None:
    """Its workers are started again on others, and what was committed is in its folder."""
    program = ddlog.compile(PROGRAMS[name])
    with program.session(spark=spark, spark_options=ON_WORKERS, state=tmp_path) as session:
        session.insert("Edge", edges(spark))
        session.commit()
        assert set(session["Path"].tuples()) == PATHS
        for each in machines.executors():  # the job may have started all workers on one
            machines.end_executor(each)
        session.delete("Edge", (1, 2))
        session.commit()
        assert set(session["Path"].tuples()) == {(0, 1)}
    await_executors(machines, spark)
    with program.session(spark=spark, spark_options=ON_WORKERS, state=tmp_path) as session:
        assert set(session["Path"].tuples()) == {(0, 1)}


@on_cluster
def test_on_a_cluster_only_tasks_read_and_write_files(machines: Cluster, spark: SparkSession) -> None:
    """Each process has files of its own there: what the driver read of its own would be wrong."""
    here, only_tasks = "file:///proc/self/cwd", "viewfs://own/here"
    for name, text in (("Edge.csv", "x,y\n0,1\n1,2\n"), ("Edge.tsv", "0\t1\n1\t2\n")):
        (machines.folder / name).write_text(text)
        spark.sparkContext.addFile(str(machines.folder / name))
        (machines.folder / "driver" / name).write_text(re.sub(r"\d", "7", text))
    program = ddlog.compile(PROGRAMS["joins"])
    for name in ("Edge.csv", "Edge.tsv"):
        with program.session(spark=spark, spark_options=ON_WORKERS, updates=True) as session:
            session.load(f"Edge={only_tasks}/{name}")
            assert set(session["Path"].tuples()) == PATHS
            for form in ("csv", "parquet"):
                with pytest.raises(ddlog.DDlogError, match="the executors wrote it to disks of their own"):
                    session.write("Path", f"{here}/out", form)
                shared = session.write("Path", f"file://{machines.folder}/out", form)
                assert spark.read.format(form).load(shared).count() == len(PATHS) + (form == "csv")
    (machines.folder / "driver" / "Edge.facts").write_text("0\t1\n")
    with (
        program.session(spark=spark) as session,
        pytest.raises(ddlog.DDlogError, match="the executors do not have it"),
    ):
        session.load(f"Edge={here}/Edge.facts")


UNSTEADY = """
extern function unsteady(x: s32): s32
input relation Edge(x: s32, y: s32)
output relation Next(x: s32, y: s32)
Next(x, unsteady(y)) :- Edge(x, y).
"""
SLOW = 900  # seconds
PYTHON = """
import os, signal, time
from pathlib import Path

def unsteady(x):
    try:
        Path({marks!r}, str(x)).touch(exist_ok=False)
    except FileExistsError:
        return x + 1  # not the first time
    if x == 3:
        os._exit(1)
    if x == 5:
        process = os.getpid()
        while {executor!r} not in Path(f"/proc/{{process}}/cmdline").read_text():
            process = int(Path(f"/proc/{{process}}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(process, signal.SIGKILL)
    if x == 7:
        time.sleep({slow})
    return x + 1
"""


@on_cluster
def test_on_a_cluster_tasks_are_tried_again(machines: Cluster, spark: SparkSession) -> None:
    """A Python worker dies in a task, an executor dies in another, and a third would never end in time. The
    function is in a file that the driver has."""
    marks, folder = machines.folder / "marks", machines.folder / "driver"
    marks.mkdir()
    (folder / "unsteady.dl").write_text(UNSTEADY)
    (folder / "unsteady.py").write_text(PYTHON.format(marks=str(marks), executor=EXECUTOR, slow=SLOW))
    program = ddlog.compile(folder / "unsteady.dl")
    rows = spark.range(8, numPartitions=8).selectExpr("CAST(id AS INT) AS x", "CAST(id AS INT) AS y")
    began = time.monotonic()
    found = program.run(spark, {"Edge": rows})["Next"].collect()
    assert sorted(map(tuple, found)) == [(x, x + 1) for x in range(8)]
    assert time.monotonic() - began < SLOW, "the slow task ran a second time"
    assert len(list(marks.iterdir())) == 8
