"""The program that a command is given: a file, standard input, a text, or none."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors.diagnostics import DDlogError
from ..errors.facts import CannotRead
from ..errors.options import CannotBeCombined
from ..errors.source import Source, program_text


def given_program(arguments: argparse.Namespace) -> Source:
    """The text of the program of a command. Raises DDlogError."""
    from ..sessions.program import read_source

    if arguments.text is not None:
        if arguments.program is not None:
            raise DDlogError([CannotBeCombined("-c", arguments.program, "each of them is the program")])
        return Source("<-c>", arguments.text)
    if arguments.program is None:
        if arguments.parser.prog.endswith(" repl"):
            return Source("<empty>", "")
        arguments.parser.error("the program is missing: PROG.dl, - for standard input, or -c TEXT")
    return _piped(arguments) if arguments.program == "-" else read_source(Path(arguments.program))


def _piped(arguments: argparse.Namespace) -> Source:
    if arguments.parser.prog.endswith(" repl") or "-" in getattr(arguments, "updates", ()):
        raise DDlogError([CannotBeCombined("the program -", "commands of standard input")])
    try:
        return Source("<stdin>", program_text(sys.stdin.buffer.read()))
    except UnicodeDecodeError as error:
        raise DDlogError([CannotRead("<stdin>", f"it is not UTF-8: {error.reason}")]) from None
