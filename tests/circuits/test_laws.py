"""Laws of dbsp-spec as pairs of circuits with the same streams: by both ways to evaluate them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog.circuits import Circuit, Stream

from ..trying import trying

Values = dict[tuple[int, int], int]
Side = Callable[[Circuit, Stream, Stream], Stream]


def closed(circuit: Circuit, s: Stream, q: Callable[[Stream], Stream]) -> Stream:
    """fix α. q(s + z⁻¹(α))"""
    wire = circuit.wire(s)
    wire.connect(q(s + wire.delay()))
    return wire


def step(s: Stream) -> Stream:
    """A linear operator."""
    return s.map(x="y", y="(x + 1) % 3").filter("x < 2")


def pairs(a: Stream, b: Stream) -> Stream:
    """A bilinear operator."""
    return a.join(b.map(x="x", z="y")).project("x", "z").rename(y="z")


def bracketed(circuit: Circuit, s: Stream, body: Callable[[Stream], Stream]) -> Stream:
    """∫ ∘ body ∘ δ₀"""
    with circuit.nested() as loop:
        result = loop.integral(body(loop.delta0(s)))
    return result


def positive(a: Stream, b: Stream) -> Stream:
    """A stream of bags."""
    return a.distinct() + b.distinct()


def limit(circuit: Circuit, s: Stream) -> Stream:
    """X ∘ E: the limit of a constant stream (5.1.4)."""
    return bracketed(circuit, s, lambda each: each.integrate().differentiate())


LAWS: dict[str, tuple[Side, Side]] = {
    "3.30 D after I": (lambda c, a, b: a.integrate().differentiate(), lambda c, a, b: a),
    "3.30 I after D": (lambda c, a, b: a.differentiate().integrate(), lambda c, a, b: a),
    "3.25 D is a difference": (lambda c, a, b: a.differentiate(), lambda c, a, b: a - a.delay()),
    "3.27 I is a cycle": (lambda c, a, b: a.integrate(), lambda c, a, b: closed(c, a, lambda s: s)),
    "3.5 time invariance": (lambda c, a, b: step(a).delay(), lambda c, a, b: step(a.delay())),
    "3.20 linear": (lambda c, a, b: step(a + b), lambda c, a, b: step(a) + step(b)),
    "3.21 bilinear": (lambda c, a, b: pairs(a, b - a), lambda c, a, b: pairs(a, b) - pairs(a, a)),
    "4.2 invariance": (lambda c, a, b: a.integrate().delay().differentiate(), lambda c, a, b: a.delay()),
    "4.2 push": (lambda c, a, b: step(a.integrate()), lambda c, a, b: step(a).integrate()),
    "4.2 cycle": (
        lambda c, a, b: closed(c, a.integrate(), step).differentiate(),
        lambda c, a, b: closed(c, a, step),
    ),
    "4.2 chain": (
        lambda c, a, b: step(a.integrate().distinct()).differentiate(),
        lambda c, a, b: step(a.integrate().distinct().differentiate().integrate()).differentiate(),
    ),
    "4.5 bilinear change": (
        lambda c, a, b: pairs(a.integrate(), b.integrate()).differentiate(),
        lambda c, a, b: pairs(a, b) + pairs(a.integrate().delay(), b) + pairs(a, b.integrate().delay()),
    ),
    "5.1 bracket of the identity": (lambda c, a, b: bracketed(c, a, lambda s: s), lambda c, a, b: a),
    "5.1 bracket of a delay": (lambda c, a, b: bracketed(c, a, lambda s: s.delay()), lambda c, a, b: a),
    "5.4 X after E": (lambda c, a, b: limit(c, a), lambda c, a, b: a),
    "5.4 linear": (lambda c, a, b: limit(c, a + b), lambda c, a, b: limit(c, a) + limit(c, b)),
    "6.4 idempotent": (lambda c, a, b: a.distinct().distinct(), lambda c, a, b: a.distinct()),
    "6.10 distinct and a filter": (
        lambda c, a, b: positive(a, b).distinct().filter("x < 2"),
        lambda c, a, b: positive(a, b).filter("x < 2").distinct(),
    ),
    "6.11 distinct before distinct": (
        lambda c, a, b: pairs(positive(a, b).distinct(), b.distinct()).distinct(),
        lambda c, a, b: pairs(positive(a, b), b.distinct()).distinct(),
    ),
    "6.12 H": (
        lambda c, a, b: a.integrate().distinct().differentiate(),
        lambda c, a, b: (a.integrate().delay() + a).distinct() - a.integrate().delay().distinct(),
    ),
}

rows = st.tuples(st.integers(0, 2), st.integers(0, 2))
values = st.dictionaries(rows, st.sampled_from([-1, 1, 2]), max_size=4)
streams = st.lists(st.fixed_dictionaries({"a": values, "b": values}), min_size=1, max_size=5)


@pytest.mark.parametrize("law", LAWS)
@trying(4)
@given(times=streams)
def test_both_sides_have_the_same_stream(law: str, times: list[dict[str, Values]]) -> None:
    circuit = Circuit()
    a, b = (circuit.input(name, zset=True, x=int, y=int) for name in ("a", "b"))
    for name, side in zip(("left", "right"), LAWS[law], strict=True):
        circuit.output(name, side(circuit, a, b))
    found = circuit.run(times)
    with circuit.session(workers=1) as session:
        assert [session.step(each) for each in times] == found
    assert all(each["left"] == each["right"] for each in found)
