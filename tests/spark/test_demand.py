"""Demand on Spark has a budget: what costs more than the whole is given up, and the whole is computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.engine.budget import OverBudget
from ddlog.sessions.asking import demandbudget

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REACH = """
input relation Edge(a: u32, b: u32)
input relation From(n: u32)
relation Reach(a: u32, b: u32)
Reach(x, y) :- Edge(x, y).
Reach(x, z) :- Edge(x, y), Reach(y, z).
#[demand]
output relation Reached(n: u32)
Reached(y) :- From(x), Reach(x, y).
"""
EDGES = [(k, k + 1) for k in range(1, 6)]


@contextmanager
def budget(rows: int) -> Iterator[None]:
    """Demand may take so many rows of work."""
    with mock.patch.multiple(demandbudget, LEAST=rows, EACH=0):
        yield


def computed(session: ddlog.Session, of: int = -1) -> set[str]:
    """The relations that the session computes, or its question of a number."""
    hosts = [*session.state.questions.hosts(), session.state.host]
    return {name for name, _ in hosts[of].runtime.circuit.relations}  # type: ignore[attr-defined]


def opened(spark: SparkSession, relations: str = "outputs") -> ddlog.Session:
    session = ddlog.compile(REACH).session(relations=relations, spark=spark)
    session.insert("Edge", *EDGES)
    session.insert("From", (4,))
    return session


@pytest.mark.parametrize("rows", [1 << 60, 10])
def test_outputs_on_demand_have_a_budget(spark: SparkSession, rows: int) -> None:
    with budget(rows), opened(spark) as session:
        assert dict(session.commit().rows("Reached")) == {(5,): 1, (6,): 1}
        assert ("Reach" in computed(session)) == (rows == 10)
        session.delete("Edge", (5, 6))
        assert dict(session.commit().rows("Reached")) == {(6,): -1}


def test_a_later_commit_gives_demand_up(spark: SparkSession) -> None:
    """The inputs go on with what they hold, and the change counts from the last commit."""
    with opened(spark) as session:
        session.commit()
        assert "Reach" not in computed(session)
        session.insert("Edge", (6, 7))
        session.delete("From", (4,))
        session.insert("From", (5,))
        with budget(10):
            assert dict(session.commit().rows("Reached")) == {(5,): -1, (7,): 1}
        assert "Reach" in computed(session)
        assert {*session["Edge"].tuples()} == {*EDGES, (6, 7)}


def test_what_fails_leaves_the_session_as_it_was(spark: SparkSession) -> None:
    """Neither demand nor the whole does: the commit is refused, and its rows are given again."""
    with opened(spark) as session:
        session.commit()
        session.state.max_iterations = 3
        session.insert("Edge", *((k, k + 1) for k in range(6, 16)))
        with budget(10), pytest.raises(ddlog.DDlogError, match="3 iterations"):
            session.commit()
        assert list(session["Reached"].tuples()) == [(5,), (6,)]
        session.state.max_iterations = None
        session.insert("Edge", (6, 7))
        assert dict(session.commit().rows("Reached")) == {(7,): 1}


def test_a_question_has_a_budget(spark: SparkSession) -> None:
    with budget(10), opened(spark, "inputs") as session:
        session.commit()
        assert session.query("Reach(4, x)").rows == [(5,), (6,)]
        assert "Reach" in computed(session, 0)


def test_one_run_has_a_budget(spark: SparkSession) -> None:
    edges, start = spark.createDataFrame(EDGES, "a int, b int"), spark.createDataFrame([(4,)], "n int")
    with (
        budget(10),
        mock.patch.object(demandbudget, "OverBudget", ZeroDivisionError),
        pytest.raises(OverBudget),
    ):
        ddlog.compile(REACH).run(spark, {"Edge": edges, "From": start})
    with budget(10):
        frames = ddlog.compile(REACH).run(spark, {"Edge": edges, "From": start})
    assert sorted(row.n for row in frames["Reached"].collect()) == [5, 6]


def test_a_query_of_the_command_line_has_a_budget(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.dl").write_text(REACH)
    (tmp_path / "Edge.csv").write_text("".join(f"{a},{b}\n" for a, b in EDGES))
    given = ["--input", f"Edge={tmp_path}/Edge.csv", "--engine", "spark", "--format", "csv", "--quiet"]
    with budget(10):
        assert main(["run", str(tmp_path / "p.dl"), *given, "--query", "Reach(4, x)"]) == 0
    assert capsys.readouterr().out.split() == ["x", "5", "6"]
