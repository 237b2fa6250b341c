"""Demand that costs more than the whole is given up: the rows that are made, and the answers."""

from __future__ import annotations

import random
from pathlib import Path
from unittest import mock

import pytest

import ddlog
from ddlog.errors.diagnostics import DDlogError
from ddlog.errors.state import ReadOnlyState
from ddlog.sessions.asking import demandbudget
from ddlog.sessions.persistence import checkpoints
from ddlog.sessions.persistence.durable import Durable

POINTS_TO = """
input relation New(v: u32, o: u32)
input relation Assign(to: u32, from: u32)
input relation Load(to: u32, base: u32, field: u32)
input relation Store(base: u32, field: u32, from: u32)
relation PointsTo(v: u32, o: u32)
relation Held(o: u32, field: u32, p: u32)
PointsTo(v, o) :- New(v, o).
PointsTo(v, o) :- Assign(v, w), PointsTo(w, o).
Held(o, f, p) :- Store(b, f, w), PointsTo(b, o), PointsTo(w, p).
PointsTo(v, p) :- Load(v, b, f), PointsTo(b, o), Held(o, f, p).
"""
VARIABLES = 2000
REACH = """
input relation Edge(a: u32, b: u32)
relation Reach(a: u32, b: u32)
Reach(x, y) :- Edge(x, y).
Reach(x, z) :- Edge(x, y), Reach(y, z).
"""


