"""A program without updates is one query for each relation: the answers of the in-process engine, and plans
that a Spark user would write. The long form has all programs of the corpus."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed

import ddlog
from ddlog.commands.interpreter import Interpreter
from ddlog.commands.updatefiles import update_commands
from ddlog.engine.rounding import rounded
from ddlog.engine.spark.batch.runtime import BatchRuntime
from ddlog.engine.spark.means import mean
from ddlog.engine.spark.runtime import SparkOptions
from ddlog.engine.spark.settings import changed as changed_settings
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session

from ..programs.random_programs import grouping_programs, programs, transactions
from ..programs.test_corpus import CORPUS
from ..trying import longer
from .alike import sampled

SOME = (
    "bounded_recursion", "casts", "even_negation", "multisets", "order", "primary_keys", "records",
)  # fmt: skip
EVERY = sorted(path.stem for path in CORPUS.glob("*.dl"))
NAMES = longer([name for name in SOME if name in EVERY], EVERY)

Contents = dict[str, list[tuple[Any, int]]]


LOOKED_UP = """
input relation A(x: s32, y: s32)
input relation B(x: s32, y: s32)
input relation C(x: s32)
output relation Q(x: s32, y: s32)
output relation U(x: s32, y: s32)
function parts(y: s32): Vec<s32> { vec_singleton(6 / y) }
Q(x, y) :- A(x, d), var z = 6 / d, B(z, y), C(x).
U(x, y) :- A(x, d), var z = FlatMap(parts(d)), B(z, y), C(y).
"""


def contents(session: Session) -> Contents | str:
    """All relations that a session keeps, or its error."""
    try:
        return {
            name: list(session[name].weighted()) for name in session.program.relations if session.keeps(name)
        }
    except ddlog.DDlogError as error:
        return str(error)


def by_rows(program: Program, rows: dict[str, list[Any]]) -> Contents | str:
    """The relations of a session in-process for rows of the inputs."""
    with program.session() as session:
        try:
            for name, some in rows.items():
                session.insert_rows(name, some)
            session.commit()
        except ddlog.DDlogError as error:
            return str(error)
        return contents(session)


def by_query(program: Program, rows: dict[str, list[Any]], spark: Any) -> Contents | str:
    """The same by one query of Spark each, with every row of a set given twice."""
    with program.session(spark=spark, updates=False) as session:
        runtime = session.state.host.runtime
        assert isinstance(runtime, BatchRuntime)
        sets = {name for name, each in program.relations.items() if each.kind == "relation" and not each.key}
        given = {
            name: [(runtime.batch(name, some), 1)] * (2 if name in sets else 1) for name, some in rows.items()
        }
        try:
            session.state.run(given, True)
        except ddlog.DDlogError as error:
            return str(error)
        return contents(session)


def test_a_group_of_a_bag_has_each_value_once_as_a_set(spark: Any) -> None:
    program = ddlog.compile(
        "input multiset A(k: s32, d: s32)\noutput relation N(k: s32, n: usize, m: usize, s: Set<s32>)\n"
        "N(k, g.size(), g.count(), g.to_set()) :- A(k, d), var g = d.group_all_by(k)."
    )
    rows = {"A": [(1, 2), (1, 4), (1, 4), (1, 2), (2, 0)]}
    assert by_query(program, rows, spark) == by_rows(program, rows)


@pytest.mark.parametrize("name", NAMES)
def test_programs_of_the_corpus(name: str, spark: Any) -> None:
    program = ddlog.compile(CORPUS / f"{name}.dl")
    path = str(CORPUS / f"{name}.dat")
    with program.session() as session:
        commands = update_commands(path, program.relations, session.typedefs, program.indexes)
        Interpreter(session, lambda _: None, lambda *_: None, program.names("output")).run(commands)
        rows = {each: list(session[each].repeated()) for each in program.names("input")}
    with program.session(spark=spark, updates=False) as session:
        if not isinstance(session.state.host.runtime, BatchRuntime):
            pytest.skip("it has windows or effects")
    assert by_query(program, rows, spark) == by_rows(program, rows)


@pytest.mark.parametrize("texts", [programs(), grouping_programs()], ids=["programs", "groups"])
def test_random_programs(texts: Any, spark: Any) -> None:
    @seed(5)
    @sampled(2)
    @given(texts, transactions())
    def check(text: str, stream: list[list[tuple[str, Any, int]]]) -> None:
        program = ddlog.compile(text)
        rows: dict[str, list[Any]] = {}
        for relation, row, sign in (each for some in stream for each in some):
            if sign > 0 and relation in program.relations:
                rows.setdefault(relation, []).append(row)
        assert by_query(program, rows, spark) == by_rows(program, rows)

    check()


STAR = """
input relation Fact(id: s64, key: s32, value: s64, note: string) {fact}
input relation Dim(key: s32, class: s32) primary key (d) d.key
output relation Total(class: s32, n: usize, total: s64)
Total(class, group.count_distinct(), group.sum_second()) :-
    Fact(id, key, value, _), value > 5, Dim(key, class), var group = (id, value).group_by(class).
