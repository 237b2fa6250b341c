"""Proof trees of random programs: each node is an instance of its rule, and each height is the least."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given

import ddlog
from ddlog.explaining.derivations import Derivations
from ddlog.explaining.heights import Heights
from ddlog.explaining.why import why, why_all
from ddlog.sessions.explanations import SessionHeld

from ..programs.random_programs import edges, grouping_programs, programs, transactions
from ..trying import trying
from .trees import Checked

some = trying(6)

Transactions = list[list[tuple[str, tuple[Any, ...], int]]]


@some
@given(programs(), transactions())
def test_trees_of_random_programs(text: str, stream: Transactions) -> None:
    check(text, stream)


@some
@given(grouping_programs(), edges())
def test_trees_of_recursions_with_groups(text: str, stream: Transactions) -> None:
    check(text, stream)


def test_trees_of_a_transitive_and_symmetric_relation() -> None:
    steps = [("Edge", (at, at + 1), 1) for at in range(6)]
    check(
        """
input relation Edge(x: u32, y: u32)
output relation Same(x: u32, y: u32)
Same(x, y) :- Edge(x, y).
Same(x, y) :- Same(y, x).
Same(x, z) :- Same(x, y), Same(y, z).
""",
        [steps, [("Edge", (1, 5), 1)], [("Edge", (1, 5), -1)]],
        rows=49,
    )


def check(text: str, stream: Transactions, rows: int = 6) -> None:
    """Checks the trees of some rows of each relation after all transactions."""
    program = ddlog.compile(text)
    with program.session() as session:
        for transaction in stream:
            for relation, row, sign in transaction:
                (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
            try:
                session.commit()
            except ddlog.DDlogError:  # it does not settle
                return
        contents = {name: dict.fromkeys(session[name].stored, 1) for name in program.relations}
        derivations = Derivations(SessionHeld(session.state))
        checked = Checked(program, contents)
        least = checked.least_heights(grouped(derivations, contents))
        for name, present in contents.items():
            for row in list(present)[:rows]:
                explained = why(derivations, name, row)
                if (name, row) in least:
                    assert explained.tree.height == least[name, row]
                else:
                    assert explained.tree.kind != "cut"
                checked.tree(explained.tree)
                assert json.loads(explained.json())["kind"] == explained.tree.kind
                assert explained.dot() and explained.html() and str(explained)
            for row in list(present)[:1]:
                for each in why_all(derivations, name, row):
                    checked.tree(each.tree)


def grouped(derivations: Derivations, contents: dict[str, dict[Any, int]]) -> dict[Any, int]:
    """The heights that rules with groups give rows."""
    heights, found = Heights(derivations), dict[Any, int]()
    for name, rows in contents.items():
        for row in rows if not heights.derivations.given(name) else ():
            heights.search_all((name, row))
            ways = [each for each in heights.searched[name, row] if each.valuation.group is not None]
            height = min(map(heights.of, ways), default=math.inf)
            if height < math.inf:
                found[name, row] = int(height)
    return found


REACH = """
input relation Edge(a: string, b: string)
output relation Reach(a: string, b: string)
Reach(x, y) :- Edge(x, y).
Reach(x, z) :- Reach(x, y), Edge(y, z).
output relation Far(a: string, n: usize)
Far(x, n) :- Reach(x, y), var n = y.group_by(x).count().
output relation Last(a: string, b: string)
Last(x, m) :- Reach(x, y), var m = y.group_by(x).max().
"""


@pytest.fixture
def reach() -> Any:
    with ddlog.compile(REACH).session() as session:
        for pair in ("ab", "bc", "cd"):
            session.insert("Edge", tuple(pair))
        session.commit()
        yield session


def test_a_tree_of_a_recursion(reach: Any) -> None:
    tree = reach.why("Reach", ("a", "d")).tree
    assert (tree.kind, tree.height, tree.variables) == ("rule", 3, {"x": "a", "y": "c", "z": "d"})
    assert [each.row for each in tree.children] == [("a", "c"), ("c", "d")]
    reach.insert("Edge", ("a", "d"))
    reach.commit()
    assert reach.why("Reach", ("a", "d")).tree.height == 1
    assert [each.tree.height for each in reach.why_all("Reach", ("a", "d"))] == [1, 3]
    reach.delete("Edge", ("a", "d"))
    reach.commit()
    assert reach.why("Reach", ("a", "d")).tree.height == 3


def test_the_member_that_decides(reach: Any) -> None:
    (group, _) = reach.why("Last", ("a", "d")).tree.children
    assert [each.value for each in group.children if each.decides] == ["d"]
    assert reach.why("Far", ("a", 3)).tree.height == 4


def test_a_tree_is_cut_at_a_depth(reach: Any) -> None:
    cut, _ = reach.why("Reach", ("a", "d"), depth=1).tree.children
    assert (cut.kind, cut.height, cut.children) == ("cut", 2, ())


def test_questions_as_text(reach: Any) -> None:
    explained = reach.why('Reach("a", x)')
    assert explained.tree.row == ("a", "b") and len(explained.matches) == 3
    assert reach.why('Reach("a" ++ "", "c")').tree.height == 2
    named = reach.program.relations["Reach"].columns[0]
    for record in (f'Reach{{.{named.name} = "b"}}', f' Reach {{ .{named.name}="b" }}'):
        assert [row[0] for row in reach.why(record).matches] == ["b", "b"]
    for question, message in (
        ('Reach("d", "a")', r'Reach\("d", "a"\) does not hold'),
        ('Reach("d", x)', r'no row of Reach matches Reach\("d", _\)'),
        ("Reach(x, x)", r"no row of Reach matches Reach\(x, x\)"),
        ("Reach{.none = 1}", "no field `none`"),
        ('Reach("d", x), Edge(x, _)', "a question is about a row of one relation"),
        ("Reach(1, x)", "expected"),
        ('Reach("d")', "column"),
        ('Raech("d", "a")', "Unknown relation"),
    ):
        with pytest.raises(ddlog.DDlogError, match=message):
            reach.why(question)


def test_relations_that_the_session_does_not_keep() -> None:
    with ddlog.compile(REACH).session(relations="inputs") as session:
        for pair in ("ab", "bc", "cd"):
            session.insert("Edge", tuple(pair))
        session.commit()
        assert session.why("Reach", ("a", "d")).tree.height == 3
        assert session.why("Far", ("a", 3)).tree.height == 4
        with pytest.raises(ddlog.DDlogError, match="does not hold"):
            session.why("Reach", ("d", "a"))


def test_a_closure_has_its_least_proofs_as_it_is_written() -> None:
    """Also where its rule is evaluated as a linear one."""
    program = ddlog.compile(
        "input relation E(a: u32, b: u32) output relation P(a: u32, b: u32)"
        "P(a, b) :- E(a, b). P(a, c) :- P(a, b), P(b, c)."
    )
    with program.session() as session:
        session.insert("E", *((n, n + 1) for n in range(8)))
        session.commit()
        assert "height 4" in str(session.why("P", (0, 8))).splitlines()[0]
        session.insert("E", (8, 9))
        session.commit()
        assert "height 2" in str(session.why("P", (7, 9))).splitlines()[0]
