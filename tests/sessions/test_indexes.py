"""Indexes: what they find, against the rows of the relation picked one by one, after any changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import DDlogError
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.sessions.session import Session

from ..engine.reference_runtime import by_definition
from ..trying import trying

TEXT = """
typedef Shape = Dot | Box{w: s32, h: s32}
input relation Edge(a: s32, b: s32, c: s32)
input relation Thing(id: s32, shape: Shape)
input multiset Bag(a: s32, b: s32)
output relation Path(a: s32, b: s32)
Path(x, y) :- Edge(x, y, _).
Path(x, z) :- Path(x, y), Edge(y, z, _).

index A(x: s32) on Edge(x, _, _)
index BA(y: s32, x: s32) on Edge(x, y, _)
index Same(x: s32) on Edge(x, _, x)
index Zero(x: s32) on Edge(_, x, 0)
index Any() on Edge(_, _, _)
index Wide(w: s32) on Thing(_, Box{.w = w})
index Square(n: s32) on Thing(_, Box{n, n})
index BagA(x: s32) on Bag(x, _)
index BagOne(x: s32) on Bag(x, 1)
index To(y: s32) on Path(_, y)
"""
PROGRAM = ddlog.compile(TEXT)
NUMBERS = range(3)
DOT = (0,)

Row = tuple[Any, ...]
# For each index: its relation, and for a row the key that finds it (None: no key does).
MEANING: dict[str, tuple[str, Callable[[Row], Row | None]]] = {
    "A": ("Edge", lambda row: (row[0],)),
    "BA": ("Edge", lambda row: (row[1], row[0])),
    "Same": ("Edge", lambda row: (row[0],) if row[0] == row[2] else None),
    "Zero": ("Edge", lambda row: (row[1],) if row[2] == 0 else None),
    "Any": ("Edge", lambda row: ()),
    "Wide": ("Thing", lambda row: (row[1][1],) if row[1] != DOT else None),
    "Square": ("Thing", lambda row: (row[1][1],) if row[1] != DOT and row[1][1] == row[1][2] else None),
    "BagA": ("Bag", lambda row: (row[0],)),
    "BagOne": ("Bag", lambda row: (row[0],) if row[1] == 1 else None),
    "To": ("Path", lambda row: (row[1],)),
}

number = st.sampled_from(NUMBERS)
shape = st.just(DOT) | st.tuples(st.just(1), number, number)
change = st.tuples(
    st.sampled_from(["insert", "insert", "delete"]),
    st.tuples(st.just("Edge"), st.tuples(number, number, number))
    | st.tuples(st.just("Thing"), st.tuples(number, shape))
    | st.tuples(st.just("Bag"), st.tuples(number, number)),
)
transactions = st.lists(st.lists(change, max_size=8), max_size=5)


def check(session: Session) -> None:
    """Every index, for every key and as a whole, is what its meaning picks from its relation."""
    for name, (relation, key_of) in MEANING.items():
        index = session.index(name)
        everything = session[relation].weighted()
        rows = [(tuple(row), weight) for row, weight in everything if key_of(tuple(row)) is not None]
        keys = {key_of(row) for row, _ in rows} | {(9,) * len(index.variables)}
        for key in keys:
            assert key is not None
            expected = [(row, weight) for row, weight in rows if key_of(row) == key]
            assert [(tuple(row), weight) for row, weight in index.find(key).weighted()] == expected
        assert [(tuple(row), weight) for row, weight in index.all().weighted()] == rows


@trying(13)
@given(transactions)
def test_an_index_finds_what_its_pattern_says(epochs: list[list[Any]]) -> None:
    with PROGRAM.session() as session, by_definition(PROGRAM) as slow:
        for changes in epochs:
            for each in (session, slow):
                for kind, (relation, row) in changes:
                    insert = kind == "insert"
                    (each.insert_rows if insert else each.delete_rows)(relation, [row])
                each.commit()
                check(each)


def test_look_ups_from_python() -> None:
    with PROGRAM.session() as session:
        session.insert("Edge", (1, 2, 0), (1, 3, 5), (2, 3, 0))
        session.insert("Bag", (1, 1), (1, 1))
        assert list(session.index("A")[1]) == []  # not committed
        session.commit()
        by_a = session.index("A")
        assert [edge.b for edge in by_a[1]] == [2, 3]
        assert by_a.variables == ("x",) and repr(by_a) == "<index A(x) on Edge>"
        assert list(session.index("BA")[3, 2].tuples()) == [(2, 3, 0)]
        assert len(session.index("Any")[()]) == 3
        assert (1, 2, 0) in by_a[1] and (2, 3, 0) not in by_a[1] and "x" not in by_a[1]
        assert by_a[1].to_arrow().to_pydict() == {"a": [1, 1], "b": [2, 3], "c": [0, 5]}
        assert list(session.index("BagA")[1].records()) == ["Bag{.a = 1, .b = 1} +2"]
        session.delete("Edge", (1, 2, 0))
        session.commit()
        assert [edge.b for edge in by_a[1]] == [3]  # a view, of the state at the time of asking


@pytest.mark.parametrize(
    ("name", "key", "message"),
    [
        ("Nothing", 1, "there is no index Nothing\n  help: the indexes are A, Any, BA, "),
        ("Squar", 1, "there is no index Squar\n  help: did you mean `Square`?"),
        ("Edge", 1, "Edge is a relation, not an index"),
        ("A", "x", "the key of index A, x: expected signed<32>, found 'x'"),
        ("A", 1 << 40, "the key of index A, x: 1099511627776 is out of the range of signed<32>"),
        ("BA", 1, "a key of index BA has 2 values (y: signed<32>, x: signed<32>), found 1"),
        ("BA", (1, 2, 3), "a key of index BA has 2 values (y: signed<32>, x: signed<32>), found 3"),
        ("Any", 1, "a key of index Any has 0 values, found 1"),
    ],
)
def test_wrong_look_ups(name: str, key: Any, message: str) -> None:
    with PROGRAM.session() as session, pytest.raises(DDlogError) as caught:
        session.index(name)[key]
    assert message in str(caught.value)


def test_an_index_is_no_relation() -> None:
    with PROGRAM.session() as session:
        for name in ("A", "Zero"):
            with pytest.raises(DDlogError, match=f"Unknown relation `{name}`"):
                session.query(f"{name}(x)")
            with pytest.raises(DDlogError, match=f"{name} is an index, not a relation"):
                session[name]
    assert PROGRAM.names("internal") == []


def test_a_session_keeps_what_its_indexes_need_if_it_keeps_all() -> None:
    with PROGRAM.session(relations="outputs") as session:
        assert len(session.index("A")[1]) == 0  # an input relation is always there
        with pytest.raises(DDlogError, match="the index Zero is not kept by this session"):
            session.index("Zero")


def test_an_index_and_a_relation_may_share_a_name() -> None:
    text = "input relation R(x: s32)\nindex R(x: s32) on R(x)\noutput relation O(x: s32)\nO(1)."
    with ddlog.compile(text).session() as session:
        session.insert("R", (1,), (2,))
        session.commit()
        assert len(session["R"]) == 2 and len(session.index("R")[2]) == 1


def test_a_relation_that_only_an_index_reads_is_read() -> None:
    text = "relation R(x: s32)\nR(1).\nindex I(x: s32) on R(x)\noutput relation O(x: s32)\nO(1)."
    assert ddlog.compile(text).warnings == ()


def test_an_index_that_fails_says_so() -> None:
    text = "input relation R(x: s32)\nindex I() on R(1 / 0)\noutput relation O(x: s32)\nO(x) :- R(x)."
    with ddlog.compile(text).session() as session:
        session.insert("R", (1,))
        with pytest.raises(DDlogError, match=r"division by zero.*index I\(\) on R\(1 / 0\)"):
            session.commit()


def test_the_circuit_is_the_same_without_indexes() -> None:
    """What an index needs is only computed where somebody may ask it."""
    plain = ddlog.compile("\n".join(line for line in TEXT.splitlines() if not line.startswith("index")))
    assert str(plain.circuit()) == str(PROGRAM.circuit())
    assert InProcess(PROGRAM.circuit()) is not None
