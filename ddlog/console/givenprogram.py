"""The program that a command is given: a file, standard input, a text, or none."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors.diagnostics import DDlogError, system_errors
from ..errors.facts import CannotRead
from ..errors.options import CannotBeCombined
from ..errors.source import Source, program_text

_PLACE = "<-c>"
"""Stands for the text of -c among the arguments, and is its name in errors."""

_ON_PROGRAMS = ("run", "repl", "check", "circuit", "explain", "serve", "ui")


def with_text(given: Sequence[str]) -> tuple[list[str], str | None]:
    """The arguments with the program in its place, and the text that -c gives as a program; without a command
    before it, it is run."""
    words = list(given)
    if words == ["-c"]:
        return ["run", "-c"], None  # which says that a text is missing
    if "-c" not in words[:-1] or words[0] not in ("-c", *_ON_PROGRAMS):
        return words, None
    at = words.index("-c")
    text = words[at + 1]
    del words[at : at + 2]
    return ["run", _PLACE, *words] if at == 0 else [words[0], _PLACE, *words[1:]], text


def given_program(arguments: argparse.Namespace) -> Source:
    """The text of the program of a command. Raises DDlogError."""
    return replace(_given(arguments), dialect=arguments.dialect)


def _given(arguments: argparse.Namespace) -> Source:
    from ..sessions.program import read_source

    if arguments.text is not None:
        if any("\udc80" <= each <= "\udcff" for each in arguments.text):
            raise DDlogError([CannotRead("-c", "the text is not UTF-8")])
        return Source(_PLACE, arguments.text)
    if arguments.program is None:
        return Source("<empty>", "")
    return _piped(arguments) if arguments.program == "-" else read_source(Path(arguments.program))


def _piped(arguments: argparse.Namespace) -> Source:
    if arguments.parser.prog.endswith(" repl") or "-" in getattr(arguments, "updates", ()):
        raise DDlogError([CannotBeCombined("the program -", "commands of standard input")])
    with system_errors(CannotRead, "<stdin>"):
        return Source("<stdin>", program_text(sys.stdin.buffer.read()))
