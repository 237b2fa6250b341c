"""Random rule bodies whose steps fault on many rows, which other steps and terms may exclude."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Commit = list[tuple[str, tuple[int, ...], int]]
Commits = list[Commit]

HEADER = """
input relation A(x: s32, y: s32)
input relation B(x: s32, y: s32)
input multiset M(x: s32)
relation P(x: s32, y: s32)
P(x, y) :- A(x, y).
P(x, z) :- P(x, y), B(y, z).
function parts(n: s32): Vec<s32> { [n, 2 / (n - 1)] }
"""
STEPS = [
    "{0} / ({1} - {k}) >= {2}", "{0} / ({1} - {k}) < 2", "{0} % ({1} - {k}) == {2}", "4 / {0} != {1}",
    "4 / ({0} - {1}) > {2}", "4 / ({0} - {1}) < {k}", "{0} / ({1} - {2}) < {k}",
    "{0} != {1}", "{0} <= {1}", "{0} > {k}", "{0} + {1} != {k}",
]  # fmt: skip
DEFINITIONS = ["{0} / ({1} - {k})", "({0} + {1}) % {2}", "{0} + {1} - {k}", "FlatMap(parts({0}))"]


@st.composite
def bodies(draw: Any) -> str:
    """A rule of `O`, of two columns: positive terms, conditions and definitions in any order, and perhaps a
    negated term."""
    known = ["x"]
    clauses = [draw(st.sampled_from(["A(x, _)", "B(_, x)", "M(x)", "P(x, _)", "A(x, x)"]))]
    for number in range(draw(st.integers(2, 7))):
        match draw(st.sampled_from(["term", "step", "step", "step", "step", "definition", "negation"])):
            case "term":
                new = f"t{number}"
                columns = [draw(st.sampled_from([*known, new, new, "_"])) for _ in range(2)]
                name = draw(st.sampled_from("ABPM"))
                clauses.append(f"M({columns[0]})" if name == "M" else f"{name}({', '.join(columns)})")
                known += [new] * (new in (columns[:1] if name == "M" else columns))
            case "definition":
                clauses.append(f"var d{number} = {_filled(draw, draw(st.sampled_from(DEFINITIONS)), known)}")
                known.append(f"d{number}")
            case "negation":
                columns = [draw(st.sampled_from([*known, "_"])) for _ in range(2)]
                clauses.append(f"not {draw(st.sampled_from('AB'))}({', '.join(columns)})")
            case _:
                clauses.append(_filled(draw, draw(st.sampled_from(STEPS)), known))
    head = f"{draw(st.sampled_from(known))}, {draw(st.sampled_from(known))}"
    return f"output relation O(k: s32, n: s32)\nO({head}) :- {', '.join(clauses)}."


def _filled(draw: Any, text: str, known: list[str]) -> str:
    return text.format(*(draw(st.sampled_from(known)) for _ in range(3)), k=draw(st.integers(0, 2)))


def changes() -> st.SearchStrategy[Commit]:
    """The changes of a commit."""
    small, sign = st.integers(0, 3), st.sampled_from([1, 1, 1, -1])
    pairs = st.tuples(st.sampled_from("AB"), st.tuples(small, small), sign)
    return st.lists(st.one_of(pairs, pairs, st.tuples(st.just("M"), st.tuples(small), sign)), max_size=12)
