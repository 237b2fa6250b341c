"""Streams into sessions, on both engines: what a batch does, what is told, and what is refused."""

from __future__ import annotations

import itertools
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ddlog.console.cli import main
from ddlog.errors.diagnostics import DDlogError
from ddlog.sessions.program import compile
from ddlog.sessions.session import Session
from ddlog.spark.streaming.stream import stream

from .streaming import PATHS, WINDOWED, Source, Told, closure, contents, edge, edges, program, run_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def new_session(spark: SparkSession, engine: str) -> Session:
    """A session of the program of these tests."""
    return program().session(spark=spark) if engine == "spark" else program().session(engine="in-process")


@pytest.fixture(params=["in-process", "spark"])
def session(request: pytest.FixtureRequest, spark: SparkSession) -> Any:
    with new_session(spark, request.param) as made:
        yield made


def test_a_batch_is_an_epoch(session: Session, spark: SparkSession, tmp_path: Path) -> None:
    source, told = edges(spark, tmp_path / "in"), Told()
    source.put(edge(1, 2), edge(2, 3))
    source.put(edge(2, 3, "-1"), edge(3, 1), edge(3, 1))
    source.put(edge(9, 9, "-1"))
    running = run_once(session, source, "Edge", on_change=told)
    assert running.applied == 3
    assert told.batches[0] == (
        0,
        {"Path": [(1, 2, 1), (1, 3, 1), (2, 3, 1)], "Ratio": [(1, 50, 1), (2, 33, 1)]},
    )
    assert told.batches[2] == (2, {})
    assert contents(session, "Path") == told.sum("Path") == closure({(1, 2), (3, 1)})


def test_what_goes_goes_before_what_comes(session: Session, spark: SparkSession, tmp_path: Path) -> None:
    names = Source(spark, tmp_path / "in", "at INT, name STRING, op INT")
    names.put({"at": 1, "name": "a", "op": 1}, {"at": 2, "name": "b", "op": 1})
    names.put({"at": 1, "name": "c", "op": 1}, {"at": 1, "name": "a", "op": -1})
    run_once(session, names, "Name")
    assert contents(session, "Name") == {(1, "c"), (2, "b")}


def test_a_multiset_counts_and_deletes_what_is_there(
    session: Session, spark: SparkSession, tmp_path: Path
) -> None:
    visits = Source(spark, tmp_path / "in", "at INT, op INT")
    visits.put({"at": 1, "op": -1}, *[{"at": 1, "op": 1}] * 3)
    visits.put({"at": 1, "op": -1}, {"at": 2, "op": 1}, {"at": 2, "op": -1})
    run_once(session, visits, "Visit", checkpoint=tmp_path / "state")
    assert [(row.at, count) for row, count in session["Visit"].weighted()] == [(1, 2), (2, 1)]


def test_two_streams_share_a_session(spark: SparkSession, tmp_path: Path) -> None:
    def run(put: bool) -> Session:
        session = new_session(spark, "in-process")
        if put:
            names.put({"at": 1, "name": "one"})
            visits.put({"at": 1}, {"at": 1})
        state = tmp_path / "state"
        both = [
            stream(session, visits.frame(), "Visit", checkpoint=state, once=True),
            stream(session, names.frame(), "Name", checkpoint=state, once=True),
        ]
        assert all(each.wait(60) for each in both)
        assert [each.applied for each in both] == [put, put]
        assert [count for _, count in session["Visit"].weighted()] == [2]
        return session

    names = Source(spark, tmp_path / "names", "at INT, name STRING")
    visits = Source(spark, tmp_path / "visits", "at INT")
    with run(True) as session:
        assert contents(session, "Seen") == {(1, "one")}
    with run(False) as session:
        assert contents(session, "Seen") == {(1, "one")}


