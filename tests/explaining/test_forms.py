"""The same questions to sessions of other forms have the answers of a plain session: on demand, of few
relations, after a restart with checkpoints, of a state that is only read, and after commits that change
nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

import ddlog
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session

from ..programs.random_programs import programs, transactions

Transactions = list[list[tuple[str, tuple[Any, ...], int]]]

VALUES = {"bit<2>": range(4), "string": "abc"}
WITHIN = 2.0
EXAMPLES = int(os.environ.get("DDLOG_EXAMPLES", "3"))


@settings(
    deadline=None, max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
)  # shrinking takes minutes
@given(programs(), transactions())
def test_forms_of_sessions(text: str, stream: Transactions) -> None:
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
                    assert told == known, (form, question)


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
        rows = list(dict.fromkeys(session[name].tuples()))
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
        failing = [(each.rule.text, type(each.fails)) for each in absence.missing.attempts]
        return f"{failing}, {min(map(len, absence.insert), default=0)}"
    except ddlog.DDlogError as error:
        return f"error: {error}"


def refused(form: str, way: str, told: str) -> bool:
    """Whether an answer refuses by name what a form does not offer."""
    return told.startswith("error:") and (
        (way == "change" and "what the last commit changed cannot be told" in told)
        or (way == "ends" and "facts cannot be changed on trial" in told)
    )
