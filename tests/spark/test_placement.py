"""Operators on the driver and on the cluster: the answers are the same wherever they run and however they
move, and a commit takes no job where nothing large changes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given, seed

import ddlog
from ddlog.engine.spark.runtime import SparkOptions
from ddlog.engine.spark.tables import Tables
from ddlog.sessions.session import Session
from ddlog.spark.sessions.connect import is_connect

from ..programs.random_programs import edges, grouping_programs, programs, transactions
from ..programs.taken_back import Pair, Step, faulty, scripts
from ..programs.taken_back import follow as take_all
from ..programs.test_corpus import CORPUS
from ..trying import longer
from .alike import corpus_alike, follow, sampled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("interpreted")

FLIPPING = SparkOptions(placement="flip", partitions=2)
OUTGROWING = SparkOptions(driver_rows=6, small_rows=4, sent_rows=8, partitions=2)
ON_DRIVER = SparkOptions(placement="driver")
ALL_LARGE = SparkOptions(driver_rows=0, small_rows=0, sent_rows=2, partitions=2)
ALL = [(path.stem, FLIPPING) for path in sorted(CORPUS.glob("*.dl")) if path.stem != "shared_prefixes"]
SOME = [
    ("accumulation", OUTGROWING),
    ("recursive_groups", ON_DRIVER),
    ("streams", FLIPPING),
    ("even_negation", FLIPPING),
]


@pytest.mark.parametrize("name, options", longer(SOME, ALL), ids=lambda v: v if isinstance(v, str) else "")
def test_a_program_of_the_corpus_changes_alike(name: str, options: SparkOptions, spark: SparkSession) -> None:
    corpus_alike(name, options, spark)


@pytest.mark.parametrize("options", [FLIPPING, OUTGROWING], ids=["flipping", "outgrowing"])
def test_random_programs_change_alike(options: SparkOptions, spark: SparkSession) -> None:
    @seed(len(repr(options)))
    @sampled(2)
    @given(programs(), transactions())
    def check(text: str, stream: list[list[tuple[str, Any, int]]]) -> None:
        follow(text, stream, options, spark, "auto")

    check()


def test_random_recursions_with_groups_change_alike(spark: SparkSession) -> None:
    @seed(4)
    @sampled(2)
    @given(grouping_programs(), edges())
    def check(text: str, stream: list[list[tuple[str, Any, int]]]) -> None:
        follow(text, stream, FLIPPING, spark)

    check()


def failing_at(point: int) -> Any:
    """A patch by which a job fails after some others."""
    name = ("stored", "settled", "fetch")[point % 3]
    left, plain = iter(range(point // 3 % 8)), getattr(Tables, name)

    def fails(tables: Tables, *rest: Any, **how: Any) -> Any:
        if next(left, None) is None:
            raise ConnectionError("an executor is lost")
        return plain(tables, *rest, **how)

    return mock.patch.object(Tables, name, fails)


@pytest.mark.parametrize("options", longer([OUTGROWING], [FLIPPING, OUTGROWING, ON_DRIVER, ALL_LARGE]))
def test_what_is_taken_back_leaves_no_trace(options: SparkOptions, spark: SparkSession) -> None:
    """Commits that are interrupted, refused, fault or lose a job, and trials, between other commits."""

    @seed(6)
    @sampled(1)
    @given(faulty(), scripts(most=longer(3, 20)))
    def check(text: str, script: list[Step]) -> None:
        program = ddlog.compile(text)
        with (
            program.session() as here,
            program.session(spark=spark, spark_options=options) as there,
        ):
            pair = Pair(there, here, readable=False, failing=failing_at)
            take_all(pair, script)
            pair.readable = True
            pair.compare()

    check()


SMALL = 20
MIXED = "\n".join(
    [
        "input relation Large(x: s32, y: s32)",
        "input relation Named(y: s32, name: string)",
        "output relation Found(x: s32, name: string)",
        "Found(x, name) :- Large(x, y), Named(y, name).",
        "output relation Counted(y: s32, n: u64)",
        "Counted(y, n) :- Large(x, y), var n = x.group_by(y).count().",
        *(f"input relation Small{k}(x: s32, y: s32)" for k in range(SMALL)),
        *(f"output relation Path{k}(x: s32, y: s32)" for k in range(SMALL)),
        *(f"Path{k}(x, y) :- Small{k}(x, y)." for k in range(SMALL)),
        *(f"Path{k}(x, z) :- Path{k}(x, y), Small{k}(y, z)." for k in range(SMALL)),
        *(f"Path{k}(x, y) :- Small{k - 1}(x, y), Named(x, _)." for k in range(1, SMALL)),
    ]
)


def jobs(spark: SparkSession) -> int:
    """The number of jobs so far."""
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))


@pytest.mark.skipif("DDLOG_TEST_REMOTE" in os.environ, reason="a Connect server does not tell of jobs")
def test_only_what_meets_a_large_relation_takes_jobs(spark: SparkSession) -> None:
    program = ddlog.compile(MIXED)
    rows = spark.range(5000).selectExpr("CAST(id AS INT) AS x", "CAST(id % 50 AS INT) AS y")
    options = SparkOptions(driver_rows=1000, small_rows=100)
    with (
        program.session(spark=spark, spark_options=options, updates=True) as session,
        program.session() as here,
    ):
        session.insert("Large", rows)
        here.insert("Large", *((k, k % 50) for k in range(5000)))
        for each in (session, here):
            each.insert("Named", *((k, f"name {k}") for k in range(5)))
            each.insert("Small0", (1, 2))
        assert session.commit() is not None
        here.commit()
        session.insert("Small0", (2, 3))
        session.commit()  # what has turned out to be small comes to the driver
        here.insert("Small0", (2, 3))
        here.commit()
        before = jobs(spark)
        for each in (session, here):
            each.insert("Small3", (2, 3), (3, 1))
        assert str(session.commit()) == str(here.commit())
        assert list(session["Path3"].tuples()) == list(here["Path3"].tuples())
        assert session.query("Small3(x, y), Named(x, n)").rows == here.query("Small3(x, y), Named(x, n)").rows
        assert jobs(spark) == before, "nothing large changes, and nothing large is read"
        for each in (session, here):
            each.insert("Large", (1, 7), (-1, 3), (-2, 3))
            each.delete("Large", (53, 3))
        assert str(session.commit()) == str(here.commit())
        for each in (session, here):
            each.insert("Named", (9, "nine"))
            each.delete("Named", (0, "name 0"))
        assert str(session.commit()) == str(here.commit())
        for name in program.relations:
            assert session.size(name) == here.size(name)
            assert list(session[name].tuples()) == list(here[name].tuples())


def test_rules_that_meet_a_large_relation_share_a_job(spark: SparkSession) -> None:
    count = 6
    rules = [
        f"input relation Few{k}(y: s32, name: string)\noutput relation Out{k}(x: s32, name: string)\n"
        f"Out{k}(x, name) :- Large(x, y), Few{k}(y, name)."
        for k in range(count)
    ]
    program = ddlog.compile("\n".join(["input relation Large(x: s32, y: s32)", *rules]))
    options, limited = SparkOptions(driver_rows=1000, small_rows=100), Tables.limited
    rows = spark.range(5000).selectExpr("CAST(id AS INT) AS x", "CAST(id % 2500 AS INT) AS y")
    with (
        program.session(spark=spark, spark_options=options, updates=True) as there,
        program.session() as here,
    ):
        there.insert("Large", rows)
        here.insert("Large", *((k, k % 2500) for k in range(5000)))
        for turn in range(3):
            seen: list[str] = []

            def noted(tables: Tables, query: Any, *rest: Any, seen: list[str] = seen) -> Any:
                seen.append(str(query))
                return limited(tables, query, *rest)

            for session in (there, here):
                for k in range(count):
                    session.insert(f"Few{k}", (10 * turn + k, "é"))
            with (
                mock.patch.object(Tables, "limited", noted),
                mock.patch.object(Tables, "fetch", None if turn == 2 else Tables.fetch),
            ):
                assert str(there.commit()) == str(here.commit())
        assert len(seen) == 1, "one job brings what all rules find"


def test_a_relation_moves_when_it_has_grown_and_when_it_has_shrunk(spark: SparkSession) -> None:
    program = ddlog.compile(
        "input relation A(x: s32, y: s32)\noutput relation Big(y: s32, n: u64, m: s32)\n"
        "Big(y, n, m) :- A(x, y), var g = x.group_by(y), var n = g.count(), var m = g.max().\n"
        "output relation Path(x: s32, y: s32)\nPath(x, y) :- A(x, y).\nPath(x, z) :- Path(x, y), A(y, z).\n"
    )
    options = SparkOptions(driver_rows=40, small_rows=10)
    with program.session(spark=spark, spark_options=options) as there, program.session() as here:
        runtime = there.state.host.runtime
        seen = []
        steps = [range(6), range(6, 12), (), (20,)]
        gone = [(), (), range(2, 12), ()]
        for come, go in zip(steps, gone, strict=True):
            for session in (here, there):
                session.insert("A", *((k, k + 1) for k in come))
                session.delete("A", *((k, k + 1) for k in go))
            assert str(there.commit()) == str(here.commit())
            seen.append({name: place for name, place, _ in runtime.placed()})
        assert seen[0]["Path"] == "driver" and seen[1]["Path"] == "cluster" and seen[-1]["Path"] == "driver"


def test_a_row_of_a_long_text_counts_as_many(spark: SparkSession) -> None:
    program = ddlog.compile(
        "input relation Note(x: s32, t: string)\noutput relation Seen(t: string)\nSeen(t) :- Note(_, t)."
    )
    with (
        program.session(spark=spark, spark_options=SparkOptions(driver_rows=1000), updates=True) as there,
        program.session() as here,
    ):
        places = []
        for length in (10, 1000):
            for session in (here, there):
                session.insert("Note", *((k, f"{k}".rjust(length)) for k in range(300)))
            assert str(there.commit()) == str(here.commit())
            places.append({name: place for name, place, _ in there.state.host.runtime.placed()}["Note"])
        assert places == ["driver", "cluster"]


def test_a_failed_move_leaves_the_last_commit(spark: SparkSession) -> None:
    program = ddlog.compile(MIXED)
    fetch = Tables.fetch

    def contents(session: Session) -> dict[str, list[Any]]:
        return {name: list(session[name].tuples()) for name in program.relations}

    with program.session(spark=spark, spark_options=FLIPPING) as there, program.session() as here:
        failed = 0
        for turn in range(5):
            before, left = contents(there), iter(range(turn))

            def fails(tables: Tables, *rest: object, left: Any = left) -> object:
                if next(left, None) is None:
                    raise ConnectionError("an executor is lost")
                return fetch(tables, *rest)  # type: ignore[arg-type]

            def change(session: Session, turn: int = turn) -> str:
                session.insert("Large", (turn, 2), (2, turn))
                session.insert("Named", (2, "b"))
                session.insert("Small1", (turn, turn + 1), (turn + 1, 0))
                session.delete("Small1", (turn, 0))
                return str(session.commit())

            wanted = change(here)
            try:
                with mock.patch.object(Tables, "fetch", fails):
                    got = change(there)
            except (ddlog.DDlogError, ConnectionError):
                failed += 1
                assert contents(there) == before
                got = change(there)
            assert got == wanted
            assert contents(there) == contents(here)
        assert failed


def test_a_profile_tells_jobs_and_sides(spark: SparkSession) -> None:
    """Of a join on the cluster the jobs and the shuffled bytes, and nothing of either on the driver."""
    text = (
        "input relation A(x: u32, y: u32)\noutput relation N(x: u32, n: u64)\n"
        "N(x, n) :- A(x, y), var n = y.group_by(x).count().\n"
    )
    for options in (SparkOptions(placement="cluster", small_rows=0), ON_DRIVER):
        placement = options.placement
        with ddlog.compile(text).session(engine="spark", spark=spark, spark_options=options) as session:
            session.measure()
            session.insert_rows("A", [(1, 2), (1, 3), (2, 3)])
            session.commit()
            profile = session.profile()
        assert {each.side for each in profile.relations} == {placement}
        assert {each.side for each in profile.operators} == {placement}
        (jobs,) = {each.jobs for each in profile.epochs if each.number == 1}
        counted = sum(each.jobs or 0 for each in profile.strata)
        if is_connect(spark):
            assert (jobs, counted) == (None, 0)
        elif placement == "driver":
            assert (jobs, counted) == (0, 0)
        else:
            assert jobs is not None and jobs >= counted > 0
            assert sum(each.shuffled or 0 for each in profile.operators) > 0
