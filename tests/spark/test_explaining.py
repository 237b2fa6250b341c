"""Answers of a session on Spark are those of a session in process, also about loops and about changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given

import ddlog
from ddlog.engine.spark.runtime import SparkOptions
from ddlog.sessions.session import Session

from ..programs.random_programs import programs, transactions
from ..trying import trying

PROGRAM = """
input relation Edge(a: string, b: string)
input relation Closed(a: string)
input multiset Toll(a: string, n: bit<32>)
output relation Reach(a: string, b: string)
Reach(x, y) :- Edge(x, y), not Closed(x).
Reach(x, z) :- Reach(x, y), Edge(y, z), not Closed(y).
output relation Dear(a: string, n: bit<32>)
Dear(a, n) :- Toll(a, m), Reach(_, a), var n = m.group_by(a).max().
loop Breadth until empty(Frontier) {
    relation Frontier(v: string)
    initial Frontier(v) :- Edge(v, _), not Edge(_, v).
    Frontier(b) :- Frontier-1(a), Reach(a, b), not Seen-1(b).
    output relation Seen(v: string)
    Seen(v) :- Seen-1(v).
    Seen(v) :- Frontier(v).
}
"""

REACH, DEAR, SEEN = 'Reach("a", "d")', 'Dear("d", n)', 'Seen("e")'


def feed(session: Session) -> None:
    """Two commits, of which the second deletes and inserts."""
    session.insert("Edge", *map(tuple, ("ab", "bc", "cd", "ad", "de")))
    session.insert("Toll", ("d", 1), ("d", 3), ("d", 3))
    session.commit()
    session.delete("Edge", ("a", "d"), ("d", "e"))
    session.delete("Toll", ("d", 3), ("d", 3))
    session.insert("Closed", ("e",), ("d",))
    session.commit()


def answers(session: Session) -> list[Any]:
    """The answers to questions of all kinds."""
    found: list[Any] = [str(session.why_change(each)) for each in (DEAR, 'Reach("a", "e")', SEEN)]
    found += [str(session.why(REACH)), str(session.why('Seen("d")'))]
    found += [session.why_ends(REACH, within=60), len(session.why_not(SEEN, within=60).missing.children)]
    found.append(str(session.why_change(DEAR)))  # trials leave nothing behind
    session.insert("Edge", ("b", "d"))
    session.commit()
    with pytest.raises(ddlog.DDlogError, match="did not change"):
        session.why_change(REACH)
    return [*found, str(session.why(REACH)), session.query("Reach(a, b)").rows]


def test_answers(spark: Any) -> None:
    options = SparkOptions()
    program = ddlog.compile(PROGRAM)
    with program.session() as here, program.session(spark=spark, spark_options=options) as there:
        for session in (here, there):
            feed(session)
        assert answers(there) == answers(here)


def test_changes_on_the_cluster(spark: Any) -> None:
    program = ddlog.compile(PROGRAM.partition("loop")[0])
    with program.session() as here, program.session(spark=spark) as there:
        for session in (here, there):
            feed(session)
        assert str(there.why_change(DEAR)) == str(here.why_change(DEAR))
        assert there.query("Dear(a, n)").rows == here.query("Dear(a, n)").rows


def test_the_state_before_lowers_no_births(spark: Any) -> None:
    """While the last commit is undone on trial, a row that went has births that do not hold after it."""
    program = ddlog.compile(
        "input relation Start(a: u8)\ninput relation Edge(a: u8, b: u8)\noutput relation Met(a: u8)\n"
        "Met(a) :- Start(a).\nMet(b) :- Met(a), Edge(a, b).\n"
    )
    with program.session(spark=spark, spark_options=SparkOptions(), maintain="always") as session:
        session.insert("Start", (0,))
        session.insert("Edge", (0, 1), (1, 2), (2, 1), (2, 3), (4, 5), (7, 8))
        session.commit()
        session.delete("Edge", (7, 8))
        session.commit()
        session.insert("Edge", (0, 2), (3, 4))
        session.commit()
        session.delete("Edge", (0, 2), (3, 4))
        session.commit()
        assert "Edge(3, 4)" in str(session.why_change("Met", (5,)))
        session.delete("Edge", (0, 1))
        session.commit()
        assert list(session["Met"].tuples()) == [(0,)]


@trying(1, phases=[Phase.generate])
@given(programs(), transactions())
def test_changes_of_random_programs(
    spark: Any, text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]]
) -> None:
    program, options = ddlog.compile(text), SparkOptions()
    with (
        program.session() as here,
        program.session(engine="spark", spark=spark, spark_options=options) as there,
    ):
        here.start(), there.start()
        for transaction in stream:
            before = {name: set(here[name].tuples()) for name in program.relations}
            for session in (here, there):
                for relation, row, sign in transaction:
                    (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
                session.commit()
        changed = [(name, row) for name, rows in before.items() for row in rows ^ set(here[name].tuples())]
        for name, row in sorted(changed, key=repr)[::3][:4]:
            assert str(there.why_change(name, row)) == str(here.why_change(name, row))
