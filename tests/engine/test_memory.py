"""Epochs that run out of memory: they leave no trace, wherever the memory ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import memory
from ddlog.engine.circuit import Circuit
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess import latest
from ddlog.engine.inprocess.runtime import InProcess

from ..trying import trying
from .random_circuits import INPUTS, Changes, Definition, any_circuits, apply, settling, streams
from .test_loops import loops
from .test_oracle import commit, difference, undo

thorough = trying(16)
ODD = """
input relation Seen(n: bigint) primary key (x) x.n
output relation Odd(n: bigint)
Odd(n) :- Seen(n), n % 2 == 1.
"""


@contextmanager
def full_after(allocations: int) -> Iterator[None]:
    """Memory that ends at an allocation, or a safe point, of this number."""
    left = iter(range(allocations))

    def measure(more: int) -> None:
        if next(left, None) is None:
            raise memory.OverLimit

    with mock.patch.multiple(memory, LEAST=0, _PAUSE=0, _measure=measure):
        yield


@thorough
@given(any_circuits | loops(2), streams(), st.lists(st.integers(0, 150), min_size=1, max_size=6))
@settling
def test_an_epoch_without_memory_leaves_no_trace(
    circuit: Circuit, epochs: list[Changes], points: list[int]
) -> None:
    runtime = InProcess(incrementalize(circuit), memory_limit=1 << 62)
    contents: dict[str, dict[tuple, int]] = {name: {} for name in INPUTS}
    definition = Definition(circuit)
    before: dict[str, dict[tuple, int]] = {}
    for number, changes in enumerate([*epochs, *map(undo, reversed(epochs)), *epochs]):
        with full_after(points[number % len(points)]):
            try:
                got = commit(runtime, changes)
            except memory.Exhausted:
                got = None
        if got is None:
            for name, rows in before.items():
                assert set(runtime.rows(name)) == rows.keys(), name
                assert runtime.size(name) == len(rows), name
            got = commit(runtime, changes)
        apply(contents, changes)
        after = definition.step(contents)
        for name, rows in after.items():
            assert got.get(name, {}) == difference(rows, before.get(name, {})), name
            assert set(runtime.rows(name)) == rows.keys(), name
        before = after


def test_memory_that_ends_after_a_commit_is_not_an_error_of_it() -> None:
    with ddlog.compile(ODD).session() as session:
        session.insert("Seen", (0,))
        session.commit()
        session.insert("Seen", *[(n,) for n in range(1, 100)])
        with mock.patch.object(latest, "replace", side_effect=MemoryError):
            assert len(session.commit().rows("Odd")) == 50
        with pytest.raises(ddlog.DDlogError, match="99 changes of facts are too many for the memory"):
            session.why_change("Odd", (1,))
        session.delete_key("Seen", 1)
        assert session.commit().rows("Odd") == [((1,), -1)]
