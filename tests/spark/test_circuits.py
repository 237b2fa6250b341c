"""Circuits built in Python on Spark: changes as by definition, Python functions, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ddlog.circuits import Circuit, python
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
    circuit.output("late", edges.delay())
    with pytest.raises(DDlogError, match=r"`edges.delay\(\)` runs in-process only, not on Spark"):
        circuit.session(engine="spark", spark=spark)
