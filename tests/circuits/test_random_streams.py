"""Random circuits with clocks, cycles and nested time: the runtime against the definition, time by time."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from ddlog.circuits import Circuit, Stream
from ddlog.circuits.runnable import Runnable
from ddlog.engine import zset
from ddlog.engine.zset import Zset
from ddlog.errors.circuits import NeverZero
from ddlog.errors.diagnostics import DDlogError
from ddlog.errors.recursion import IterationLimitReached, RecursionRepeats

from ..trying import trying
from .random_streams import TYPES, Epoch, circuits, epochs

LIMIT = 25
some = trying(8)
UNSETTLED = (NeverZero, IterationLimitReached, RecursionRepeats)


def settled(circuit: Runnable, given: list[Epoch]) -> list[dict[str, Zset]]:
    """The values of the outputs by the definition; no example where a recursion does not settle."""
    try:
        return circuit.run(given, max_iterations=LIMIT)
    except DDlogError as error:
        assert isinstance(error.diagnostics[0], UNSETTLED)
        assume(False)
        raise AssertionError from None


def stepped(circuit: Runnable, given: list[Epoch]) -> list[dict[str, Zset]]:
    """The same on a runtime."""
    with circuit.session(workers=1) as session:
        return [session.step(each) for each in given]


@some
@given(circuits(), epochs(False))
def test_a_session_has_the_values_of_each_time(circuit: Circuit, given: list[Epoch]) -> None:
    values = settled(circuit, given)
    assert stepped(circuit, given) == values


def test_a_step_reads_a_join_of_a_fixpoint_that_ignores_its_relation_as_a_set() -> None:
    circuit = Circuit()
    edges = circuit.input("A", **TYPES)

    def then_edge(paths: Stream) -> Stream:
        return paths.join(edges.map(y="x", z="y")).map(x="x", y="z")

    def step(relation: Stream) -> Stream:
        paths = circuit.fixpoint(lambda own: edges.union(then_edge(own)), edges)
        longer = then_edge(paths)  # made around this fixpoint, as `paths` is
        with pytest.raises(DDlogError, match="a fixpoint reads sets"):
            edges.union(longer, relation.map(x="y", y="x"))
        return edges.union(longer.distinct(), relation.map(x="y", y="x"))

    circuit.output("out", circuit.fixpoint(step, edges))
    epoch = {"A": {(0, 1): 1, (1, 2): 1}}
    paths = {(0, 1), (1, 2), (0, 2)}
    assert stepped(circuit, [epoch]) == settled(circuit, [epoch])
    assert settled(circuit, [epoch])[0]["out"].keys() == paths | {(y, x) for x, y in paths}


def test_a_step_may_make_a_negation_that_nothing_reads() -> None:
    circuit = Circuit()
    edges = circuit.input("A", **TYPES)

    def step(relation: Stream) -> Stream:
        both = edges + relation
        edges.antijoin(relation)
        return edges.union(both.semijoin(edges, on={"x": "y"}))

    circuit.output("out", circuit.fixpoint(step, edges))
    epoch = {"A": {(0, 1): 1, (1, 2): 1}}
    assert stepped(circuit, [epoch]) == settled(circuit, [epoch])


@some
@given(circuits(), epochs(True))
def test_the_incremental_version_is_d_after_the_circuit_after_i(circuit: Circuit, given: list[Epoch]) -> None:
    incremental = circuit.incremental()
    changes = settled(incremental, given)
    assert stepped(incremental, given) == changes
    values = settled(circuit, integrated(given))
    before: dict[str, Zset] = {}
    for value, change in zip(values, changes, strict=True):
        for name, rows in value.items():
            assert zset.subtract(rows, before.get(name, {})) == change[name], name
        before = value


def integrated(given: list[Epoch]) -> list[Epoch]:
    """The contents of the inputs after each epoch; A is a set."""
    contents: Epoch = {"A": {}, "B": {}}
    found = []
    for changes in given:
        for row, weight in changes.get("A", {}).items():
            contents["A"] = {**contents["A"], row: 1}
            if weight < 0:
                del contents["A"][row]
        contents["B"] = zset.add(contents["B"], changes.get("B", {}))
        found.append({name: dict(rows) for name, rows in contents.items()})
    return found
