"""One engine in several workers against the definition: threads of one process, each with a shard."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from queue import Queue
from typing import Any
from unittest import mock
from weakref import WeakSet

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import interrupt, thresholds
from ddlog.engine.circuit import (
    Circuit,
    Delay,
    Distinct,
    Exchange,
    Guard,
    Input,
    Join,
    Output,
    Sum,
    Term,
)
from ddlog.engine.divergence import IterationLimit
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.epoch import RunningEpoch
from ddlog.engine.inprocess.joins.join import Joiner
from ddlog.engine.inprocess.recursion.rankedrelation import iterations_of
from ddlog.engine.maintenance import Coin, Mode
from ddlog.engine.passes import optimize
from ddlog.engine.runtime import Delta, NotKept
from ddlog.engine.schema import RowFault
from ddlog.engine.shards import member, state
from ddlog.engine.shards import runtime as shards_runtime
from ddlog.engine.shards.epoch import ShardEpoch
from ddlog.engine.shards.placement import may_be_placed, placed
from ddlog.engine.shards.recursion import ShardsRecursion
from ddlog.engine.shards.runtime import WorkerGone
from ddlog.engine.shards.team import Aborted, Team, end_of
from ddlog.engine.shards.views import Asked

from ..taking import as_usual, small
from ..trying import trying
from .random_circuits import Changes, any_circuits, circuits, less, modes, schema, settling, streams
from .test_following import arranged
from .test_loops import early_checkpoints, loops
from .test_loops import follow as follow_loops
from .test_oracle import commit, follow, undo
from .threads import all_lines, in_threads

thorough = trying(10)


@thorough
@given(
    any_circuits,
    streams(),
    st.sampled_from([1, 2, 3, 7]),
    st.integers(0, 1),
    st.booleans(),
    modes(),
    st.integers(0, 3),
)
@settling
def test_every_change_of_every_epoch(
    circuit: Circuit,
    epochs: list[Changes],
    size: int,
    first: int,
    optimized: bool,
    maintain: Mode | Coin,
    seed: int,
) -> None:
    """Also with recursions that are evaluated anew, by a vote, and where a few rows are many."""
    with (
        small(seed),
        closing(
            in_threads(optimize(circuit) if optimized else circuit, size, first=first, maintain=maintain)
        ) as runtime,
    ):
        follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs)), *epochs])


@trying(12, long=400)
@given(circuits(), streams(), st.integers(0, 1), st.lists(st.integers(20, 80), max_size=2))
@settling
def test_a_large_change_is_read_before_the_next_one(
    circuit: Circuit, epochs: list[Changes], first: int, ends: list[int]
) -> None:
    """Workers keep what the first epoch gives, also if one of them ends meanwhile."""
    at_once = in_threads(circuit, 2, first=first)
    with mock.patch.object(member, "_MANY", 0):
        later = in_threads(circuit, 2, first=first, ends=((1, messages) for messages in ends))
        unread, expected = list[dict[str, Delta]](), list[dict[str, dict[tuple[int, ...], int]]]()
        for epoch in epochs:
            given = {name: rows for name, rows in epoch.items() if name != "M"}
            expected.append(commit(at_once, given))
            batches = {
                name: [(later.batch(name, [row]), sign) for row, sign in rows] for name, rows in given.items()
            }
            unread.append(later.commit(batches))
        found = [
            {name: dict(zip(d.rows, d.weights, strict=True)) for name, d in each.items()} for each in unread
        ]
    assert found == expected
    at_once.close()
    later.close()


@thorough
@given(loops(), streams(), st.sampled_from([1, 2, 3, 7]), st.integers(0, 1), st.booleans(), modes())
def test_loops_in_loops(
    circuit: Circuit, epochs: list[Changes], size: int, first: int, optimized: bool, maintain: Mode | Coin
) -> None:
    run = optimize(circuit) if optimized else circuit
    with closing(in_threads(run, size, first=first, maintain=maintain)) as runtime:
        follow_loops(circuit, runtime, [*epochs, *map(undo, reversed(epochs))], run=run)


@trying(8, long=400)
@given(loops(2), streams(), st.sampled_from([2, 3]))
def test_loops_that_repeat_themselves(circuit: Circuit, epochs: list[Changes], size: int) -> None:
    """All workers find the repetition in the same round."""
    with closing(in_threads(circuit, size)) as runtime, early_checkpoints():
        follow_loops(circuit, runtime, epochs, 40)


@trying(12, long=400)
@given(
    st.booleans().flatmap(circuits),
    streams(),
    st.sampled_from([2, 3]),
    st.integers(0, 1),
    st.lists(st.tuples(st.integers(1, 2), st.integers(1, 60)), min_size=1, max_size=5),
)
@settling
def test_workers_end_at_any_moment(
    circuit: Circuit, epochs: list[Changes], size: int, first: int, ends: list[tuple[int, int]]
) -> None:
    """A commit is sealed once and stays, or fails and leaves no trace, and so does a question."""
    mortal = ((min(rank, size - 1), messages) for rank, messages in ends)
    runtime = in_threads(circuit, size, first=first, ends=mortal)
    commit, rows, sealed = runtime.commit, runtime.rows, list[int]()

    def committed(changes: Any) -> dict[str, Delta]:
        before = len(sealed)
        seal = lambda changed: sealed.append(runtime.earlier + runtime.committed)  # noqa: E731
        try:
            found = commit(changes, seal=seal)
        except WorkerGone:  # thrice
            assert len(sealed) == before
            found = commit(changes, seal=seal)
        assert sealed == list(range(before + 1))
        return found

    def found(relation: str) -> Any:
        try:
            return rows(relation)
        except WorkerGone:
            return rows(relation)

    runtime.commit, runtime.rows = committed, found  # type: ignore[method-assign, assignment]
    with closing(runtime):
        follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs)), *epochs])


CLOSURE = """
input relation Edge(x: s64, y: s64)
output relation Path(x: s64, y: s64)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
"""
READING: dict[str, Callable[[Any], Any]] = {
    "size": lambda runtime: runtime.size("Path"),
    "size of an input": lambda runtime: runtime.size_of("Edge"),
    "rows": lambda runtime: [*runtime.rows("Path")],
    "rows by a value": lambda runtime: sorted(runtime.find("Path", {0: 1})),
    "weights": lambda runtime: runtime.lookup("Path", [(1, 2), (1, 9), (99, 1)]),
    "ranks": lambda runtime: runtime.births("Path", [(1, 2), (1, 5)], ["Path"])[0],
    "whether rows are there": lambda runtime: runtime.covers("Edge", [runtime.batch("Edge", [(1, 2)])]),
    "whether a key is free": lambda runtime: runtime.has_room(
        "Edge", (0,), [runtime.batch("Edge", [(1, 5)])], []
    ),
    "with a change": lambda runtime: runtime.attempt(
        {"Edge": [(runtime.batch("Edge", [(1, 2)]), -1)]}, lambda: runtime.size("Path"), None
    ),
    "before the last commit": lambda runtime: runtime.before(lambda: runtime.size("Path"), None),
    "to keep it": lambda runtime: runtime.held("Path").length,
}


@pytest.mark.parametrize("what", READING)
def test_reading_starts_workers_again(what: str) -> None:
    """Also if the first worker, as on Spark, has no rows."""
    found = []
    for size in (1, 3):
        runtime = in_threads(ddlog.compile(CLOSURE).circuit("relational"), size, first=1)
        commit(runtime, {"Edge": [((k, k + 1), 1) for k in range(12)]})
        commit(runtime, {"Edge": [((5, 6), -1)]})
        for line in runtime.team._lines.get(1, ()):
            end_of(line)
        found.append(READING[what](runtime))
        runtime.close()
    assert found[0] == found[1]


RECENT = """
import window
input stream Event(id: u8, time: s64)
relation Now[s64]
apply window::clock(Event, |e| e.time) -> (Now)
output multiset Recent[Event]
apply window::range(Event, |e| e.time, Now, 3) -> (Recent)
"""


def test_looking_into_an_epoch_that_begins_with_contents() -> None:
    """The epoch is given up, and the first one begins with the same."""
    circuit = ddlog.compile(RECENT).circuit("relational")
    before, after = in_threads(circuit, 3), in_threads(circuit, 2)
    commit(before, {"Event": [((1, 1), 1), ((2, 4), 1)]})
    after.begin_with_whole({at: before.remembered_contents(at) for at in before.placed.remembered})
    for _ in range(2):
        assert after.attempt({}, lambda: set(after.rows("Recent")), None) == {(1, 1), (2, 4)}
    commit(after, {})
    commit(after, {"Event": [((3, 5), 1)]})
    assert set(after.rows("Recent")) == {(2, 4), (3, 5)}
    for runtime in (before, after):
        runtime.close()


FAULTS = """
input relation A(x: s32, d: s32)
input relation B(x: s32)
input relation C(d: s32)
output relation Q(x: s32, q: s32)
Q(x, 6 / d) :- A(x, d), B(x), C(d).
"""


@as_usual()
def test_an_update_of_columns_that_a_join_does_not_read_asks_no_worker() -> None:
    text = """
