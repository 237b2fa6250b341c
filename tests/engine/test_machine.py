"""The dataflow machines of dbsp-spec, part 10, against the reference evaluation."""

from __future__ import annotations

from hypothesis import given

from ddlog.engine.circuit import Circuit
from ddlog.engine.incremental import incrementalize
from ddlog.engine.reference import Evaluation

from ..trying import trying
from .machine import Machine
from .random_circuits import INPUTS, LIMIT, Changes, any_circuits, apply, settling, streams

some = trying(13)


@some
@given(any_circuits, streams())
@settling
def test_machines_have_the_values_of_the_reference(circuit: Circuit, epochs: list[Changes]) -> None:
    contents: dict[str, dict[tuple[int, ...], int]] = {name: {} for name in INPUTS}
    reference, machine = Evaluation(circuit, limit=LIMIT), Machine(circuit, limit=LIMIT)
    for changes in epochs:
        apply(contents, changes)
        assert machine.step(contents) == reference.step(contents)


@some
@given(any_circuits, streams())
@settling
def test_machines_of_incremental_circuits_have_the_changes_of_the_reference(
    circuit: Circuit, epochs: list[Changes]
) -> None:
    """A trace in a recursion is a delay on nested streams: a list of states."""
    contents: dict[str, dict[tuple[int, ...], int]] = {name: {} for name in INPUTS}
    incremental = incrementalize(circuit)
    reference, machine = Evaluation(incremental, True, LIMIT), Machine(incremental, True, LIMIT)
    for changes in epochs:
        before = {name: dict(rows) for name, rows in contents.items()}
        apply(contents, changes)
        change = {name: difference(contents[name], before[name]) for name in contents}
        assert machine.step(change) == reference.step(change)


def difference(
    new: dict[tuple[int, ...], int], old: dict[tuple[int, ...], int]
) -> dict[tuple[int, ...], int]:
    """new - old, as Z-sets."""
    out = {row: new.get(row, 0) - old.get(row, 0) for row in {**new, **old}}
    return {row: weight for row, weight in out.items() if weight}
