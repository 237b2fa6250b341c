"""The garbage collector rests while a program is compiled, and only then; functions are made when needed."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ddlog
from ddlog.engine.schema import Deferred, ready
from ddlog.sessions.collector import paused


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
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
