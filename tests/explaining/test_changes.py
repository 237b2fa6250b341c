"""Why a commit changed a row: what is said to have come or gone did, by changes of facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import ddlog
from ddlog.explaining.node import Reason
from ddlog.explaining.why import why_change
from ddlog.sessions.explanations import SessionHeld

from ..programs.random_programs import edges, grouping_programs, programs, transactions
from ..trying import trying
from .trees import Contents, fits

some = trying(5)

Transactions = list[list[tuple[str, tuple[Any, ...], int]]]


@some
@given(programs(), transactions())
def test_changes_of_random_programs(text: str, stream: Transactions) -> None:
    check(text, stream)


@some
@given(grouping_programs(), edges())
def test_changes_of_recursions_with_groups(text: str, stream: Transactions) -> None:
    check(text, stream)


def check(text: str, stream: Transactions, rows: int = 1, last: int = 2) -> None:
    """Explains some changed rows of each relation after each of the last transactions."""
    program = ddlog.compile(text)
    with program.session() as session:
        session.start()
        before: Contents = {name: dict.fromkeys(session[name].stored, 1) for name in program.relations}
        for number, transaction in enumerate(stream):
            for relation, row, sign in transaction:
                (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
            try:
                session.commit()
            except ddlog.DDlogError:  # it does not settle
                return
            now = {name: dict.fromkeys(session[name].stored, 1) for name in program.relations}
            for name in program.relations if number >= len(stream) - last else ():
                changed = sorted(now[name].keys() ^ before[name].keys())
                for row in changed[:rows]:
                    explained = why_change(SessionHeld(session.state), name, row)
                    assert explained.came == (row in now[name])
                    for proof in explained.proofs:
                        check_part(proof, before, now)
                    for (relation, fact), came in explained.facts:
                        assert (fact in now[relation], fact in before[relation]) == (came, not came)
                    assert str(explained) and explained.json()
                for row in list(now[name].keys() & before[name].keys())[:1]:
                    with pytest.raises(ddlog.DDlogError, match="did not change"):
                        why_change(SessionHeld(session.state), name, row)
            assert now == {name: dict.fromkeys(session[name].stored, 1) for name in program.relations}
            before = now


SAME = ("same", "absent", "condition")
"""The kinds of parts of a tree of changes that did not change."""


def check_part(part: Reason, before: Contents, now: Contents) -> None:
    assert part.kind in ("fact", "rule", "cut", "above", "excluded", "regrouped", "more", *SAME)
    if part.kind in ("fact", "rule", "cut", "above"):
        came, row = part.came, part.row
        assert (row in now[part.relation], row in before[part.relation]) == (came, not came)
        assert part.kind != "rule" or any(each.kind not in SAME for each in part.children)
        check_all(part.children, before, now)
    elif part.kind == "same":
        assert part.row in before[part.relation] and part.row in now[part.relation]
    elif part.kind == "absent":
        assert not any(fits(part.row, row) for row in (*before[part.relation], *now[part.relation]))
    elif part.kind == "excluded":
        rows = [each for each in part.children if each.kind != "more"]
        assert rows and all(fits(part.row, each.row) for each in rows)
        check_all(part.children, before, now)
    elif part.kind == "regrouped":
        assert part.count is not None and part.before is not None
        members = [each for each in part.children if each.kind == "member"]
        counted = sum(1 if each.came else -1 for each in members)
        assert counted == part.count - part.before or len(members) < len(part.children)
        for member in members:
            check_all(member.children, before, now)
            assert any(each.kind not in SAME for each in member.children)


def check_all(parts: tuple[Reason, ...], before: Contents, now: Contents) -> None:
    for each in parts:
        check_part(each, before, now)


PROGRAM = """
input relation Edge(a: string, b: string)
input relation Closed(a: string)
output relation Reach(a: string, b: string)
Reach(x, y) :- Edge(x, y), not Closed(x).
Reach(x, z) :- Reach(x, y), Edge(y, z), not Closed(y).
output relation Degree(a: string, n: usize)
Degree(x, n) :- Edge(x, y), var n = y.group_by(x).count().
"""


STREAM = "input stream S(a: u32)\noutput stream R(a: u32)\nR(a) :- S(a)."


def test_what_came_and_went() -> None:
    with ddlog.compile(PROGRAM).session() as session:
        session.insert("Edge", *map(tuple, ("ab", "bc", "cd", "ad")))
        session.commit()
        assert "by +Edge" in str(session.why_change('Reach("a", "d")'))
        session.delete("Edge", ("b", "c"), ("a", "d"))
        session.insert("Edge", ("a", "b"))  # is there
        session.insert("Closed", ("c",))
        session.commit()
        text = str(session.why_change('Reach("a", "d")'))
        assert "derivation 2 of 2 that it had" in text
        assert text.endswith('by -Edge("a", "d"), -Edge("b", "c"), +Closed("c")')
        degree = str(session.why_change('Degree("a", n)'))
        assert "2 rows match and changed" in degree and "1 member, before 2" in degree
        with pytest.raises(ddlog.DDlogError, match='did not change Reach\\("a", "b"\\): it held'):
            session.why_change('Reach("a", "b")')
        with pytest.raises(ddlog.DDlogError, match="changed no row that matches"):
            session.why_change('Reach("x", y)')
        session.insert("Edge", ("x", "y"))
        session.rollback()
        assert "by -Edge" in str(session.why_change('Reach("a", "d")'))  # the last commit is the same
        session.commit()
        with pytest.raises(ddlog.DDlogError, match="did not change"):
            session.why_change('Reach("a", "d")')


def test_what_cannot_be_told(tmp_path: Path) -> None:
    with ddlog.compile(STREAM).session() as session:
        for number in (1, 2):
            session.insert("S", (number,))
            session.commit()
        with pytest.raises(ddlog.DDlogError, match="streams"):
            session.why_change("R", (2,))
    program = ddlog.compile(PROGRAM)
    with program.session(state=tmp_path / "s.state") as session:
        session.insert("Edge", ("a", "b"))
        session.commit()
        session.delete("Edge", ("a", "b"))
        session.commit()
        epoch = session.epoch
        assert "by -Edge" in str(session.why_change('Reach("a", "b")'))
        assert session.why_not('Reach("a", "b")').insert
        session.insert("Edge", ("c", "d"))
        session.commit()
        assert session.why_ends('Reach("c", "d")') == [[("Edge", ("c", "d"))]]
        assert session.epoch == epoch + 1  # trials leave no trace
    with program.session(state=tmp_path / "s.state") as session:
        assert session.epoch == epoch + 1 and list(session["Edge"].tuples()) == [("c", "d")]
        with pytest.raises(ddlog.DDlogError, match="no commit since the session began"):
            session.why_change('Reach("c", "d")')


LOOP = """
input relation Start(v: u32)
input relation Edge(a: u32, b: u32)
loop Breadth until empty(Frontier) {
    relation Frontier(v: u32)
    initial Frontier(v) :- Start(v).
    Frontier(b) :- Frontier-1(a), Edge(a, b), not Seen-1(b).
    output relation Seen(v: u32)
    Seen(v) :- Seen-1(v).
    Seen(v) :- Frontier(v).
}
output relation Far(v: u32)
Far(v) :- Seen(v), v > 2.
"""


def test_changes_of_loops() -> None:
    with ddlog.compile(LOOP).session() as session:
        session.insert("Start", (1,))
        session.insert("Edge", (1, 2), (2, 3))
        session.commit()
        assert "no Edge(3, 4)" in str(session.why_not("Seen(4)", depth=2, within=60))
        assert session.why_not("Far(4)", within=60).insert == ((("Edge", (3, 4)),),)
        ends = [[("Edge", (1, 2))], [("Edge", (2, 3))], [("Start", (1,))]]
        assert session.why_ends("Far(3)", within=60) == session.why_ends("Seen(3)", within=60) == ends
        session.insert("Edge", (3, 4))
        session.commit()
        text = str(session.why_change("Seen(x)"))
        assert "Seen(4)  came in round 3" in text and "Frontier(3)  as before in round 2" in text
        assert text.endswith("by +Edge(3, 4)")
