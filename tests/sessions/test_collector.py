"""The garbage collector rests while a program is compiled, and only then; functions are made when needed."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

import ddlog
from ddlog.engine.schema import Deferred, ready
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
    assert not any(type(each) is Knot for each in gc.get_objects())


PATHS = """
input relation Arc(x: u32, y: u32)
output relation Path(x: u32, y: u32)
output relation Near(x: u32, least: u32)
Path(x, y) :- Arc(x, y).
Path(x, z) :- Path(x, y), Arc(y, z).
Near(x, least) :- Path(x, y), var least = y.group_by(x).min().
"""


@pytest.mark.parametrize(
    ("rows", "state"),
    [(3, None), (30_000, None), (3, "state"), (30_000, "state")],
    ids=["few", "many", "few-kept", "many-kept"],
)
def test_a_session_that_nobody_holds_is_gone_at_once(rows: int, state: str | None, tmp_path: Path) -> None:
    """Without the collector: one opened after another takes no more memory than one."""
    program = ddlog.compile(PATHS)
    gc.disable()
    kept = tmp_path / state if state else None
    with program.session(memory_limit=1 << 40, spill=tmp_path, state=kept) as session:
        session.insert("Arc", *[(x, x + 1) for x in range(0, 3 * rows, 3)], (1, 2))
        session.commit()
        session.delete("Arc", (1, 2))
        session.commit()
        assert session.query("Path(0, y)").rows == [(1,)]
    host = session.state.host
    left = [ref(session.state), ref(host.runtime), *map(ref, host.runtime._own.recursions.values())]
    del session, host
    assert len(left) == 3
    assert not any(each() for each in left)


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
