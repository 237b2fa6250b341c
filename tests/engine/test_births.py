"""Births after deletions and insertions: those of an evaluation from empty relations, or later ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import Session
from ddlog.sessions.explanations import SessionHeld
from ddlog.sessions.program import Program

from ..trying import trying

PROGRAMS = {
    "linear": """
input relation Edge(x: u32, y: u32)
output relation Path(x: u32, y: u32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
""",
    "nonlinear": """
input relation Edge(x: u32, y: u32)
output relation Path(x: u32, y: u32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Path(y, z).
""",
    "mutual": """
input relation Edge(x: u32, y: u32)
input relation Closed(x: u32)
output relation Path(x: u32, y: u32)
output relation Seen(x: u32)
Path(x, y) :- Edge(x, y), not Closed(x).
Path(x, z) :- Path(x, y), Edge(y, z), Seen(y).
Path(x, y) :- Path(y, x), Seen(x), Seen(y).
Seen(y) :- Path(x, y), Seen(x), x != y + 7.
Seen(3).
""",
}
Commit = list[tuple[str, tuple[int, ...]]]
numbers = st.integers(0, 7)
edges = st.tuples(st.just("Edge"), st.tuples(numbers, numbers))
closed = st.tuples(st.just("Closed"), st.tuples(numbers))
changed = st.lists(edges | closed, min_size=1, max_size=6)
commits = st.lists(st.tuples(changed, st.booleans()), min_size=2, max_size=8)


@cache
def program(name: str) -> Program:
    return ddlog.compile(PROGRAMS[name])


def births(session: Session, relations: Sequence[str]) -> tuple[dict[object, int], bool]:
    """The births of all rows, and whether they are the least."""
    runtime, found, least = session.state.host.runtime, dict[object, int](), True
    for name in relations:
        rows = sorted(tuple(row) for row in session[name])
        if rows:
            told = runtime.births(name, rows, set(relations))
            assert told is not None
            found |= {(name, row): birth for row, birth in zip(rows, told[0], strict=True)}
            least = least and told[1]
    return found, least


@pytest.mark.parametrize("name", PROGRAMS)
@trying(10)
@given(commits=commits)
def test_births_are_least_or_later(name: str, commits: list[tuple[Commit, bool]]) -> None:
    made = program(name)
    relations = made.names("output")
    held: dict[tuple[str, tuple[int, ...]], None] = {}
    with made.session() as session:
        for changes, asks in commits:
            for relation, row in changes:
                if relation not in made.relations:
                    continue
                if (relation, row) in held:
                    del held[relation, row]
                    session.delete(relation, row)
                else:
                    held[relation, row] = None
                    session.insert(relation, row)
            session.commit()
            if not asks:
                continue
            with made.session(maintain="never") as afresh:
                for relation, row in held:
                    afresh.insert(relation, row)
                afresh.commit()
                expected, exact = births(afresh, relations)
                assert exact
            found, least = births(session, relations)
            assert found.keys() == expected.keys()
            assert found == expected if least else all(found[row] >= expected[row] for row in found)


def test_rows_of_an_evaluation_that_was_taken_back_are_arranged_once() -> None:
    """Its rows stay in the table, and are in an index once when they come again."""
    text = """
input relation Num(a: bit<2>, b: bit<2>)
input multiset Bag(s: string)
output relation S(c0: string, c1: bit<2>)
S("a", 0) :- Bag(_).
S(p, if (k > 1) 0 else k) :- S(p, k), not Num(_, k).
S("a", k) :- Num(j, k), Bag("b"), k <= j.
output relation Q(c0: bit<2>)
Q(k) :- S(p, k), S(q, _).
"""
    with ddlog.compile(text).session() as session:
        for relation, first in (("Bag", ("c",)), ("Num", (0, 2))):
            session.insert(relation, first)
            session.commit()
        come = [("Bag", ("b",)), ("Num", (1, 1))]
        assert SessionHeld(session.state).attempt(come, (), lambda: True, False)
        for relation, row in come:
            session.insert(relation, row)
        session.commit()
        for relation, row in come:
            session.delete(relation, row)
        session.commit()
        assert set(session["Q"].tuples()) == {(0,)}
