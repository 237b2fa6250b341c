"""Random programs: a state that is closed and opened after any epoch changes nothing, nor does the grouping
of changes into transactions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
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
Opening = Callable[..., Session]
"""Opens a session of a program, with options."""

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


def go_on(opened: Opening, text: str, stream: Stream, closed: Sequence[bool]) -> None:
    """Runs a stream of transactions in a session that is closed and opened again and again, beside one
    without a state."""
    program = ddlog.compile(text)
    with tempfile.TemporaryDirectory() as home, program.session() as plain:
        plain.start()
        path = Path(home) / "s"
        kept = opened(program, state=path)
        try:
            for number, transaction in enumerate(stream):
                assert apply(kept, transaction) == apply(plain, transaction)
                if closed[number % len(closed)]:
                    kept.close()
                    kept = opened(program, state=path)
                    assert held(kept) == held(plain)
        finally:
            kept.close()


def group(opened: Opening, text: str, stream: Stream, size: int, **last: bool) -> None:
    """Runs the changes of a stream one by one, in transactions of a size, and in a single one, each
    transaction in a session of its own; `last` are the options of the session that looks at the end."""
    program, changes = ddlog.compile(text), [change for transaction in stream for change in transaction]
    with tempfile.TemporaryDirectory() as home, program.session() as plain:
        apply(plain, changes)
        for number, count in enumerate((1, size, max(1, len(changes)))):
            path = Path(home) / f"{number}"
            for start in range(0, len(changes), count):
                with opened(program, state=path) as session:
                    apply(session, changes[start : start + count])
            with opened(program, state=path, **(last if changes else {})) as session:
                assert held(session) == held(plain)


@thorough
@given(timed_programs(), timed_transactions(), st.lists(st.booleans(), min_size=1))
def test_closing_and_opening_changes_nothing(text: str, stream: Stream, closed: list[bool]) -> None:
    go_on(ddlog.Program.session, text, stream, closed)


@thorough
@given(programs(), transactions(), st.integers(1, 5))
def test_any_grouping_of_changes_gives_the_same(text: str, stream: Stream, size: int) -> None:
    group(ddlog.Program.session, text, stream, size, read_only=True)
