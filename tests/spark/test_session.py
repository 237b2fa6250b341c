"""Sessions on Spark as users see them: DataFrames in and out, keys, multisets, errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ddlog
from ddlog import DDlogError

from ..state.kills import forked, wait_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PROGRAM = ddlog.compile("""
typedef Shape = Circle{radius: double} | Point
input relation Edge(a: s32, b: s32)
input relation Person(id: u8, name: string) primary key (p) (p.id)
input relation Part(whole: string, part: string, count: u8) primary key (p) (p.whole, p.part)
input multiset Seen(x: s32)
input relation Drawn(at: (s32, s32), shape: Shape, tags: Set<string>, note: Option<string>)
output relation Path(a: s32, b: s32)
output relation Names(name: string)
output relation Copy(at: (s32, s32), shape: Shape, tags: Set<string>, note: Option<string>)
output relation Inverse(a: s32, q: s32)
output multiset Times(x: s32)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
Names(n) :- Person(_, n).
Copy(a, s, t, n) :- Drawn(a, s, t, n).
Inverse(a, 1000 / (b - 77)) :- Edge(a, b).
Times(x) :- Seen(x).
""")


@pytest.fixture
def session(spark: SparkSession) -> Iterator[ddlog.Session]:
    """A session on the shared Spark session, whose settings it must leave as they were."""
    before = {key: spark.conf.get(key) for key in ("spark.sql.shuffle.partitions", "spark.sql.ansi.enabled")}
    with PROGRAM.session(spark=spark) as session:
        yield session
    assert before == {key: spark.conf.get(key) for key in before}
    assert spark.range(1).count() == 1  # a user's session is not stopped


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """The rows of a DataFrame, sorted."""
    return sorted(tuple(row) for row in frame.collect())


def test_frames_in_and_out(spark: SparkSession, session: ddlog.Session) -> None:
    session.insert("Edge", spark.createDataFrame([(2, 1), (3, 2), (3, 2)], "b INT, a BIGINT"))
    changes = session.commit()
    assert changes.rows("Path") == [((1, 2), 1), ((1, 3), 1), ((2, 3), 1)]
    frame = session["Path"].to_spark()
    assert frame.columns == ["a", "b"]
    assert rows(changes.to_spark("Path")) == [(1, 2, 1), (1, 3, 1), (2, 3, 1)]
    assert rows(changes.to_spark("Names")) == []
    session.insert("Edge", (3, 4))
    session.delete(
        "Edge",
        spark.createDataFrame([("1", 2.0), ("9", 9.0)], "a STRING, b DOUBLE").selectExpr("a", "INT(b) b"),
    )
    changes = session.commit()
    assert str(changes).splitlines() == [
        "Inverse:", "Inverse{.a = 1, .q = -13}: -1", "Inverse{.a = 3, .q = -13}: +1",
        "Path:", "Path{.a = 1, .b = 2}: -1", "Path{.a = 1, .b = 3}: -1",
        "Path{.a = 2, .b = 4}: +1", "Path{.a = 3, .b = 4}: +1",
    ]  # fmt: skip
    assert rows(frame) == [(1, 2), (1, 3), (2, 3)], "a frame stays as it was"
    with pytest.raises(DDlogError, match="Edge is not an output relation"):
        changes.to_spark("Edge")


def test_a_forked_process_is_refused(spark: SparkSession, session: ddlog.Session) -> None:
    session.insert("Edge", (2, 1))
    session.commit()
    with session.program.session(spark=spark, updates=False) as once:
        held, asked = once["Path"], [session["Path"].to_spark, lambda: session.size("Path")]

        def use() -> None:
            for each in (*asked, lambda: len(held), lambda: session.program.session(spark=spark)):
                with pytest.raises(DDlogError, match="is held by the process"):
                    each()

        wait_for(forked(use))
        assert len(held) == 0 and session.size("Path") == 1


def test_values_that_do_not_fit(spark: SparkSession, session: ddlog.Session) -> None:
    session.insert("Edge", (1, 2))
    for data, schema, message in (
        ([(1 << 40, 1)], "a BIGINT, b INT", r"column `a`: 1099511627776 is out of the range of signed<32>"),
        ([(None, 1)], "a INT, b INT", "column `a`: expected signed<32>, found null"),
        ([("x", 1)], "a STRING, b INT", 'column `a`: expected signed<32>, found "x"'),
        ([(True, 1)], "a BOOLEAN, b INT", "column `a`: expected signed<32>, found True"),
        ([(1.5, 1)], "a DOUBLE, b INT", "column `a`: expected signed<32>, found 1.5"),
        ([(1, 1)], "a INT, c INT", "there is no column `b`; the columns of Edge are a, b"),
    ):
        with pytest.raises(DDlogError, match=message) as raised:
            session.insert("Edge", spark.createDataFrame(data, schema))
        assert "Traceback" not in str(raised.value) and str(raised.value).count("the DataFrame for") <= 1
    assert session.commit().rows("Path") == [((1, 2), 1)], "what came before stands"


def test_a_fault_in_a_rule_leaves_the_session_as_it_was(spark: SparkSession, session: ddlog.Session) -> None:
    session.insert("Edge", spark.createDataFrame([(1, 2)], "a INT, b INT"))
    session.commit()
    session.insert("Edge", spark.createDataFrame([(5, 77), (6, 78)], "a INT, b INT"))
    with pytest.raises(DDlogError, match="division by zero") as raised:
        session.commit()
    assert raised.value.diagnostics[0].span is not None
    assert (session.size("Edge"), session.in_transaction) == (1, False)
    session.insert("Edge", (6, 78))
    assert session.commit().rows("Inverse") == [((6, 1000), 1)]


def test_values_of_all_shapes_go_round(spark: SparkSession, session: ddlog.Session) -> None:
    import pyarrow as pa

    table = pa.table({
        "at": [{"0": 1, "1": 2}, {"0": 3, "1": 4}], "shape": ["Circle{1.5}", "Point"],
        "tags": [["b", "a", "b"], []], "note": ["x", None],
    })  # fmt: skip
    session.insert("Drawn", spark.createDataFrame(table))
    changes = session.commit()
    some = 'ddlog_std::Some{.x = "x"}'
    assert list(session["Copy"].records()) == [
        f'Copy{{.at = (1, 2), .shape = Circle{{.radius = 1.5}}, .tags = ["a", "b"], .note = {some}}}',
        "Copy{.at = (3, 4), .shape = Point{}, .tags = [], .note = ddlog_std::None{}}",
    ]
    session.delete("Drawn", changes.to_spark("Copy").drop("weight"))
    assert session.commit().rows("Copy") == [(row, -weight) for row, weight in changes.rows("Copy")]


def test_a_key_that_files_have_twice(session: ddlog.Session, tmp_path: Path) -> None:
    (tmp_path / "Person.csv").write_text("7,x\n8,y\n7,z\n")
    with pytest.raises(DDlogError) as caught:
        session.load(tmp_path)
    assert "Person.csv:3:1: Person already has a row with the key 7" in str(caught.value)
    assert "Person.csv:1:1: the other row is" in str(caught.value)


def keyed_steps(spark: SparkSession, session: ddlog.Session) -> None:
    """What a primary key allows and forbids, in tables and in rows."""
    people = lambda *rows: spark.createDataFrame(list(rows), "id INT, name STRING")  # noqa: E731
    session.insert("Person", people((1, "a"), (2, "b")))
    with pytest.raises(DDlogError, match=r"the key 2\n.*this row is .*\"x\"}\n.*\"b\"}$"):
        session.insert("Person", people((3, "c"), (2, "x")))
    with pytest.raises(DDlogError, match="Person already has a row with the key 7"):
        session.insert("Person", people((7, "c"), (7, "x")))
    session.insert("Person", (3, "c"))
    with pytest.raises(DDlogError, match="Person already has a row with the key 1"):
        session.insert("Person", (1, "z"))
    assert len(session.commit().rows("Names")) == 3
    with pytest.raises(DDlogError, match="has no row with the key 9"):
        session.delete("Person", people((1, "a"), (9, "b")))
    with pytest.raises(DDlogError, match="the key 1 differs from the row to delete"):
        session.delete("Person", people((1, "b")))
    session.modify("Person", 3, {"name": "cc"})
    session.delete("Person", people((1, "a"), (3, "cc")))
    session.insert("Person", people((1, "aa")))
    session.upsert("Person", (2, "bb"))
    mark = session.mark()
    session.insert("Person", people((8, "h")))
    session.undo(mark)
    assert session.commit().rows("Names") == [
        (("a",), -1), (("aa",), 1), (("b",), -1), (("bb",), 1), (("c",), -1),
    ]  # fmt: skip
    session.delete_key("Person", 1)
    session.insert("Person", people((1, "a3")))
    session.rollback()
    assert sorted(session["Person"].tuples()) == [(1, "aa"), (2, "bb")]
    session.clear("Person")
    session.insert("Person", (1, "new"))
    session.commit()
    assert list(session["Person"].tuples()) == [(1, "new")]


def test_primary_keys(spark: SparkSession, session: ddlog.Session) -> None:
    keyed_steps(spark, session)
    session.insert("Part", ("car", "wheel", 4), ("car", "door", 5))
    session.commit()
    with pytest.raises(DDlogError, match=r'the key \("car", "door"\)'):
        session.insert(
            "Part", spark.createDataFrame([("car", "door", 3)], "whole STRING, part STRING, count INT")
        )


def test_multisets(spark: SparkSession, session: ddlog.Session) -> None:
    numbers = lambda *values: spark.createDataFrame([(value,) for value in values], "x INT")  # noqa: E731
    session.insert("Seen", numbers(1, 1, 1, 2))
    assert session.commit().rows("Times") == [((1,), 3), ((2,), 1)]
    session.delete("Seen", numbers(1, 2, 2, 9))
    session.insert("Seen", (2,))
    assert session.commit().rows("Times") == [((1,), -1)]
    session.delete("Seen", (1,), (1,), (1,), (5,))
    assert session.commit().rows("Times") == [((1,), -2)]
    assert rows(session["Seen"].to_spark()) == [(2, 1)]
    session.insert("Seen", (4,), (4,))
    session.clear("Seen")
    session.insert("Seen", (6,))
    assert session.commit().rows("Times") == [((2,), -1), ((6,), 1)]


def test_change_feeds(spark: SparkSession, session: ddlog.Session) -> None:
    def feed(columns: str, *rows: tuple[Any, ...]) -> DataFrame:
        return spark.createDataFrame(list(rows), f"{columns}, _change_type STRING, _commit_version LONG")

    session.insert("Person", (1, "a"), (2, "b"), (3, "c"))
    session.insert("Edge", (1, 2), (3, 4))
    session.commit()
    session.apply_changes("Person", feed(
        "name STRING, id INT",
        ("b", 2, "update_preimage", 4), ("x", 2, "update_postimage", 4),
        ("x", 2, "update_preimage", 5), ("y", 2, "update_postimage", 5),
        ("c", 3, "delete", 5), ("d", 4, "insert", 5), ("d", 4, "delete", 6), ("e", 5, "insert", 6),
        ("a", 1, "update_postimage", 7), ("a", 1, "update_preimage", 7),
    ))  # fmt: skip
    iceberg = spark.createDataFrame(
        [
            (1, 2, "DELETE", 0, 8),
            (5, 6, "INSERT", 0, 8),
            (5, 6, "UPDATE_BEFORE", 1, 9),
            (7, 8, "UPDATE_AFTER", 1, 9),
        ],
        "a LONG, b INT, _change_type STRING, _change_ordinal INT, _commit_snapshot_id LONG",
    )
    session.apply_changes("Edge", iceberg)
    session.apply_changes(
        "Seen", feed("x INT", (1, "insert", 1), (1, "insert", 1), (2, "insert", 1), (2, "delete", 2))
    )
    changes = session.commit()
    assert changes.rows("Names") == [(("b",), -1), (("c",), -1), (("e",), 1), (("y",), 1)]
    assert changes.rows("Path") == [((1, 2), -1), ((7, 8), 1)]
    assert changes.rows("Times") == [((1,), 2)]
    for wrong, message in (
        (
            feed("a INT, b INT", (1, 1, "upsert", 1)),
            "expected insert, update_postimage, delete, update_preimage, found upsert",
        ),
        (feed("a INT, b INT", (1, 1, None, 1)), "found null"),
        (feed("a INT, b INT", (1, None, "delete", 1)), "column `b`: expected signed<32>, found null"),
        (
            feed("a INT, b INT", *[(1, 1, "insert", 1)] * 2),
            "more than once; declare the relation as a multiset",
        ),
        (spark.createDataFrame([(1, 2)], "a INT, b INT"), "no column _change_type"),
        ({"a": [1], "b": [2], "_change_type": ["insert"]}, "a Spark DataFrame"),
    ):
        with pytest.raises(DDlogError, match=message):
            session.apply_changes("Edge", wrong)
    with pytest.raises(DDlogError, match="has no row with the key 9"):
        session.apply_changes(
            "Person", feed("id INT, name STRING", (9, "z", "delete", 1), (8, "z", "insert", 1))
        )
    assert len(session.commit()) == 0, "a feed that does not fit changes nothing"


def test_a_query_may_have_types_that_the_program_has_not(spark: SparkSession) -> None:
    program = ddlog.compile(
        "input relation Number(n: u32) output relation Shown(n: u32) Shown(n) :- Number(n)."
    )
    with program.session(spark=spark) as session:
        session.insert("Number", (1,), (2,))
        session.commit()
        for text, printed in (
            ("Number(n), var some = Some{n}", "[(1, 1), (2, 2)]"),
            ("Number(n), var left: Either<u32, string> = Left{n}", "[(1, Left(l=1)), (2, Left(l=2))]"),
        ):
            assert str(session.query(text).rows) == printed


def test_run_as_a_step_of_a_pipeline(spark: SparkSession) -> None:
    edges = spark.createDataFrame([(1, 2), (2, 3)], "a INT, b INT")
    results = PROGRAM.run(spark, {"Edge": edges})
    assert sorted(results) == ["Copy", "Inverse", "Names", "Path", "Times"]
    assert rows(results["Path"]) == [(1, 2), (1, 3), (2, 3)]
    assert rows(results["Path"].where("a = 2")) == [(2, 3)]
    assert list(PROGRAM.run(spark, {"Edge": edges}, outputs=["Path"])) == ["Path"]
    with pytest.raises(DDlogError, match="Path is not an input relation"):
        PROGRAM.run(spark, {"Path": edges})


def test_an_active_session_is_taken(spark: SparkSession) -> None:
    from ddlog.sessions.engines import EngineOptions, choose

    assert choose(EngineOptions(), lambda: 1, environ={}).text == "engine: spark (a Spark session is active)"
    with PROGRAM.session(engine="spark") as session:
        session.insert("Edge", (1, 2))
        assert len(session.commit()) == 2


def test_in_process_sessions_take_no_spark_frames(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, 2)], "a INT, b INT")
    session = PROGRAM.session()
    for use in (session.insert, session.delete, session.insert_table, session.upsert_table):
        with pytest.raises(DDlogError, match="a Spark DataFrame needs a session on Spark"):
            use("Edge" if use is not session.upsert_table else "Person", frame)
    with pytest.raises(DDlogError, match="to_spark needs a session on Spark"):
        session["Path"].to_spark()
    with pytest.raises(DDlogError, match="to_spark needs a session on Spark"):
        session.commit().to_spark("Path")


def test_frames_and_lines_have_the_names_of_rules_or_of_files(spark: SparkSession, tmp_path: Path) -> None:
    program = ddlog.compile("""
