"""Whole programs against the definition: text in, every change of every transaction out."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ddlog
from ddlog.engine.inprocess import sweeping
from ddlog.engine.maintaining import MODES, Mode
from ddlog.engine.reference import evaluate
from ddlog.engine.settling import Unsettled
from ddlog.sessions.inprocess import InProcessHost

from ..engine.reference_runtime import ReferenceRuntime
from .random_programs import (
    MULTISETS,
    edges,
    grouping_programs,
    programs,
    timed_programs,
    timed_transactions,
    transactions,
)

thorough = settings(deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))
modes = st.sampled_from(MODES)

Zset = dict[tuple[Any, ...], int]


@thorough
@given(programs(), transactions(), modes)
def test_every_change_of_every_transaction(
    text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]], maintain: Mode
) -> None:
    follow(text, stream, maintain)


@thorough
@given(grouping_programs(), edges(), modes)
def test_recursions_with_groups(
    text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]], maintain: Mode
) -> None:
    """Where a recursion does not settle, the transaction is an error, and leaves no trace."""
    follow(text, stream, maintain)


def follow(text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]], maintain: Mode) -> None:
    """Compares all changes of a program with the definition; values are given back after every commit."""
    with mock.patch.object(sweeping, "is_due", lambda _: True):
        compare(text, stream, maintain)


def compare(text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]], maintain: Mode) -> None:
    """Compares all changes of a program with the definition."""
    program = ddlog.compile(text)
    plain = program.circuit("relational", records="values")
    contents: dict[str, Zset] = {name: {} for name in program.names("input")}
    with program.session(maintain=maintain) as session:
        before = evaluate(plain, contents)
        for name, rows in before.items():
            assert set(session[name].tuples()) == set(rows)
        for transaction in stream:
            last = {name: dict(rows) for name, rows in contents.items()}
            for relation, row, sign in transaction:
                rows = contents[relation]
                weight = rows.get(row, 0) + sign if relation in MULTISETS else int(sign > 0)
                rows[row] = weight
                if not weight:
                    del rows[row]
                (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
            try:
                after = evaluate(plain, contents)
            except Unsettled:
                with pytest.raises(ddlog.DDlogError, match="never settles"):
                    session.commit()
                session.rollback()
                contents = last
                for name, rows in before.items():
                    assert set(session[name].tuples()) == set(rows), name
                continue
            changes = session.commit()
            for name in program.names("output"):
                assert set(session[name].tuples()) == set(after[name]), name
                wanted = {
                    row: after[name].get(row, 0) - before[name].get(row, 0)
                    for row in {**after[name], **before[name]}
                }
                got = dict(changes.rows(name)) if name in changes else {}
                assert got == {row: weight for row, weight in wanted.items() if weight}, name
            before = after


@thorough
@given(timed_programs(), timed_transactions())
def test_streams_and_delays(text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]]) -> None:
    """What streams and delayed terms read and give, on the runtime as by evaluation from scratch."""
    program = ddlog.compile(text)
    plain = program.circuit("relational", tuple(program.relations))
    kept = frozenset(name for name, _ in plain.relations)
    with (
        mock.patch.object(sweeping, "is_due", lambda _: True),
        program.session() as session,
        ddlog.Session(program, InProcessHost(program, ReferenceRuntime(plain)), kept) as other,
    ):
        for transaction in stream:
            for relation, row, sign in transaction:
                for each in (session, other):
                    (each.insert_rows if sign > 0 else each.delete_rows)(relation, [row])
            got, wanted = session.commit(), other.commit()
            assert {name: got.rows(name) for name in got} == {name: wanted.rows(name) for name in wanted}
        for name in kept:
            assert list(session[name].weighted()) == list(other[name].weighted()), name
