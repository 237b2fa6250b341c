"""A commit on a join of many terms over one relation: what each look-up gives must not be multiplied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import zset
from ddlog.engine.circuit import Circuit, Input, Join, Output, Term
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.arrangements import views
from ddlog.engine.inprocess.arrangements.store import Store, store_of
from ddlog.engine.inprocess.arrangements.views import BeforeView
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.inprocess.storage.batch import Batch
from ddlog.engine.reference import evaluate
from ddlog.engine.schema import Column, Kind, Schema

from ..trying import trying

INT = Column("x", Kind.INT, "bigint")


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


def test_a_row_whose_changes_add_up_to_nothing_was_there_before() -> None:
    store = Store((INT, INT))
    store.add_counted(batch([(1, 10), (2, 20)]), as_set=False)
    view = BeforeView(store, True, batch([(1, 10), (1, 10), (2, 20)], [1, -1, 1]))
    groups, total = view.groups((0,), [np.array([1, 2])], 2)
    assert [part.left.tolist() for part in view.expand((0,), groups, total) if len(part.left)] == [[0]]


@pytest.mark.parametrize("some", [1, 40])
def test_keys_whose_rows_have_all_come_had_none_before(some: int) -> None:
    store = Store((INT, INT))
    store.add_counted(batch([(1, 10), (2, 20)]), as_set=True)
    change = store.add_counted(batch([(2, 22), *((3, k) for k in range(some))]), as_set=True)
    view, keys = BeforeView(store, False, change), [np.array([3, 4])]
    assert view.counts((0,), [np.array([1, 2, 3, 4])], 4).tolist() == [1, 1, 0, 0]
    groups, total = view.groups((0,), keys, 2)
    assert total == 0 and not view.expand((0,), groups, total)
    groups, total = view.groups((0,), [np.array([3, 2])], 2)
    assert [part.left.tolist() for part in view.expand((0,), groups, total) if len(part.left)] == [[1]]
    groups, total = view.groups((0, 1), [np.array([1, 3]), np.array([10, 0])], 2)
    assert [part.left.tolist() for part in view.expand((0, 1), groups, total) if len(part.left)] == [[0]]


def test_joins_of_an_epoch_share_what_was_before_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(schema: Schema, change: Batch) -> Store:
        made.append(change.length)
        return store_of(schema, change)

    monkeypatch.setattr(views, "store_of", counted)
    inputs = "input relation A(k: u32)\ninput relation B(k: u32, v: u32)\n"
    rules = [
        f"output relation R{n}(k: u32, v: u32)\nR{n}(k, v + {n}) :- A(k), B(k, v), v > {n}.\n"
        for n in range(9)
    ]
    with ddlog.compile(inputs + "".join(rules)).session() as session:
        for sign, start in ((1, 0), (1, 100), (-1, 0)):
            keys = range(start, start + 50)
            act = session.insert_rows if sign > 0 else session.delete_rows
            act("A", [(k,) for k in keys])
            act("B", [(k, v) for k in keys for v in (1, 10)])
            changes = session.commit()
            for n in range(9):
                expected = {(k, v + n): sign for k in keys for v in (1, 10) if v > n}
                assert {tuple(row): weight for row, weight in changes[f"R{n}"]} == expected
    assert made == [100, 100]  # one a commit, of the larger change, which the other meets


@pytest.mark.parametrize("row", [(3, 30), (2, 30)])
def test_a_projection_of_many_terms_follows_a_row(row: tuple[int, int]) -> None:
    with ddlog.compile(joined(22, "k: u32, v: u32", "k, v0")).session() as session:
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


@st.composite
def bodies(draw: Any) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """From two to eight terms over a bag, a set, and a projection of the bag, of a few variables, and what is
    kept of them. A term of the set may be negated."""
    names = [f"v{number}" for number in range(draw(st.integers(1, 5)))]
    pick = st.tuples(st.sampled_from(names), st.sampled_from([*names, None]))
    sources = draw(st.sampled_from([[0], [2], [0, 1, 2]]))
    positive = draw(st.lists(st.tuples(st.sampled_from(sources), pick), min_size=2, max_size=8))
    bound = sorted({name for _, columns in positive for name in columns if name})
    among = st.tuples(st.sampled_from(bound), st.sampled_from(bound))
    negated = draw(st.lists(among, max_size=1))
    terms = [Term(source, columns) for source, columns in positive]
    terms += [Term(1, columns, negated=True) for columns in negated]
    kept = draw(st.lists(st.sampled_from(bound), min_size=1, max_size=3, unique=True))
    return tuple(terms), tuple(kept)


pairs = st.tuples(st.integers(0, 2), st.integers(0, 2))
signs = st.lists(st.tuples(pairs, st.sampled_from([-2, -1, 1, 1, 3])), max_size=6)
epochs = st.lists(st.tuples(signs, st.sets(pairs, max_size=3)), min_size=1, max_size=5)


@trying(20)
@given(bodies(), epochs)
def test_joins_of_signed_bags_are_those_of_the_oracle(
    body: tuple[tuple[Term, ...], tuple[str, ...]], stream: list[tuple[list[Any], set[Any]]]
) -> None:
    """Weights of any sign come in parts, which may add up to nothing, and sets change by single rows."""
    terms, kept = body
    columns = tuple(replace(INT, name=name) for name in kept)
    inputs = Input("Bag", (INT, INT), True, signed=True), Input("Set", (INT, INT))
    projected = Join((Term(0, ("x", None)),), (), ("x", "x"), (INT, INT))
    nodes = *inputs, projected, Join(terms, (), kept, columns), Output("Out", 3, columns)
    circuit = Circuit(nodes, (("Out", 3),))
    runtime, held = InProcess(incrementalize(circuit)), {"Bag": dict[Any, int](), "Set": dict[Any, int]()}
    found: dict[Any, int] = {}
    for signed, toggled in stream:
        change = {"Bag": signed, "Set": [(row, -1 if row in held["Set"] else 1) for row in sorted(toggled)]}
        for name, rows in change.items():
            held[name] = zset.add(held[name], zset.zset(rows))
        parts = {
            name: [(runtime.batch(name, [row]), sign) for row, sign in rows] for name, rows in change.items()
        }
        out = runtime.commit(parts).get("Out")
        found = zset.add(found, dict(zip(out.rows, out.weights, strict=True)) if out is not None else {})
        assert found == evaluate(circuit, held)["Out"]
