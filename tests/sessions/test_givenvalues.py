"""Queries with values of Python: `{x}` is the value of x, of the type that its place has."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import DDlogError, Session

from ..trying import trying

PROGRAM = """
import time
typedef Shape = Circle{r: u32} | Square{s: u32}
input relation Named(name: string, n: bigint, small: u8)
input relation Seen(on: Date, note: Option<string>, shape: Shape, tag: istring, all: Set<u8>)
output relation Twice(name: string, n: bigint)
Twice(name, 2 * n) :- Named(name, n, _).
"""
ROWS = [("x", 1, 2), ('y"', 2, 3), ("z", 300, 4)]
SEEN = (datetime.date(2026, 1, 1), None, {"Square": {"s": 3}}, "hi", {1, 2})


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with ddlog.compile(PROGRAM).session() as opened:
        opened.insert("Named", *ROWS)
        opened.insert("Seen", SEEN)
        opened.commit()
        yield opened


@pytest.mark.parametrize(
    "query, values, rows",
    [
        ("Named({name}, n, _)", {"name": 'y"'}, [(2,)]),
        ("Named({text}, n, _)", {"text": 'x", n, _), Named(_, _, _), Named("'}, []),
        ("Named(name, n, _), n > {n}", {"n": 2}, [("z", 300)]),
        ("not Named({name}, 1, _)", {"name": "x"}, []),
        ("not Named({name}, 1, _)", {"name": "z"}, [()]),
        ("Named(a, n, _), (a, {k}) == (a, n)", {"k": 2}, [('y"', 2)]),
        ("Seen(on, {n}, _, _, _)", {"n": None}, [(SEEN[0],)]),
        ("Seen({on}, _, _, {tag}, {all})", {"on": SEEN[0], "tag": "hi", "all": {2, 1}}, [()]),
        ("Seen(_, _, {shape}, _, all), all.contains({n})", {"shape": SEEN[2], "n": 2}, [((1, 2),)]),
        ("var v = {v}: u8", {"v": 3}, [(3,)]),
        ("Twice({a}, n), var big = if (n > 2) {n} else {0}", {"a": "z"}, [(600, 600)]),
    ],
)
def test_a_value_has_the_type_of_its_place(
    session: Session, query: str, values: dict[str, Any], rows: list[Any]
) -> None:
    assert [tuple(row) for row in session.query(query, **values)] == rows


@pytest.mark.parametrize(
    "query, values, place, message",
    [
        ("Named(a, n, s), s > {least}", {"least": 256}, 21, "the value of least: 256 is out of the range"),
        ("Named(a, {n}, s)", {"n": "1"}, 10, "the value of n: expected bigint, found '1'"),
        ("Named({a}, n, s)", {}, 7, "`{a}` stands for a value that is given with the query"),
        ("Named(a, n, s)", {"b": 1}, 1, "b is given a value, but the query has no `{b}`"),
        ("var v = {v}", {"v": 1}, 9, "the place of `{v}` does not tell the type of its value"),
    ],
)
def test_an_error_names_the_value(
    session: Session, query: str, values: dict[str, Any], place: int, message: str
) -> None:
    with pytest.raises(DDlogError) as caught:
        session.query(query, **values)
    assert str(caught.value).startswith(f"error: <query>:1:{place}: {message}")


@trying(60)
@given(st.text(), st.integers(-(2**70), 2**70), st.integers(0, 255))
def test_a_value_is_only_a_value(session: Session, name: str, number: int, small: int) -> None:
    wanted = [row for row in ROWS if row[0] == name or row[1] > number or row[2] == small]
    query = "Named(a, n, s), a == {name} or n > {n} or s == {small}"
    try:
        name.encode()
    except UnicodeEncodeError:
        with pytest.raises(DDlogError):
            session.query(query, name=name, n=number, small=small)
        return
    assert session.query(query, name=name, n=number, small=small).rows == wanted
    assert session.query("var v = {v}: string", v=name).rows == [(name,)]