input relation R(#[rust="serde(rename=\\"Order ID\\")"] order_id: u8, b: string)
output relation O[R]
O[x] :- R[x].
""")
    with program.session(spark=spark) as session:
        session.insert_table("R", spark.createDataFrame([("x", 1)], "b STRING, `Order ID` INT"))
        session.insert_table("R", spark.createDataFrame([("y", 2)], "b STRING, order_id INT"))
        session.commit()
        (tmp_path / "R.jsonl").write_text('{"order_id": 3, "b": "z"}\n{"Order ID": 4, "B": "z"}\n')
        session.load(tmp_path)
        assert [*session["O"].tuples()] == [(1, "x"), (2, "y"), (3, "z"), (4, "z")]


def test_queries_on_demand(spark: SparkSession) -> None:
    """What a session does not keep is evaluated when it is asked for, again after a change."""
    program = ddlog.compile("""
        input relation Edge(a: s32, b: s32)
        input multiset Seen(x: s32)
        relation Path(a: s32, b: s32)
        Path(a, b) :- Edge(a, b).
        Path(a, c) :- Edge(a, b), Path(b, c).
        multiset From(x: s32, b: s32)
        From(x, b) :- Seen(x), Path(x, b).
    """)
    with program.session(relations="inputs", spark=spark) as session:
        session.insert("Edge", (1, 2), (2, 3), (5, 6))
        session.insert("Seen", 1, 1)
        session.commit()
        assert session.query("From(1, b), Path(b, c)").rows == [(2, 3)]
        session.insert("Edge", (3, 1))
        session.commit()
        assert session.query("From(1, b), Path(b, c)").rows == [(b, c) for b in (1, 2, 3) for c in (1, 2, 3)]
