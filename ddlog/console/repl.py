"""`ddlog repl`: commands and queries, one after another, on the state of a session."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from io import TextIOWrapper

from ..errors.diagnostics import DDlogError
from ..errors.facts import CannotRead
from ..errors.options import CannotBeCombined
from ..sessions.program import Program
from ..sessions.session import Session
from .deltas import Delta
from .exits import heard
from .launch import loaded
from .notes import noting
from .options import LaunchOptions
from .progress import ProgressLine
from .shell import Shell


@dataclass(frozen=True, slots=True)
class ReplOptions(LaunchOptions):
    """The options of `ddlog repl`. `on_demand` computes a relation only as far as queries ask."""

    delta: Delta = "all"
    on_demand: bool = False
    format: str | None = None


def repl(program: Program, options: ReplOptions) -> None:
    """Answers commands and queries until `exit` or the end of the input. Raises DDlogError when the session
    cannot begin."""
    progress = ProgressLine(options.quiet)
    with loaded(program, options, progress, "inputs" if options.on_demand else "all") as session:
        _conversation(session, progress, options.delta, options.quiet, options.format)


def remote_repl(arguments: Namespace, inputs: Sequence[str]) -> None:
    """Answers commands and queries in the session of a server, whose address stands for the program; the
    inputs are loaded into this session. Raises DDlogError."""
    from ..serve.client import connect
    from .serve import read_token

    _check_remote(arguments)
    token = None if arguments.token_file is None else read_token(arguments.token_file)
    quiet = arguments.quiet
    progress = ProgressLine(quiet)
    with connect(arguments.program, token, patience=5) as session:
        with progress:
            if inputs:
                session.load(inputs, note=noting(quiet))
        _conversation(session, progress, arguments.delta, quiet, arguments.format)


_REMOTE = frozenset({"delta", "extra", "format", "header", "input", "map", "quiet", "token_file"})
"""The options that may come with the address of a server."""


def _check_remote(arguments: Namespace) -> None:
    """Raises DDlogError for an option about a session of this process."""
    for action in arguments.parser._actions:
        value = getattr(arguments, action.dest, action.default)
        if action.option_strings and action.dest not in _REMOTE and value != action.default:
            reason = "the session is that of the server"
            raise DDlogError([CannotBeCombined(action.option_strings[-1], "the address of a server", reason)])


def _conversation(
    session: Session, progress: ProgressLine, delta: Delta, quiet: bool, format: str | None
) -> None:
    """Answers until `exit` or the end of the input."""
    note = noting(quiet)
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
