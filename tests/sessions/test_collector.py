"""The garbage collector rests while a program is compiled, and only then; functions are made when needed."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Iterator
from typing import Any
from weakref import ref

import pytest

import ddlog
from ddlog.engine.schema import Deferred, ready
from ddlog.sessions import collector
from ddlog.sessions.collector import paused


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    gc.unfreeze()
    gc.enable()
    yield
    gc.enable()


def test_it_runs_again_after_an_error() -> None:
    with pytest.raises(ddlog.DDlogError):
        ddlog.compile("R(x) :- S(x).\n")
    assert gc.isenabled()


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    with paused():
        pass
    assert not gc.isenabled()


def test_pauses_nest() -> None:
    with paused():
        with paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_cycles_made_meanwhile_are_collected_later() -> None:
    class Knot:
        pass

    with paused():
        knot: Any = Knot()
        knot.self = knot
        del knot
    gc.collect()
    assert not any(isinstance(each, Knot) for each in gc.get_objects())


@pytest.mark.parametrize("many", [collector._MANY, 0], ids=["small", "large"])
def test_sessions_that_ended_do_not_pile_up(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether their objects counted as old at once or not: a server opens one after another."""
    monkeypatch.setattr(collector, "_MANY", many)
    monkeypatch.setattr(collector, "_MOST", 20_000)
    program, left = ddlog.compile("input relation A(x: u8)\noutput relation B(x: u8)\nB(x) :- A(x)."), []
    for _ in range(300):
        with program.session() as session:
            left.append(ref(session.state))
        del session
    assert sum(each() is not None for each in left) < 200


def test_a_deferred_function_is_made_once_and_pickled_as_itself() -> None:
    made: list[str] = []

    def make() -> Callable[..., Any]:
        made.append("made")
        return abs

    function = Deferred(make)
    assert made == []
    assert function(-1) == 1 and ready(function)(-2) == 2 and ready(abs) is abs
    assert pickle.loads(pickle.dumps(function)) is abs
    assert made == ["made"]
