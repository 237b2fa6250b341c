"""What evaluations of loops leave: recordings, and no more."""

from __future__ import annotations

import gc
from collections.abc import Collection
from itertools import cycle

import pytest

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.inprocess.recursion.freshrounds import FreshRoundsEpoch
from ddlog.engine.inprocess.recursion.loopcontents import LoopContents
from ddlog.engine.inprocess.recursion.loops import LoopRecursion
from ddlog.engine.inprocess.storage.layout import PackedColumns

from .test_sweep import inside

GROUPED = """
input relation Edge(x: s32, y: s32)
output relation Least(x: s32, least: s32)
relation Offer(x: s32, least: s32)
Offer(x, x) :- Edge(x, _).
Offer(y, least) :- Least(x, least), Edge(x, y).
Offer(y, least) :- Least(x, least), Edge(y, x), least > 1.
Least(x, least) :- Offer(x, each), var least = each.group_by(x).min().
"""


def test_what_an_evaluation_held_goes_with_its_epoch() -> None:
    """It is much, and the collector of cycles comes late."""
    session = ddlog.compile(GROUPED).session(maintain="never")
    gc.collect()
    others = _contents()  # of workers in threads
    gc.disable()
    try:
        for edge in ((1, 2), (2, 3)):
            session.insert("Edge", edge)
            session.commit()
        assert _contents() <= others
    finally:
        gc.enable()


def _contents() -> set[int]:
    return {id(each) for each in gc.get_objects() if type(each) is LoopContents}


RANKS = """
input relation Edge(a: s64, b: s64)
loop Rounds rounds 5 {
    output relation Rank(v: s64, r: s64)
    initial Rank(a, 100) :- Edge(a, _).
    Rank(v, r) :- Part(v, from, each), var r = (from, each).group_by(v).sum_second().
    output relation Part(v: s64, from: s64, r: s64)
    Part(a, -1, 15) :- Edge(a, _).
    Part(b, a, r / 2) :- Rank-1(a, r), Edge(a, b).
}
"""


def test_a_recording_holds_words() -> None:
    """The changes that a distinct of many rows gets and makes, without columns that were unpacked."""
    with ddlog.compile(RANKS).session() as session:
        session.insert_rows("Edge", [(k, (k * 7 + n) % 200) for k in range(200) for n in (1, 2)])
        session.commit()
        (loop,) = inside(session)._state.recursions.values()
        assert isinstance(loop, LoopRecursion) and loop.recording is not None
        asked, told = loop.recording.asked, loop.recording.told
        changes = [batch for at in asked for notes in (asked, told) for _, batch in notes[at]]
        packed = [each.columns for each in changes if isinstance(each.columns, PackedColumns)]
        assert len(packed) == len(changes) > 20
        assert not any(each._known for each in packed)
        held = {tuple(row) for row in session["Rank"]}
        session.insert("Edge", (0, 150))
        session.commit()
        session.delete("Edge", (0, 150))
        session.commit()
        assert {tuple(row) for row in session["Rank"]} == held