def test_a_fault_ends_the_stream_before_the_batch(
    session: Session, spark: SparkSession, tmp_path: Path
) -> None:
    source, told = edges(spark, tmp_path / "in"), Told()
    source.put(edge(1, 2))
    source.put(edge(1, 3), edge(2, 0))
    for _ in range(2):
        with pytest.raises(DDlogError, match="division by zero"):
            run_once(session, source, "Edge", on_change=told, checkpoint=tmp_path / "state")
        assert contents(session, "Edge") == {(1, 2)}
        assert [batch for batch, _ in told.batches] == [0]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"from": -1, "to": 2, "op": "+1"}, "from"),
        ({"from": None, "to": 2, "op": "+1"}, "null"),
        ({"from": 1, "to": 2, "op": "2"}, r"expected \+1 or -1"),
        ({"from": 1, "to": 2, "op": None}, r"expected \+1 or -1"),
    ],
)
def test_a_bad_row_ends_the_stream(
    spark: SparkSession, tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    session, source = new_session(spark, "in-process"), edges(spark, tmp_path / "in")
    source.put(edge(5, 6), row)
    with pytest.raises(DDlogError, match=message) as raised:
        run_once(session, source, "Edge")
    assert "a batch for Edge" in str(raised.value)
    assert contents(session, "Edge") == set()
    session.close()


def test_a_watermark_drives_a_clock(spark: SparkSession, tmp_path: Path) -> None:
    """The clock is the greatest event time minus the delay; what Spark would drop is late."""
    told = Told()
    with compile(WINDOWED).session(spark=spark) as windowed:
        source = Source(spark, tmp_path / "in", "id INT, time TIMESTAMP")
        for batch in ([(1, 5), (2, 40)], [(3, 9), (4, 31)], [], [(5, 95), (6, 29)], [(7, 30)]):
            source.put(*({"id": k, "time": f"1970-01-01T00:{at // 60:02}:{at % 60:02}Z"} for k, at in batch))
        marked = source.frame().withWatermark("time", "10 seconds")
        windowed.stream(marked, "Event", clock="Now", on_change=told, once=True).wait()
        with pytest.raises(DDlogError, match="no watermark, not one, by which to set Now"):
            windowed.stream(source.frame(), "Event", clock="Now")
        with pytest.raises(DDlogError, match="a watermark cannot set Event"):
            windowed.stream(marked, "Event", clock="Event")
        with pytest.raises(DDlogError, match="unit 'hours': expected seconds, milliseconds, microseconds"):
            windowed.stream(marked, "Event", clock="Now", unit="hours")
    changes = [{name: sorted(rows) for name, rows in each.items() if rows} for _, each in told.batches]
    assert changes == [
        {"Clock": [(30, 1)], "Recent": [(1, 5, 1), (2, 40, 1)]},
        {"Recent": [(4, 31, 1)], "Late": [(3, 9, 1)]},
        {},
        {
            "Clock": [(30, -1), (85, 1)],
            "Recent": [(1, 5, -1), (5, 95, 1)],
            "Late": [(6, 29, 1)],
        },
        {"Late": [(7, 30, 1)]},
    ]


def test_other_columns_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    session = new_session(spark, "in-process")
    source = Source(spark, tmp_path / "in", "at INT, nam STRING")
    source.put({"at": 1, "nam": "x"})
    with pytest.raises(DDlogError, match="nam"):
        run_once(session, source, "Name")
    session.close()


def test_what_no_stream_can_be_made_of(spark: SparkSession, tmp_path: Path) -> None:
    source = edges(spark, tmp_path / "in")
    with new_session(spark, "in-process") as session:
        for given, relation, options, message in [
            (spark.range(3), "Edge", {}, "is not a streaming DataFrame"),
            ([1, 2], "Edge", {}, "is not a streaming DataFrame"),
            (source.frame(), "Edg", {}, "did you mean `Edge`"),
            (source.frame(), "Path", {}, "only input relations"),
            (source.frame(), "Edge", {"every": "soon"}, "not an interval of time"),
            (source.frame(), "Edge", {"name": "a/b"}, "cannot be the name"),
        ]:
            with pytest.raises(DDlogError, match=message):
                stream(session, given, relation, **options)  # type: ignore[arg-type]
        with pytest.raises(DDlogError, match="began without a checkpoint"):
            stream(session, source.frame(), "Edge", checkpoint=tmp_path / "state")


def test_a_stream_runs_until_it_is_stopped(spark: SparkSession, tmp_path: Path) -> None:
    session, source = new_session(spark, "in-process"), edges(spark, tmp_path / "in")
    waited, ends = list[bool](), False

    def told(changes: Any, batch: int) -> None:  # a batch is one turn of the session
        if ends:
            running.stop()
        other = threading.Thread(target=session.size, args=("Edge",), daemon=True)
        other.start()
        other.join(0.05)
        waited.append(other.is_alive())

    running = stream(session, source.frame(), "Edge", every="0.2 seconds", on_change=told)
    with pytest.raises(DDlogError, match="a stream called Edge is running"):
        stream(session, source.frame(), "Edge")
    source.put(edge(1, 2))
    for _ in range(300):
        if running.applied or running.wait(0.1):
            break
    with running.paused():
        session.insert("Edge", (2, 3))
        session.commit()
    assert running.is_running
    ends = True
    source.put(edge(3, 4))
    assert running.wait(30) and not running.is_running
    assert waited and all(waited)
    assert contents(session, "Path") == closure({(1, 2), (2, 3), (3, 4)})
    session.close()


def test_changes_of_ones_own_are_not_swept_along(spark: SparkSession, tmp_path: Path) -> None:
    session, source = new_session(spark, "in-process"), edges(spark, tmp_path / "in")
    session.insert("Edge", (7, 8))
    source.put(edge(1, 2))
    with pytest.raises(DDlogError, match="neither committed nor rolled back"):
        run_once(session, source, "Edge")
    session.commit()
    assert contents(session, "Edge") == {(7, 8)}
    session.close()


# ---------------------------------------------------------------- elsewhere


def test_a_directory_is_followed(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "paths.dl"
    text.write_text(PATHS, "utf-8")
    incoming, clock = tmp_path / "in", itertools.count(1_700_000_000)

    def put(name: str, text: str) -> None:
        (incoming / name).parent.mkdir(exist_ok=True, parents=True)
        (incoming / name).write_text(text, "utf-8")
        os.utime(incoming / name, (next(clock),) * 2)

    def follow(*options: str) -> str:
        arguments = ["--follow", str(incoming), "--once", "--engine", "spark", *options]
        code = main(["run", str(text), "--checkpoint", str(tmp_path / "state"), *arguments])
        printed = capsys.readouterr()
        return printed.out if not code else printed.err

    put("Edge/1.csv", "from,to\n1,2\n2,3\n")
    put("Edge/2.changes.csv", "-1,2,3\n+1,3,4\ncommit\n")
    put("Edge/3.csv", "commit\n")
    put("Name/1.jsonl", '{"at": 7, "name": "seven"}\n')
    put("Name/2.jsonl", '{"insert": {"Visit": [7], "Name": [8, "eight"]}}\n{"commit": true}\n')
    first = ["Path:", "Path{.from = 1, .to = 2}: +1", "Path{.from = 3, .to = 4}: +1"]
    first += ["Ratio:", "Ratio{.at = 1, .r = 50}: +1", "Ratio{.at = 3, .r = 25}: +1"]
    assert follow().splitlines() == [*first, "Seen:", 'Seen{.at = 7, .name = "seven"}: +1']
    table = pa.table({"at": [7, 9], "op": [-1, 1], "name": ["seven", "nine"]})
    pq.write_table(table, incoming / "Name/3.parquet")
    assert follow("--relation", "Seen").splitlines() == ["Seen:", 'Seen{.at = 7, .name = "seven"}: -1']
    assert follow() == ""
    put("Edge/4.jsonl", '{"clear": "Edge"}\n')
    assert "can only insert and delete rows" in follow()
    assert "--follow cannot be combined with --sizes" in follow("--sizes")
