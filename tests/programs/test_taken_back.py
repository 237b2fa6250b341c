"""Programs in which epochs are taken back between others, against the definition."""

from __future__ import annotations

import os
from collections.abc import Sequence
from unittest import mock

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ddlog
from ddlog.engine.inprocess import runtime
from ddlog.engine.maintaining import Coin, Maintaining, Mode
from ddlog.sessions.inprocess import InProcessHost

from ..engine.random_circuits import modes
from ..engine.reference_runtime import ReferenceRuntime
from ..taking import small
from .taken_back import Pair, Step, faulty, follow, scripts

EXAMPLES = int(os.environ.get("DDLOG_TEST_EXAMPLES", 20))
PHASES = [Phase.explicit, Phase.generate] + [Phase.shrink] * ("DDLOG_TEST_SHRINK" in os.environ)
some = settings(
    deadline=None,
    max_examples=EXAMPLES,
    suppress_health_check=list(HealthCheck),
    phases=PHASES,
    database=None,
)


def checked(text: str, script: Sequence[Step], maintain: Mode | Coin = "auto", few: int = 0) -> None:
    """Follows a script in process, with thresholds `few`."""
    program = ddlog.compile(text)
    plain = program.circuit("relational", tuple(program.relations))
    kept = frozenset(name for name, _ in plain.relations)
    with (
        small(few),
        mock.patch.object(runtime, "Maintaining", lambda _: Maintaining(maintain)),
        program.session() as session,
        ddlog.Session(
            program, InProcessHost(program, ReferenceRuntime(plain, fails=True)), kept
        ) as definition,
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