output relation Ratio(id: s64, value: s64)
Ratio(id, value / (value - 7)) :- Fact(id, key, value, _), Dim(key, 3).
relation Seen(key: s32)
Seen(key) :- Fact(_, key, _, _).
output relation Classes(class: s32, keys: usize)
Classes(class, key.group_by(class).count()) :- Dim(key, class), Seen(key).
"""


@pytest.mark.usefixtures("compiled")
def test_means_are_rounded_once(spark: Any) -> None:
    """The mean of integers of up to 64 bits is that of the in-process engine, to the last bit."""
    chance = random.Random(7)
    cases = [
        (0, 1),
        (-1, 3),
        (2**53 + 1, 2**20),
        (2**53 + 1, 2),
        (-(2**63), 1),
        (2**63 * 3, 3),
        (2**64 - 1, 1),
    ]
    for _ in range(300):
        n = chance.randrange(1, 1 << chance.randrange(1, 54))
        top = n << chance.randrange(65)
        cases.append((chance.randrange(-top, top), n))
    values = ", ".join(f"({k}, {s}BD, {n}L)" for k, (s, n) in enumerate(cases))
    with changed_settings(spark, {"spark.sql.ansi.enabled": "false"}):
        found = spark.sql(f"SELECT {mean('s', 'n')} FROM VALUES {values} AS t(k, s, n) ORDER BY k").collect()
    assert [row[0] for row in found] == [rounded(s, n) for s, n in cases]


def plan_of(frame: Any) -> str:
    """Spark's plan of a frame."""
    found: str = frame._jdf.queryExecution().toString()
    return found


@pytest.mark.usefixtures("compiled")
def test_plans_are_those_of_a_query(spark: Any, tmp_path: Any) -> None:
    """Columns and filters reach the files, and no distinct stands where a key makes it so."""
    if not hasattr(spark, "_jsparkSession"):
        pytest.skip("a Connect session does not show its plans this way")
    rows = spark.range(40).selectExpr(
        "id", "CAST(id % 4 AS INT) AS key", "CAST(id % 10 AS BIGINT) AS value", "'x' AS note"
    )
    rows.write.parquet(f"{tmp_path}/Fact")
    fact = spark.read.parquet(f"{tmp_path}/Fact")
    dim = spark.range(4).selectExpr("CAST(id AS INT) AS key", "CAST(id % 2 AS INT) AS class")
    keyed = ddlog.compile(STAR.format(fact="primary key (f) f.id"))
    found = keyed.run(spark, {"Fact": fact, "Dim": dim})
    assert found["Total"].columns == ["class", "n", "total"]
    plan = plan_of(found["Total"]).partition("== Physical Plan ==")[2]
    assert re.findall("ReadSchema: ([^\\s]*)", plan) == ["struct<key:int,value:bigint>"]
    assert plan.count("HashAggregate") == 2
    plan = plan_of(found["Classes"]).partition("== Physical Plan ==")[2]
    assert plan.count("HashAggregate") == 2 and "LeftSemi" in plan
    with keyed.session(spark=spark, updates=False) as session:
        session.load_frames({"Fact": fact, "Dim": dim})
        assert "ReadSchema: struct<key:int,value:bigint>" in session.state.host.offer.frames.explained(
            "Total"
        )
        with pytest.raises(ddlog.DDlogError, match="changes"):
            session.insert("Dim", (9, 9))
    wanted = sorted(map(tuple, found["Total"].collect()))
    given = ddlog.compile(STAR.format(fact="")).run(spark, {"Fact": fact.union(fact), "Dim": dim})
    assert sorted(map(tuple, given["Total"].collect())) == wanted
    assert plan_of(given["Total"]).partition("== Physical Plan ==")[2].count("HashAggregate") == 4


def test_a_group_that_two_outputs_read_is_computed_once(spark: Any) -> None:
    """If its input is large."""
    if not hasattr(spark, "_jsparkSession"):
        pytest.skip("a Connect session does not show its plans this way")
    program = ddlog.compile("""
    input relation Fact(id: s64, key: s64)
    relation Total(key: s64, n: s64)
    Total(key, n) :- Fact(id, key), var n = id.group_by(key).count() as s64.
    output relation Many(key: s64)
    Many(key) :- Total(key, n), n > 3.
    output relation Most(n: s64)
    Most(n) :- Total(_, m), var n = m.group_by(()).max().
    """)
    facts = spark.range(10).selectExpr("id", "id % 3 AS key")
    for rows, seen in ((0, True), (1000, False)):
        options = SparkOptions(driver_rows=rows)
        with program.session(spark=spark, spark_options=options, updates=False) as session:
            session.load_frames({"Fact": facts})
            plans = [session.state.host.offer.frames.explained(name) for name in ("Many", "Most")]
            assert [("ExistingRDD" in plan) for plan in plans] == [seen, seen]
            assert (list(session["Many"].tuples()), list(session["Most"].tuples())) == ([(0,)], [(4,)])


