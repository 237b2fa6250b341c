"""Why a row does not hold: what is said to hold or to fail does, and sets of facts suffice."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given

import ddlog
from ddlog.engine import clock
from ddlog.engine.clock import done_once
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.explaining import patience
from ddlog.explaining.derivations import Derivations
from ddlog.explaining.node import Reason
from ddlog.explaining.why import why_not
from ddlog.sessions.explanations import SessionHeld
from ddlog.sessions.session import Session

from ..programs.random_programs import programs, transactions
from ..trying import trying
from .trees import Contents, Row, fits

some = trying(6)

VALUES = {"bit<2>": range(4), "string": "abc"}


@some
@given(programs(), transactions())
def test_absences_of_random_programs(text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]]) -> None:
    program = ddlog.compile(text)
    with program.session() as session:
        for transaction in stream:
            for relation, row, sign in transaction:
                (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
            session.commit()
        contents = {name: dict.fromkeys(session[name].stored, 1) for name in program.relations}
        derivations = Derivations(SessionHeld(session.state))
        for name, declared in program.relations.items():
            types = [VALUES.get(str(column.type), ()) for column in declared.columns]
            absent = [row for row in product(*types) if row not in contents[name]]
            for row in absent[:: max(1, len(absent) // 2)][:2]:
                absence = why_not(derivations, name, row, within=0.3)
                assert str(absence) and absence.json()
                check(absence.missing, contents)
                if absence.insert:
                    check_sets(session, contents, name, row, absence.insert)


@trying(3)
@given(programs(), transactions())
def test_sets_that_end_rows(text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]]) -> None:
    """A set ends its row, and no part of it does. With several facts, or insertions, no deletion of one fact
    suffices; with several facts and insertions, no insertion of one fact does."""
    program = ddlog.compile(text)
    with program.session() as session:
        for transaction in stream:
            for relation, row, sign in transaction:
                (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
            session.commit()
        contents = {name: dict.fromkeys(session[name].stored, 1) for name in program.relations}
        facts = [(name, row) for name, each in program.relations.items() if each.role == "input"
                 for row in contents[name]]  # fmt: skip
        inputs = {name: each for name, each in program.relations.items() if name in ("Num", "Tag")}
        domain = [(name, row) for name, each in inputs.items()
                  for row in product(*(VALUES[str(column.type)] for column in each.columns))]  # fmt: skip
        for name in ("P", "R", "Q"):
            for row in list(contents[name])[:1]:
                found = session.why_ends(name, row, within=0.4)
                for each in found:
                    steps = [(fact, -1) for fact in each] + [(fact, 1) for fact in each.insertions]
                    for some in combinations(steps, max(1, len(steps) - 1)):
                        assert ended(session, name, row, some) == (len(steps) == 1)
                    assert ended(session, name, row, steps)
                if len(found[0]) != 1 or found[0].insertions if found else found.complete:
                    assert not any(ended(session, name, row, [(fact, -1)]) for fact in facts)
                if found and found[0].insertions and len(found[0]) + len(found[0].insertions) > 1:
                    absent = [fact for fact in domain if fact not in facts]
                    assert not any(ended(session, name, row, [(fact, 1)]) for fact in absent)


def ended(session: Session, name: str, row: Row, steps: Sequence[tuple[tuple[str, Row], int]]) -> bool:
    """Whether changes of facts end a row. They are taken back."""
    for sign in (1, -1):
        for (relation, fact), change in steps:
            (session.insert_rows if change * sign > 0 else session.delete_rows)(relation, [fact])
        session.commit()
        if sign > 0:
            gone = row not in set(session[name].stored)
    return gone


def check(missing: Reason, contents: Contents) -> None:
    """What holds does, and what fails does."""
    for attempt in missing.children:
        if attempt.kind == "attempt":
            *holds, fails = attempt.children
            for item in holds:
                assert item.kind in ("holds", "absent", "condition")
                if item.kind == "holds":
                    assert item.row in contents[item.relation]
                elif item.kind == "absent":
                    assert not any(fits(item.row, row) for row in contents[item.relation])
            check_failure(fails, contents)


def check_failure(fails: Reason, contents: Contents) -> None:
    assert fails.kind in ("no row", "found", "false")
    rows = contents.get(fails.relation, {})
    if fails.kind == "no row":
        assert not fails.exact or not any(fits(fails.row, row) for row in rows)
        for each in fails.children:
            if each.kind == "near":
                assert each.row in rows
            else:
                assert each.row == fails.row
                check(each, contents)
    elif fails.kind == "found":
        assert fails.children
        assert all(each.row in rows and fits(fails.row, each.row) for each in fails.children)


def check_sets(session: Session, contents: Contents, name: str, row: Row, sets: Any) -> None:
    """Each set makes the row hold, and none of its facts alone does if it has several; after all that, the
    session is as it was."""
    for each in sets:
        facts = [[fact] for fact in each] if len(each) > 1 else []
        for some in [*facts, each]:
            for relation, fact in some:
                session.insert_rows(relation, [fact])
            session.commit()
            assert (row in set(session[name].stored)) == (some is each)
            for relation, fact in some:
                session.delete_rows(relation, [fact])
            session.commit()
    assert {of: dict.fromkeys(session[of].stored, 1) for of in contents} == contents


PROGRAM = """
input relation Edge(a: string, b: string)
input relation Off(a: string)
input relation Size(a: string, n: bit<32>)
output relation Reach(a: string, b: string)
Reach(x, y) :- Edge(x, y), not Off(x).
Reach(x, z) :- Reach(x, y), Edge(y, z), not Off(y).
output relation Large(a: string)
Large(x) :- Size(x, n), n > 10.
output relation Degree(a: string, n: usize)
Degree(x, n) :- Edge(x, y), var n = y.group_by(x).count().
output relation Open(a: string)
Open("a") :- not Off("a").
output relation Next(a: string, n: bit<32>)
Next(x, n * n) :- Size(x, n).
"""


@pytest.fixture
def session() -> Any:
    with ddlog.compile(PROGRAM).session() as session:
        for pair in ("ab", "bc", "cd"):
            session.insert("Edge", tuple(pair))
        session.insert("Off", ("d",))
        session.insert("Size", ("a", 9), ("b", 11))
        session.commit()
        yield session


def test_what_fails(session: Any) -> None:
    for question, lines in (
        ('Reach("d", "a")', ['no Edge("d", "a")', 'no Reach("d", _)']),
        ('Reach("a", "e")', ['no Edge("a", "e")', 'no Edge("b", "e")']),
        ('Large("a")', ["n > 10  is false", "n is 9"]),
        ('Degree("a", 2)', ["y.group_by(x).count() is 1", "needed is 2"]),
        ('Next("a", 80)', ["n * n is 81", "needed is 80"]),
        ('Edge("a", "c")', ["does not hold: it is not a fact"]),
    ):
        text = str(session.why_not(question))
        assert all(line in text for line in lines), text
    session.insert("Off", ("a",))
    session.commit()
    assert 'not Off("a")  but there is' in str(session.why_not('Reach("a", "b")'))


def test_what_is_done_only_once_does_not_count(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    attempt, slept = InProcess.attempt, [0.0]
    later = SimpleNamespace(**{**vars(time), "monotonic": lambda: time.monotonic() + slept[0]})

    def slow(*given: Any) -> Any:
        with done_once():  # as the compilation of a kernel
            slept[0] += 1000
        return attempt(*given)

    session.why_ends("Reach", ("a", "d"))
    monkeypatch.setattr(clock, "time", later)
    monkeypatch.setattr(InProcess, "attempt", slow)
    assert session.why_not("Reach", ("a", "e"), within=60).complete
    assert len(session.why_ends("Reach", ("a", "d"), within=60)) == 3


def test_a_search_ends_by_its_steps(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "waited", lambda: 0.0)
    few, more = (session.why_not("Reach", ("a", "e"), within=seconds) for seconds in (0.005, 2))
    assert (few.complete, more.complete) == (False, True)


def test_the_steps_suffice_for_looks_into_many_rows() -> None:
    program = ddlog.compile("""
