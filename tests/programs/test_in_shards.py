"""The programs of the corpus on several workers: they print what they print on one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import ddlog
from ddlog import values
from ddlog.engine.incremental import original
from ddlog.engine.inprocess import runtime
from ddlog.engine.shards.placing import may_be_placed
from ddlog.engine.shards.runtime import Sharded
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session
from ddlog.spark.types.closures import column_types

from ..engine.threads import in_threads
from ..spark.alike import printed, update_file
from .test_corpus import CORPUS, NAMES

PROGRAMS = Path(__file__).parents[2] / "programs"


@pytest.fixture
def sharded(monkeypatch: pytest.MonkeyPatch) -> Callable[[Program], Session]:
    """Opens sessions of which the circuit runs on three workers, if it can."""
    plain, typedefs = runtime.InProcess, dict[str, Any]()

    def made(circuit: Any, nan: float, *others: Any, **more: Any) -> Any:
        is_movable = may_be_placed(circuit) and not any(
            values.holds_function(type, typedefs) for type in column_types(circuit)
        )
        return in_threads(original(circuit), 3, values.NAN) if is_movable else plain(circuit, nan)

    def opened(program: Program) -> Session:
        typedefs.update(program.checked.typedefs)
        with monkeypatch.context() as patch:
            patch.setattr(runtime, "InProcess", made)
            return program.session()

    return opened


def alike(
    program: Program, opened: Callable[[Program], Session], play: Callable[[Session], Iterable[str]]
) -> None:
    """A program prints the same on one worker and on several."""
    with program.session() as here, opened(program) as there:
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
def test_a_session_that_ends_leaves_nothing_open(sharded: Callable[[Program], Session]) -> None:
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


@pytest.mark.parametrize("name", NAMES)
def test_a_program_of_the_corpus(name: str, sharded: Callable[[Program], Session]) -> None:
    program = ddlog.compile(CORPUS / f"{name}.dl")
    alike(
        program,
        sharded,
        lambda session: printed(program, session, update_file(program, session, CORPUS / f"{name}.dat")),
    )


@pytest.mark.parametrize(
    "name", sorted(p.name for p in PROGRAMS.iterdir() if (p / "facts").is_dir() and p.name != "vnet")
)
def test_a_program_with_facts(name: str, sharded: Callable[[Program], Session]) -> None:
    program, folder = ddlog.compile(PROGRAMS / name / f"{name}.dl"), PROGRAMS / name

    def play(session: Session) -> Iterable[str]:
        yield str(session.load(folder / "facts"))
        yield from printed(program, session, update_file(program, session, folder / "updates.dat"))

    alike(program, sharded, play)
