"""Circuits that cannot be built, or fail as they run: the errors, at the line that made the operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ddlog.circuits import Circuit, Stream, python
from ddlog.errors.diagnostics import DDlogError

Build = Callable[[Circuit, Stream], Any]


def closed(circuit: Circuit, edges: Stream) -> None:
    """A cycle without a delay."""
    wire = circuit.wire(edges)
    wire.connect((wire + edges).distinct())
    circuit.output("o", wire)
    circuit.text()


def loose(circuit: Circuit, edges: Stream) -> None:
    """A wire that nothing is connected to."""
    circuit.output("o", circuit.wire(edges).distinct())
    circuit.text()


def inside(circuit: Circuit, edges: Stream) -> None:
    """An output of a stream in nested time."""
    with circuit.nested() as loop:
        circuit.output("o", loop.delta0(edges))


def beside(circuit: Circuit, edges: Stream) -> None:
    """A stream from outside in nested time."""
    with circuit.nested() as loop:
        loop.delta0(edges).join(edges)


def kept(circuit: Circuit, edges: Stream) -> None:
    """A stream of a fixpoint after its end."""
    found: list[Stream] = []

    def step(relation: Stream) -> Stream:
        found.append(relation)
        return edges.union(relation)

    circuit.fixpoint(step, edges)
    found[0].filter("x > 0")


def twice(circuit: Circuit, edges: Stream) -> None:
    """A wire connected twice."""
    wire = circuit.wire(edges)
    wire.connect(edges)
    wire.connect(edges)


def deep(circuit: Circuit, edges: Stream) -> Any:
    """Eight fixpoints in one another."""

    def step(depth: int) -> Callable[[Stream], Stream]:
        return lambda r: circuit.fixpoint(step(depth - 1), edges).union(r) if depth else edges.union(r)

    return circuit.fixpoint(step(7), edges)


def timed(circuit: Circuit, edges: Stream) -> Any:
    """Nested time in the step of a fixpoint."""
    return circuit.fixpoint(lambda r: circuit.nested().delta0(r), edges)


BUILT: list[tuple[Build, str]] = [
    (lambda c, e: e.map(a="z + 1"), "Unknown variable `z`"),
    (lambda c, e: e.map(a="x + true"), "Type mismatch: expected `signed<32>`, found `bool`"),
    (lambda c, e: e.map(a="x +"), "unexpected `)`; expected an expression"),
    (lambda c, e: e.map(a=3), "`a` is 3, not an expression"),
    (lambda c, e: e.map(a=lambda x: x), "the type of `a` is not known"),
    (lambda c, e: e.map(a=python("int32", len)), "`int32` is not a type of the language: Unknown type"),
    (lambda c, e: e.map(match="x"), "`match` cannot be the name of a column"),
    (lambda c, e: e.filter("x + 1"), "Type mismatch: expected `bool`, found `signed<32>`"),
    (lambda c, e: e.filter(lambda z: True), "the function has a parameter `z`, which is no column"),
    (lambda c, e: e.flat_map(w="x"), "FlatMap needs a Vec, Set, Map or Group"),
    (lambda c, e: e.flat_map(x="[x]"), "there is a column `x` already"),
    (lambda c, e: e.project("q"), "there is no column `q`"),
    (lambda c, e: e.rename(y="x"), "two columns have the same name"),
    (lambda c, e: e + e.map(y="y", x="x"), "the streams have other columns"),
    (lambda c, e: e.union(3), "3 is not a stream"),  # type: ignore[arg-type]
    (lambda c, e: e.join(Circuit().input("f", x="signed<32>")), "belong to different circuits"),
    (lambda c, e: e.join(c.input("n", x=str)), "`x` is of type `signed<32>`, and `x` of type `string`"),
    (lambda c, e: e.join(c.input("n", n=str)), "is one of (n: string)"),
    (lambda c, e: e.join(e, on={"x": "y"}), "both sides have a column `x`"),
    (lambda c, e: e.group("x", n="count(y"), "`count(y` is no aggregate"),
    (lambda c, e: e.window("x", e.project("x"), "3"), "a lateness is no integer"),  # type: ignore[arg-type]
    (lambda c, e: e.window("x", e.project("x"), -3), "a range or a lateness is negative"),
    (lambda c, e: e.group("x", n="foo(y)"), "Unknown function `foo`"),
    (lambda c, e: (-e).group("x", n="count()"), "rows of its source, `-edges`, may have negative weights"),
    (lambda c, e: c.fixpoint(lambda r: r.project("x").group("x", y="count()"), e), "its source is a set"),
    (lambda c, e: e.flat_map(w=lambda x: [x]), "the type of `w` is not known"),
    (lambda c, e: c.input("edges", x=int), "there is an input `edges` already"),
    (lambda c, e: c.input("f", X=str), "`X` cannot be the name of a column"),
    (lambda c, e: c.output("edges", e), "there is an input or output `edges` already"),
    (lambda c, e: c.output("a b", e), "'a b' cannot be the name of an output"),
    (lambda c, e: c.fixpoint(lambda r: e + r, e), "the step returns `edges + r`, which is no set"),
    (lambda c, e: c.fixpoint(lambda r: r.delay(), e), "the step of a fixpoint is made of operators on sets"),
    (lambda c, e: c.fixpoint(lambda r: 3, e), "the step returns 3, not 1 streams"),
    (lambda c, e: e.project(3), "3 is no name of a column"),
    (lambda c, e: e.filter(3), "the condition is 3, not an expression"),
    (lambda c, e: e.filter(python("string", lambda x: "")), "the condition is of type `string`"),
    (lambda c, e: 3 - e, "3 is not a stream"),
    (lambda c, e: e.join(e, on="x"), "`on` is 'x', not a mapping of columns"),
    (lambda c, e: e.join(e, on={"x": ["x"]}), "['x'] is no name of a column"),
    (lambda c, e: e.product(None), "None is not a stream"),
    (lambda c, e: e.window("x", 3, 5), "3 is not a stream"),
    (lambda c, e: c.input("f", zset=1, x=int), "`zset` is 1"),
    (lambda c, e: c.constant(3, x=int), "`rows` is 3"),
    (lambda c, e: c.wire(3), "`like` is 3"),
    (lambda c, e: c.fixpoint(3, e), "`step` is 3, not a function"),
    (lambda c, e: c.fixpoint(lambda r: r, 3), "`like` is 3"),
    (lambda c, e: c.fixpoint(lambda: e, e), "the step cannot take 1 relations"),
    (lambda c, e: c.nested().delta0(3), "`stream` is 3"),
    (lambda c, e: c.nested().integral(3), "`stream` is 3"),
    (lambda c, e: c[3], "there is no input or output `3`"),
    (lambda c, e: Circuit(3), "`declarations` is 3"),
    (closed, "a cycle without a delay: `distinct()` → `wire 0 + edges` → `distinct()`"),
    (loose, "the wire is not connected"),
    (inside, "the stream belongs to a nested scope"),
    (beside, "`edges` is outside of the nested scope"),
    (kept, "the stream belongs to a fixpoint scope that is closed"),
    (twice, "`wire 0` is connected already"),
    (deep, "over 7 fixpoints stand in one another"),
    (timed, "a nested scope stands inside the step of a fixpoint"),
]


@pytest.mark.parametrize("build, message", BUILT, ids=[message[:40] for _, message in BUILT])
def test_what_cannot_be_built(build: Build, message: str) -> None:
    circuit = Circuit()
    edges = circuit.input("edges", x="signed<32>", y="signed<32>")
    with pytest.raises(DDlogError) as raised:
        build(circuit, edges)
    (error,) = raised.value.diagnostics
    assert message in error.message
    assert __file__ in str(raised.value), "the line of Python that made the operator"


def failing(function: Callable[..., Any], of: str = "signed<32>") -> Circuit:
    """A circuit with a function that fails on the row (0, 1)."""
    circuit = Circuit()
    edges = circuit.input("edges", x="signed<32>", y="signed<32>")
    circuit.output("o", edges.map(x="x", q=python(of, function)))
    return circuit


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda x, y: y // x, "integer division or modulo by zero"),
        (lambda x, y: None if x == 0 else y, "the function returns None: expected signed<32>, found None"),
        (lambda x, y: 2**31 if x == 0 else y, "the function returns 2147483648"),
    ],
)
def test_a_fault_names_operator_line_and_row_and_is_rolled_back(
    function: Callable[..., Any], message: str
) -> None:
    incremental = failing(function).incremental()
    with pytest.raises(DDlogError) as raised:
        incremental.run([{"edges": [(0, 1)]}])
    definition = str(raised.value)
    with incremental.session(workers=1) as session:
        first = session.step({"edges": [(1, 1)]})
        with pytest.raises(DDlogError) as raised:
            session.step({"edges": [(2, 1), (0, 1)]})
        assert str(raised.value) == definition
        assert message in definition and "in `map(" in definition and "for x = 0, y = 1" in definition
        assert __file__ in definition
        assert session.contents("edges") == {(1, 1): 1} and session.contents("o") == first["o"]
        assert set(session.step({"edges": {(1, 1): -1, (2, 1): 1}})["o"].values()) == {1, -1}


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"edge": [(1, 2)]}, "edge: there is no such input"),
        ({"edges": [(1, 2, 3)]}, "a row of edges has 2 values (x, y), found 3"),
        ({"edges": [("a", 2)]}, "edges.x: expected signed<32>, found 'a'"),
        ({"edges": {(1, 2): 2}}, "the row (1, 2) has weight 2: edges is a set, whose rows have +1 or -1"),
        ({"edges": {(1, 2): 0.5}}, "0.5 is not a weight"),
        ({"edges": 3}, "3 are no rows"),
        ({3: []}, "3: there is no such input"),
        ([("edges", [])], "is not a mapping from inputs to rows"),
    ],
)
def test_changes_that_an_input_cannot_take(changes: Any, message: str) -> None:
    incremental = failing(lambda x, y: 1).incremental()
    with incremental.session(workers=1) as session:
        for run in (lambda: incremental.run([changes]), lambda: session.step(changes)):
            with pytest.raises(DDlogError) as raised:
                run()
            assert message in str(raised.value)


@pytest.mark.parametrize("options", [{"max_iterations": "x"}, {"max_iterations": 0}, {"workers": True}])
def test_options_that_a_session_cannot_take(options: dict[str, Any]) -> None:
    with pytest.raises(DDlogError, match="it is an integer of at least 1, or None"):
        failing(lambda x, y: 1).session(**options)
    with pytest.raises(DDlogError, match="is not a list of times"):
        failing(lambda x, y: 1).run({"edges": [(1, 2)]})  # type: ignore[arg-type]


def test_a_value_of_a_set_has_no_negative_weights() -> None:
    with pytest.raises(DDlogError, match="has weight -1: edges is a set, whose rows have 1"):
        failing(lambda x, y: 1).run([{"edges": {(1, 2): -1}}])


def test_an_integral_without_a_value() -> None:
    circuit = Circuit()
    edges = circuit.input("edges", x=int)
    with circuit.nested() as loop:
        wire = loop.wire(edges)
        wire.connect(loop.delta0(edges) + wire.delay())
        circuit.output("o", result := loop.integral(wire))
    assert result.names == ("x",)
    with circuit.incremental().session(workers=1) as session:
        for run in (lambda: circuit.run([{"edges": [1]}]), lambda: session.step({"edges": [1]})):
            with pytest.raises(DDlogError, match="the integral of a stream that never becomes zero"):
                run()
        assert session.step({}) == {"o": {}}


def test_fixpoints_in_fixpoints_that_do_not_settle() -> None:
    circuit = Circuit()
    edges = circuit.input("edges", x=int)

    def outer(relation: Stream) -> Stream:
        return edges.difference(circuit.fixpoint(lambda inner: relation.union(inner), edges))

    circuit.output("o", circuit.fixpoint(outer, edges))
    with circuit.incremental().session(workers=1) as session:
        for run in (lambda: circuit.run([{"edges": [1]}]), lambda: session.step({"edges": [1]})):
            with pytest.raises(DDlogError) as raised:
                run()
            assert "outer" in str(raised.value) or "repeat" in str(raised.value)
            assert __file__ in str(raised.value)
        assert session.step({}) == {"o": {}}


def test_fixpoints_in_fixpoints_that_go_on() -> None:
    circuit = Circuit()
    edges = circuit.input("edges", x=int)

    def outer(relation: Stream) -> Stream:
        more = circuit.fixpoint(lambda inner: relation.union(inner, edges).map(x="x + 1").distinct(), edges)
        return more.union(edges)

    circuit.output("o", circuit.fixpoint(outer, edges))
    with circuit.incremental().session(workers=1, max_iterations=20) as session:
        with pytest.raises(DDlogError) as raised:
            session.step({"edges": [1]})
        assert __file__ in str(raised.value)
    with pytest.raises(DDlogError):
        circuit.run([{"edges": [1]}], max_iterations=20)


def test_an_epoch_that_fails_leaves_delays_and_integrals_as_they_were() -> None:
    circuit = Circuit()
    a = circuit.input("a", zset=True, x=int)
    circuit.output("late", a.delay())
    circuit.output("whole", a.integrate())
    with circuit.nested() as loop:
        inside = loop.integral(loop.delta0(a.integrate()).delay())
    circuit.output("inside", inside.differentiate())
    circuit.output("parts", a.map(x="100 / x"))
    with circuit.session(workers=1) as session:
        session.step({"a": {(1,): 1}})
        with pytest.raises(DDlogError, match="division by zero"):
            session.step({"a": {(0,): 1, (5,): 1}})
        found = session.step({"a": {(2,): 1}})
    assert found == {"late": {(1,): 1}, "whole": {(1,): 1, (2,): 1}, "inside": {(2,): 1}, "parts": {(50,): 1}}
