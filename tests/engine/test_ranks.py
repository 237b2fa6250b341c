"""Recursions without counts: the ranks that sessions keep, against their law."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import TypeAlias
from unittest import mock

from hypothesis import example, given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.circuit import Circuit
from ddlog.engine.divergence import IterationLimit
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.recursion import monotoneepoch, recursion
from ddlog.engine.inprocess.recursion.recursion import Recursion
from ddlog.engine.inprocess.runtime import InProcess

from ..trying import trying
from .random_circuits import Changes, circuits, streams, toggled
from .test_oracle import commit, follow, thorough, undo

Derivation: TypeAlias = Sequence[str]
"""The rows of the recursion that a derivation reads."""

Row = tuple[int, int]
Ways = dict[str, list[Derivation]]

GRAPHS = """
input relation Edge(x: s32, y: s32)
input relation Same(x: s32, y: s32)
output relation Path(x: s32, y: s32)
output relation Near(x: s32, y: s32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Path(y, z).
Path(y, x) :- Near(x, y), Edge(y, _).
Near(x, x) :- Same(x, _).
Near(x, y) :- Path(x, y), Same(y, x), x != y + 1.
Near(x, y + 1) :- Near(x, y), Edge(x, y).
"""

PROGRAM = ddlog.compile(GRAPHS)


def iteration(derivation: Derivation, ranks: Mapping[str, int]) -> int | None:
    """The iteration of a derivation; None if a row that it reads is absent."""
    if not all(row in ranks for row in derivation):
        return None
    return max((ranks[row] + 1 for row in derivation), default=0)


def well_founded(derivations: Mapping[str, Collection[Derivation]], ranks: Mapping[str, int]) -> bool:
    """Whether ranks obey the law, and the rows without a rank have no derivation."""
    for row, ways in derivations.items():
        times = [time for way in ways if (time := iteration(way, ranks)) is not None]
        if row in ranks and min(times, default=ranks[row] + 1) > ranks[row]:
            return False
        if row not in ranks and times:
            return False
    return ranks.keys() <= derivations.keys()


def path(row: Row) -> str:
    """The name of a row of Path."""
    return f"P{row}"


def near(row: Row) -> str:
    """The name of a row of Near."""
    return f"N{row}"


def derivations(edges: set[Row], same: set[Row]) -> Ways:
    """What GRAPHS derives each row from, of all rows that there might be."""
    some = range(8)
    ways: Ways = {}

    def derived(row: str, *reads: str) -> None:
        ways.setdefault(row, []).append(reads)

    for x, y in edges:
        derived(path((x, y)))
        derived(near((x, y + 1)), near((x, y)))
        for z in some:
            derived(path((x, z)), near((z, x)))
    for x, y in same:
        derived(near((x, x)))
        if y != x + 1:
            derived(near((y, x)), path((y, x)))
    for x in some:
        for y in some:
            for z in some:
                derived(path((x, z)), path((x, y)), path((y, z)))
    return ways


def present(ways: Ways) -> set[str]:
    """The rows that are derived."""
    ranks: dict[str, int] = {}
    while found := {
        row for row, each in ways.items() if any(iteration(w, ranks) is not None for w in each)
    } - set(ranks):
        ranks |= dict.fromkeys(found, 0)
    return set(ranks)


def kept_ranks(runtime: InProcess) -> dict[str, int] | None:
    """The ranks that a runtime keeps for the rows of GRAPHS, once something may have shrunk."""
    (kept,) = runtime._state.recursions.values()
    assert isinstance(kept, Recursion)
    if kept.ranked is None:
        return None
    found = {}
    for head, relation in kept.ranked.items():
        rows = relation.rows()
        columns = [column.astype("int32").tolist() for column in relation.table.columns_at(rows)]
        name: Callable[[Row], str] = path if "Path" in head else near
        ranks = (relation.weights[rows] - 1).tolist()
        found |= {name((x, y)): rank for x, y, rank in zip(*columns, ranks, strict=True)}
    return found


edits = st.lists(
    st.tuples(st.sampled_from(["Edge", "Same"]), st.tuples(st.integers(0, 4), st.integers(0, 4))),
    min_size=1,
    max_size=6,
)


@trying(20)
@given(st.lists(edits, min_size=1, max_size=8), st.booleans())
def test_each_row_rests_on_rows_of_lesser_ranks(epochs: list[list[tuple[str, Row]]], forget: bool) -> None:
    held: dict[str, set[Row]] = {"Edge": set(), "Same": set()}
    runtime = InProcess(incrementalize(PROGRAM.circuit("relational")))
    low = {"GHOSTS": 0, "LARGE_RANK": 0, "LARGE_TABLE": 0}
    with mock.patch.multiple(thresholds, **low) if forget else nullcontext():
        for epoch in epochs:
            commit(runtime, toggled(held, epoch))
            ways = derivations(held["Edge"], held["Same"])
            shown = {path((x, y)) for x, y in runtime.rows("Path")}
            shown |= {near((x, y)) for x, y in runtime.rows("Near")}
            assert shown == present(ways)
            ranks = kept_ranks(runtime)
            assert ranks is None or well_founded(ways, ranks)


def iterations(held: dict[str, set[Row]]) -> int:
    """The iterations that GRAPHS takes from scratch."""
    for limit in range(1, 100):
        runtime = InProcess(incrementalize(PROGRAM.circuit("relational")))
        rows = {name: [(runtime.batch(name, list(each)), 1)] for name, each in held.items()}
        with suppress(IterationLimit):
            runtime.commit(rows, max_iterations=limit)
            return limit
    raise AssertionError("no fixpoint")


def test_epochs_keep_to_a_limit_that_evaluation_from_scratch_keeps_to() -> None:
    held: dict[str, set[Row]] = {"Edge": set(), "Same": set()}
    runtime = InProcess(incrementalize(PROGRAM.circuit("relational")))
    before = iterations(held)
    for edges in ([(0, 2), (2, 0)], [(0, 1)], [(0, 3)], [(1, 0)], [(0, 1), (2, 0)]):
        batches = [(runtime.batch("Edge", [edge]), -1 if edge in held["Edge"] else 1) for edge in edges]
        held["Edge"] ^= set(edges)
        now = iterations(held)
        runtime.commit({"Edge": batches}, max_iterations=max(before, now) + 1)  # the last finds no change
        before = now
    assert monotoneepoch.LIMIT in [decision.why for decision in runtime.decisions()]
    assert [decision.way for decision in runtime.decisions()].count("maintained") > 1


@thorough
@given(circuits(), streams())
def test_loops_instead_of_ranks_give_the_same(circuit: Circuit, epochs: list[Changes]) -> None:
    again = [*epochs, *map(undo, reversed(epochs)), *epochs]
    with mock.patch.object(recursion, "searches_of", lambda *_: None):
        follow(circuit, InProcess(incrementalize(circuit)), again)
    with mock.patch.object(thresholds, "LARGE_TABLE", 0):
        follow(circuit, InProcess(incrementalize(circuit)), again)


WAYS = ddlog.compile("""
input relation Edge(x: s32, y: s32)
input relation Closed(x: s32)
relation Open(x: s32)
Open(x) :- Edge(_, x), not Closed(x).
output relation Path(x: s32, y: s32)
Path(x, y) :- Edge(x, y), Open(y).
Path(x, z) :- Path(x, y), Edge(y, z), Open(z).
""")
near_rows = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)))
near_nodes = st.sets(st.tuples(st.integers(0, 4)))


def paths(edges: set[Row], closed: set[tuple]) -> set[Row]:
    """What WAYS derives."""
    steps = {edge for edge in edges if edge[1:] not in closed}
    found: set[Row] = set()
    while (more := steps | {(x, z) for x, y in found for w, z in steps if y == w}) != found:
        found = more
    return found


@trying(33)
@example([({(0, 1), (1, 2)}, {(1,), (2,)}), ({(0, 1), (2, 3)}, {(2,)})])
@given(st.lists(st.tuples(near_rows, near_nodes), max_size=5))
def test_a_recursion_without_rows_begins_afresh(epochs: list[tuple[set[Row], set[tuple]]]) -> None:
    runtime = InProcess(incrementalize(WAYS.circuit("relational")))
    edges: set[Row] = set()
    closed: set[tuple] = set()
    before: set[Row] = set()
    for some_edges, some_closed in [(set(), set()), *epochs]:
        changes = {
            name: [(row, -1 if row in held else 1) for row in some]
            for name, held, some in (("Edge", edges, some_edges), ("Closed", closed, some_closed))
        }
        edges, closed = edges ^ some_edges, closed ^ some_closed
        after = paths(edges, closed)
        change = dict.fromkeys(after - before, 1) | dict.fromkeys(before - after, -1)
        assert commit(runtime, changes)["Path"] == change
        before = after


def test_rows_that_come_after_an_empty_epoch_are_not_counted() -> None:
    runtime = InProcess(incrementalize(WAYS.circuit("relational")))
    (reached,) = runtime._state.recursions.values()
    assert isinstance(reached, Recursion)

    def change(edges: list[Row], closed: list[int]) -> dict[str, dict[tuple, int]]:
        signed = {"Edge": [(edge, 1) for edge in edges], "Closed": [((x,), 1) for x in closed]}
        return commit(runtime, signed)

    change([], [])
    change([], [7])
    found = change([(n, n + 1) for n in range(10)], [3])
    assert reached.ranked is None
    assert found["Path"] == {
        (x, y): 1 for x in range(10) for y in range(x + 1, 11) if not {3, 7} & {*range(x + 1, y + 1)}
    }
    assert change([], [9])["Path"] == {(x, y): -1 for x in (7, 8) for y in (9, 10)}
    assert reached.ranked is not None
