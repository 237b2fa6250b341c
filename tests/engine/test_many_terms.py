"""A commit on a join of many terms over one relation: what each look-up gives must not be multiplied."""

from __future__ import annotations

import numpy as np
import pytest

import ddlog
from ddlog.engine.inprocess.arrangements.store import Store
from ddlog.engine.inprocess.arrangements.views import BeforeView
from ddlog.engine.inprocess.storage.batch import Batch
from ddlog.engine.schema import Column

INT = Column("x", "i64", "i64")


def joined(terms: int, columns: str, kept: str) -> str:
    """A program that joins a relation with itself by its first column."""
    body = ", ".join(f"T(k, v{number})" for number in range(terms))
    return f"input relation T(k: u32, v: u32)\noutput relation R({columns})\nR({kept}) :- {body}.\n"


def batch(rows: list[tuple[int, int]], weights: list[int] | None = None) -> Batch:
    columns = tuple(np.array(column, np.int64) for column in zip(*rows, strict=True))
    return Batch(columns, len(rows), None if weights is None else np.array(weights, np.int64))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_look_up_before_a_change_finds_each_row_once(weighted: bool) -> None:
    store = Store((INT, INT))
    store.add_counted(batch([(1, 10), (2, 20), (2, 21)]), as_set=not weighted)
    change = store.add_counted(batch([(2, 22), (2, 20), (3, 30)], [1, -1, 1]), as_set=not weighted)
    view = BeforeView(store, weighted, change)
    groups, total = view.groups((0,), [np.array([1, 2, 3])], 3)
    found = [
        (left, *(int(column[row]) for column in part.table.columns()))
        for part in view.expand((0,), groups, total)
        for left, row in zip(part.left.tolist(), part.rows.tolist(), strict=True)
    ]
    assert sorted(found) == [(0, 1, 10), (1, 2, 20), (1, 2, 21)]


@pytest.mark.parametrize("row", [(3, 30), (2, 30)])
def test_a_projection_of_forty_terms_follows_a_row(row: tuple[int, int]) -> None:
    with ddlog.compile(joined(40, "k: u32, v: u32", "k, v0")).session() as session:
        for each in [(1, 10), (2, 20)]:
            session.insert("T", each)
        session.commit()
        for change in (session.insert, session.delete, session.insert):
            change("T", row)
            changes = session.commit()
            assert [tuple(each) for each, _ in changes["R"]] == [row]


def test_a_new_row_of_twenty_terms_is_one_row_more() -> None:
    columns = ", ".join(["k: u32", *(f"v{number}: u32" for number in range(20))])
    kept = ", ".join(["k", *(f"v{number}" for number in range(20))])
    with ddlog.compile(joined(20, columns, kept)).session() as session:
        for each in [(1, 10), (2, 20)]:
            session.insert("T", each)
        session.commit()
        session.insert("T", (3, 30))
        assert len(session.commit()["R"]) == 1