input relation A(k: u8, v: u8, unread: u8)
input relation B(k: u8, w: u8)
output relation Q(v: u8, w: u8)
Q(v, w) :- A(k, v, _), B(k, w).
"""
    runtime = in_threads(ddlog.compile(text).circuit("relational"), 2)
    starts: list[int] = []
    run = Joiner.run

    def noted(self: Joiner, start: Any, batch: Any, views: Any, held: Any = None) -> Any:
        starts.append(0 if batch is None else batch.length)
        return run(self, start, batch, views, held)

    with closing(runtime):
        commit(runtime, {"A": [((k, k, 0), 1) for k in range(9)], "B": [((k, 1), 1) for k in range(9)]})
        with mock.patch.object(Joiner, "run", noted):
            assert commit(runtime, {"A": [((3, 3, 0), -1), ((3, 3, 7), 1)]}) == {"Q": {}}
            assert starts == []
            assert commit(runtime, {"A": [((4, 4, 0), -1), ((4, 20, 0), 1)]}) == {
                "Q": {(4, 1): -1, (20, 1): 1}
            }
            assert sum(starts) == 2


@as_usual()
def test_a_copy_of_a_relation_takes_in_what_changes() -> None:
    """Also in epochs that do not look it up; a copy of which many rows change is forgotten."""
    text = """
