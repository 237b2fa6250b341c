"""Checkpoints of derived state: a session that begins with one goes on as one that derived all anew."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ddlog
from ddlog.sessions import checkpointing, resuming
from ddlog.sessions.session import Session

from ..programs.random_programs import programs, timed_programs, timed_transactions, transactions
from .test_same import Change, Stream, held

thorough = settings(
    deadline=None,
    max_examples=int(os.environ.get("DDLOG_EXAMPLES", 8)),
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True, scope="module")
def _always_worth() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpointing, "WORTH", 0.0)
        patch.setattr(resuming, "MOST", 1000.0)
        yield


def apply(session: Session, transaction: Sequence[Change]) -> dict[str, Any]:
    """Commits a transaction. Returns its changes, in value order."""
    for name, row, sign in transaction:
        (session.insert_rows if sign > 0 else session.delete_rows)(name, [row])
    changes = session.commit()
    return {name: changes.rows(name) for name in changes}


def crashed(path: Path, target: Path) -> Path:
    """A copy of a state as a crash of its process leaves it."""
    for end in ("", "-wal"):
        if Path(f"{path}{end}").exists():
            shutil.copy(f"{path}{end}", f"{target}{end}")
    return target


def go_on(text: str, stream: Stream, ends: list[str]) -> None:
    """Runs a stream of transactions with a session that ends again and again, beside one that never does."""
    program = ddlog.compile(text)
    with tempfile.TemporaryDirectory() as home, program.session() as plain:
        plain.start()
        path = Path(home) / "0"
        kept = program.session(state=path)
        try:
            for number, transaction in enumerate(stream):
                assert apply(kept, transaction) == apply(plain, transaction)
                end = ends[number % len(ends)]
                if end == "closed":
                    kept.close()
                elif end == "crashed":
                    path = crashed(path, Path(home) / f"{number + 1}")
                    kept.close()
                if end:
                    kept = program.session(state=path)
                    kept.start()
                    durable = kept.state.durable
                    assert durable is not None and not durable.note, durable.note
                    if number % 2:
                        assert held(kept) == held(plain)
        finally:
            kept.close()


ends = st.lists(st.sampled_from(["", "closed", "crashed"]), min_size=1)


@thorough
@given(timed_programs(), timed_transactions(), ends)
def test_a_checkpoint_changes_nothing(text: str, stream: Stream, ends: list[str]) -> None:
    go_on(text, stream, ends)


@thorough
@given(programs(), transactions(), ends)
def test_a_checkpoint_changes_nothing_without_time(text: str, stream: Stream, ends: list[str]) -> None:
    go_on(text, stream, ends)
