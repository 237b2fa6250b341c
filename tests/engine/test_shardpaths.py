"""Recursions over paths on several workers against the definition, over steps that come and go."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import interrupt, thresholds
from ddlog.engine.circuit import Circuit
from ddlog.engine.inprocess.storage.interner import Values
from ddlog.engine.inprocess.storage.table import RowTable
from ddlog.engine.maintenance import Coin, Mode
from ddlog.engine.memory import Exhausted
from ddlog.engine.reference import Evaluation
from ddlog.engine.schema import Column, Kind
from ddlog.engine.shards.loop import RunningShardsLoop
from ddlog.engine.shards.paths import ShardsPaths
from ddlog.engine.shards.team import Team
from ddlog.engine.shards.wire import owners

from ..taking import small
from ..trying import longer, trying
from .random_circuits import Changes, modes
from .test_oracle import commit, difference
from .threads import in_threads

NODES = 9

INPUTS = """
input relation Start(x: s64, v: s64)
input relation Edge(x: s64, y: s64, c: s64)
input relation Way(a: string, b: string, c: s64)
"""
LEAST = """
relation Label(x: s64, least: s64)
output relation Component(x: s64, least: s64)
Label(x, x) :- Edge(x, _, _).
Label(y, y) :- Edge(_, y, _).
Label(y, least) :- Component(x, least), Edge(x, y, _).
Label(x, least) :- Component(y, least), Edge(x, y, _).
Component(x, least) :- Label(x, each), var least = each.group_by(x).min().
"""
SHORTEST = """
output relation Offer(v: s64, x: s64)
output relation Distance(x: s64, v: s64)
Offer(v, x) :- Start(x, v).
Offer(7, 0).
Offer(v + c, y) :- Distance(x, v), Edge(x, y, c).
Distance(x, v) :- Offer(each, x), var v = each.group_by(x).min().
"""
WIDEST = """
relation Offer(x: s64, v: s64)
output relation Width(x: s64, v: s64)
output relation Same(v: s64, n: u64)
Offer(x, v) :- Start(x, v).
Offer(y, min(v, c)) :- Width(x, v), Edge(x, y, c).
Width(x, v) :- Offer(x, each), var v = each.group_by(x).max().
Same(v, n) :- Width(x, v), var n = x.group_by(v).count().
"""
WIDE_KEYS = """
output relation Offer(name: string, v: s64)
output relation Best(v: s64, name: string)
Offer(a, c) :- Way(a, _, c), c < 2.
Offer(b, v + c) :- Best(v, a), Way(a, b, c).
Best(v, name) :- Offer(name, each), var v = each.group_by(name).min().
"""
JOINED = """
relation Offer(x: s64, v: s64)
output relation Distance(x: s64, v: s64)
Offer(x, v) :- Start(x, v).
Offer(z, v + c) :- Distance(x, v), Edge(x, y, c), Edge(y, z, _).
Distance(x, v) :- Offer(x, each), var v = each.group_by(x).min().
"""
nodes = st.integers(0, NODES - 1)
rows = {
    "Start": st.tuples(nodes, st.integers(0, 4)),
    "Edge": st.tuples(nodes, nodes, st.integers(0, 3)),
    "Way": st.tuples(*[nodes.map(str)] * 2, st.integers(0, 3)),
}


@st.composite
def epochs_of(draw: Any, names: list[str]) -> list[Changes]:
    """Epochs in which rows come, and rows that are there go."""
    held: dict[str, list[tuple[Any, ...]]] = {name: [] for name in names}
    epochs: list[Changes] = []
    for number in range(draw(st.integers(1, 6))):
        epoch: Changes = {}
        for name in names:
            come = draw(st.lists(rows[name], max_size=12 if number == 0 else 3))
            gone = draw(st.lists(st.sampled_from(held[name]), max_size=3)) if held[name] else []
            epoch[name] = [*((row, -1) for row in gone), *((row, 1) for row in come)]
            held[name] = [row for row in held[name] if row not in gone] + come
        epochs.append(epoch)
    return epochs


@cache
def circuit_of(text: str) -> Circuit:
    """The relational circuit of a program over these inputs."""
    return ddlog.compile(INPUTS + text).circuit("relational")


@contextmanager
def failing(rank: int, meeting: int) -> Iterator[None]:
    """A worker that has no memory when it has told the others something at their meeting of this number."""
    meetings, tell = iter(range(meeting)), Team._tell

    def told(team: Team, messages: Sequence[Any], peers: Collection[int]) -> None:
        tell(team, messages, peers)
        if team.rank == rank and next(meetings, None) is None:
            raise MemoryError

    with mock.patch.object(Team, "_tell", told):
        yield


def followed(
    text: str,
    epochs: list[Changes],
    size: int,
    first: int,
    maintain: Mode | Coin,
    failure: tuple[int, int] | None = None,
) -> None:
    """Commits the epochs on so many workers and compares every change with the definition. `failure` is a
    worker that has no memory at a meeting of the second one, which then comes again."""
    circuit = circuit_of(text)
    runtime = in_threads(circuit, size, first=first, maintain=maintain)
    contents: dict[str, dict[tuple[Any, ...], int]] = {name: {} for name in rows}
    before: dict[str, dict[tuple[Any, ...], int]] = {}
    with closing(runtime):
        for number, epoch in enumerate(epochs):
            for name, changes in epoch.items():
                for row, sign in changes:
                    if sign > 0:
                        contents[name][row] = 1
                    else:
                        contents[name].pop(row, None)
            after = Evaluation(circuit).step(contents)
            got = None
            if failure is not None and number == 1:
                with failing(*failure), suppress(Exhausted):
                    got = commit(runtime, epoch)
            if got is None:
                got = commit(runtime, epoch)
            for name, found in after.items():
                assert got.get(name, {}) == difference(found, before.get(name, {})), name
                assert set(runtime.rows(name)) == found.keys(), name
            before = after


@trying(30)
@given(
    st.sampled_from([LEAST, SHORTEST, WIDEST, WIDE_KEYS, JOINED]).flatmap(
        lambda text: st.tuples(st.just(text), epochs_of(["Way"] if "Way" in text else ["Start", "Edge"]))
    ),
    st.sampled_from([1, 2, 3, 7]),
    st.integers(0, 1),
    modes(),
    st.integers(0, 3),
)
def test_every_change_of_every_epoch(
    given: tuple[str, list[Changes]], size: int, first: int, maintain: Mode | Coin, seed: int
) -> None:
    """Also where steps join relations, which rounds are for."""
    with small(seed):
        followed(*given, size, first, maintain)


CYCLE: Changes = {
    "Start": [((0, 3), 1)],
    "Edge": [((x, (x + 1) % NODES, x % 2), 1) for x in range(NODES)],
    "Way": [((str(x), str((x + 1) % NODES), x % 2), 1) for x in range(NODES)],
}
CUT: Changes = {"Edge": [((3, 4, 1), -1)], "Way": [(("3", "4", 1), -1)]}


@pytest.mark.parametrize("text", [LEAST, SHORTEST, WIDEST, WIDE_KEYS])
@pytest.mark.parametrize(("size", "first"), [(1, 0), (2, 0), (3, 1)])
def test_no_rounds_are_kept(text: str, size: int, first: int) -> None:
    """Whole and single changes are followed over paths, on all workers."""

    def evaluate(loop: RunningShardsLoop) -> None:
        raise AssertionError("rounds")

    with mock.patch.object(RunningShardsLoop, "_evaluate", evaluate):
        back = {name: [(row, 1) for row, _ in changes] for name, changes in CUT.items()}
        followed(text, [CYCLE, CUT, back], size, first, "always")


@pytest.mark.parametrize(("size", "first"), [(1, 0), (3, 1)])
def test_a_fault_of_another_rule_that_goes_again_leaves_the_paths(size: int, first: int) -> None:
    text = SHORTEST + "output relation Q(q: s64)\nQ(6 / v) :- Start(x, v), Edge(x, _, v)."
    begun = {**CYCLE, "Start": [((0, 3), 1), ((20, 0), 1)]}
    goes: Changes = {  # whichever change meets the other relation as it was before
        "Start": [((20, 0), -1), ((0, 0), 1)],
        "Edge": [((0, 1, 0), -1), ((0, 1, 1), 1), ((20, 21, 0), 1)],
    }
    with mock.patch.object(RunningShardsLoop, "_evaluate", side_effect=AssertionError("rounds")):
        followed(text, [begun, goes, CUT], size, first, "always")


@pytest.mark.parametrize("given_up", [CUT, {"Edge": [((NODES, 0, -1), 1)]}])
@pytest.mark.parametrize(("size", "first"), longer([(3, 1)], [(2, 0), (3, 1)]))
def test_an_epoch_that_one_worker_gives_up(given_up: Changes, size: int, first: int) -> None:
    """The others may not have come to the recursion, or not have heard yet that it needs rounds."""
    for failure in product(range(size), range(8)):
        followed(SHORTEST, [CYCLE, given_up, {"Edge": [((0, 5, 1), 1)]}], size, first, "always", failure)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_keys_that_no_value_reaches_are_no_ghosts(size: int) -> None:
    runtime = in_threads(circuit_of(SHORTEST), size, maintain="always")
    with mock.patch.object(thresholds, "GHOSTS", 0):
        commit(runtime, {"Edge": [((x, x + 1, 1), 1) for x in range(100, 500, 2)]})
        with mock.patch.object(ShardsPaths, "forget") as forget:
            commit(runtime, {"Edge": [((100, 101, 1), -1)]})
    forget.assert_not_called()
    runtime.close()


def test_a_long_chain_may_be_interrupted() -> None:
    """Each of its keys waits for the one before, on another worker: there is a safe point for each."""
    runtime, points = in_threads(circuit_of(SHORTEST), 2), list[int]()
    check = interrupt.check

    def counted() -> None:
        points.append(threading.get_ident())
        check()

    chain = runtime.batch("Edge", [(x, x + 1, 1) for x in range(300)])
    with mock.patch.object(interrupt, "check", counted):
        runtime.commit({"Edge": [(chain, 1)]})
    assert points.count(threading.get_ident()) > 100
    runtime.close()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_what_needs_rounds_is_seen_by_all(size: int) -> None:
    """A step that betters what it carries, and sums that may leave their range, on one worker."""
    for edge in ((4, 5, -1), (4, 5, 1 << 60)):
        followed(SHORTEST, [CYCLE, {"Edge": [(edge, 1)]}, CUT, {"Edge": [(edge, -1)]}], size, 0, "auto")


@pytest.mark.parametrize(("size", "first"), [(1, 0), (2, 0), (3, 1)])
def test_a_fault_in_a_step_that_no_value_takes(size: int, first: int) -> None:
    """One worker cannot evaluate its steps: all go by rounds, in which nothing faults, and then by paths."""
    text = SHORTEST.replace("v + c", "v + 6 / c").replace("Offer(7, 0).", "")
    edges: Changes = {"Start": [((0, 3), 1)], "Edge": [((x, x + 1, 1 + x % 2), 1) for x in range(6)]}
    faulty: Changes = {"Edge": [((20, 3, 0), 1)]}
    mended: Changes = {"Edge": [((20, 3, 0), -1)]}
    followed(text, [edges, faulty, CUT, mended, {"Edge": [((0, 5, 3), 1)]}], size, first, "auto")


@pytest.mark.parametrize("size", [2, 3, 8])
def test_rows_of_a_worker_spread_over_the_slots_of_a_table(size: int) -> None:
    """Also rows with the value that decides on the owner twice, as the labels that components begin with."""
    x = np.arange(100_000)
    column = Column("x", Kind.INT, "s64")
    x = x[owners(Values(), [column], [x], len(x), range(size)) == 1]
    table = RowTable(2)
    table.insert([x, x], len(x))
    slots, bits = table.slots()
    used = np.count_nonzero(slots.reshape(16, -1) != -1, axis=1)
    assert used.max() < 1.2 * used.min(), bits
