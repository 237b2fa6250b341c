"""Random circuits built as users build them, with clocks, cycles and nested time, and random Z-sets for
them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ddlog.circuits import Circuit, Stream, python
from ddlog.circuits.circuit import Builder

SMALL = 3
Epoch = dict[str, dict[tuple[int, ...], int]]
TYPES = {"x": "bigint", "y": "bigint"}


def swap(x: int, y: int) -> bool:
    """A condition in Python."""
    return x != y


def rows(draw: Any, source: Stream) -> Stream:
    """A linear operator."""
    match draw(st.integers(0, 6)):
        case 0:
            return source.map(x="y", y="x")
        case 1:
            return source.filter("x < y or y == 0")
        case 2:
            return source.map(x="x", y=f"(y + 1) % {SMALL}")
        case 3:
            return source.filter(swap)
        case 4:
            return source.project("y").map(x="y", y="y")
        case 5:
            return source.flat_map(z=python("bigint", lambda x: range(x))).map(x="z", y="y")
        case _:
            return source.map(x=python("bigint", lambda x, y: min(x, y)), y="x")


def joined(draw: Any, left: Stream, right: Stream) -> Stream:
    """A join, projected."""
    columns = draw(st.sampled_from([("x", "z"), ("z", "y"), ("y", "x")]))
    pairs = left.join(right.map(y="x", z="y"))
    return pairs.map(x=columns[0], y=columns[1])


def operator(draw: Any, known: list[Stream], build: Builder, clocks: bool) -> Stream:
    """Some operator over known streams."""
    a, b = (draw(st.sampled_from(known)) for _ in range(2))
    kinds = ["rows", "join", "distinct", "union", "difference", "antijoin", "group"]
    kinds += ["plus", "minus", "delay", "integrate", "differentiate", "cycle"] if clocks else []
    match draw(st.sampled_from(kinds)):
        case "rows":
            return rows(draw, a)
        case "join":
            return joined(draw, a, b)
        case "distinct":
            return a.distinct()
        case "union":
            return a.union(b)
        case "difference":
            return a.distinct().difference(b.distinct())
        case "antijoin":
            return a.antijoin(b, on={"x": "y"})
        case "group":
            of = draw(st.sampled_from(["count()", "max(y)", "sum(y * 2)", "min(x + y)"]))
            source = a if a.operator.is_bag and draw(st.booleans()) else a.distinct()
            counted = source.group("x", y=of)
            return counted.map(x="x", y="y as bigint")
        case "plus":
            return a + b
        case "minus":
            return a - b
        case "delay":
            return a.delay()
        case "integrate":
            return a.integrate()
        case "differentiate":
            return a.differentiate()
        case _:
            wire = build.wire(a)
            wire.connect(a + rows(draw, wire.delay()))
            return wire


def nested_fixpoint(draw: Any, outer: Stream, base: Stream, circuit: Circuit) -> Stream:
    """A fixpoint in the step of another, which may group, negate the relation of the other, or ignore it."""
    first = draw(st.sampled_from([outer, base]))
    found: Stream = circuit.fixpoint(lambda own: first.union(joined(draw, own, base), rows(draw, own)), base)
    match draw(st.integers(0, 3)):
        case 0:
            return base.difference(found)
        case 1:
            return found.group("x", y="max(y)").union(base)
        case _:
            return found


def recursion(draw: Any, known: list[Stream], circuit: Circuit) -> Stream:
    """A fixpoint, or a bracket in nested time; sometimes one that is recognised as a fixpoint."""
    base = draw(st.sampled_from(known)).distinct()
    other = draw(st.sampled_from(known)).distinct()
    kind = draw(st.sampled_from(["fixpoint", "closure", "semi-naive", "any"]))
    if kind == "fixpoint":

        def step(relation: Stream) -> Stream:
            inner = [
                relation,
                rows(draw, relation),
                joined(draw, relation, base),
                joined(draw, other, relation),
            ]
            if draw(st.integers(0, 2)) == 0:
                inner.append(nested_fixpoint(draw, relation, base, circuit))
            last = joined(draw, inner[-1], draw(st.sampled_from(inner)))
            is_outside = last.operator.scope is not relation.operator.scope  # of a fixpoint that ignores it
            inner.append(last.distinct() if is_outside else last)
            return base.union(*(draw(st.sampled_from(inner)) for _ in range(2)))

        result: Stream = circuit.fixpoint(step, base)
        return result
    with circuit.nested() as loop:
        start = loop.delta0(base).integrate()
        back = loop.wire(base)
        if kind == "any":
            once = loop.delta0(base)
            back.connect(once + rows(draw, back.delay()) if draw(st.booleans()) else once)
            changes = (back - back.delay()).filter("x != y") if draw(st.booleans()) else once.delay()
            return loop.integral(changes.differentiate() + once)
        end = (start + joined(draw, back, loop.delta0(other).integrate())).distinct()
        if kind == "semi-naive":
            end = (start + rows(draw, joined(draw, start, back))).distinct()
        back.connect(end.delay())
        return loop.integral(end.differentiate())


@st.composite
def circuits(draw: Any, clocks: bool = True) -> Circuit:
    """A circuit with a few outputs; with `clocks` also with delays, cycles and negative weights."""
    circuit = Circuit()
    known = [circuit.input("A", **TYPES), circuit.input("B", zset=clocks, **TYPES)]
    for _ in range(draw(st.integers(1, 5))):
        if draw(st.integers(0, 4)) == 0:
            known.append(recursion(draw, known, circuit))
        else:
            known.append(operator(draw, known, circuit, clocks))
    for number, each in enumerate(known[2:]):
        circuit.output(f"out{number}", each)
    return circuit


@st.composite
def epochs(draw: Any, signed: bool) -> list[Epoch]:
    """The values or the changes of the inputs at a few times."""
    pairs = st.tuples(*[st.integers(0, SMALL - 1)] * 2)
    weights = {"A": st.sampled_from([1, 1, -1] if signed else [1]), "B": st.sampled_from([1, 2, -1])}
    return [
        {
            name: draw(st.dictionaries(pairs, weights[name], max_size=4))
            for name in draw(st.sampled_from(["AB", "A", "B", ""]))
        }
        for _ in range(draw(st.integers(1, 5)))
    ]
