"""Linear recursions, whose iterations run in one kernel: random epochs of programs of many forms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.recursion import linear, rankedmemory
from ddlog.engine.inprocess.recursion.linear import Iterated
from ddlog.engine.inprocess.recursion.recursion import Recursion
from ddlog.engine.inprocess.runtime import InProcess

from ..taking import taking
from ..trying import trying
from .test_following import arranged, stay_up_to_date
from .test_oracle import commit

INPUTS = """
input relation E(x: s32, y: s32)
input relation Named(a: string, b: string)
input relation Seed(a: string, n: s64)
input relation Closed(x: s32)
input multiset Step(n: s64, to: s64)
output relation R(x: s32, y: s32)
output relation L(a: string, n: s64)
output relation T(n: s64, x: s32, y: s32)
"""
PROGRAMS = {
    "closure": "R(x, y) :- E(x, y). R(x, z) :- R(x, y), E(y, z).",
    "from the right": "R(x, y) :- E(x, y), not Closed(x). R(x, z) :- E(x, y), R(y, z).",
    "both ways": """
        L(a, n) :- Seed(a, n). L(b, n) :- L(a, n), Named(a, b). L(a, n) :- L(b, n), Named(a, b).
    """,
    "guarded": """
        relation Open(x: s32, y: s32)
        Open(x, y) :- E(x, y), not Closed(y).
        R(x, x) :- Open(x, _). R(y, x) :- E(x, y), x > 2. R(x, z) :- R(x, y), Open(y, z).
    """,
    "three columns": """
        T(n, x, y) :- E(x, y), Seed("a", n).
        T(n, x, z) :- T(n, x, y), E(y, z). T(n, y, x) :- T(n, x, y), E(x, y).
        T(m, x, y) :- T(n, x, y), Rung(n, m).
        relation Rung(n: s64, to: s64) Rung(n, m) :- Step(n, m), not Closed(1).
    """,
    "facts": "R(0, 1). R(3, 3). R(x, z) :- R(x, y), E(y, z). R(y, x) :- E(x, y), Closed(x).",
    "weighted": "T(n, 0, 0) :- Seed(_, n). T(m, x, y) :- T(n, x, y), Step(n, m).",
    "of what is derived": """
        relation Near(x: s32, y: s32)
        Near(x, y) :- E(x, y). Near(x, z) :- Near(x, y), E(y, z).
        R(x, y) :- Near(x, y), not Closed(x). R(x, z) :- R(x, y), Near(z, y).
    """,
}
COMPILED = {name: ddlog.compile(INPUTS + rules) for name, rules in PROGRAMS.items()}

node, name = st.integers(0, 5), st.sampled_from("abcdef")
number = st.sampled_from([0, 1, 2, 3, -7, 1 << 40, (1 << 63) - 1])
changes = st.fixed_dictionaries(
    {
        "E": st.sets(st.tuples(node, node), max_size=7),
        "Named": st.sets(st.tuples(name, name), max_size=7),
        "Seed": st.sets(st.tuples(name, number), max_size=2),
        "Closed": st.sets(st.tuples(node), max_size=1),
        "Step": st.sets(st.tuples(number, number), max_size=5),
    }
)


@contextmanager
def noted() -> Iterator[list[Iterated]]:
    """Inside, what the kernel did in each call goes to a list."""
    found: list[Iterated] = []
    plain = rankedmemory.iterate

    def iterate(*given: Any) -> Iterated:
        found.append(plain(*given))
        return found[-1]

    with mock.patch.object(rankedmemory, "iterate", iterate):
        yield found


@pytest.mark.parametrize("program", COMPILED)
@trying(3)
@given(st.lists(changes, min_size=2, max_size=5), st.integers(0, 20), st.booleans())
def test_linear_recursions_stay_up_to_date(
    program: str, epochs: list[dict[str, set[Any]]], seed: int, few: bool
) -> None:
    with (
        taking(seed) if seed % 2 else nullcontext(),
        mock.patch.object(linear, "_LOGGED", 0),
        mock.patch.object(thresholds, "FOLLOWED_MATCHES", 0) if few else nullcontext(),
    ):
        stay_up_to_date(COMPILED[program], [*epochs, *reversed(epochs)], seed)


@trying(15)
@given(
    st.lists(st.sets(st.tuples(node, node), min_size=1, max_size=6), min_size=2, max_size=8), st.booleans()
)
def test_rows_of_a_closure_rest_on_rows_of_lesser_ranks(
    epochs: list[set[tuple[int, int]]], forget: bool
) -> None:
    edges: set[tuple[int, int]] = set()
    runtime = InProcess(incrementalize(COMPILED["closure"].circuit("relational")), maintain="always")
    (kept,) = runtime._state.recursions.values()
    assert isinstance(kept, Recursion)
    with arranged(), mock.patch.multiple(thresholds, GHOSTS=0, LARGE_RANK=0) if forget else nullcontext():
        for epoch in epochs:
            commit(runtime, {"E": [(row, -1 if row in edges else 1) for row in epoch]})
            edges ^= epoch
            if kept.ranked is None:
                continue
            (relation,) = kept.ranked.values()
            rows = relation.rows()
            pairs = zip(*(column.tolist() for column in relation.table.columns_at(rows)), strict=True)
            ranks = dict(zip(pairs, (relation.weights[rows] - 1).tolist(), strict=True))
            for (x, z), rank in ranks.items():
                assert (x, z) in edges or any(ranks.get((x, y), rank) < rank for y, w in edges if w == z)


def test_a_deletion_runs_its_iterations_at_once() -> None:
    with noted() as calls, COMPILED["guarded"].session(maintain="always") as session:
        session.insert_rows("E", [(x, x + 1) for x in range(40)])
        session.commit()
        session.delete_rows("E", [(20, 21)])
        session.commit()
        session.insert_rows("Closed", [(10,)])
        session.commit()
    assert [call.open for call in calls] == [False, False] and all(call.done > 8 for call in calls)


def test_an_epoch_without_room_for_its_rows_goes_on_in_the_general_way() -> None:
    with noted() as calls, arranged(), COMPILED["closure"].session(maintain="always") as session:
        session.insert_rows("E", [(x, x + 1) for x in range(9)])
        session.commit()
        session.delete_rows("E", [(4, 5)])
        session.commit()
        assert not any(call.open for call in calls)
        session.insert_rows("E", [(x, x + 1) for x in range(8, 40)])
        session.commit()
        assert len(session["R"]) == 10 + 35 * 36 // 2
        session.insert_rows("E", [(4, 5), (40, 1 << 30)])
        session.commit()
        assert len(session["R"]) == 41 * 42 // 2
    assert any(call.open for call in calls) and any(call.done > 8 for call in calls)


@pytest.mark.parametrize(
    ("rules", "count", "places"),
    [
        ("R(x, z) :- R(x, y), E(y, z).", 3, 4),
        ("R(x, x) :- E(_, x). R(x, z) :- R(x, y), E(y, z).", 4, 4),
        ("R(x, z) :- R(x, y), E(y, z). R(x, z) :- R(x, y), E(z, y).", 5, 8),
    ],
)
def test_recursions_of_some_more_rules_share_machine_code(rules: str, count: int, places: int) -> None:
    found: list[linear.LookUps] = []
    plain = rankedmemory.iterate

    def iterate(relation: Any, look_ups: linear.LookUps, most: int) -> Iterated:
        found.append(look_ups)
        return plain(relation, look_ups, most)

    with (
        mock.patch.object(rankedmemory, "iterate", iterate),
        ddlog.compile(INPUTS + "R(x, y) :- E(x, y). " + rules).session(maintain="always") as session,
    ):
        session.insert_rows("E", [(x, x + 1) for x in range(40)])
        session.commit()
        session.delete_rows("E", [(20, 21)])
        session.commit()
    assert {(len(each.each), each.number) for each in found} == {(places, count)}
