"""One engine in several workers against the definition: threads of one process, each with a shard."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine.circuit import Circuit
from ddlog.engine.passes import optimize
from ddlog.engine.shards.threads import in_threads

from ..trying import trying
from .random_circuits import Changes, any_circuits, circuits, settling, streams
from .test_oracle import follow, undo

thorough = trying(25)


@thorough
@given(any_circuits, streams(), st.sampled_from([1, 2, 3, 7]), st.integers(0, 1), st.booleans())
@settling
def test_every_change_of_every_epoch(
    circuit: Circuit, epochs: list[Changes], size: int, first: int, optimized: bool
) -> None:
    runtime = in_threads(optimize(circuit) if optimized else circuit, size, first=first)
    try:
        follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs)), *epochs])
    finally:
        runtime.close()


@thorough
@given(circuits(by_rounds=True), streams(), st.sampled_from([2, 3]))
def test_recursions_by_rounds_are_of_one_worker(circuit: Circuit, epochs: list[Changes], size: int) -> None:
    runtime = in_threads(circuit, size)
    try:
        follow(circuit, runtime, epochs)
    finally:
        runtime.close()
