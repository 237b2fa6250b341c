"""Circuits built in Python on Spark: changes as by definition, Python functions, clocks and nested time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ddlog.circuits import Circuit, Stream, python
from ddlog.errors.diagnostics import DDlogError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_session_on_spark_has_the_changes_of_the_definition(spark: SparkSession) -> None:
    circuit = Circuit()
    edges = circuit.input("edges", x=int, y=int)
    weights = circuit.input("weights", zset=True, x=int, z=int)
    with circuit.nested() as loop:
        start = loop.delta0(edges).integrate()
        paths = loop.wire(start)
        step = start.rename(z="y").join(paths.delay().rename(z="x")).project("x", "y")
        paths.connect((start + step).distinct())
        closure = loop.integral(paths.differentiate())
    circuit.output("closure", closure)
    names = python("string", lambda y: ",".join(map(str, y)))
    circuit.output("named", edges.group("x", n="count()", names=names))
    circuit.output("weighted", (weights - weights.filter("x > 1") + weights).join(edges))
    circuit.output("divided", edges.map(q=python("bigint", lambda x: 10 // x)))
    incremental = circuit.incremental()
    epochs: list[dict[str, Any]] = [
        {"edges": [(1, 2), (2, 3)], "weights": {(1, 7): 2, (2, 7): -1}},
        {"edges": {(3, 4): 1, (1, 2): -1}, "weights": {(3, 1): 3}},
    ]
    with incremental.session(engine="spark", spark=spark) as session:
        assert [session.step(each) for each in epochs] == incremental.run(epochs)
        with pytest.raises(DDlogError) as raised:
            session.step({"edges": [(0, 1)]})
        assert "in `map(q=python lambda(x))`, for x = 0" in str(raised.value) and __file__ in str(
            raised.value
        )
        assert session.contents("edges") == {(2, 3): 1, (3, 4): 1}


def clocks() -> Circuit:
    """Every operator of a clock, a cycle, a window, a bracket that is no fixpoint, and a loop in a loop."""
    circuit = Circuit()
    s, name = circuit.input("s", zset=True, x=int), circuit.input("name", x=int, n=str)
    cycle = circuit.wire(s)
    cycle.connect(s + cycle.delay().filter("x < 20").map(x="x + x"))
    with circuit.nested() as loop:
        start = loop.delta0(s)
        down = loop.wire(start)
        down.connect(start + down.delay().filter("x > 1").map(x="x - 1"))
        circuit.output("down", loop.integral(down))
    circuit.output("cycle", cycle)
    circuit.output("all", s.integrate().join(name.delay()))
    circuit.output("recent", s.integrate().window("x", s, 1))

    keys = name.project("x").distinct()

    def outer(r: Stream) -> Stream:
        start = circuit.fixpoint(lambda q: keys.union(q, r.filter("x < 4")), x=int)
        return keys.difference(start.filter("x > 2"))

    circuit.output("nested", circuit.fixpoint(outer, x=int))
    circuit.output("changes", name.distinct().differentiate())
    circuit.output("sums", (cycle - cycle.delay()).integrate().distinct().group("x", n="count()"))
    return circuit


def test_clocks_on_spark_have_the_values_of_the_definition(spark: SparkSession) -> None:
    circuit = clocks()
    epochs: list[dict[str, Any]] = [
        {"s": {1: 1, 3: 2}, "name": [(1, "a"), (3, "b")]},
        {"name": {(2, "c"): 1}},
        {"s": {3: -2, 2: 1}},
    ]
    with circuit.session(engine="spark", spark=spark) as session:
        assert [session.step(epoch) for epoch in epochs] == circuit.run(epochs)


def test_an_epoch_that_fails_leaves_the_clocks_as_they_were(spark: SparkSession) -> None:
    circuit = Circuit()
    s = circuit.input("s", zset=True, x=int)
    circuit.output("late", s.delay())
    circuit.output("divided", s.integrate().map(q=python("bigint", lambda x: 10 // x)))
    with circuit.session(engine="spark", spark=spark) as session:
        session.step({"s": [5]})
        with pytest.raises(DDlogError, match="in `map"):
            session.step({"s": [0, 1]})
        assert session.step({"s": [2]}) == {"late": {(5,): 1}, "divided": {(2,): 1, (5,): 1}}
