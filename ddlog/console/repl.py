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
from .ending import heard
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
    format: str | None = None,
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
        with closing(Shell(session, progress, delta, quiet, format)) as shell:
            shell.take_script()
            if sys.stdin.isatty():
                _converse(shell, quiet)
            else:
                _answer(shell, _piped())
            shell.end(note)


def _converse(shell: Shell, quiet: bool) -> None:
    """Answers what the user enters. Ctrl-C stops what is done, and never the conversation."""
    from .prompt import prompt_lines

    if not quiet:
        print("Commands end with `;`, queries begin with `?`. `help` lists them.")
    while True:
        try:
            return _answer(shell, prompt_lines(shell))
        except KeyboardInterrupt:
            heard()


def _answer(shell: Shell, inputs: Iterator[str]) -> None:
    """Answers inputs until `exit` or their end."""
    for text in inputs:
        shell.take(text)
        if shell.ended:
            return


def _piped() -> Iterator[str]:
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    try:
        yield from (line.removesuffix("\n") for line in sys.stdin)
    except UnicodeDecodeError as error:
        raise DDlogError([CannotRead("<input>", f"it is not UTF-8: {error.reason}")]) from None
