"""Random programs: a state that is closed and opened after any epoch changes nothing, nor does the grouping
of changes into transactions."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.sessions.session import Session

from ..programs.random_programs import programs, timed_programs, timed_transactions, transactions
from ..trying import trying

Change = tuple[str, tuple[Any, ...], int]
Stream = list[list[Change]]

thorough = trying(3, long=5000)


def apply(session: Session, transaction: Sequence[Change]) -> dict[str, Any]:
    """Commits a transaction. Returns its changes."""
    for name, row, sign in transaction:
        (session.insert_rows if sign > 0 else session.delete_rows)(name, [row])
    changes = session.commit()
    return {name: dict(changes.rows(name)) for name in changes}


def held(session: Session) -> dict[str, Any]:
    """The contents of inputs and outputs."""
    names = (*session.program.names("input"), *session.program.names("output"))
    return {name: sorted(session[name].records()) for name in names}


@thorough
@given(timed_programs(), timed_transactions(), st.lists(st.booleans(), min_size=1))
def test_closing_and_opening_changes_nothing(text: str, stream: Stream, closed: list[bool]) -> None:
    program = ddlog.compile(text)
    with tempfile.TemporaryDirectory() as home, program.session() as plain:
        plain.start()
        path = Path(home) / "s"
        kept = program.session(state=path)
        try:
            for number, transaction in enumerate(stream):
                assert apply(kept, transaction) == apply(plain, transaction)
                if closed[number % len(closed)]:
                    kept.close()
                    kept = program.session(state=path)
                    assert held(kept) == held(plain)
        finally:
            kept.close()


@thorough
@given(programs(), transactions(), st.integers(1, 5))
def test_any_grouping_of_changes_gives_the_same(text: str, stream: Stream, size: int) -> None:
    program, changes = ddlog.compile(text), [change for transaction in stream for change in transaction]
    found = []
    with tempfile.TemporaryDirectory() as home:
        for count in (1, size, max(1, len(changes))):
            path = Path(home) / f"{len(found)}"
            for start in range(0, len(changes), count):
                with program.session(state=path) as session:
                    apply(session, changes[start : start + count])
            with program.session(state=path, read_only=bool(changes)) as session:
                found.append(held(session))
    assert found[0] == found[1] == found[2]
