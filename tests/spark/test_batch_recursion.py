"""Recursions of programs without updates: in the driver, or in workers that end with them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ddlog
from ddlog import SparkOptions
from ddlog.engine.shards.runtime import Sharded
from ddlog.engine.spark import runtime
from ddlog.engine.spark.settings import is_connect
from ddlog.engine.spark.tables import Tables
from ddlog.engine.spark.workers import open_workers
from ddlog.sessions.session import Session

from ..trying import longer
from .processes import kill, workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

IN_DRIVER = 2_000_000
NETWORK = ddlog.compile("""
input multiset Edge(a: s64, b: s64, name: Option<string>)
input multiset Start(a: s64)
input relation Bad(a: s64)
relation Good(a: s64, b: s64)
Good(a, b) :- Edge(a, b, _), not Bad(b).
output relation Path(a: s64, b: s64)
Path(a, b) :- Good(a, b).
Path(a, c) :- Path(a, b), Good(b, c).
relation Offer(b: s64, n: s64)
output relation Distance(b: s64, n: s64)
Offer(a, 0) :- Start(a).
Offer(b, n + 1) :- Distance(a, n), Edge(a, b, _), n < 20.
Distance(b, n) :- Offer(b, each), var n = each.group_by(b).min().
output relation Degree(a: s64, n: u64)
Degree(a, n) :- Path(a, b), var n = b.group_by(a).count().
output relation Cut(a: s64)
Cut(a) :- Distance(a, _), not Path(a, 1), not Bad(a).
output multiset Named(name: Option<string>)
Named(name) :- Edge(a, b, name), Path(b, a).
output relation Around(a: s64)
Around(a) :- Path(a, a), Degree(a, n), n > 3.
Around(b) :- Around(a), Edge(b, a, Some{_}).
output relation Any()
Any() :- Path(_, _).
""")
"""Recursions below each other, with a group inside, negations and groups below and above, over weights."""
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "Edge": [(k % 7, (k * k) % 11, f"e{k % 3}" if k % 4 else None) for k in range(40)] * 2,
    "Start": [(1,), (1,), (3,)],
    "Bad": [(4,), (9,)],
}
COLUMNS = {"Edge": "a LONG, b LONG, name STRING", "Start": "a LONG", "Bad": "a LONG"}


def frames(spark: SparkSession) -> dict[str, DataFrame]:
    """The inputs, each in two partitions."""
    return {name: spark.createDataFrame(rows, COLUMNS[name]).repartition(2) for name, rows in ROWS.items()}


def options(spark: SparkSession, most: int) -> SparkOptions:
    """Options by which recursions that read more rows are in two workers."""
    if most < IN_DRIVER and is_connect(spark):
        pytest.skip("workers need a classic session")
    return SparkOptions(driver_rows=most, workers=2)


def outputs(session: Session) -> dict[str, list[Any]]:
    """The rows of the outputs, with their weights."""
    return {name: list(session[name].weighted()) for name in session.program.names("output")}


@pytest.fixture(scope="module")
def expected() -> dict[str, list[Any]]:
    """The outputs in-process."""
    with NETWORK.session() as session:
        for name, rows in ROWS.items():
            session.insert(name, *rows)
        session.commit()
        return outputs(session)


def are_gone(processes: set[int]) -> bool:
    """Whether workers have ended, or do so in a moment."""
    deadline = time.monotonic() + 60
    while workers() & processes and time.monotonic() < deadline:
        time.sleep(0.05)
    return not workers() & processes


@pytest.mark.parametrize("most", longer([60, 0], [IN_DRIVER, 60, 0]))
def test_recursions_give_the_same_wherever_they_are(
    spark: SparkSession, expected: dict[str, list[Any]], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All in the driver, two of three in workers, or all. With no row for the driver, none comes there; the
    workers have ended when the results are there."""
    others, chosen, began = workers(), options(spark, most), list[int]()

    def opened(*given: Any, **more: Any) -> Sharded:
        began.append(1)
        return open_workers(*given, **more)

    monkeypatch.setattr(runtime, "open_workers", opened)
    with NETWORK.session(spark=spark, spark_options=chosen, updates=False) as session:
        session.load_frames(frames(spark))
        with monkeypatch.context() as patched:
            if not most:
                patched.setattr(Tables, "collected", lambda *_: pytest.fail("rows came to the driver"))
            found = {name: session[name].to_spark() for name in expected}
            assert are_gone(workers() - others)
        assert len(began) == {IN_DRIVER: 0, 60: 2, 0: 3}[most]
        assert outputs(session) == expected
    for name in ("Path", "Named", "Any"):
        assert found[name].count() == len(expected[name])


PATHS = ddlog.compile("""
input relation Edge(a: s64, b: s64)
output relation Path(a: s64, b: s64)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
""")


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="workers are found in /proc")
def test_a_worker_of_a_recursion_ends(spark: SparkSession) -> None:
    """The recursion begins again, by other workers."""
    others, killed = workers(), set[int]()

    def progress(phase: str, iteration: int, rows: int) -> None:
        if not killed and iteration > 1:
            killed.add(min(workers() - others))
            kill(*killed)

    with PATHS.session(
        spark=spark, spark_options=options(spark, 0), updates=False, progress=progress
    ) as session:
        session.load_frames({"Edge": spark.range(9).selectExpr("id AS a", "id + 1 AS b")})
        assert set(session["Path"].tuples()) == {(a, b) for a in range(9) for b in range(a + 1, 10)}
    assert killed and are_gone(workers() - others)


FAULTY = """
input relation A(x: s64, y: s64)
relation B(x: s64, y: s64)
B(x, y) :- A(x, z), var y = 12 / (z {}).
{}
output relation R(x: s64)
R(x) :- A(x, 2).
"""


RULES = {
    "head": "R(y / (x - 1)) :- R(x), A(x, y).",
    "condition": "R(y) :- R(x), A(x, y), var q = 6 / (y - 4), q < 9.",
    "below": "R(y) :- R(x), B(x, y).",
    "endless": "R(x + 1) :- R(x), A(_, _).",
}


@pytest.mark.parametrize(
    "name, most",
    [*((name, IN_DRIVER) for name in RULES), *((name, 0) for name in longer(("head", "endless"), RULES))],
)
def test_a_recursion_tells_its_fault(spark: SparkSession, name: str, most: int) -> None:
    """With its place, as in-process; no worker stays."""
    rows, others, rule = [(1, 2), (2, 3), (3, 4)], workers(), RULES[name]
    program = ddlog.compile(FAULTY.format("- 4" if "B(x, y)" in rule else "+ 4", rule))
    with program.session(max_iterations=50) as session, pytest.raises(ddlog.DDlogError) as here:
        session.insert("A", *rows)
        session.commit()
    given = {"A": spark.createDataFrame(rows, "x LONG, y LONG")}
    with pytest.raises(ddlog.DDlogError) as there:
        program.run(spark, given, spark_options=options(spark, most), max_iterations=50)
    assert str(there.value) == str(here.value)
    assert are_gone(workers() - others)
