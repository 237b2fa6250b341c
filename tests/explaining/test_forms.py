"""The same questions to sessions of other forms have the answers of a plain session: on demand, of few
relations, after a restart with checkpoints, of a state that is only read, and after commits that change
nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import ddlog
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session

from ..programs.random_programs import programs, timed_programs, timed_transactions, transactions
from ..trying import trying

Transactions = list[list[tuple[str, tuple[Any, ...], int]]]

VALUES = {"bit<2>": range(4), "string": "abc", "bit<8>": range(2), "signed<64>": range(3)}
WITHIN = 20.0  # far more than a search takes


def some(examples: int) -> settings:
    """Few examples, as each takes seconds. Shrinking would take minutes."""
    return trying(examples, phases=[Phase.generate])


@some(1)
@given(programs(), transactions())
def test_forms_of_sessions(text: str, stream: Transactions) -> None:
    compare(text, stream)


WINDOWS = """
input {kind} Event(id: bit<8>, time: signed<64>)
input relation Now(time: signed<64>)
multiset Recent[Event]
stream Late[Event]
apply window::range_late(Event, |e| e.time, Now, 4, 1) -> (Recent, Late)
relation Driven(time: signed<64>)
apply window::clock(Event, |e| e.time - 1) -> (Driven)
multiset Own[Event]
apply window::range(Event, |e| e.time, Driven, 2) -> (Own)
relation Lately[Flow]
apply window::last(Flow, 2) -> (Lately)
output relation Busy(a: bit<8>, n: bit<64>)
Busy(a, n) :- Recent(a, t), not Late'(a, t), var n = t.group_by(a).count().
output relation Both(a: bit<8>, s: string)
Both(a, s) :- Own(a, _), Lately(_, s), Event{prime}-1(a, _).
output relation Idle(a: bit<8>)
Idle(a) :- Event{prime}(a, t), not Recent(a, t), Driven(u), t <= u.
"""
TIMES = st.integers(0, 9)


@st.composite
def windowed(draw: Any) -> tuple[str, Transactions]:
    """A program with streams, delays and windows, and transactions."""
    kind = draw(st.sampled_from(["relation", "multiset", "stream"]))
    text, stream = draw(timed_programs()), draw(timed_transactions())
    event = st.tuples(st.just("Event"), st.tuples(st.integers(0, 1), TIMES), st.just(1))
    now = st.tuples(st.just("Now"), st.tuples(TIMES), st.just(1))
    more = [draw(st.lists(st.one_of(event, event, now), max_size=4)) for _ in stream]
    windows = WINDOWS.replace("{kind}", kind).replace("{prime}", "'" if kind == "stream" else "")
    return f"import window\n{text}\n{windows}", [a + b for a, b in zip(stream, more, strict=True)]


@some(1)
@given(windowed())
def test_forms_of_sessions_with_streams_and_windows(case: tuple[str, Transactions]) -> None:
    compare(*case)


def compare(text: str, stream: Transactions) -> None:
    """Asks sessions of all forms the same questions."""
    program = ddlog.compile(text)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        plain = stack.enter_context(program.session())
        feed(plain, stream)
        questions = list(asked(plain))
        before = [answer(plain, *each) for each in questions]
        for form, session in forms(program, stream, folder, stack):
            for question, known in zip(questions, before, strict=True):
                told = answer(session, *question)
                if not refused(form, question[0], told):
                    assert told == known, (form, question, text, stream)


def forms(
    program: Program, stream: Transactions, folder: Path, stack: ExitStack
) -> Iterator[tuple[str, Session]]:
    """Sessions of some forms, after the transactions."""
    marked = ddlog.compile(
        re.sub(r"^ *(output (relation|multiset))", r"#[demand] \1", program.source.text, flags=re.M)
    )
    for name, of, relations in (
        ("outputs", program, "outputs"), ("inputs", program, "inputs"), ("demand", marked, "all"),
        ("one", program, ["Q"]),
    ):  # fmt: skip
        session = stack.enter_context(of.session(relations=relations))
        feed(session, stream)
        yield name, session
    state = folder / "s.state"
    with program.session(state=state) as session:
        feed(session, stream)
        yield "kept", session
    yield "restarted", stack.enter_context(program.session(state=state))
    yield "read", stack.enter_context(program.session(state=state, read_only=True))


def feed(session: Session, stream: Transactions) -> None:
    for transaction in stream:
        for relation, row, sign in transaction:
            (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
        session.commit()


def asked(session: Session) -> Iterator[tuple[str, str, Any]]:
    """Questions about some rows of each relation: the way to ask, the relation, and the row."""
    for name, declared in session.program.relations.items():
        rows = list(dict.fromkeys(session[name].stored))
        for row in rows[:2]:
            yield "why", name, row
            yield "change", name, row
        for row in rows[:1]:
            yield "ends", name, row
        types = [VALUES.get(str(column.type), ()) for column in declared.columns]
        absent = [row for row in product(*types) if row not in rows]
        for row in absent[:1]:
            yield "not", name, row
            yield "change", name, row


def answer(session: Session, way: str, relation: str, row: Any) -> str:
    """What does not depend on which of equal rows comes first."""
    try:
        match way:
            case "why":
                return str(session.why(relation, row))
            case "change":
                return str(session.why_change(relation, row))
            case "ends":
                found = session.why_ends(relation, row, within=WITHIN)
                return f"{bool(found)}, {min((len(each) for each in found), default=0)}"
        absence = session.why_not(relation, row, within=WITHIN)
        attempts = [each for each in absence.missing.children if each.kind == "attempt"]
        failing = [(each.rule and each.rule.text, each.children[-1].kind) for each in attempts]
        return f"{failing}, {min(map(len, absence.insert), default=0)}"
    except ddlog.DDlogError as error:
        return f"error: {error}"


def refused(form: str, way: str, told: str) -> bool:
    """Whether an answer refuses by name what a form does not offer."""
    return told.startswith("error:") and (
        (way == "change" and "the changes of the last commit are not known" in told)
        or (way == "ends" and "facts cannot be tried" in told)
        or (form in ("outputs", "inputs", "demand", "one") and "not kept" in told)
    )
