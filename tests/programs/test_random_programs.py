"""Whole programs against the definition: text in, every change of every transaction out."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest
from hypothesis import given

import ddlog
from ddlog.engine.divergence import Unsettled
from ddlog.engine.inprocess import runtime
from ddlog.engine.inprocess.storage import sweep
from ddlog.engine.maintenance import Coin, Maintaining, Mode
from ddlog.engine.reference import evaluate

from ..engine.random_circuits import modes
from ..engine.reference_runtime import by_definition
from ..trying import trying
from .random_programs import (
    HEADER,
    MULTISETS,
    edges,
    grouping_programs,
    programs,
    timed_programs,
    timed_transactions,
    transactions,
)

thorough = trying(16)

Zset = dict[tuple[Any, ...], int]


@thorough
@given(programs(), transactions(), modes())
def test_every_change_of_every_transaction(
    text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]], maintain: Mode | Coin
) -> None:
    follow(text, stream, maintain)


@thorough
@given(grouping_programs(), edges(), modes())
def test_recursions_with_groups(
    text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]], maintain: Mode | Coin
) -> None:
    """Where a recursion does not settle, the transaction is an error, and leaves no trace."""
    follow(text, stream, maintain)


PATHS = f"""{HEADER}
relation Label(x: bit<2>, label: bit<2>)
output relation Least(x: bit<2>, label: bit<2>)
Label(x, x) :- Num(x, _).
Label(y, l) :- Least(x, l), Num(x, y).
Least(x, l) :- Label(x, each), var l = each.group_by(x).min().
relation Way(x: bit<2>, cost: bit<32>)
output relation Cheapest(x: bit<2>, cost: bit<32>)
Way(x, 0) :- Tag(x, "a").
Way(x, 2) :- Tag(x, "b").
Way(y, n + (y as bit<32>)) :- Cheapest(x, n), Num(x, y).
Cheapest(x, n) :- Way(x, each), var n = each.group_by(x).min().
"""


@trying(10)
@given(edges(), modes())
def test_recursions_over_paths(
    stream: list[list[tuple[str, tuple[Any, ...], int]]], maintain: Mode | Coin
) -> None:
    follow(PATHS, [*stream, *([(name, row, -sign) for name, row, sign in each] for each in stream)], maintain)


def follow(text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]], maintain: Mode | Coin) -> None:
    """Compares all changes of a program with the definition; values are given back after every commit."""
    with (
        mock.patch.object(sweep, "is_due", lambda _: True),
        mock.patch.object(runtime, "Maintaining", lambda _: Maintaining(maintain)),
    ):
        compare(text, stream)


@trying(3)
@given(programs(), transactions())
def test_rollbacks_and_states(text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]]) -> None:
    """Before each transaction another one is rolled back, and after each the state is closed and opened."""
    with TemporaryDirectory() as home:
        compare(text, stream, Path(home) / "state")


WEIGHED = f"""{HEADER}
output relation Weighed(x: bit<2>, y: s64)
output relation Counted(x: bit<2>, y: s64)
multiset Both(x: bit<2>, y: s64)
function total(g: Group<bit<2>, s64>): s64 {{ var t = 0; for ((v, w) in g) {{ t = t + v * w }}; t }}
function moved(g: Group<bit<2>, s64>): s64 {{ var h = (g, 0); h.0.total() }}
Both(a, b as u64 as s64 + 1) :- Heap(a, b).
Both(b, 2) :- Num(a, b), Heap(a, _).
Weighed(x, y.group_by(x).moved()) :- Both(x, y).
Counted(x, y.group_all_by(x).sum()) :- Both(x, y).
Weighed(x, g.total() - k) :- Both(x, y), not Num(x, x), var g = y.group_by(x), Both(x, k).
Counted(x, t - k) :- Both(x, y), not Num(x, x), var t = y.group_all_by(x).sum(), Both(x, k).
Weighed(x, v * w) :- Both(x, y), Both(z, y), z != x, (var v, var w) = FlatMap(y.group_by(x)).
Counted(x, v.group_all_by((x, y)).sum()) :- Both(x, y), Both(z, y), z != x, var v = y.
"""


@trying(8)
@given(transactions())
def test_weights_are_what_groups_of_all_values_count(
    stream: list[list[tuple[str, tuple[Any, ...], int]]],
) -> None:
    with ddlog.compile(WEIGHED).session() as session:
        for transaction in stream:
            for relation, row, sign in transaction:
                (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
            session.commit()
            assert set(session["Weighed"].stored) == set(session["Counted"].stored)


def begun(session: ddlog.Session, stream: list[list[tuple[str, tuple[Any, ...], int]]]) -> None:
    """Begins a transaction with all rows of a stream."""
    for transaction in stream:
        for relation, row, _ in transaction:
            session.insert_rows(relation, [row])


def compare(
    text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]], state: Path | None = None
) -> None:
    """Compares all changes of a program with the definition; with a state, that of a session which is opened
    anew for each transaction, and rolls others back."""
    program = ddlog.compile(text)
    plain = program.circuit("relational", records="values")
    contents: dict[str, Zset] = {name: {} for name in program.names("input")}
    with ExitStack() as sessions:
        session = sessions.enter_context(program.session(state=state))
        before = evaluate(plain, contents)
        for name, rows in before.items():
            assert set(session[name].stored) == set(rows)
        for transaction in stream:
            if state is not None:
                begun(session, stream)
                session.rollback()
                session.close()
                session = sessions.enter_context(program.session(state=state))
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
                    assert set(session[name].stored) == set(rows), name
                continue
            changes = session.commit()
            for name in program.names("output"):
                assert set(session[name].stored) == set(after[name]), name
                wanted = {
                    row: after[name].get(row, 0) - before[name].get(row, 0)
                    for row in {**after[name], **before[name]}
                }
                got = dict(changes.stored(name)) if name in changes else {}
                assert got == {row: weight for row, weight in wanted.items() if weight}, name
            before = after


@thorough
@given(timed_programs(), timed_transactions())
def test_streams_and_delays(text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]]) -> None:
    """What streams and delayed terms read and give, on the runtime as by evaluation from scratch."""
    program = ddlog.compile(text)
    with (
        mock.patch.object(sweep, "is_due", lambda _: True),
        program.session() as session,
        by_definition(program) as other,
    ):
        for transaction in stream:
            for relation, row, sign in transaction:
                for each in (session, other):
                    (each.insert_rows if sign > 0 else each.delete_rows)(relation, [row])
            got, wanted = session.commit(), other.commit()
            assert {name: got.rows(name) for name in got} == {name: wanted.rows(name) for name in wanted}
        for name in program.relations:
            assert list(session[name].weighted()) == list(other[name].weighted()), name
