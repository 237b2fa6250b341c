"""Functions as values of a session: read, called, given back, made by queries, refused."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import ddlog
from ddlog.errors.diagnostics import DDlogError

PROGRAM = """
input relation N(x: u64)
input relation Given(f: |u64|: u64)
output relation Made(x: u64, f: |u64|: u64)
output relation Called(y: u64)
function plus(n: u64): |u64|: u64 { |x| x + n }
Made(x, plus(x)) :- N(x).
Called(f(10)) :- Given(f).
"""


@pytest.fixture
def session() -> Any:
    opened = ddlog.compile(PROGRAM).session()
    opened.start()
    opened.insert("N", (1,))
    opened.insert("N", (2,))
    opened.commit()
    return opened


def refused(session: Any, value: Any) -> str:
    session.start()
    with pytest.raises(DDlogError) as error:
        session.insert("Given", (value,))
    session.rollback()
    return str(error.value)


def test_a_closure_is_called_compared_and_given_back(session: Any) -> None:
    (_, one), (_, two) = session["Made"]
    assert (one(5), two(5), one < two) == (6, 7, True)
    assert repr(one) == "<closure: |x| x + n, captured_args: [1]>"
    session.start()
    session.insert("Given", (two,))
    assert str(session.commit()) == "Called:\nCalled{.y = 12}: +1"
    session.start()
    session.delete("Given", (next(f for _, f in session["Made"] if f == two),))
    assert str(session.commit()) == "Called:\nCalled{.y = 12}: -1"


def test_only_closures_of_the_program_are_taken(session: Any) -> None:
    (_, one), _ = session["Made"]
    assert "a function that the program has made, found <function" in refused(session, lambda x: x)
    assert "of another program or process" in refused(session, pickle.loads(pickle.dumps(one)))
    other = ddlog.compile(PROGRAM + "Made(0, |x| x).\n").session()
    assert "of another program or process" in refused(session, next(iter(other["Made"]))[1])
    text = ddlog.compile('output relation F(f: |u64|: string)\nF(|x| "a").').session()
    assert "of another program or process" in refused(session, next(iter(text["F"]))[0])


def test_queries_make_closures_of_their_own(session: Any) -> None:
    ((x, _),) = session.query("Made(x, f), f == plus(2)")
    assert x == 2
    assert list(session.query("Made(x, f), f == (|y| y + 1)")) == []
    for added in (1, 2):  # at the same place of two queries
        ((made,),) = session.query(f"var f = |x: u64| x + {added}")
        assert made(10) == 10 + added
    ((_, _, twice),) = session.query("Made(x, f), x == 2, var g = |y: u64| f(f(y))")
    assert twice(0) == 4
    assert "of another program or process" in refused(session, twice)
