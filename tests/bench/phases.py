"""Times the stages from a text to a session, and its first commit, in one process; prints them as JSON.

    python tests/bench/phases.py PROGRAM.dl
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ddlog.check.program import check_program
from ddlog.engine.incremental import incrementalize
from ddlog.engine.passes import optimize
from ddlog.engine.runtime import create_runtime
from ddlog.lower import lower
from ddlog.modules import library
from ddlog.parser import parse_program
from ddlog.program import Program, read_source
from ddlog.session import Session
from ddlog.stratify import stratify
from ddlog.values import NAN

T = TypeVar("T")


def phases(path: str) -> dict[str, float]:
    """Seconds by stage. Parsing and strata are parts of checking a program and are timed by themselves."""
    taken: dict[str, float] = {}

    def timed(name: str, step: Callable[[], T]) -> T:
        started = time.perf_counter()
        result = step()
        taken[name] = time.perf_counter() - started
        return result

    source = read_source(Path(path))
    library()
    timed("parse", lambda: parse_program(source))
    checked, _ = timed("check", lambda: check_program(source))
    assert checked is not None, "a generated program has no errors"
    timed("stratify", lambda: stratify(checked.relations, checked.rules))
    taken["check"] -= taken["parse"] + taken["stratify"]
    relational = timed("lower", lambda: lower(checked, list(checked.relations)))
    smaller = timed("optimize", lambda: optimize(relational))
    circuit = timed("incrementalize", lambda: incrementalize(smaller))
    runtime = timed("runtime", lambda: create_runtime(circuit, nan=NAN))
    program = Program(source, checked)
    kept = frozenset(name for name, _ in circuit.relations)
    session = timed("session", lambda: Session(program, runtime, kept))
    timed("first commit", lambda: session.start())
    timed("second commit", lambda: session.commit())
    return taken


if __name__ == "__main__":
    print(json.dumps(phases(sys.argv[1])))
