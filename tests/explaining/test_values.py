"""Explanations of rows that hold functions, groups, sets and maps."""

from collections.abc import Iterator

import pytest

import ddlog
from ddlog import Session

PROGRAM = """
typedef Fn = |u32|: u32
input relation R(k: string, v: u32)
relation F(k: string, f: Fn, m: Map<string, Fn>)
F(k, |x| x + v, ["a" -> |x| x * v]) :- R(k, v).
output relation Applied(k: string, r: u32)
Applied(k, g(f(10))) :- F(k, f, m), (_, var g) = FlatMap(m).
output relation Alone(k: string)
Alone(k) :- F(k, f, _), not F("b", f, _).
relation G(g: Group<string, u32>)
G(g) :- R(k, v), var g = v.group_by(k).
output relation Sets(k: string, all: Set<u32>, by: Map<string, u32>)
Sets(g.key(), g.to_set(), ["x" -> 1]) :- G(g).
"""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with ddlog.compile(PROGRAM).session() as made:
        for row in [("a", 1), ("a", 2), ("b", 2)]:
            made.insert("R", row)
        made.commit()
        yield made


@pytest.mark.parametrize(
    ("question", "height", "shown"),
    [
        ('Applied("a", 11)', 2, "g  <closure: |x| x * v, captured_args: [1]>"),
        ('Alone("a")', 2, 'not F("b", <closure: |x| x + v, captured_args: [1]>, _)  absent'),
        ('Sets("a", [1, 2], [("x", 1)])', 2, "G([1, 2])  height 1"),
        ('Sets("b", [2], m)', 2, "v.group_by(k)  1 member"),
        ("G(g)", 1, "2 rows match"),
        ('F("b", f, m)', 1, 'R("b", 2)  fact'),
    ],
)
def test_why(session: Session, question: str, height: int, shown: str) -> None:
    found = session.why(question)
    assert found.tree.height == height
    assert shown in str(found)
    assert len(session.why_all(question)) == 1 and found.json() and found.dot() and found.html()


def test_other_questions(session: Session) -> None:
    assert "g(f(10)) is 24" in str(session.why_not('Applied("b", 3)', within=60))
    assert "g.to_set() is [1, 2]" in str(session.why_not('Sets("a", [2], [("x", 1)])', within=60))
    assert session.why_ends('Sets("a", [1, 2], [("x", 1)])', within=60) == [
        [("R", ("a", 1))],
        [("R", ("a", 2))],
    ]
    assert session.why_change('Alone("a")').came


def test_references_and_interned_values_are_written_as_they_are_printed() -> None:
    text = """
    typedef Shape = Square{side: u32} | Dot
    input relation I(n: string, side: u32)
    output relation O(n: istring, s: Ref<Shape>, all: Set<Ref<Shape>>)
    O(intern(n), ref_new(Square{d}), g.to_set()) :-
        I(n, d), var g = ref_new(Square{d}).group_by((n, d)).
    """
    with ddlog.compile(text).session() as session:
        session.insert("I", ("x", 3))
        session.commit()
        assert session.why('O("x", Square{3}, [Square{3}])').tree.height == 1
        assert session.why('O{.n = "x", .s = Square{.side = 3}, .all = [Square{3}]}').tree.height == 1
        assert session.why_ends('O("x", Square{3}, [Square{3}])', within=60) == [[("I", ("x", 3))]]
        assert "does not hold" in str(session.why_not('O("x", Dot, [Dot])', within=60))
        assert list(session.query('I(x, y), not O("x", Dot, _)')) == [("x", 3)]
        assert list(session.query('I(x, y), not O("x", Square{3}, _)')) == []
        assert list(session.query('I(x, y), O("x", &Square{z}, _)')) == [("x", 3, 3)]


def test_values_of_a_question_are_no_text_of_it() -> None:
    program = """
    input relation Item(name: string, size: Option<u32>)
    output relation Known(name: string, size: Option<u32>)
    Known(n, s) :- Item(n, s).
    """
    name = 'a", x) :- '
    with ddlog.compile(program).session() as session:
        session.insert("Item", (name, None), ("b", 7))
        session.commit()
        found = session.why("Known({name}, s)", values={"name": name})
        assert str(found).split("\n")[0] == 'Known("a\\", x) :- ", None)  height 1'
        assert 'Known("b", Some{7})  height 1' in str(session.why("Known({n}, s)", values={"n": "b"}))
        assert "does not hold" in str(
            session.why_not("Known({n}, {s})", values={"n": "b", "s": 8}, within=60)
        )
        [[(relation, row)]] = session.why_ends("Known({n}, s)", values={"n": "b"}, within=60)
        assert (relation, row[0]) == ("Item", "b")
        assert session.why_change("Known({n}, s)", values={"n": "b"}).came
        assert len(session.why_all("Known({n}, s)", values={"n": "b"})) == 1
        with pytest.raises(ddlog.DDlogError, match="n is given none"):
            session.why("Known({n}, s)")
