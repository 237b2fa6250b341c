"""The programs of the corpus on several workers: they print what they print on one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import values
from ddlog.engine.incremental import original
from ddlog.engine.inprocess import runtime
from ddlog.engine.shards.placement import may_be_placed
from ddlog.engine.shards.runtime import Sharded
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session
from ddlog.spark.types.closures import column_types

from ..engine.threads import in_threads
from ..spark.alike import printed, update_file
from ..state import test_windows as windows
from ..trying import longer, trying
from .test_corpus import CORPUS, NAMES

PROGRAMS = Path(__file__).parents[2] / "programs"


def sharded(program: Program, size: int = 3, ends: Iterator[tuple[int, int]] | None = None) -> Session:
    """A session of which the circuit runs on so many workers, if it can; see `in_threads` for `ends`."""
    plain, typedefs = runtime.InProcess, program.checked.typedefs

    def made(circuit: Any, nan: float, *others: Any, **more: Any) -> Any:
        is_movable = may_be_placed(circuit) and not any(
            values.holds_function(type, typedefs) for type in column_types(circuit)
        )
        if not is_movable:
            return plain(circuit, nan)
        return in_threads(original(circuit), size, values.NAN, first=1, ends=ends)  # as on Spark

    with mock.patch.object(runtime, "InProcess", made):
        return program.session()


def alike(program: Program, play: Callable[[Session], Iterable[str]]) -> None:
    """A program prints the same on one worker and on several."""
    with program.session() as here, sharded(program) as there:
        if not isinstance(there.state.host.offer.here, Sharded):
            pytest.skip("the program is one for a single worker")
        assert told(play, there) == told(play, here)


def told(play: Callable[[Session], Iterable[str]], session: Session) -> list[str]:
    """All that a session prints, with the error that ends it."""
    lines: list[str] = []
    try:
        lines.extend(play(session))
    except ddlog.DDlogError as error:
        lines.append(str(error))
    return lines


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
def test_a_session_that_ends_leaves_nothing_open() -> None:
    program = ddlog.compile("input relation A(x: s32) output relation B(x: s32) B(x) :- A(x).")

    def left_open() -> int:
        return len(list(Path("/proc/self/fd").iterdir())) + threading.active_count()

    some = left_open() + 3  # what the first session opens for all
    for number in range(50):
        with sharded(program) as session:
            session.insert("A", (number,))
            session.commit()
            assert list(session["B"].tuples()) == [(number,)]
    while left_open() > some:  # the other workers end by themselves; the test has a time limit
        time.sleep(0.01)


@pytest.mark.parametrize("name", longer(sorted({"loops", *NAMES[::4]}), NAMES))
def test_a_program_of_the_corpus(name: str) -> None:
    program = ddlog.compile(CORPUS / f"{name}.dl")
    alike(
        program,
        lambda session: printed(program, session, update_file(program, session, CORPUS / f"{name}.dat")),
    )


@pytest.mark.parametrize(
    "name", sorted(p.name for p in PROGRAMS.iterdir() if (p / "facts").is_dir() and p.name != "vnet")
)
def test_a_program_with_facts(name: str) -> None:
    program, folder = ddlog.compile(PROGRAMS / name / f"{name}.dl"), PROGRAMS / name

    def play(session: Session) -> Iterable[str]:
        yield str(session.load(folder / "facts"))
        yield from printed(program, session, update_file(program, session, folder / "updates.dat"))

    alike(program, play)


@trying(6, long=400)
@given(
    st.sampled_from(("relation", "multiset", "stream")),
    windows.EPOCHS,
    st.sampled_from([1, 2, 3]),
    st.lists(st.tuples(st.just(1), st.integers(1, 120)), max_size=2),
)
def test_windows(kind: str, epochs: list[Any], size: int, ends: list[tuple[int, int]]) -> None:
    """Also what windows let go of, and what is late; workers end meanwhile."""
    program = windows.program(kind)
    with program.session() as here, sharded(program, size, iter(ends if size > 1 else ())) as there:
        assert isinstance(there.state.host.offer.here, Sharded)
        for step, (changes, _) in enumerate(epochs):
            assert windows.commit(there, step, changes) == windows.commit(here, step, changes)
            assert windows.held(there) == windows.held(here)