@pytest.mark.parametrize("share", [0.0, 0.75])
def test_rounds_begin_from_nothing_where_most_ranks_change(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are recorded as those by changes are."""
    monkeypatch.setattr(thresholds, "FRESH_SHARE", share)
    begun: list[int] = []
    restart = LoopContents.restart

    def restarted(contents: LoopContents, some: Collection[int], time: int) -> None:
        begun.append(time)
        restart(contents, some, time)

    monkeypatch.setattr(LoopContents, "restart", restarted)
    ways = iter([None, 10**6, 10**6])
    with ddlog.compile(RANKS).session() as session:
        (loop,) = inside(session)._state.recursions.values()
        assert isinstance(loop, LoopRecursion)
        loop.maintaining.mode = lambda: next(ways)
        session.insert_rows("Edge", [(k, (k * 7 + n) % 3000) for k in range(3000) for n in (1, 2, 3)])
        session.commit()
        assert begun == ([2, 3, 4, 5] if share else [])
        assert loop.recording is not None and not loop.is_ready
        held = {name: {tuple(row) for row in session[name]} for name in ("Rank", "Part")}
        assert len(held["Rank"]) == 3000
        session.insert("Edge", (0, 150))
        session.commit()
        assert loop.is_ready and {tuple(row) for row in session["Rank"]} != held["Rank"]
        session.delete("Edge", (0, 150))
        session.commit()
        assert {name: {tuple(row) for row in session[name]} for name in held} == held


@pytest.mark.parametrize("falls", [(True, False), (False, True), (True, True, False)])
def test_rounds_by_changes_follow_on_rounds_from_nothing(
    falls: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    coin = cycle(falls)
    monkeypatch.setattr(FreshRoundsEpoch, "_pays", lambda *_: next(coin))
    edges = [(k, (k * k + n) % 40) for k in range(40) for n in (1, 2)]
    ranks = dict.fromkeys(range(40), 100)
    for _ in range(5):
        sums = dict.fromkeys(range(40), 15)
        for a, b in edges:
            sums[b] += ranks[a] // 2
        ranks = sums
    with ddlog.compile(RANKS).session() as session:
        session.insert_rows("Edge", edges)
        session.commit()
        assert {tuple(row) for row in session["Rank"]} == {*ranks.items()}


@pytest.mark.parametrize("falls", [(False,), (True,), (True, False), (False, True, True)])
def test_a_profile_counts_the_changes_of_rounds_from_nothing(
    falls: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a relation whose contents are not at hand in rounds."""
    coin = cycle(falls)
    monkeypatch.setattr(FreshRoundsEpoch, "_pays", lambda *_: next(coin))
    copy = "output relation Copy(v: s64, r: s64)\n    Copy(v, r) :- Rank(v, r).\n    output relation Part"
    with ddlog.compile(RANKS.replace("output relation Part", copy)).session() as session:
        session.measure()
        session.insert_rows("Edge", [(k, (k * k + n) % 40) for k in range(40) for n in (1, 2, 3)])
        session.commit()
        (loop,) = (each for each in session.profile().strata if each.recursive)
    assert [each.round for each in loop.rounds] == [*range(6)]
    assert all((each.rows or 0) >= 40 for each in loop.rounds[1:])


def test_a_fault_of_rows_of_two_rounds_is_none() -> None:
    """The way goes round a cycle, so that 4 is never `At` and `Was` in one round. By changes it comes to the
    one as it goes from the other."""
    text = """
    input relation Edge(a: s64, b: s64)
    loop Way rounds 4 {
        output relation At(v: s64)
        initial At(a) :- Edge(a, 0).
        At(b) :- At-1(a), Edge(a, b), not Was-1(b).
        output relation Was(v: s64)
        Was(v) :- At-1(v).
        Was(6 / (v - 4)) :- Was-1(v), At-1(v).
    }
    """
    with ddlog.compile(text).session() as session:
        session.insert("Edge", (1, 3), (2, 1), (2, 3), (2, 5), (3, 5), (4, 0), (4, 1), (5, 4))
        session.commit()
        assert [*session["At"].tuples()] == [(4,)] and [*session["Was"].tuples()] == [(5,)]
        session.insert("Edge", (4, 4))
        with pytest.raises(ddlog.DDlogError, match="division by zero"):
            session.commit()


@pytest.mark.parametrize(("seconds", "ways"), [(1.0, {"recomputed"}), (1e-15, {"maintained", "given up"})])
def test_timelines_are_made_once_evaluations_took_as_long(
    seconds: float, ways: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thresholds, "LOOP_ROW", seconds)
    with ddlog.compile(RANKS).session() as session:
        session.insert_rows("Edge", [(k, (k * 7 + n) % 3000) for k in range(3000) for n in (1, 2, 3)])
        session.commit()
        (loop,) = inside(session)._state.recursions.values()
        session.insert("Edge", (0, 150))
        session.commit()
        assert loop.maintaining.decisions[-1].way in ways


@pytest.mark.parametrize(("edge", "is_known"), [((0, 150), True), ((9000, 9001), False)])
def test_a_row_that_changes_many_results_is_dear_to_follow(edge: tuple[int, int], is_known: bool) -> None:
    with ddlog.compile(RANKS).session() as session:
        (loop,) = inside(session)._state.recursions.values()
        assert isinstance(loop, LoopRecursion)
        loop.maintaining.mode = lambda: None
        session.insert_rows("Edge", [(k, (k * 7 + n) % 3000) for k in range(3000) for n in (1, 2, 3)])
        session.commit()
        session.insert("Edge", edge)
        session.commit()
        assert bool(loop.costs.known) == is_known


def test_one_epoch_that_spread_does_not_have_all_later_ones_evaluated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thresholds, "LOOP_ROW", 1e-15)
    with ddlog.compile(RANKS).session() as session:
        session.insert_rows("Edge", [(k, (k * 7 + n) % 300) for k in range(300) for n in (1, 2, 3)])
        session.commit()
        (loop,) = inside(session)._state.recursions.values()
        loop.costs.going = loop.costs.coming = 1e5
        for change in [session.insert, session.delete] * 10:
            change("Edge", (9000, 9001))
            session.commit()
        ways = [each.way for each in loop.maintaining.decisions]
        assert ways[:3] == ["recomputed"] * 3 and ways[-1] == "maintained"