def heap() -> dict[str, list[tuple[int, ...]]]:
    """Statements over variables: of each question most are asked in the end, and of pairs of them."""
    of = random.Random(7).randrange
    every = range(VARIABLES)
    return {
        "New": [(v, v) for v in every if v % 4 == 0],
        "Assign": [(v, of(VARIABLES)) for v in every if v % 4],
        "Load": [(of(VARIABLES), of(VARIABLES), of(40)) for _ in range(VARIABLES // 4)],
        "Store": [(of(VARIABLES), of(40), of(VARIABLES)) for _ in range(VARIABLES // 4)],
    }


def made(session: ddlog.Session) -> int:
    """The rows of relations that are not inputs, those of questions among them."""
    inputs = {*session.program.names("input")}
    hosts = [session.state.host, *session.state.questions.hosts()]
    held = [each for host in hosts for each in host.runtime.footprint() or ()]
    return sum(each.rows for each in held if each.kind == "relation" and each.name not in inputs)


def loaded(program: ddlog.Program, relations: str) -> ddlog.Session:
    session = program.session(relations=relations, engine="in-process")
    for name, rows in heap().items():
        session.insert(name, *rows)
    session.commit()
    return session


@pytest.fixture
def impatient() -> object:
    """Demand may take almost nothing at first."""
    with mock.patch.multiple(demandbudget, LEAST=10, EACH=0):
        yield


def test_a_question_makes_no_more_than_twice_the_rows_of_the_whole() -> None:
    program, question = ddlog.compile(POINTS_TO), f"PointsTo({VARIABLES - 3}, o)"
    with loaded(program, "all") as whole, loaded(program, "inputs") as session:
        answers, rows = whole.query(question).rows, made(whole)
        assert session.query(question).rows == answers and made(session) <= 2 * rows
        assert session.query("PointsTo(12, o)").rows == whole.query("PointsTo(12, o)").rows
        assert made(session) <= 3 * rows, "two questions stand"


def test_outputs_on_demand_make_no_more_than_twice_the_rows_of_the_whole() -> None:
    program = ddlog.compile(POINTS_TO)
    with loaded(program, "all") as whole:
        answers, rows = whole.query(f"PointsTo({VARIABLES - 3}, o)").rows, made(whole)
    asking = program.asking(f"PointsTo({VARIABLES - 3}, o)")
    with loaded(asking, "outputs") as session:
        assert list(session["query"].tuples()) == answers and made(session) <= 2 * rows
    with mock.patch.object(demandbudget, "LEAST", 1 << 60), loaded(asking, "outputs") as session:
        assert made(session) > 10 * rows, "what the budget spares"


def test_demand_in_many_steps_is_given_up_for_a_whole_in_few() -> None:
    """A step takes time, however few rows it gives: demand follows a chain node by node."""
    program = ddlog.compile(REACH.replace("Edge(x, y), Reach(y, z)", "Reach(x, y), Reach(y, z)"))
    with program.session(relations="inputs", engine="in-process") as session:
        session.insert("Edge", *((k, k + 1) for k in range(400)))
        session.commit()
        assert len(session.query("Reach(1, x)").rows) == 399
        assert made(session) > 400 * 399 // 2, "all of it is computed, by doubling"


def test_an_output_that_is_computed_whole_follows_its_inputs(impatient: None) -> None:
    program = ddlog.compile(REACH).asking("Reach(1, x)")
    with program.session(relations="outputs", engine="in-process") as session:
        session.insert("Edge", (1, 2), (2, 3), (7, 8))
        session.commit()
        session.insert("Edge", (3, 4))
        assert dict(session.commit().rows("query")) == {(4,): 1}
        session.delete("Edge", (2, 3))
        assert dict(session.commit().rows("query")) == {(3,): -1, (4,): -1}


def test_a_later_commit_gives_demand_up(impatient: None) -> None:
    program = ddlog.compile(REACH).asking("Reach(1, x)")
    with program.session(relations="outputs", engine="in-process") as session:
        with mock.patch.object(demandbudget, "LEAST", 1 << 60):
            session.insert("Edge", (1, 2), (2, 3), (7, 8))
            session.commit()
        session.insert("Edge", (3, 4), (8, 9))
        assert dict(session.commit().rows("query")) == {(4,): 1}
        assert set(session["query"].tuples()) == {(2,), (3,), (4,)}


def reached(state: Path) -> ddlog.Session:
    program = ddlog.compile(REACH).asking("Reach(1, x)")
    return program.session(relations="outputs", engine="in-process", state=state)


def titles(session: ddlog.Session) -> set[str]:
    """What of a checkpoint a session began with."""
    assert isinstance(session.state.durable, Durable) and session.state.durable.begun_with is not None
    return {each.title for each in session.state.durable.begun_with.units.values()}


@pytest.mark.parametrize("least", [10, 1 << 60], ids=["whole", "on demand"])
def test_a_state_goes_on_with_what_was_chosen(tmp_path: Path, least: int) -> None:
    """The checkpoint has the rows that were derived, of the whole or of a part; no session derives both."""
    edges = [(k, k + 1) for k in range(300)]
    with mock.patch.multiple(demandbudget, LEAST=least, EACH=0):
        with mock.patch.object(checkpoints, "WORTH", 0.0), reached(tmp_path / "s") as session:
            session.insert("Edge", *edges)
            assert dict(session.commit().rows("query")) == {(k,): 1 for k in range(2, 301)}
            session.delete("Edge", (200, 201))
            assert dict(session.commit().rows("query")) == {(k,): -1 for k in range(201, 301)}
            held = made(session)
        with reached(tmp_path / "s") as session:
            assert [*session["query"].tuples()] == [(k,) for k in range(2, 201)]
            assert made(session) == held
            assert titles(session) >= {"Reach" if least == 10 else "query"}
            session.insert("Edge", (200, 290))
            assert dict(session.commit().rows("query")) == {(k,): 1 for k in range(290, 301)}


@pytest.mark.parametrize("few", [10, 1 << 60], ids=["derived anew", "caught up"])
def test_a_state_gives_demand_up_when_it_is_opened(tmp_path: Path, few: int) -> None:
    """Commits after the checkpoint are caught up with within the budget, or else all is computed."""
    place = tmp_path / "s"
    with mock.patch.object(checkpoints, "WORTH", 0.0), reached(place) as session:
        session.insert("Edge", *((k, k + 1) for k in range(300)))
        session.commit()
    with ddlog.compile(REACH).session(relations="inputs", engine="in-process", state=place) as session:
        session.insert("Edge", (300, 7), (300, 400))
        session.commit()
    with mock.patch.multiple(demandbudget, LEAST=few, EACH=0), reached(place) as session:
        assert {*session["query"].tuples()} == {(k,) for k in [*range(2, 301), 400]}
        assert (made(session) > 80_000) == (few == 10)


def test_what_a_state_refuses_is_told_once(tmp_path: Path, impatient: None) -> None:
    """A commit that cannot be written is not tried on demand once more."""
    with reached(tmp_path / "s") as session:
        session.insert("Edge", (1, 2), (2, 3))
        session.commit()
        assert session.state.durable is not None
        full = DDlogError([ReadOnlyState("s")])
        with mock.patch.object(session.state.durable, "_append", side_effect=full) as append:
            session.insert("Edge", (3, 4))
            with pytest.raises(ddlog.DDlogError):
                session.commit()
            assert append.call_count == 1
        session.insert("Edge", (3, 5))
        assert dict(session.commit().rows("query")) == {(5,): 1}


def test_demand_ends_where_the_whole_has_no_end(impatient: None) -> None:
    program = ddlog.compile("""
        input relation From(n: bigint)
        input relation Least(n: bigint)
        relation Up(n: bigint, m: bigint)
        Up(n, n) :- From(n).
        Up(n, m + 1) :- Up(n, m), Least(k), n > k.
    """)
    with program.session(relations="inputs", engine="in-process") as session:
        session.insert("From", (1,), (9,))
        session.insert("Least", (5,))
        session.commit()
        assert session.query("Up(1, m)").rows == [(1,)]


def test_a_fault_of_what_is_not_asked_is_none(impatient: None) -> None:
    program = ddlog.compile("""
        input relation Divide(by: u32, what: u32)
        relation Share(by: u32, n: u32)
        Share(by, what / by) :- Divide(by, what).
    """)
    with program.session(relations="inputs", engine="in-process") as session:
        session.insert("Divide", (0, 7), (2, 8))
        session.commit()
        assert session.query("Share(2, n)").rows == [(4,)]


ASKED = """
    input relation From(n: u32)
    #[demand]
    output relation Reached(n: u32)
    Reached(y) :- From(x), Reach(x, y).
"""


@pytest.mark.parametrize("budget", [10, 1 << 60], ids=["whole", "on demand"])
def test_an_output_that_is_added_has_a_budget(budget: int) -> None:
    """Its first rows, and those of a rule that it gets later, are derived on demand or all."""
    with ddlog.compile(REACH + "input relation From(n: u32)").session(relations="outputs") as session:
        session.insert("Edge", *((k, k + 1) for k in range(300)))
        session.insert("From", (1,))
        session.commit()
        with mock.patch.multiple(demandbudget, LEAST=budget, EACH=0):
            changes = session.extend(ASKED.replace("input relation From(n: u32)", ""))
            assert dict(changes.rows("Reached")) == {(k,): 1 for k in range(2, 301)}
            assert (made(session) > 40_000) == (budget == 10)
            session.insert("Edge", (300, 301))
            assert dict(session.commit().rows("Reached")) == {(301,): 1}
            session.extend("Reached(n + 1000) :- From(n).")
            assert dict(session.extend("From(301).").rows("Reached")) == {(1301,): 1}