input relation Edge(x: u32, y: u32)
output relation Reach(x: u32, y: u32)
output relation Alone(x: u32)
Reach(x, y) :- Edge(x, y).
Reach(x, z) :- Reach(x, y), Edge(y, z).
Alone(x) :- Edge(x, _), not Reach(x, x).
""")
    with program.session() as session:
        session.insert(
            "Edge", *((0, y) for y in (1, 2, 5)), *((2, y) for y in (2, 4)), *((4, y) for y in (0, 3))
        )
        session.insert("Edge", (1, 5), (5, 7), (6, 6), (7, 5))
        session.commit()
        found = session.why_ends("Alone", (1,))
    assert [list(each) for each in found] == [[("Edge", (1, 5))]] and found.complete


def test_the_smallest_sets(session: Any) -> None:
    absence = session.why_not("Reach", ("a", "e"))
    assert absence.insert[0] == (("Edge", ("a", "e")),) and absence.complete
    assert session.why_not("Reach", ("d", "a")).insert == ()
    assert session.why_ends("Reach", ("a", "d")) == [
        [("Edge", ("a", "b"))], [("Edge", ("b", "c"))], [("Edge", ("c", "d"))]
    ]  # fmt: skip
    session.insert("Edge", ("a", "d"))
    session.commit()
    assert len(session.why_ends("Reach", ("a", "d"))[0]) == 2
    assert session.why("Reach", ("a", "d")).tree.height == 1
    (ending,) = session.why_ends("Open", ("a",))
    assert ending == [] and ending.insertions == [("Off", ("a",))]


def test_questions_that_have_no_answer(session: Any) -> None:
    for question, message in (
        ('Reach("a", "b")', r'Reach\("a", "b"\) holds'),
        ('Reach("d", x)', "needs a value for each column"),
    ):
        with pytest.raises(ddlog.DDlogError, match=message):
            session.why_not(question)
