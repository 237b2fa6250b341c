"""Rules of one look-up, followed by packed rows: the kernels against their plain meaning, and whole programs
in which every rule that can be is followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.budget import Budget
from ddlog.engine.inprocess.arrangements.store import Store
from ddlog.engine.inprocess.arrangements.views import Readable, StoreView, whole_row
from ddlog.engine.inprocess.kernels import following as kernels
from ddlog.engine.inprocess.kernels import ranks
from ddlog.engine.inprocess.recursion.following import Followed, Following, lower
from ddlog.engine.inprocess.storage.batch import Batch
from ddlog.engine.inprocess.storage.table import RowTable
from ddlog.engine.schema import Column, Kind
from ddlog.sessions.program import Program

from ..taking import small
from ..trying import trying

Row = tuple[int, ...]

LARGE = 1 << 29
values = st.integers(0, 3) | st.sampled_from([-LARGE, LARGE, LARGE + 1])
triples = st.lists(st.tuples(values, values, values), min_size=1, max_size=12)


def columns(rows: list[Row], arity: int) -> tuple[Any, ...]:
    """Rows as columns."""
    return tuple(np.array([row[k] for row in rows], np.int64) for k in range(arity))


def table_of(rows: list[Row], arity: int) -> RowTable:
    """A table of rows, whose ids are numbered."""
    table = RowTable(arity)
    table.insert(columns(rows, arity), len(rows))
    return table


def pairs(some: Any) -> list[Row]:
    """The first two columns of rows."""
    return [row[:2] for row in some]


places = st.lists(st.tuples(st.booleans(), st.integers(0, 1)), min_size=2, max_size=2)


@trying(150)
@given(triples, triples, triples, st.sampled_from([(0,), (1,), (0, 1)]), places, st.booleans())
def test_rows_are_followed_as_said(
    starts: list[Row], held: list[Row], gone: list[Row], positions: Row, made: Any, swap: bool
) -> None:
    start, import_, gone = pairs(starts), sorted({*pairs(held)}), pairs(gone)
    keys = (1, 0)[: len(positions)] if swap else (0, 1)[: len(positions)]
    store = Store(tuple(Column(f"c{k}", Kind.INT, f"c{k}") for k in range(2)), is_set=True)
    store.add_counted(Batch(columns(import_, 2), len(import_)), as_set=True)
    from_table = table_of(start, 2)
    layout = from_table.layout
    assert layout is not None
    way = Following(0, positions, keys, tuple(made))
    if not whole_row(positions, store.schema):
        assert way.run(from_table.later_at(np.arange(1)), StoreView(store, False), layout, Budget()) is None
        store.index(positions)
    left = [row for row in import_ if row not in gone]
    out = [row for row in import_ if row in gone]
    if out:
        store.add_counted(Batch(columns(out, 2), len(out)).negated(), as_set=True)
    ids = from_table.find(columns(start, 2), len(start))
    found = way.run(from_table.later_at(ids), StoreView(store, False), layout, Budget())
    assert found is not None
    expected = []
    for at, row in enumerate(start):
        for match in left:
            if all(row[k] == match[p] for k, p in zip(keys, positions, strict=True)):
                new = tuple((match if of_match else row)[k] for of_match, k in made)
                fits = all(0 <= v - f.offset < 1 << f.width for v, f in zip(new, layout.fields, strict=True))
                expected.append((at, layout.pack(columns([new], 2), 1)[0].item(0) if fits else -1))
    assert sorted(zip(found.left.tolist(), found.words.tolist(), strict=True)) == sorted(expected)


@trying(150)
@given(
    st.lists(
        st.tuples(st.integers(-1, 9), st.integers(0, 5)), max_size=2 * kernels.hashing.BLOCK, min_size=1
    ),
    st.lists(st.integers(-9, 9) | st.integers(ranks.CAME + 1, ranks.CAME + 9), min_size=10, max_size=10),
    st.lists(st.sampled_from([2, 5, ranks.NEVER]), min_size=6, max_size=6),
)
def test_the_least_rank_is_that_of_the_rows_present(
    ways: list[tuple[int, int]], numbers: list[int], best: list[int]
) -> None:
    table = table_of([(7 * k,) for k in range(10)], 1)
    words = np.array([-1 if row < 0 else (7 * row if row < 9 else 8) for row, _ in ways], np.int64)
    lowered = np.array(best, np.int64)
    at = np.arange(6, dtype=np.int64)
    left = np.array([place for _, place in ways], np.int64)
    followed = Followed(left, words, np.ones(len(ways), np.int64))
    lower(lowered, followed, at, table, np.array(numbers, np.int32))
    for row, place in ways:
        number = numbers[row] - (ranks.CAME if numbers[row] >= ranks.CAME else 0)
        if 0 <= row < 9 and number > 0:  # row 9 stands for one that the table does not hold
            best[place] = min(best[place], number)
    assert lowered.tolist() == best


@trying(150)
@given(
    st.integers(0, 5),
    st.lists(st.tuples(st.sampled_from([-7, 0, 3]), st.sampled_from([0, 3, 6, 7, ranks.NEVER])), max_size=9),
    st.integers(0, 3),
)
def test_searched_rows_are_settled_by_their_least_ranks(
    time: int, asked: list[tuple[int, int]], come: int
) -> None:
    numbers = np.array([number for number, _ in asked] + [0] * come, np.int32)
    best = np.array([least for _, least in asked], np.int64)
    rows, came, before, now, later, times, same = ranks.settle(
        np.arange(len(asked), len(asked) + come), np.arange(len(asked)), best, numbers, time
    )
    changes = dict(zip(rows.tolist(), now.tolist(), strict=True))
    expected = {len(asked) + k: ranks.CAME + time + 1 for k in range(come)}
    waiting = {}
    for row, (number, least) in enumerate(asked):
        if least <= time and number <= 0:
            expected[row] = ranks.CAME + time + 1
        if least > time and number > 0:
            expected[row] = -(time + 1)
        if time < least < ranks.NEVER:
            waiting[row] = least
    assert changes == expected and len(changes) == len(rows)
    assert before.tolist() == numbers[rows].tolist()
    assert [*(now > 0)] == [k < came for k in range(len(rows))]
    assert dict(zip(later.tolist(), times.tolist(), strict=True)) == waiting
    assert same == (len({*waiting.values()}) < 2)


@contextmanager
def followed() -> Iterator[list[int]]:
    """Inside, rules are followed wherever their form allows it. Gives the numbers of rows followed."""
    found: list[int] = []
    run, keys = Following.run, Following._keys

    def arranged(self: Following, store: Readable) -> RowTable | None:
        if not whole_row(self.positions, store.schema):
            store.index(self.positions)
        return keys(self, store)

    def noted(self: Following, *given: Any) -> Any:
        result = run(self, *given)
        if result is not None:
            found.append(len(result.words))
        return result

    with (
        mock.patch.object(Following, "run", noted),
        mock.patch.object(Following, "_keys", arranged),
        mock.patch.object(thresholds, "FOLLOWED_LEAST", 0),
    ):
        yield found


RULES = """
input relation E(x: s32, y: s32)
input relation F(y: s32)
input relation G(x: s32, y: s32, z: s32)
output relation R(x: s32, y: s32)
output relation S(x: s32)
output relation T(x: s32, y: s32, z: s32)
R(x, y) :- E(x, y).
R(x, z) :- R(x, y), E(y, z).
R(y, x) :- S(x), E(y, x).
S(x) :- F(x).
S(y) :- R(x, y), F(x).
S(x) :- R(x, y), G(y, _, _).
T(x, y, z) :- G(x, y, z).
T(y, x, w) :- T(x, y, z), G(z, y, w).
T(x, y, 2) :- T(x, y, z), E(y, z).
R(z, x) :- R(x, y), E(y, z), not F(y).
"""


def test_deletions_follow_rules_of_one_look_up() -> None:
    with followed() as rows, ddlog.compile(RULES).session(maintain="always") as session:
        session.insert_rows("E", [(x, (x + step) % 40) for x in range(40) for step in (1, 3)])
        session.insert_rows("F", [(5,)])
        session.commit()
        assert not rows
        session.delete_rows("E", [(0, 1), (7, 10), (20, 21)])
        session.commit()
        assert len(rows) > 20 and sum(rows) > 500


WIDTHS = """
input relation Node(name: string, n: u8, far: bool)
input relation Edge(a: string, b: string, n: u8)
input multiset Step(n: u8, to: s64)
output relation Reach(a: string, n: u8, w: s64)
output relation Seen(n: s64, far: bool)
Reach(a, n, -1) :- Node(a, n, _).
Reach(b, m, w) :- Reach(a, n, w), Edge(a, b, m).
Reach(a, n, v) :- Reach(a, n, w), Step(n, v).
Reach(a, n, 5) :- Seen(7, _), Node(a, n, true).
Seen(w, far) :- Reach(a, n, w), Node(a, n, far).
Seen(w, true) :- Seen(w, false), Step(255, w).
Seen(w, false) :- Reach("b", 3, w), Step(3, w).
"""
COMPILED = {"rules": ddlog.compile(RULES), "widths": ddlog.compile(WIDTHS)}
Epoch = Mapping[str, set[Any]]
node, names, bytes_ = st.integers(0, 4), st.sampled_from("abcde"), st.sampled_from([0, 3, 200, 255])
far = st.sampled_from([-1, 5, 7]) | st.sampled_from([-(1 << 63), 1 << 40, (1 << 63) - 1])
CHANGES = {
    "rules": st.fixed_dictionaries(
        {
            "E": st.sets(st.tuples(node, node), max_size=6),
            "F": st.sets(st.tuples(node), max_size=2),
            "G": st.sets(st.tuples(node, node, node), max_size=4),
        }
    ),
    "widths": st.fixed_dictionaries(
        {
            "Node": st.sets(st.tuples(names, bytes_, st.booleans()), max_size=6),
            "Edge": st.sets(st.tuples(names, names, bytes_), max_size=8),
            "Step": st.sets(st.tuples(bytes_, far), max_size=4),
        }
    ),
}


def stay_up_to_date(program: Program, epochs: Sequence[Epoch], seed: int) -> None:
    """Toggles rows in epochs of a session that follows rules, with thresholds of the seed, and compares its
    outputs and their changes with those of sessions that begin with all rows."""
    held: dict[str, set[Any]] = {name: set() for name in epochs[0]}
    outputs = program.names("output")
    with followed(), small(seed), program.session(maintain="always") as session:
        for epoch in epochs:
            for name, rows in epoch.items():
                session.delete_rows(name, rows & held[name])
                session.insert_rows(name, rows - held[name])
                held[name] ^= rows
            before = {name: {*session[name]} for name in outputs}
            found = session.commit()
            with program.session(maintain="never") as anew:
                for name, rows in held.items():
                    anew.insert_rows(name, rows)
                anew.commit()
                for name, old in before.items():
                    now = {*anew[name]}
                    assert {*session[name]} == now
                    signed = {(row, 1) for row in now - old} | {(row, -1) for row in old - now}
                    assert {*found.rows(name)} == signed


@pytest.mark.parametrize("program", COMPILED)
@trying(10, long=1500)
@given(data=st.data(), seed=st.integers(0, 20), few=st.booleans())
def test_programs_that_are_followed_derive_the_same(
    program: str, data: st.DataObject, seed: int, few: bool
) -> None:
    """Values that need more bits, and strings with greater ids, come in the middle of a session."""
    epochs: list[Epoch] = data.draw(st.lists(CHANGES[program], min_size=2, max_size=5))
    if program == "widths":
        epochs = [
            {**epoch, "Node": epoch["Node"] | {(f"{number}.{k}", 200, False) for k in range(40 * number)}}
            for number, epoch in enumerate(epochs)
        ]
    with mock.patch.multiple(thresholds, FOLLOWED_MATCHES=1, PROPOSED_BY_MEANS=1) if few else nullcontext():
        stay_up_to_date(COMPILED[program], epochs, seed)
