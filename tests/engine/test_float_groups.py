"""Sums and means of floats, kept up from accumulators, are what the library says of the whole group."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine.reference import evaluate
from ddlog.engine.rounding import rounded_single

from ..trying import trying

PROGRAM = """
input relation V(k: bit<8>, id: bigint, v: double)
input relation W(k: bit<8>, v: float)
output relation S(k: bit<8>, sum: double, mean: double, n: u64)
S(k, g.sum_second(), g.avg_second(), g.count()) :- V(k, i, v), var g = (i, v).group_by(k).
output relation T(k: bit<8>, sum: float, mean: double)
T(k, g.sum(), g.avg()) :- W(k, v), var g = v.group_by(k).
"""

keys = st.integers(0, 1)
doubles = st.one_of(st.floats(), st.sampled_from([0.1, 0.2, 1e308, -1e308, 5e-324]))
singles = st.one_of(
    st.floats(width=32), st.sampled_from([1.0, float(np.float32(1e-8)), float(np.float32(0.1))])
)
epochs = st.lists(
    st.tuples(
        st.lists(st.tuples(keys, st.integers(0, 5), doubles), max_size=6),
        st.lists(st.tuples(keys, singles), max_size=6),
        st.booleans(),
    ),
    max_size=5,
)


@trying(26)
@given(epochs)
def test_accumulators_agree_with_the_whole_group(stream: list) -> None:  # type: ignore[type-arg]
    program = ddlog.compile(PROGRAM)
    circuit = program.circuit("relational")
    with program.session() as session:
        for v_rows, w_rows, insert in stream:
            change = session.insert if insert else session.delete
            change("V", *v_rows)
            change("W", *w_rows)
            session.commit()
            contents = {name: dict.fromkeys(map(tuple, session[name].tuples()), 1) for name in ("V", "W")}
            for name, rows in evaluate(circuit, contents).items():
                assert set(map(tuple, session[name].tuples())) == set(rows)


def test_a_tie_between_singles_is_decided_by_the_exact_sum() -> None:
    halfway = (2**24 + 1) * 2**60  # between two singles; rounds to the even one, below
    assert rounded_single(halfway, 1) == 2.0**84
    assert rounded_single(halfway + 1, 1) == (2**24 + 2) * 2.0**60
    assert rounded_single(-halfway - 1, 1) == -(2**24 + 2) * 2.0**60
