"""The in-process runtime against the definition: every change of every output in every epoch."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import interrupt, thresholds
from ddlog.engine.circuit import Circuit
from ddlog.engine.divergence import Unsettled
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.maintenance import Coin, Mode
from ddlog.engine.passes import optimize
from ddlog.engine.runtime import Runtime

from ..taking import taking
from ..trying import trying
from .random_circuits import (
    INPUTS,
    Changes,
    Definition,
    any_circuits,
    apply,
    circuits,
    modes,
    products,
    settling,
    streams,
)

thorough = trying(25)


def commit(runtime: Runtime, changes: Changes) -> dict[str, dict[tuple, int]]:
    """Commits one epoch; the changes of the outputs as Z-sets."""
    batches = {
        name: [(runtime.batch(name, [row]), sign) for row, sign in signed] for name, signed in changes.items()
    }
    deltas = runtime.commit(batches)
    return {name: dict(zip(d.rows, d.weights, strict=True)) for name, d in deltas.items()}


def difference(new: dict[tuple, int], old: dict[tuple, int]) -> dict[tuple, int]:
    """new - old, as Z-sets."""
    out = {row: new.get(row, 0) - old.get(row, 0) for row in {**new, **old}}
    return {row: weight for row, weight in out.items() if weight}


@trying(40)
@given(any_circuits, streams(), st.booleans(), modes(), st.booleans())
def test_every_change_of_every_epoch(
    circuit: Circuit, epochs: list[Changes], optimized: bool, maintain: Mode | Coin, early: bool
) -> None:
    """Where a recursion with groups and negations inside does not settle, the same error and no trace.
    `early`: stores and groups take rows of a join before all are there, and are taken back."""
    changes = incrementalize(optimize(circuit) if optimized else circuit)
    runtime = InProcess(changes, maintain=maintain)
    low = {"CHUNK": 1, "GHOSTS": 0, "ROWS_BY_MEANS": 0, "JOIN_CHUNK": 2, "JOIN_LEAST": 1}
    in_parts = mock.patch.multiple(thresholds, **low) if early else nullcontext()
    if early:
        every = {name: [change for each in epochs for change in each[name]] for name in INPUTS}
        epochs = [every, undo(every), *epochs]
    with in_parts, taking(1, 1) if early else nullcontext():
        follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs)), *epochs])


@thorough
@given(any_circuits, streams())
@settling
def test_look_ups_fused_with_what_follows(circuit: Circuit, epochs: list[Changes]) -> None:
    fused = {"FUSED_MATCHES": 1, "FUSED_ROOM": 1, "FUSED_ROOM_NEW": 1, "FUSED_WORK": 1}
    with mock.patch.multiple(thresholds, **fused, ORDERED_MATCHES=0, ORDERED_TABLE=0):
        follow(circuit, InProcess(incrementalize(circuit)), epochs)


@thorough
@given(any_circuits, streams(), st.sampled_from([0, 2, 64]), st.sampled_from([1, 128]), modes())
@settling
def test_rows_one_by_one_and_together(
    circuit: Circuit, epochs: list[Changes], most: int, matches: int, maintain: Mode | Coin
) -> None:
    """Few rows are joined and stored by Python, and more by NumPy; where a look-up gives too many, both."""
    with mock.patch.multiple(
        thresholds, ROWS_ONE_BY_ONE=most, MATCHES_ONE_BY_ONE=matches, GENERAL_RUNS=int(most == 2)
    ):
        follow(circuit, InProcess(incrementalize(circuit), maintain=maintain), epochs + epochs[::-1])


def legal(multiset: dict[tuple, int], signed: list[tuple[tuple, int]]) -> list[tuple[tuple, int]]:
    """The changes of a multiset without deletions of rows that an epoch which failed had inserted."""
    counts, kept = dict(multiset), []
    for row, sign in signed:
        if counts.get(row, 0) + sign >= 0:
            counts[row] = counts.get(row, 0) + sign
            kept.append((row, sign))
    return kept


def unsettled(runtime: Runtime, changes: Changes, expected: Unsettled) -> None:
    """Commits an epoch in which a recursion does not settle."""
    with pytest.raises(Unsettled) as raised:
        commit(runtime, changes)
    assert raised.value.args == expected.args
    assert raised.value.changing == expected.changing


def undo(changes: Changes) -> Changes:
    """What takes changes of a multiset back, and deletes what may have been inserted in a set."""
    return {
        name: [(row, -sign) for row, sign in reversed(signed) if name == "M" or sign > 0]
        for name, signed in changes.items()
    }


def follow(circuit: Circuit, runtime: Runtime, epochs: list[Changes]) -> None:
    """Commits the epochs and compares every change with the definition."""
    contents: dict[str, dict[tuple, int]] = {name: {} for name in INPUTS}
    definition = Definition(circuit)
    before: dict[str, dict[tuple, int]] = {}
    for changes in epochs:
        last = {name: dict(rows) for name, rows in contents.items()}
        changes = changes | {"M": legal(contents["M"], changes.get("M", []))}
        apply(contents, changes)
        try:
            after = definition.step(contents)
        except Unsettled as expected:
            unsettled(runtime, changes, expected)
            contents = last
            for name, rows in before.items():
                assert set(runtime.rows(name)) == rows.keys(), name
            continue
        got = commit(runtime, changes)
        for name, rows in after.items():
            assert got.get(name, {}) == difference(rows, before.get(name, {})), name
            assert dict.fromkeys(runtime.rows(name), 1).keys() == rows.keys(), name
        before = after


@thorough
@given(any_circuits, streams())
@settling
def test_a_static_run_gives_the_same_rows(circuit: Circuit, epochs: list[Changes]) -> None:
    runtime = InProcess(incrementalize(circuit))
    contents: dict[str, dict[tuple, int]] = {name: {} for name in INPUTS}
    definition = Definition(circuit)
    for changes in epochs:
        apply(contents, changes)
    batches = {
        name: [(runtime.batch(name, [r] * w), 1) for r, w in rows.items()] for name, rows in contents.items()
    }
    runtime.commit(batches, static=True)
    for name, rows in definition.step(contents).items():
        assert set(runtime.rows(name)) == set(rows), name


@thorough
@given(any_circuits, streams(), st.integers(0, 5), modes())
@settling
def test_a_failed_epoch_leaves_no_trace(
    circuit: Circuit, epochs: list[Changes], failing: int, maintain: Mode | Coin
) -> None:
    runtime = InProcess(incrementalize(circuit), maintain=maintain)
    contents: dict[str, dict[tuple, int]] = {name: {} for name in INPUTS}
    definition = Definition(circuit)
    before: dict[str, dict[tuple, int]] = {}

    class Stop(Exception):
        pass

    def progress(phase: str, iteration: int, rows: int) -> None:
        if iteration >= failing % 3:
            raise Stop

    for changes in epochs:
        batches = {n: [(runtime.batch(n, [row]), s) for row, s in signed] for n, signed in changes.items()}
        try:
            runtime.commit(batches, progress=progress)
        except Stop:
            for name in before:
                assert set(runtime.rows(name)) == set(before[name])
            commit(runtime, changes)
        apply(contents, changes)
        before = definition.step(contents)
        for name, rows in before.items():
            assert set(runtime.rows(name)) == set(rows), name


class Pressed(BaseException):
    """What an interrupt raises."""


def interrupted_at(point: int) -> Callable[[], None]:
    """`interrupt.check` that acts at the safe point of this number."""
    left = iter(range(point))

    def check() -> None:
        if next(left, None) is None:
            raise Pressed

    return check


@thorough
@given(circuits() | products(), streams())
def test_relations_that_fill_after_the_first_epoch(circuit: Circuit, epochs: list[Changes]) -> None:
    apart = [{one: c[one] if one == name else [] for one in c} for c in epochs for name in c]
    nothing: Changes = {name: [] for name in INPUTS}
    undone = list(map(undo, reversed(epochs)))
    follow(circuit, InProcess(incrementalize(circuit)), [nothing, *apart, *undone])
    follow(circuit, InProcess(incrementalize(circuit)), [nothing, *epochs, *undone])


@thorough
@given(circuits() | products(), streams(), modes())
def test_what_is_gone_is_forgotten_without_a_trace(
    circuit: Circuit, epochs: list[Changes], maintain: Mode | Coin
) -> None:
    with mock.patch.object(thresholds, "GHOSTS", 0):
        runtime = InProcess(incrementalize(circuit), maintain=maintain)
        follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs)), *epochs])


@thorough
@given(any_circuits, streams(), st.lists(st.integers(0, 40), min_size=1, max_size=6), modes())
@settling
def test_an_interrupt_at_any_safe_point_leaves_no_trace(
    circuit: Circuit, epochs: list[Changes], points: list[int], maintain: Mode | Coin
) -> None:
    runtime = InProcess(incrementalize(circuit), maintain=maintain)
    contents: dict[str, dict[tuple, int]] = {name: {} for name in INPUTS}
    definition = Definition(circuit)
    before: dict[str, dict[tuple, int]] = {}
    for number, changes in enumerate(epochs):
        with mock.patch.object(interrupt, "check", interrupted_at(points[number % len(points)])):
            try:
                got = commit(runtime, changes)
            except Pressed:
                got = None
        if got is None:
            for name, rows in before.items():
                assert set(runtime.rows(name)) == rows.keys(), name
            got = commit(runtime, changes)
        apply(contents, changes)
        after = definition.step(contents)
        for name, rows in after.items():
            assert got.get(name, {}) == difference(rows, before.get(name, {})), name
            assert set(runtime.rows(name)) == rows.keys(), name
        before = after


def test_only_what_a_changed_input_reaches_is_looked_at() -> None:
    text = "".join(
        f"input relation I{k}(a: bigint)\noutput relation O{k}(a: bigint)\nO{k}(x + 1) :- I{k}(x).\n"
        for k in range(5)
    )
    program = ddlog.compile(text)
    runtime = InProcess(incrementalize(program.circuit("relational")))
    visited: list[int] = []
    with mock.patch.object(interrupt, "check", lambda: visited.append(1)):
        runtime.commit({})
        everything = len(visited)
        visited.clear()
        deltas = runtime.commit({"I3": [(runtime.batch("I3", [(7,)]), 1)]})
    assert {name: delta.rows for name, delta in deltas.items() if len(delta)} == {"O3": [(8,)]}
    assert sorted(deltas) == [f"O{k}" for k in range(5)]
    assert len(visited) < everything / 3
