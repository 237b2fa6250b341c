"""Which faults count: those of valuations that the rest of the body does not exclude, after an epoch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog

from ..engine.reference_runtime import by_definition
from ..trying import trying
from .faulty_bodies import HEADER, Commits, bodies, changes
from .taken_back import Pair


def pair(text: str) -> Pair:
    """A session of a program, and the definition."""
    program = ddlog.compile(text)
    return Pair(program.session(), by_definition(program, fails=True))


@trying(13, database=None)
@given(bodies(), st.lists(changes(), min_size=1, max_size=5))
def test_a_fault_counts_if_its_valuation_is_there(rule: str, commits: Commits) -> None:
    both = pair(HEADER + rule)
    for each in commits:
        both.commit(each)
        both.compare()


@pytest.mark.parametrize(
    "body, facts, fails",
    [
        # each step faults on a row that the other one excludes
        ("4 / (z - x) < 0, 4 / (z - y) > 0", ["A 2 3", "B 2 2", "B 2 3"], False),
        ("4 / (z - x) < 0, 4 / (z - y) < 0", ["A 2 3", "B 2 2", "B 2 3"], True),
        ("4 / (z - x) > 0, 4 / (z - y) > 0", ["A 2 3", "B 2 2", "B 2 3"], True),
        ("4 / (z - x) < 0, 4 / (z - y) > 0, 4 / (z - x + y - 4) > 0", ["A 2 3", "B 2 2", "B 2 3"], False),
        # what reads the variable of a step that faults says nothing
        ("var n = 4 / (z - x), not A(n, z), 4 / (z - y) > 0", ["A 4 3", "A 2 3", "B 2 2", "B 2 3"], False),
        ("var n = 4 / (z - x), not A(n, z), 4 / (z - y) < 0", ["A 2 3", "B 2 2", "B 2 3"], True),
    ],
)
def test_two_steps_fault_on_rows_of_one_row(body: str, facts: list[str], fails: bool) -> None:
    text = f"{HEADER}output relation O(k: s32, n: s32)\nO(x, z) :- A(x, y), B(x, z), {body}."
    with ddlog.compile(text).session() as session:
        for name, *numbers in sorted((each.split() for each in facts), reverse=True):
            session.insert(name, tuple(map(int, numbers)))
            if name == "B":
                session.commit()  # so that the last rows have a common first row
        if fails:
            with pytest.raises(ddlog.DDlogError):
                session.commit()
        else:
            session.commit()
