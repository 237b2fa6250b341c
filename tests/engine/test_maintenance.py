"""The choice between maintaining a recursion and evaluating it anew."""

from __future__ import annotations

import time
from typing import get_args
from unittest import mock

import pytest

import ddlog
from ddlog.engine import account, clock, maintenance
from ddlog.engine.inprocess.recursion import monotoneepoch
from ddlog.engine.inprocess.recursion.monotoneepoch import depths
from ddlog.engine.maintenance import (
    Costs,
    GivenUp,
    ImportSize,
    IterationRows,
    Maintaining,
    Shares,
    Situation,
    Watch,
    shares,
)

DEPTHS = [(0, 1000), (1, 4000), (2, 5000)]


def measured() -> Costs:
    """The costs of a recursion of 10,000 rows whose evaluation took a second."""
    costs = Costs()
    costs.evaluated(10_000, 1000, 1.0, DEPTHS)
    return costs


def deleting(rows: int) -> Situation:
    """Some of 1,000 imported rows go."""
    return Situation(10_000, [ImportSize(1000 - rows, gone=rows)])


def test_the_shares_of_changes() -> None:
    imports = [ImportSize(90, come=0, gone=10), ImportSize(900, come=400, gone=0)]
    assert shares(imports, True) == Shares(10 / 600, 0.1)
    assert shares(imports, False) == Shares(400 / 990, 400 / 900)
    assert shares([], True) == Shares(0.0, 0.0)


def test_deep_rows_rest_on_more_rows() -> None:
    flat, deep = IterationRows([(0, 100)]), IterationRows([(50, 100)])
    assert flat.touched(Shares(0.02, 0.02)) < deep.touched(Shares(0.02, 0.02)) < 1
    assert deep.touched(Shares(1.0, 1.0)) == 1
    chain = IterationRows([(time, 10) for time in range(1000)])
    some = [chain.touched(Shares(part, part)) for part in (0.00001, 0.0001, 0.001, 0.01, 0.1, 1.0)]
    assert some == sorted(some)
    assert (chain.reached(-1), chain.reached(499), chain.reached(5000)) == (0.0, 0.5, 1.0)


def test_few_changes_are_maintained_and_many_are_not() -> None:
    decide, costs = Maintaining(), measured()
    few, many = (decide.choose(costs, deleting(rows), lambda: True) for rows in (1, 900))
    assert (few.maintain, many.maintain) == (True, False)
    assert few.estimate is not None and many.estimate is not None
    assert few.estimate.maintain < few.estimate.recompute
    assert many.estimate.maintain > many.estimate.recompute


def test_nothing_is_recomputed_where_there_is_no_memory() -> None:
    choice = Maintaining().choose(measured(), deleting(900), lambda: False)
    assert choice.maintain
    assert choice.why == "there is no memory for both contents"


def test_epochs_that_took_long_move_the_choice() -> None:
    costs = measured()
    before = costs.estimate(deleting(5))
    assert before.maintain < before.recompute
    for _ in range(8):
        costs.maintained(deleting(5), 3.0)
    after = costs.estimate(deleting(5))
    assert after.known
    assert after.maintain > after.recompute
    assert costs.estimate(Situation(10_000, [ImportSize(1005, come=5)])).maintain < after.maintain / 4


def test_a_watch_gives_up_early_or_not_at_all() -> None:
    now = [0.0]
    with mock.patch.object(maintenance, "work", lambda: now[0]):
        watch = Watch(1.0, rate=1e-4)
        now[0] = 0.4
        watch.look()  # what follows at once may take half
        watch.seeded()
        watch.reached, watch.waiting = 0.1, lambda: 5000
        now[0] = 0.45
        watch.look()  # too short a time to tell
        now[0] = 0.55
        with pytest.raises(GivenUp):
            watch.look()  # 0.15 s for a tenth of the rows
        watch.reached = 0.5
        watch.look()  # 0.15 s for half of the rows
        watch.reached, watch.waiting = 0.1, int
        watch.look()  # hardly anything is left
        now[0] = 0.75
        with pytest.raises(GivenUp):
            watch.look()  # but more came of it
        watch.reached, now[0] = 1.0, 3.5
        with pytest.raises(GivenUp):
            watch.look()  # what is long is long
        now[0] = 0.6
        slow = Watch(1.0)
        now[0] = 1.2
        with pytest.raises(GivenUp):
            slow.look()  # what follows at once took more than half


def test_work_is_told_to_half_a_millisecond() -> None:
    for _ in range(2000):
        told, known = clock.work() + clock._once, time.process_time()
        assert abs(told - known) < 0.001


TEXT = """
input relation Edge(x: s32, y: s32)
output relation Path(x: s32, y: s32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
input relation Cost(x: s32, y: s32, cost: s32)
output relation Cheapest(x: s32, cost: s32)
Cheapest(0, 0) :- Edge(0, _).
Cheapest(y, least) :- Cheapest(x, c), Cost(x, y, d), var e = c + d, var least = e.group_by(y).min().
"""


def ring(size: int) -> list[tuple[int, int]]:
    """The edges of a ring."""
    return [(x, (x + 1) % size) for x in range(size)]


@pytest.mark.parametrize("mode", get_args(maintenance.Mode))
def test_what_was_done_is_told(mode: maintenance.Mode) -> None:
    program = ddlog.compile(TEXT)
    still = lambda: 0.0  # noqa: E731 (the clock)
    with (
        program.session(maintain=mode) as session,
        mock.patch.object(account, "work", still),
        mock.patch.object(maintenance, "work", still),
    ):
        session.insert_rows("Edge", ring(40))
        session.commit()
        session.delete("Edge", (3, 4))
        changes = session.commit()
        assert len(changes.rows("Path")) == 1600 - 40 * 39 // 2
        told = session.state.host.runtime.decisions()
    ways = {each.relations: each.way for each in told if each.epoch == max(d.epoch for d in told)}
    assert ways[("Path",)] == ("recomputed" if mode == "never" else "maintained")
    assert {each.situation.changed for each in told} == {40, 1}


def test_a_commit_does_not_count_the_rows_of_all_commits_before(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    monkeypatch.setattr(monotoneepoch, "depths", lambda sets: counted.append(1) or depths(sets))
    text = "input relation E(a: u32, b: u32)\noutput relation R(a: u32)\nR(0).\nR(b) :- R(a), E(a, b)."
    with ddlog.compile(text).session() as session:
        for k in range(64):
            session.insert("E", (k, k + 1))
            session.commit()
        assert len(list(session["R"])) == 65
    assert len(counted) <= 4  # while most rows are new