input relation Edge(x: s32, y: s32)
output relation Path(x: s32, y: s32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
"""
    runtime = in_threads(ddlog.compile(text).circuit("relational"), 3, first=1)
    asked: list[Any] = []
    ask = Team.ask

    def noted(self: Team, requests: Any, between: bool = False) -> Any:
        asked.extend(requests.values())
        return ask(self, requests, between)

    edges = [(k, k + 1) for k in range(40)]
    closure = {(x, y) for x in range(41) for y in range(x + 1, 41)}
    with closing(runtime):
        commit(runtime, {"Edge": [(edge, 1) for edge in edges]})
        for k in range(10, 30):
            commit(runtime, {"Edge": [((k, k + 1), -1)]})
            commit(runtime, {"Edge": [((k, k + 1), 1)]})
        with mock.patch.object(Team, "ask", noted):
            commit(runtime, {"Edge": [((20, 21), -1), ((60, 61), 1)]})
            assert set(runtime.rows("Path")) == {(x, y) for x, y in closure if y <= 20 or x > 20} | {(60, 61)}
            commit(runtime, {"Edge": [((20, 21), 1), ((60, 61), -1)]})
            assert set(runtime.rows("Path")) == closure
            assert not [each for each in asked if isinstance(each, Asked) and each.place[0] == "node"]
            with mock.patch.object(thresholds, "FEW_ROWS", 1):
                commit(runtime, {"Edge": [(edge, -1) for edge in edges[10:30]]})
            assert set(runtime.rows("Path")) == {(x, y) for x, y in closure if y <= 10 or x >= 30}
            commit(runtime, {"Edge": [(edge, 1) for edge in edges[10:30]]})
            assert set(runtime.rows("Path")) == closure


def test_the_rows_before_an_epoch_are_not_told_if_it_began_or_ended_elements_of_streams() -> None:
    text = """
input stream S(x: u8)
input multiset M(x: u8)
output relation C(x: u8)
C(x) :- S'(x), M(x).
"""
    with closing(in_threads(ddlog.compile(text).circuit("relational"), 2)) as runtime:
        for changes in ({"S": [((1,), 1)]}, {"M": [((1,), 2), ((2,), 1)]}):
            commit(runtime, changes)
            with pytest.raises(NotKept, match="streams"):
                runtime.before(lambda: None, None)
        commit(runtime, {"M": [((1,), -1), ((3,), 2)]})
        rows = runtime.before(lambda: runtime.rows("M"), None)
        assert dict(zip(rows, rows.weights, strict=True)) == {(1,): 2, (2,): 1}


def test_a_worker_makes_the_indexes_that_were_missed_in_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    arrange, is_made = member.Member.arrange_missed, Queue[bool]()

    def noted(worker: member.Member, is_over: Callable[[], bool]) -> None:
        arrange(worker, is_over)
        for store in worker._own.relations():
            if store.table.sought:
                is_made.put(store.indexes.keys() >= {*store.table.sought})

    monkeypatch.setattr(member.Member, "arrange_missed", noted)
    monkeypatch.setattr(shards_runtime, "_PAUSE", 0)
    monkeypatch.setattr(thresholds, "SOUGHT_TABLE", 0)
    with closing(in_threads(ddlog.compile(CLOSURE).circuit("relational"), 2, first=1)) as runtime:
        commit(runtime, {"Edge": [((k, k + 1), 1) for k in range(12)]})
        commit(runtime, {"Edge": [((3, 4), -1)]})
        while not is_made.get(timeout=60):
            pass  # the pause before was over too soon
        for k in (7, 5):
            commit(runtime, {"Edge": [((k, k + 1), -1)]})
        assert set(runtime.rows("Path")) == {
            (x, y) for some in (range(4), (4, 5), (6, 7), range(8, 13)) for x in some for y in some if x < y
        }


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_fault_counts_if_its_row_is_there_after_the_epoch(size: int) -> None:
    with closing(in_threads(ddlog.compile(FAULTS).circuit("relational"), size)) as runtime:
        commit(runtime, {"A": [((k, k), 1) for k in range(1, 9)], "B": [((k,), 1) for k in range(9)]})
        assert commit(runtime, {"C": [((0,), 1), ((2,), 1)]}) == {"Q": {(2, 3): 1}}
        # The valuation (5, 0) comes with A, and goes with C: its fault is none.
        changes: Changes = {"A": [((5, 0), 1)], "C": [((0,), -1), ((3,), 1)]}
        tried = {n: [(runtime.batch(n, [row]), sign) for row, sign in rows] for n, rows in changes.items()}
        assert runtime.attempt(tried, lambda: set(runtime.rows("Q")), None) == {(2, 3), (3, 2)}
        assert commit(runtime, changes) == {"Q": {(3, 2): 1}}
        with pytest.raises(RowFault):
            commit(runtime, {"C": [((0,), 1)], "A": [((1, 1), -1)]})
        assert sorted(runtime.rows("Q")) == [(2, 3), (3, 2)]
        assert commit(runtime, {"C": [((1,), 1)]}) == {"Q": {(1, 6): 1}}


def test_no_answer_of_a_worker_that_gives_up_meanwhile_is_taken() -> None:
    teams = [Team(rank, lines) for rank, lines in enumerate(all_lines(2))]
    teams[0].start(lambda request: None)
    teams[1].start(lambda request: teams[1].abort())
    try:
        for team in teams:
            team.begin(1)
        with pytest.raises(Aborted):
            teams[0].ask({1: "rows of a state that is rolled back"})
    finally:
        for team in teams:
            team.close()


def test_ctrl_c_ends_a_question_to_a_worker_that_is_not_there_yet() -> None:
    teams = [Team(rank, lines) for rank, lines in enumerate(all_lines(2))]
    for team in teams:
        team.start(lambda request: request)
        team.begin(1)
    try:
        teams[0].ready()
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt), interrupt.deferred():
            teams[0].ask({1: "of the first attempt"})
        for team in teams:
            team.begin(2)
        assert teams[0].ask({1: "of the second attempt"}) == {1: "of the second attempt"}
    finally:
        for team in teams:
            team.close()


def test_an_epoch_is_given_up_before_its_state_is_rolled_back() -> None:
    acts: list[tuple[int, str]] = []
    abort, rollback = Team.abort, RunningEpoch.rollback

    def noted_abort(self: Team) -> None:
        acts.append((self.rank, "abort"))
        abort(self)

    def noted_rollback(self: RunningEpoch) -> None:
        if isinstance(self, ShardEpoch):
            acts.append((self._team.rank, "rollback"))
        rollback(self)

    with closing(in_threads(ddlog.compile(FAULTS).circuit("relational"), 3)) as runtime:
        commit(runtime, {"A": [((k, 0), 1) for k in range(9)], "B": [((k,), 1) for k in range(9)]})
        noting = mock.patch.object(Team, "abort", noted_abort)
        with noting, mock.patch.object(RunningEpoch, "rollback", noted_rollback), pytest.raises(RowFault):
            commit(runtime, {"C": [((0,), 1)]})
    for rank in range(3):
        assert [act for by, act in acts if by == rank][:2] == ["abort", "rollback"]


def test_an_epoch_that_ends_while_ranks_are_numbered_leaves_no_worker_with_ranks_of_its_own() -> None:
    prepare, done = ShardsRecursion.prepare_in_shards, threading.Event()

    def interrupted(self: ShardsRecursion) -> None:
        if self.team.rank:
            prepare(self)
            done.set()
        else:
            self.team._tell([iterations_of(self.sets)] * 2, [1])
            assert done.wait(9)
            raise KeyboardInterrupt

    with closing(in_threads(ddlog.compile(CLOSURE).circuit("relational"), 2)) as runtime:
        commit(runtime, {"Edge": [((k, k + 1), 1) for k in range(9)]})
        ends = mock.patch.object(ShardsRecursion, "prepare_in_shards", interrupted)
        with ends, pytest.raises(KeyboardInterrupt):
            commit(runtime, {"Edge": [((0, 1), -1)]})
        for sign in (1, -1):
            commit(runtime, {"Edge": [((9, 10), sign)]})
        assert len(runtime.rows("Path")) == 45


FAULTS_IN_A_WINDOW = """
import window
input relation Event(x: s32, d: s32, t: s64)
input relation Now(t: s64)
input relation C(d: s32)
multiset Recent[Event]
stream Late[Event]
apply window::range_late(Event, |e| e.t, Now, 2, 0) -> (Recent, Late)
output relation Q(x: s32, q: s32)
Q(x, 6 / d) :- Recent(x, d, _), C(d).
"""


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_fault_that_goes_again_beside_a_window(size: int) -> None:
    """The window does not begin from nothing: it holds a row that its input would give no more."""
    with closing(
        in_threads(ddlog.compile(FAULTS_IN_A_WINDOW).circuit("relational"), size, first=1)
    ) as runtime:
        commit(runtime, {"Event": [((1, 2, 5), 1), ((2, 0, 5), 1)], "Now": [((5,), 1)]})
        commit(runtime, {"C": [((2,), 1), ((3,), 1)], "Event": [((3, 2, 4), 1)]})  # which comes late
        assert sorted(runtime.rows("Q")) == [(1, 3)]
        gone = {"Event": [((2, 0, 5), -1), ((4, 3, 6), 1)], "C": [((0,), 1)], "Now": [((6,), 1)]}
        assert commit(runtime, gone) == {"Q": {(4, 2): 1}}
        with pytest.raises(RowFault):
            commit(runtime, {"Event": [((5, 0, 6), 1)]})
        assert commit(runtime, {"Now": [((8,), 1)]}) == {"Q": {(1, 3): -1}}
        assert commit(runtime, {"Event": [((6, 2, 7), 1)], "C": [((0,), -1)]}) == {"Q": {}}
        assert commit(runtime, {"Event": [((6, 2, 8), 1)]}) == {"Q": {(6, 3): 1}}


def test_a_circuit_whose_delay_would_be_lost_is_for_one_worker() -> None:
    """Nothing but the delay has the change of the epoch before."""
    nodes = (Input("A", schema(1)), Delay(0, schema(1)), Output("D", 1, schema(1)))
    assert not may_be_placed(incrementalize(Circuit(nodes)))


SPREAD = """
input relation A(x: s32, u: s32)
input relation B(u: s32, z: s32)
input relation C(z: s32)
output relation Path(x: s32, z: s32)
Path(x, z) :- A(x, u), B(u, z).
Path(x, z) :- Path(x, y), A(y, u), B(u, z).
output relation R(u: s32)
R(z) :- C(z).
R(u) :- R(z), B(u, z).
output relation S(u: s32)
S(z) :- C(z).
S(u) :- S(z), B(u, z).
"""


@pytest.mark.parametrize("maintain", ["always", "never"])
def test_a_recursion_imports_rows_that_come_and_go_by_several_workers(maintain: Mode) -> None:
    """A row of the join comes by the owner of a row of B, and goes by that of a row of A."""
    with closing(
        in_threads(ddlog.compile(SPREAD).circuit("relational"), 3, first=1, maintain=maintain)
    ) as runtime:
        steps = {"A": [((k, k), 1) for k in range(9)], "B": [((k, k + 1), 1) for k in range(9)]}
        commit(runtime, steps)
        commit(runtime, {"A": [((k, k), -1) for k in range(4)]})
        assert set(runtime.rows("Path")) == {(x, z) for x in range(4, 9) for z in range(x + 1, 10)}


def test_a_join_reads_rows_that_come_and_go_by_several_workers() -> None:
    """Rows of J have no owners: one worker has a row twice, and another has it -2 times."""
    two, one = schema(2), schema(1)
    nodes = (
        Input("A", two), Input("B", two), Input("C", one), Input("M", one, multiset=True),
        Join((Term(2, ("y",)), Term(1, ("x", "w"))), (Guard(less("y", "w")),), ("y", "y"), two, "J"),
        Join((Term(4, ("x", "x")), Term(0, (None, "x"))), (), ("x", "x"), two),
        Join((Term(0, ("x", "x")),), (), ("x", "x"), two),
        Sum((5, 6), two), Distinct(7, two), Output("Q", 8, two),
    )  # fmt: skip
    circuit = Circuit(nodes, (("A", 0), ("B", 1), ("C", 2), ("M", 3), ("Q", 8)))
    epochs: list[Changes] = [
        {"B": [((0, 0), 1), ((2, 3), 1), ((2, 2), 1)], "C": [((0,), 1)]},
        {"C": [((0,), -1), ((2,), 1)]},
        {"A": [((0, 0), 1)]},
        {"A": [((1, 0), 1)], "C": [((0,), 1)]},
        {"A": [((1, 0), -1), ((0, 0), -1)], "C": [((0,), -1)]},
    ]
    with closing(in_threads(circuit, 2)) as runtime:
        follow(circuit, runtime, epochs)


def test_workers_let_the_changes_of_an_epoch_go() -> None:
    """What an epoch holds, as the rows of a first load, is not there until the next one."""
    begun, new = WeakSet[object](), member.Member._new_running

    def noted(self: member.Member, epoch: Any) -> Any:
        running = new(self, epoch)
        begun.add(running)
        return running

    with (
        mock.patch.object(member.Member, "_new_running", noted),
        closing(in_threads(ddlog.compile(SPREAD).circuit("relational"), 2)) as runtime,
    ):
        commit(runtime, {"A": [((k, k), 1) for k in range(9)]})
        runtime.rows("Path")  # so that the other worker has ended the epoch, too
        gc.collect()
        assert not begun


LEAST = """
input relation Edge(x: s64, y: s64)
relation Label(x: s64, least: s64)
output relation Component(x: s64, least: s64)
Label(x, x) :- Edge(x, _).
Label(y, least) :- Component(x, least), Edge(x, y).
Component(x, least) :- Label(x, each), var least = each.group_by(x).min().
"""


def test_a_round_sends_rows_once() -> None:
    """Groups, joins and distincts of these rules find rows where the one Exchange has sent them."""
    text = LEAST + "Label(x, least) :- Component(y, least), Edge(x, y)."
    whole = placed(ddlog.compile(text).circuit("relational"))
    (loop,) = whole.loops
    body: Any = whole.circuit.nodes[loop]
    assert [node.key for node in body.body.nodes if isinstance(node, Exchange)] == [(0,)]


def test_the_owner_of_a_row_is_by_a_column_that_the_recursion_looks_up() -> None:
    """Though most rules of Q mention r, only imports share it, and rows of imports look nothing up."""
    program = ddlog.compile(Path(__file__).parents[1].joinpath("bench", "programs", "galen.dl").read_text())
    (keys,) = placed(program.circuit("relational")).inside.values()
    assert keys == {"P": (0,), "Q": (0,)}


CARRIED_INPUTS = """
input relation A(x: s64, y: s64)
input relation B(x: s64, y: s64)
input relation C(x: s64)
input multiset M(x: s64)
output relation R(x: s64, y: s64)
output relation S(x: s64, y: s64)
output relation T(x: s64)
T(x) :- R(x, y), C(y).
"""
CARRIED: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "from the left": ("R(x, y) :- A(x, y). R(x, z) :- R(x, y), A(y, z).", {"R": (0,)}),
    "from the right": ("R(x, y) :- A(x, y). R(x, z) :- A(x, y), R(y, z).", {"R": (1,)}),
    "two relations": (
        "R(x, y) :- A(x, y). S(z, x) :- R(x, y), A(y, z). R(x, z) :- S(y, x), A(y, z).",
        {"R": (0,), "S": (1,)},
    ),
    "of itself": (
        "R(x, y) :- A(x, y). R(y, y) :- A(_, y). R(x, z) :- R(x, y), R(x, w), A(y, z), B(w, z), not C(z).",
        {"R": (0,)},
    ),
    "of what is derived": (
        "S(x, y) :- A(x, y), not B(y, x). R(x, y) :- S(x, y). R(x, z) :- R(x, y), S(y, z), M(z).",
        {"R": (0,)},
    ),
}
NOT_CARRIED = [
    "R(x, y) :- C(x), A(x, y). R(x, z) :- R(x, y), A(y, z).",
    "R(x, y) :- A(x, y), x > 1. R(x, z) :- R(x, y), A(y, z).",
    "R(x, y) :- B(x, y). R(x, z) :- R(x, y), A(y, z).",
    "R(1, 2). R(x, y) :- A(x, y). R(x, z) :- R(x, y), A(y, z).",
    "R(x, y) :- A(x, y). R(x, z) :- R(x, y), A(y, z). R(y, x) :- R(x, y), A(y, x).",
    "R(x, y) :- A(x, y). R(x, z) :- R(x, y), R(y, z), A(y, z).",
]


@pytest.mark.parametrize("name", CARRIED)
@trying(2)
@given(
    st.lists(streams(), min_size=1, max_size=3).map(lambda some: [each for part in some for each in part]),
    st.sampled_from([1, 2, 3, 7]),
    st.integers(0, 1),
    modes(),
    st.integers(0, 3),
)
def test_iterations_that_stay_on_one_worker(
    name: str, epochs: list[Changes], size: int, first: int, maintain: Mode | Coin, seed: int
) -> None:
    rules, keys = CARRIED[name]
    circuit = ddlog.compile(CARRIED_INPUTS + rules).circuit("relational")
    assert keys in placed(circuit).inside.values()
    with (
        small(seed),
        arranged() if seed % 2 else nullcontext(),
        closing(in_threads(circuit, size, first=first, maintain=maintain)) as runtime,
    ):
        follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs)), *epochs])


@pytest.mark.parametrize("rules", NOT_CARRIED)
def test_a_column_that_may_have_few_values_or_other_ones_after_an_iteration_has_no_owners(rules: str) -> None:
    circuit = ddlog.compile(CARRIED_INPUTS + rules).circuit("relational")
    (keys,) = placed(circuit).inside.values()
    assert keys == {"R": (1,)}


@as_usual()
def test_iterations_that_stay_on_one_worker_send_nothing() -> None:
    """So their number does not matter."""
    rules, _ = CARRIED["from the left"]
    runtime = in_threads(ddlog.compile(CARRIED_INPUTS + rules).circuit("relational"), 3)
    sent: list[int] = []
    for length in (5, 40):
        edges = [((x, x + 1), 1) for x in range(100 * length, 101 * length)]
        commit(runtime, {"A": edges})
        commit(runtime, {"A": [(edges[0][0], -1)]})  # which makes copies and arrangements
        commit(runtime, {"A": [(edges[0][0], 1)]})
        with mock.patch.object(Team, "_send", autospec=True, side_effect=Team._send) as sends:
            gone = commit(runtime, {"A": [(edges[1][0], -1)]})
        assert len(gone["R"]) == 2 * (length - 1)
        sent.append(sends.call_count)
    assert sent[1] <= sent[0]
    runtime.close()


ENDLESS = """
input relation A(x: s64)
input relation B(x: s64)
output relation R(x: s64, y: bigint)
output relation S(x: s64, y: bigint)
R(x, 0) :- A(x).
R(x, z) :- R(x, y), B(x), var z = y + 1.
"""


@pytest.mark.parametrize("rule", ["S(x, y) :- R(x, y).", "S(x, y) :- R(x, y), R(y as s64, _)."])
def test_ctrl_c_ends_iterations_of_another_worker(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check = interrupt.check

    def check_in_first() -> None:
        if threading.current_thread() is threading.main_thread():  # no other process hears of a Ctrl-C
            check()

    monkeypatch.setattr(interrupt, "check", check_in_first)
    circuit = ddlog.compile(ENDLESS + rule).circuit("relational")
    with closing(in_threads(circuit, 3, first=1, maintain="always")) as runtime:
        commit(runtime, {"A": [((x,), 1) for x in range(9)]})
        commit(runtime, {"A": [((0,), -1)]})
        held = {name: set(runtime.rows(name)) for name in ("A", "B", "R", "S")}
        for x in range(1, 6):
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            with pytest.raises(KeyboardInterrupt):
                commit(runtime, {"B": [((x,), 1)]})
            assert {name: set(runtime.rows(name)) for name in held} == held
        commit(runtime, {"A": [((0,), 1)]})
        assert runtime.size("R") == 9


def test_a_worker_without_rows_of_a_loop_says_nothing_in_its_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "owned_by", lambda *_: None)  # paths have no rounds
    runtime = in_threads(ddlog.compile(LEAST).circuit("relational"), 3, first=1, maintain="always")
    sent: list[int] = []

    def send(team: Team, line: Any, message: bytes) -> None:
        sent[-1] += team.rank == 0
        plain(team, line, message)

    plain = Team._send
    with mock.patch.object(Team, "_send", send):
        for length in (5, 15):
            sent.append(0)
            edges = [((x, x + 1), 1) for x in range(100 * length, 101 * length)]
            edges.append(((101 * length, 101 * length), 1))
            commit(runtime, {"Edge": edges})
            commit(runtime, {"Edge": [(edges[2][0], -1)]})
            sent[-1] = 0
            gone = commit(runtime, {"Edge": [(edges[1][0], -1)]})
            assert gone["Component"]
            gone = commit(runtime, {"Edge": [(edges[1][0], 1), (edges[2][0], 1)]})
            assert len(gone["Component"]) > length - 3
    runtime.close()
    assert sent[0] == sent[1]


LIMITED = (
    FAULTS
    + """
input relation Edge(x: s32, y: s32)
input relation U(x: s32, u: s32)
input relation V(u: s32)
output relation Path(x: s32, y: s32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
Path(x / u, y) :- Path(x, y), U(x, u), V(u).
"""
)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_limit_of_iterations_is_one_of_what_a_commit_changes(size: int) -> None:
    """Also of one with a fault that goes again: paths that it does not change may be longer."""
    runtime = in_threads(ddlog.compile(LIMITED).circuit("relational"), size)

    def change(**rows: Any) -> None:
        changes = {
            name: [(runtime.batch(name, [row]), sign) for row, sign in some] for name, some in rows.items()
        }
        runtime.commit(changes, max_iterations=5)

    with closing(runtime):
        change(A=[((3, 3), 1)], B=[((3,), 1), ((5,), 1)], C=[((0,), 1)])
        for x in range(9):
            change(Edge=[((x, x + 1), 1)])
        change(A=[((5, 0), 1)], C=[((0,), -1), ((3,), 1)])
        change(V=[((0,), 1)])
        change(U=[((1, 0), 1)], V=[((0,), -1)])  # a fault in the recursion
        assert runtime.size("Path") == 45
        with pytest.raises(IterationLimit):
            change(Edge=[((k, k + 1), 1) for k in range(20, 40)])
        assert (runtime.size("Path"), runtime.lookup("Q", [(3, 2)])) == (45, [1])


FAULTS_BY_ROUNDS = """
input relation Start(x: s32, v: s32)
input relation Edge(x: s32, y: s32, d: s32)
relation Offer(x: s32, v: s32)
output relation Best(x: s32, v: s32)
Offer(x, v) :- Start(x, v).
Offer(y, v / d) :- Best(x, v), Edge(x, y, d).
Best(x, v) :- Offer(x, each), var v = each.group_by(x).max().
"""


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_fault_in_a_round_on_one_worker_takes_the_epoch_back_on_all(size: int) -> None:
    with closing(in_threads(ddlog.compile(FAULTS_BY_ROUNDS).circuit("relational"), size)) as runtime:
        edges = [((k, k + 1, 2), 1) for k in range(6)] + [((9, 3, 0), 1)]
        commit(runtime, {"Start": [((0, 64), 1)], "Edge": edges})
        best = [(k, 64 >> k) for k in range(7)]
        assert sorted(runtime.rows("Best")) == best
        for fault in ({"Start": [((9, 1), 1)]}, {"Edge": [((4, 1, 0), 1), ((0, 1, 2), -1), ((0, 1, 1), 1)]}):
            with pytest.raises(RowFault):
                commit(runtime, fault)
            assert sorted(runtime.rows("Best")) == best
        # The fault of an edge is none once the edge is gone.
        assert commit(runtime, {"Start": [((9, 1), 1)], "Edge": [((9, 3, 0), -1)]}) == {"Best": {(9, 1): 1}}
        assert commit(runtime, {"Edge": [((5, 6, 2), -1)]}) == {"Best": {(6, 1): -1}}
