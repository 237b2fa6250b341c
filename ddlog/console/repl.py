"""`ddlog repl`: commands and queries, one after another, on the state of a session."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from ..sessions.engines import EngineOptions
from ..sessions.program import Program
from .launch import launch
from .notes import noting
from .progress import ProgressLine
from .shell import Shell


def repl(
    program: Program,
    inputs: Sequence[str],
    engine: EngineOptions,
    max_iterations: int | None = None,
    quiet: bool = False,
) -> None:
    """Answers commands and queries until `exit` or the end of the input. Raises DDlogError when the session
    cannot begin."""
    note, progress = noting(quiet), ProgressLine(quiet)
    with progress:
        session = launch(program, inputs, engine, max_iterations=max_iterations, progress=progress, note=note)
    with session:
        with progress:
            if inputs:
                session.load(inputs, note=note)
            else:
                session.start()
        shell = Shell(session, progress)
        for text in _entered(shell, quiet):
            shell.take(text)
            if shell.ended:
                break


def _entered(shell: Shell, quiet: bool) -> Iterator[str]:
    """The pieces that the user enters, or the lines of a pipe."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    from .prompt import prompt_lines

    if not quiet:
        print("Commands end with `;`, queries begin with `?`. `help` lists them.")
    yield from prompt_lines(shell)
