"""Rules of one look-up after deletions: whole programs, and how searched rows are settled."""

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
from ddlog.engine.inprocess.arrangements.views import Readable, whole_row
from ddlog.engine.inprocess.kernels import following, hashing, ranks
from ddlog.engine.inprocess.recursion.following import Following
from ddlog.engine.inprocess.storage.table import RowTable
from ddlog.sessions.program import Program

from ..taking import small
from ..trying import trying


def test_the_least_rank_is_that_of_the_rows_present() -> None:
    held, slots, ids = np.arange(4) * 7, np.full(16, hashing.EMPTY), np.zeros(16, np.int32)
    hashing.rehash_words(slots, 4, held, 4)
    hashing.number_words(slots, ids, 4, held, 0, 4)
    numbers = np.array([3, ranks.CAME + 2, -1, 5], np.int32)  # the second came now, the third is gone
    best, asked = np.full(3, 9), np.array([7, 0, 14, 21, 8, -1])  # of the last two none is held
    following.least_ranks(best, np.array([0, 0, 1, 1, 2, 2]), asked, slots, ids, 4, numbers)
    assert best.tolist() == [2, 5, 9]


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
def arranged() -> Iterator[None]:
    """Inside, imports have the arrangements by which rules are followed."""
    keys = Following._keys

    def made(self: Following, store: Readable) -> RowTable | None:
        if not whole_row(self.positions, store.schema):
            store.index(self.positions)
        return keys(self, store)

    with mock.patch.object(Following, "_keys", made):
        yield


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
    """Toggles rows in epochs of a session that maintains its recursions, with thresholds of the seed, and
    compares its outputs and their changes with those of sessions that begin with all rows."""
    held: dict[str, set[Any]] = {name: set() for name in epochs[0]}
    outputs = program.names("output")
    with arranged(), small(seed), program.session(maintain="always") as session:
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
def test_maintained_programs_derive_the_same(program: str, data: st.DataObject, seed: int, few: bool) -> None:
    """Values that need more bits, and strings with greater ids, come in the middle of a session."""
    epochs: list[Epoch] = data.draw(st.lists(CHANGES[program], min_size=2, max_size=5))
    if program == "widths":
        epochs = [
            {**epoch, "Node": epoch["Node"] | {(f"{number}.{k}", 200, False) for k in range(40 * number)}}
            for number, epoch in enumerate(epochs)
        ]
    with mock.patch.multiple(thresholds, FOLLOWED_MATCHES=1, PROPOSED_BY_MEANS=1) if few else nullcontext():
        stay_up_to_date(COMPILED[program], epochs, seed)
