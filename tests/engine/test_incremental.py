"""Q^Δ by its definition: the integral of what an incremental circuit gives is the circuit on the
integral of its inputs, after every epoch."""

from __future__ import annotations

from hypothesis import given

from ddlog.engine import circuit as c
from ddlog.engine import zset
from ddlog.engine.circuit import Circuit
from ddlog.engine.incremental import incrementalize, original
from ddlog.engine.node import Stateful
from ddlog.engine.reference import Evaluation, evaluate
from ddlog.engine.zset import Zset

from ..trying import trying
from .random_circuits import INPUTS, LIMIT, Changes, any_circuits, apply, circuits, schema, settling, streams

thorough = trying(20)


def snapshots(epochs: list[Changes]) -> list[dict[str, Zset]]:
    """The contents of the inputs after each epoch."""
    contents: dict[str, Zset] = {name: {} for name in INPUTS}
    result = []
    for changes in epochs:
        apply(contents, changes)
        result.append({name: dict(rows) for name, rows in contents.items()})
    return result


def differences(stream: list[dict[str, Zset]]) -> list[dict[str, Zset]]:
    """D of a stream of named Z-sets."""
    before = [{name: {} for name in stream[0]}, *stream]
    return [{n: zset.subtract(now[n], old[n]) for n in now} for old, now in zip(before, stream, strict=False)]


@thorough
@given(any_circuits, streams())
@settling
def test_the_incremental_version_has_the_changes_of_the_circuit(
    circuit: Circuit, epochs: list[Changes]
) -> None:
    inputs, lifted = snapshots(epochs), Evaluation(circuit, limit=LIMIT)
    stream = [lifted.step(contents) for contents in inputs]
    if not any(isinstance(node, Stateful | c.Integrate) for node in circuit.nodes):  # each epoch stands alone
        assert stream == [evaluate(circuit, contents, LIMIT) for contents in inputs]
    incremental = Evaluation(incrementalize(circuit), incremental=True, limit=LIMIT)
    assert [incremental.step(change) for change in differences(inputs)] == differences(stream)


def test_what_is_linear_stays_and_what_is_not_gets_one_trace_for_each_source() -> None:
    columns = schema(2)
    edge = c.Input("Edge", columns)
    swap = c.Join((c.Term(0, ("x", "y")),), (), ("y", "x"), columns)
    path = c.Join((c.Term(0, ("x", "y")), c.Term(0, ("y", "z"))), (), ("x", "z"), columns)
    circuit = Circuit(
        (edge, swap, path, c.Sum((1, 2), columns), c.Distinct(3, columns), c.Output("P", 4, columns))
    )
    names = [type(node).__name__ for node in incrementalize(circuit).nodes]
    assert names == ["Input", "Join", "Trace", "DeltaJoin", "Sum", "Trace", "DeltaDistinct", "Output"]


@thorough
@given(circuits())
def test_the_original_of_the_incremental_version(circuit: Circuit) -> None:
    assert original(incrementalize(circuit)) == circuit


def test_a_deleted_edge_of_a_cycle_takes_its_paths_along() -> None:
    columns = schema(2)
    body = Circuit(
        (
            c.Import(0, columns),
            c.Variable("Path", columns),
            c.Join((c.Term(1, ("x", "y")), c.Term(0, ("y", "z"))), (), ("x", "z"), columns),
            c.Sum((0, 2), columns),
            c.Distinct(3, columns),
        )
    )
    fixpoint = c.Fixpoint(body, (("Path", 4),))
    nodes = (
        c.Input("Edge", columns),
        fixpoint,
        c.FixpointResult(1, "Path", columns),
        c.Output("Path", 2, columns),
    )
    evaluation = Evaluation(incrementalize(Circuit(nodes)), incremental=True)
    first = evaluation.step({"Edge": zset.of_rows([(0, 1), (1, 0), (1, 2)])})
    assert set(first["Path"]) == {(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)}
    second = evaluation.step({"Edge": {(1, 0): -1}})
    assert second["Path"] == {(0, 0): -1, (1, 0): -1, (1, 1): -1}
    assert evaluation.step({"Edge": {(1, 0): 1}})["Path"] == zset.negate(second["Path"])


def test_a_change_waits_for_the_iteration_at_which_it_meets_a_row() -> None:
    one, two = schema(1), schema(2)
    step = c.Join((c.Term(2, ("x",)), c.Term(1, ("x", "y"))), (), ("y",), one)
    ends = c.Sum((0, 3), one), c.Distinct(4, one)
    body = Circuit((c.Import(0, one), c.Import(1, two), c.Variable("Reach", one), step, *ends))
    fixpoint = c.Fixpoint(body, (("Reach", 5),))
    outputs = c.FixpointResult(2, "Reach", one), c.Output("Reach", 3, one)
    circuit = Circuit((c.Input("Start", one), c.Input("Edge", two), fixpoint, *outputs))
    evaluation = Evaluation(incrementalize(circuit), incremental=True)
    evaluation.step({"Start": {(0,): 1}, "Edge": zset.of_rows([(k, k + 1) for k in range(4)])})
    assert evaluation.step({"Edge": {(3, 4): -1}})["Reach"] == {(4,): -1}
