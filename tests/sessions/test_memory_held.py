"""What is held in memory, and for how long."""

from __future__ import annotations

import gc
import weakref
from typing import Any
from unittest import mock

import numpy as np
import pytest

import ddlog
from ddlog.engine.inprocess.operators import EpochOperators
from ddlog.io.columns import Columns
from ddlog.sessions.transactions.state import SessionState

PROGRAM = """
input relation Keyed(k: bigint, v: bigint) primary key (x) x.k
input multiset Bag(k: bigint, v: bigint)
output relation Sum(k: bigint, v: bigint)
Sum(g, v) :- Keyed(k, v), var g = k % 7.
Sum(g, v) :- Bag(k, v), var g = k % 5.
output relation Grown(v: bigint)
Grown(v + 1) :- Sum(_, v).
"""
ROWS = 3000


def loaded(relation: str) -> ddlog.Session:
    """A session with a table that waits for its commit."""
    session = ddlog.compile(PROGRAM).session()
    session.start()
    session.insert_table(relation, {"k": np.arange(ROWS), "v": np.arange(ROWS)})
    return session


@pytest.mark.parametrize("relation", ["Keyed", "Bag"])
def test_a_commit_holds_a_table_only_as_a_batch(relation: str) -> None:
    session, held, ran = loaded(relation), list[int](), SessionState.ran

    def seen(state: SessionState, *arguments: Any) -> Any:
        held.append(sum(type(each) is Columns and each.count == ROWS for each in gc.get_objects()))
        return ran(state, *arguments)

    with mock.patch.object(SessionState, "ran", seen):
        session.commit()
    assert held == [0]
    assert len(session["Grown"]) == ROWS


def test_a_large_epoch_drops_changes_that_nothing_will_read() -> None:
    session, join = loaded("Bag"), EpochOperators.join
    joined: list[weakref.ref[Any]] = []
    alive: list[int] = []

    def seen(operators: EpochOperators, *arguments: Any) -> Any:
        alive.append(sum(each() is not None for each in joined))
        change = join(operators, *arguments)
        joined.extend([] if change is None else [weakref.ref(change)])
        return change

    with mock.patch.object(EpochOperators, "join", seen):
        session.commit()
    assert len(joined) == 2
    assert alive[-1] == 0
