"""Rounds of one rule that a kernel runs: the rows and their births are those of the general way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.inprocess.arrangements.views import StoreView
from ddlog.engine.inprocess.kernels import compiler
from ddlog.engine.inprocess.recursion.followedrounds import FollowedRule

from ..taking import small
from ..trying import trying
from .test_births import births

# One look-up by a column, by two, and of whole rows; excluded by the row, by the match, and by both.
RULES = """
input relation Next(x: s64, y: s64)
input relation Stop(x: s64)
input relation Bar(x: s64, y: s64)
input relation Hop(x: s64, n: string, y: s64, m: string)
input multiset Many(x: s64, y: s64)
output relation Seen(x: s64)
output relation Way(x: s64, y: s64)
output relation Turned(x: s64, y: s64)
output relation Hopped(n: string, x: s64)
output relation Often(x: s64)
Seen(0).
Seen(y) :- Seen(x), Next(x, y), not Stop(y).
Way(x, y) :- Next(x, y), Stop(x).
Way(x, z) :- Way(x, y), Next(y, z), not Stop(z), not Bar(x, z), not Bar(z, y).
Turned(x, y) :- Next(x, y).
Turned(y, x) :- Turned(x, y), Next(y, x).
Hopped("a", 0).
Hopped(m, y) :- Hopped(n, x), Hop(x, n, y, m), not Bar(x, y).
Often(1).
Often(y) :- Many(x, y), Often(x).
"""
PROGRAM = ddlog.compile(RULES)
OUTPUTS = PROGRAM.names("output")


@contextmanager
def followed() -> Iterator[list[int]]:
    """Gives the numbers of rounds that the kernel runs."""
    found: list[int] = []
    original = FollowedRule.rounds

    def noted(self: FollowedRule, relation: Any, views: Any, most: int, budget: Any) -> tuple[int, bool]:
        view = views[self.at]
        if isinstance(view, StoreView) and not view.whole(self.way.positions):
            view.index(self.way.positions)
        done, again = original(self, relation, views, most, budget)
        found.append(done)
        return done, again

    with (
        mock.patch.object(FollowedRule, "rounds", noted),
        mock.patch.object(thresholds, "FOLLOWED_ROUNDS", 0),
    ):
        yield found


def derived(epochs: list[Mapping[str, set[Any]]]) -> list[Any]:
    """The rows after each epoch that inserts some, with their births."""
    always = PROGRAM.session(maintain="always")  # a choice by time may differ from one run to the next
    with mock.patch.object(thresholds, "DENSE_ROWS", 1 << 16), always as session:
        told = []
        for epoch in epochs:
            for name, rows in epoch.items():
                session.insert_rows(name, sorted(rows))
            session.commit()
            told.append([births(session, [name]) for name in OUTPUTS])
        return told


near = st.integers(0, 5)
value = near | near | st.sampled_from([-1, 9, -(1 << 40), 1 << 61, (1 << 63) - 1, -(1 << 63)])
name = st.sampled_from(["a", "b", "another"])
pairs = st.sets(st.tuples(value, value), max_size=12)
epochs = st.fixed_dictionaries(
    {
        "Next": pairs,
        "Bar": st.sets(st.tuples(value, value), max_size=3),
        "Stop": st.sets(st.tuples(value), max_size=3),
        "Hop": st.sets(st.tuples(value, name, value, name), max_size=8),
        "Many": pairs,
    }
)


@trying(24)
@given(st.lists(epochs, min_size=1, max_size=4), st.integers(0, 20), st.booleans())
def test_rounds_derive_the_same(epochs: list[Mapping[str, set[Any]]], seed: int, few: bool) -> None:
    """Also where values that need more bits come in the middle, and there is room for few matches."""
    epochs = [{**epoch, "Bar": set(), "Stop": set()} if at else epoch for at, epoch in enumerate(epochs)]
    with mock.patch.object(FollowedRule, "rounds", lambda *_: (0, False)):
        general = derived(epochs)
    limits = dict.fromkeys(("FOLLOWED_MATCHES", "PROPOSED_BY_MEANS", "FOLLOWED_WORK"), 1)
    with followed(), small(seed), mock.patch.multiple(thresholds, **limits) if few else nullcontext():
        assert derived(epochs) == general


@pytest.mark.parametrize(("work", "most"), [(1 << 16, 1 << 14), (50, 1 << 14), (1 << 16, 2)])
def test_a_long_chain_takes_few_calls(work: int, most: int) -> None:
    """A chain with an arm of many rows, which one round in the middle is too large for."""
    chain = {(x, x + 1) for x in range(3000)} | {(1000, 5000 + x) for x in range(3)}
    with (
        followed() as rounds,
        mock.patch.multiple(thresholds, FOLLOWED_WORK=work, FOLLOWED_ROWS=most),
        PROGRAM.session() as session,
    ):
        session.insert_rows("Next", chain)
        session.insert_rows("Stop", [(2500,)])
        session.commit()
        assert {row.x for row in session["Seen"]} == {*range(2500), 5000, 5001, 5002}
        assert {row.y for row in session["Way"]} == {*range(2501, 3001)}
        many = len(rounds)
        assert sum(rounds) > 2900 and (many < 20 or work == 50)
        session.insert_rows("Next", [(5001, 2501)])
        session.commit()
        assert {row.x for row in session["Seen"]} == {*range(3001), 5000, 5001, 5002} - {2500}
        session.delete_rows("Next", [(10, 11)])
        session.commit()
        assert {row.x for row in session["Seen"]} == {*range(11)}


MIXED = ddlog.compile("""
input relation Edge(x: s64, y: s64)
input relation Next(x: s64, y: s64)
input relation Bar(x: s64, y: s64)
input relation Start(x: s64)
output relation Reached(x: s64, y: s64)
output relation Way(x: s64, y: s64)
Reached(x, y) :- Edge(x, y).
Reached(x, z) :- Reached(x, y), Edge(y, z).
Way(x, x) :- Start(x).
Way(x, z) :- Way(x, y), Next(y, z), not Bar(x, z), not Reached(x, z).
""")


def test_matches_are_excluded_by_ranks_and_by_weights() -> None:
    """Machine code reads arrays of one type: where both are asked, rounds are those of the general way."""
    compiler.compile_kernels()
    with followed() as rounds, MIXED.session(maintain="always") as session:
        session.insert_rows("Bar", [(0, 50), (0, 60), (3, 3)])
        session.insert_rows("Edge", [(1, 2), (2, 3), (101, 102)])
        session.commit()
        session.insert_rows("Edge", [(x, x) for x in range(200, 250)])
        session.delete_rows("Edge", [(1, 2), (2, 3)])
        session.delete_rows("Bar", [(0, 50)])
        session.commit()
        session.insert_rows("Next", [(x, x + 1) for x in range(100)])
        session.insert_rows("Start", [(0,)])
        before = len(rounds)
        session.commit()
        assert {row.y for row in session["Way"]} == {*range(60)}
        assert 0 in rounds[before:]
