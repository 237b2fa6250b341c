"""Programs in which epochs are taken back between others, against the definition."""

from __future__ import annotations

from collections.abc import Sequence
from unittest import mock

import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

import ddlog
from ddlog.engine.inprocess import runtime
from ddlog.engine.maintenance import Coin, Maintaining, Mode

from ..engine.random_circuits import modes
from ..engine.reference_runtime import by_definition
from ..taking import small
from ..trying import longer, trying
from .taken_back import Pair, Step, faulty, follow, scripts

PHASES = [Phase.explicit, Phase.generate] + [Phase.shrink] * longer(0, 1)
some = trying(20, long=1000, phases=PHASES, database=None)


def checked(text: str, script: Sequence[Step], maintain: Mode | Coin = "auto", few: int = 0) -> None:
    """Follows a script in process, with thresholds `few`."""
    program = ddlog.compile(text)
    with (
        small(few),
        mock.patch.object(runtime, "Maintaining", lambda _: Maintaining(maintain)),
        program.session() as session,
        by_definition(program, fails=True) as definition,
    ):
        follow(Pair(session, definition), script)


@some
@given(faulty(), st.booleans().flatmap(lambda limited: scripts(limited=limited)), modes(), st.integers(0, 99))
def test_what_is_taken_back_leaves_no_trace(
    text: str, script: list[Step], maintain: Mode | Coin, few: int
) -> None:
    checked(text, script, maintain, few)


def test_an_epoch_that_ends_before_a_recursion_that_it_would_begin_afresh() -> None:
    """The recursion is empty, and then the next epoch finds that it has ranks."""
    text = """
input relation Num(a: bit<2>, b: bit<2>)
input relation Tag(a: bit<2>, s: string)
output relation R(a: bit<2>, b: bit<2>)
output relation S(s: string, a: bit<2>)
S(p, j) :- Tag(j, p), R(_, j).
R(i, j) :- R(i, j), not Tag(i, "a").
S(p, k) :- S(p, k), not Num(_, k).
"""
    come = [("Tag", (2, "b"), 1), ("Tag", (0, "a"), 1)]
    checked(
        text,
        [
            Step("commit", [("Num", (3, 2), 1), ("Num", (0, 3), 1)]),
            Step("interrupted", come, 4),
            Step("commit", come[1:]),
        ],
    )


@pytest.mark.parametrize(
    "rules, first, second",
    [
        ("O(a % a, b) :- M(b), A(a, _), not A(_, a)", ["A 0 0", "M 0"], ["A 0 0 -1"]),
        ("O(b, 4 / (b - 1)) :- B(c, _), A(a, b), not A(b, _)", ["A 0 1"], ["A 0 1 -1", "B 0 2"]),
        ("O(v, a) :- M(_), P(b, _), A(a, a), var v = 4 / (b - 1)", ["A 1 0", "M 0"], ["A 1 0 -1", "A 2 2"]),
        ("O(c, n) :- A(b, c), not B(b, c), var n = (c / b).group_by(c).max()", ["A 1 2"], ["B 0 1", "A 0 1"]),
    ],
)  # fmt: skip
def test_faults_of_valuations_that_come_and_go_in_one_epoch(
    rules: str, first: list[str], second: list[str]
) -> None:
    text = f"""
input relation A(x: s32, y: s32)
input relation B(x: s32, y: s32)
input multiset M(x: s32)
relation P(x: s32, y: s32)
P(x, y) :- A(x, y).
P(x, z) :- P(x, y), B(y, z).
output relation O(k: s32, n: s32)
{rules}.
"""
    with ddlog.compile(text).session() as session, ddlog.compile(text).session() as other:
        for changes in (first, second):
            for name, *numbers in (each.split() for each in changes):
                row = tuple(map(int, numbers[: 1 if name == "M" else 2]))
                (session.delete if numbers[-1] == "-1" else session.insert)(name, row)
            session.commit()
        for name in "ABM":
            other.insert(name, *session[name].tuples())
        other.commit()
        assert list(session["O"].tuples()) == list(other["O"].tuples())
