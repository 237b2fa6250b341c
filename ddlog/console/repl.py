"""`ddlog repl`: commands and queries, one after another, on the state of a session."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from io import TextIOWrapper

from ..errors.diagnostics import DDlogError
from ..errors.facts import CannotRead
from ..sessions.engines import EngineOptions
from ..sessions.program import Program
from .deltas import Delta
from .launch import launch
from .notes import noting
from .options import StateOptions, check_state_options
from .progress import ProgressLine
from .shell import Shell
from .statefile import check_input


def repl(
    program: Program,
    inputs: Sequence[str],
    engine: EngineOptions,
    max_iterations: int | None = None,
    quiet: bool = False,
    delta: Delta = "all",
    on_demand: bool = False,
    state: StateOptions | None = None,
) -> None:
    """Answers commands and queries until `exit` or the end of the input; `on_demand` computes a relation only
    as far as queries ask. Raises DDlogError when the session cannot begin."""
    if state is not None:
        check_state_options(state, tuple(inputs))
    note, progress = noting(quiet), ProgressLine(quiet)
    with progress:
        session = launch(
            program, inputs, engine, relations="inputs" if on_demand else "all",
            max_iterations=max_iterations, progress=progress, state=state, note=note,
        )  # fmt: skip
    with session:
        with progress:
            if inputs:
                check_input(session, state)
                session.load(inputs, note=note, replace=state is not None and state.replace)
            else:
                session.start()
        with closing(Shell(session, progress, delta, quiet)) as shell:
            for text in _entered(shell, quiet):
                shell.take(text)
                if shell.ended:
                    break
            shell.end(note)


def _entered(shell: Shell, quiet: bool) -> Iterator[str]:
    """The pieces that the user enters, or the lines of a pipe."""
    if not sys.stdin.isatty():
        yield from _piped()
        return
    from .prompt import prompt_lines

    if not quiet:
        print("Commands end with `;`, queries begin with `?`. `help` lists them.")
    yield from prompt_lines(shell)


def _piped() -> Iterator[str]:
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    try:
        yield from sys.stdin
    except UnicodeDecodeError as error:
        raise DDlogError([CannotRead("<input>", f"it is not UTF-8: {error.reason}")]) from None
