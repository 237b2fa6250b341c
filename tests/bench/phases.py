"""From a text to a session that has committed its facts, in one process; prints seconds as JSON.

python tests/bench/phases.py whole PROGRAM.dl     as a user does it: compile, session, first commit
python tests/bench/phases.py stages PROGRAM.dl    each stage by itself
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import ddlog
from ddlog.check.program import check_program
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.passes import optimize
from ddlog.lowering.lower import lower
from ddlog.lowering.stratify import stratify
from ddlog.names.modules import library
from ddlog.sessions.collector import paused
from ddlog.sessions.hosts.inprocess import InProcessHost
from ddlog.sessions.program import Program, read_source
from ddlog.sessions.session import Session
from ddlog.syntax.parser import parse_program
from ddlog.values import NAN

T = TypeVar("T")


class Clock:
    """Seconds by the name of the stage."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = {}

    def __call__(self, name: str, step: Callable[[], T]) -> T:
        started = time.perf_counter()
        result = step()
        self.taken[name] = time.perf_counter() - started
        return result


def whole(path: Path) -> dict[str, float]:
    """Seconds of the three calls of a user."""
    clock = Clock()
    program = clock("compile", lambda: ddlog.compile(path))
    session = clock("session", program.session)
    clock("first commit", session.start)
    return clock.taken


def stages(path: Path) -> dict[str, float]:
    """Seconds of each stage. Parsing and strata are parts of checking a program, and timed again alone."""
    clock = Clock()
    source = read_source(path)
    library()
    with paused():
        clock("lex and parse", lambda: parse_program(source))
        checked, _ = clock("check", lambda: check_program(source))
        assert checked is not None, "a generated program has no errors"
        clock("stratify", lambda: stratify(checked.relations, checked.rules))
        clock.taken["check"] -= clock.taken["lex and parse"] + clock.taken["stratify"]
        relational = clock("lower", lambda: lower(checked, list(checked.relations)))
        smaller = clock("optimize", lambda: optimize(relational))
        circuit = clock("incrementalize", lambda: incrementalize(smaller))
        runtime = clock("create runtime", lambda: InProcess(circuit, NAN))
    kept = frozenset(name for name, _ in circuit.relations)
    program = Program(source, checked)
    session = Session(program, InProcessHost(program, runtime), kept)
    clock("first commit", session.start)
    return clock.taken


if __name__ == "__main__":
    print(json.dumps({"whole": whole, "stages": stages}[sys.argv[1]](Path(sys.argv[2]))))