def test_nothing_runs_before_an_action(spark: Any) -> None:
    """Wrong rows and faults show when the frame is used; columns that nothing reads are not looked at."""
    dim = spark.createDataFrame([(0, 3)], "key INT, class INT")
    program = ddlog.compile(STAR.format(fact=""))

    def found(rows: list[tuple[Any, ...]], relation: str) -> list[Any]:
        frame = spark.createDataFrame(rows, "id LONG, key INT, value LONG, note STRING")
        frame = frame.repartition(1)  # a server looks at all of what the client sends
        return sorted(map(tuple, program.run(spark, {"Fact": frame, "Dim": dim})[relation].collect()))

    assert found([(1, 0, 9, None), (1, 0, 9, None)], "Total") == [(3, 1, 9)]
    assert found([(1, 1, 7, "x"), (2, 0, 9, "x")], "Ratio") == [(2, 4)]  # no Dim has the row that would fault
    for rows, relation in (([(1, 0, None, "x")], "Total"), ([(1, 0, 7, "x")], "Ratio")):
        with pytest.raises(Exception, match="ddlog-"):
            found(rows, relation)


@pytest.mark.usefixtures("compiled")
def test_a_row_faults_in_a_look_up_if_nothing_excludes_it(spark: Any) -> None:
    program = ddlog.compile(LOOKED_UP)
    a = spark.createDataFrame([(1, 2), (2, 0)], "x INT, y INT")
    for b, c, wanted in (((3, 7), 1, [(1, 7)]), ((3, 7), 7, []), ((3, 2), 2, None)):
        given = {"A": a, "B": spark.createDataFrame([b], "x INT, y INT"), "C": spark.range(c, c + 1)}
        given["C"] = given["C"].selectExpr("CAST(id AS INT) AS x")
        frame = program.run(spark, given)["Q"]
        if wanted is None:
            with pytest.raises(Exception, match="ddlog-fault"):
                frame.collect()
        else:
            assert list(map(tuple, frame.collect())) == wanted


def test_temp_views_of_the_outputs(spark: Any, tmp_path: Path) -> None:
    program = ddlog.compile("""
    input relation Edge(a: s32, b: s32)
    output relation Back(b: s32, a: s32)
    output multiset End(x: s32)
    output multiset Heavy(weight: Option<s32>)
    relation Inner(x: s32)
    Back(b, a) :- Edge(a, b).
    End(b) :- Edge(_, b).
    Heavy(Some{b}) :- Edge(_, b).
    Inner(b) :- Edge(_, b).
    """)
    edges = spark.createDataFrame([(1, 2), (3, 2)], "a INT, b INT")
    spark.range(1).createOrReplaceTempView("t_Back")
    frames = program.run(spark, {"Edge": edges}, views="t_")
    assert sorted(frames) == ["Back", "End", "Heavy"]
    heavy = frames["Heavy"]
    assert [(each.name, each.nullable) for each in heavy.schema.fields] == [
        ("weight", False), ("weight_", False)
    ]  # fmt: skip
    assert heavy.schema["weight"].metadata == {"comment": "ddlog_std::Option<signed<32>>"}
    assert heavy.selectExpr("weight.Some.x", "weight_").collect() == [(2, 2)]
    assert sorted(map(tuple, spark.sql("FROM t_back SELECT *").collect())) == [(2, 1), (2, 3)]
    assert [tuple(row) for row in spark.sql("SELECT x, weight FROM t_End").collect()] == [(2, 2)]
    with program.session(spark=spark) as session:
        assert session.register_views("a b.`") == ["a b.`Back", "a b.`End", "a b.`Heavy"]
        session.insert("Edge", edges)
        assert session.commit().to_spark("Heavy").selectExpr("weight_").collect() == [(2,)]
        session.state.host.offer.frames.write(program.relations["Heavy"], str(tmp_path), "jsonl")
        assert "".join(path.read_text() for path in (tmp_path / "Heavy").glob("*.txt")).count("2") == 2
        assert spark.table("`a b.``Back`").count() == 0, "a view stays as it was"
        session.register_views("a b.`")
        assert spark.table("`a b.``Back`").count() == 2
    twins = ddlog.compile("output relation Up(x: u8)\noutput relation UP(x: u8)\nUp(1). UP(2).")
    with pytest.raises(ddlog.DDlogError, match="apart"):
        twins.run(spark, {}, views="v_")
    assert not spark.catalog.tableExists("v_Up")
    with program.session() as session, pytest.raises(ddlog.DDlogError, match="engine"):
        session.register_views()
