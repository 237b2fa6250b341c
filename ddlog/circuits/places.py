"""The lines of the user's Python files that made the operators of a circuit."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ..errors.circuits import BadOperator
from ..errors.diagnostics import DDlogError
from ..errors.source import Source, Span


@dataclass(frozen=True, slots=True)
class Made:
    """An operator, as the origin of the faults of its expressions: the line that made it, and its text."""

    place: Span
    text: str


_ROOM = str(Path(__file__).parent)


def caller() -> Span:
    """The line outside this room from which it was called."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_ROOM):
        frame = frame.f_back
    name, number = frame.f_code.co_filename, frame.f_lineno
    lines = linecache.getlines(name, frame.f_globals)
    line = lines[number - 1].rstrip("\n") if number <= len(lines) else ""
    source = Source(name, "".join(lines))
    start = len(line) - len(line.lstrip()) + 1
    return Span(source, number, start, number, max(len(line), start) + 1)


def refuse(operator: str, problem: str, help: str = "", place: Span | None = None) -> NoReturn:
    """Raises the DDlogError of an operator that cannot be built, at the line that makes it."""
    span = caller() if place is None else place
    raise DDlogError([BadOperator(span=span, operator=operator, problem=problem, help=help)])


def expect(given: object, kind: Any, operator: str, parameter: str, right: str) -> None:
    """Raises DDlogError if an argument is not of a type, or of one of several; `right` says what would be."""
    if not isinstance(given, kind):
        refuse(operator, f"`{parameter}` is {given!r}", f"it is {right}")
