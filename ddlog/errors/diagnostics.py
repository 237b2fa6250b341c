"""Errors and warnings: their form, and the one renderer that prints them.

A kind of error is a subclass of `Diagnostic`, a frozen dataclass (`lazyclasses.py`). Its class variables say
the words, its fields hold the facts; the words may name fields in braces:

    class UnknownRelation(Diagnostic):
        title = "unknown relation `{name}`"
        label = "not declared"
        name: str

    UnknownRelation(span=span, name="Pth", help="did you mean `Path`?")

The members of a tuple are written with commas. `{near:did you mean %?|none is like it}` are the words before
`|` with the field in the place of `%`, or those after it if the field is empty.
"""

from __future__ import annotations

import os
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from string import Formatter
from typing import Any, ClassVar

from .lazyclasses import Declared
from .source import Span, not_utf8
from .visible import visible


@dataclass(frozen=True, slots=True)
class Note:
    """A further remark about an error, perhaps with the other place that it is about."""

    text: str
    span: Span | None = None


class Diagnostic(Declared, kw_only=True):
    """An error or a warning. `message`, `marked` and `hint` are its texts with the fields filled in."""

    severity: ClassVar[str] = "error"
    title: ClassVar[str] = ""
    label: ClassVar[str] = ""
    suggestion: ClassVar[str] = ""

    span: Span | None = None
    notes: tuple[Note, ...] = ()
    help: str = ""

    @property
    def message(self) -> str:
        """The title."""
        return self._fill(self.title)

    @property
    def marked(self) -> str:
        """The words beside the carets; empty for none."""
        return self._fill(self.label)

    @property
    def hint(self) -> str:
        """The help: a correction; empty for none."""
        return self.help or self._fill(self.suggestion)

    @property
    def is_error(self) -> bool:
        return self.severity == "error"

    def _fill(self, words: str) -> str:
        return _FILLER.vformat(words, (self,), {}) if "{" in words else words

    def __str__(self) -> str:
        return render([self])


def moved(diagnostic: Diagnostic, move: Callable[[Span], Span | None]) -> Diagnostic:
    """The diagnostic with each of its places moved; where there is none for the place of a note, the note
    keeps its text."""
    notes = tuple(
        each if each.span is None else replace(each, span=move(each.span)) for each in diagnostic.notes
    )
    places: dict[str, Any] = {
        name: move(each) for name, each in vars(diagnostic).items() if isinstance(each, Span)
    }
    return replace(diagnostic, notes=notes, **places)


class _Filler(Formatter):
    """Fills the fields of a diagnostic into its words."""

    def get_value(self, key: int | str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        return getattr(args[0], str(key))

    def format_field(self, value: object, format_spec: str) -> str:
        text = ", ".join(value) if isinstance(value, tuple) else value
        words, _, otherwise = format_spec.partition("|")
        if "%" not in words:
            return format(text, format_spec)
        return words.replace("%", str(text)) if value else otherwise


_FILLER = _Filler()


_PACKAGES = ("ddlog", "engine", "stdlib")
_MAGIC = "get_ipython()"  # what IPython makes of a line or a cell of magic


class DDlogError(Exception):
    """One or more errors in the user's input: a program, facts, a command."""

    def __init__(self, diagnostics: Diagnostic | Sequence[Diagnostic]) -> None:
        given = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = given
        super().__init__(*given)

    def __str__(self) -> str:
        return render(self.diagnostics)

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython prints for this error: the user's own code up to the call of ddlog, without
        installed packages, and the message. A line of magic has its place in the message."""
        from traceback import extract_tb

        home = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
        ours = tuple(os.path.join(home, each, "") for each in _PACKAGES)
        called = takewhile(lambda frame: not frame.filename.startswith(ours), extract_tb(self.__traceback__))
        own = [each for each in called if f"-packages{os.sep}" not in each.filename]
        lines = (
            f"{f'{each.filename}:' if os.path.isfile(each.filename) else 'line '}{each.lineno}: {each.line}"
            for each in own
            if not (each.line or _MAGIC).startswith(_MAGIC)
        )
        return [*lines, *str(self).split("\n")]


@contextmanager
def system_errors(kind: Callable[[str, str], Diagnostic], place: object) -> Iterator[None]:
    """Turns OSErrors inside, and texts of programs that are not UTF-8, into errors of a kind: that a place
    cannot be read, say, and the reason."""
    try:
        yield
        return
    except UnicodeDecodeError as error:
        reason = not_utf8(error)
    except OSError as error:
        reason = error.strerror or str(error)
    raise DDlogError([kind(str(place), reason)]) from None


class DDlogWarning(UserWarning):
    """The class of the warnings that a session gives in Python. `diagnostics` are what one tells."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        self.diagnostics = diagnostics
        super().__init__(*diagnostics)

    def __str__(self) -> str:
        return render(self.diagnostics)


class InternalError(Exception):
    """A broken promise between stages of the interpreter: never the user's fault."""


def warn(diagnostics: Sequence[Diagnostic]) -> None:
    """Gives diagnostics, if there are any, as a warning of Python at the line that called this package."""
    if diagnostics:
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("ddlog."):
            level, frame = level + 1, frame.f_back
        warnings.warn(DDlogWarning(*diagnostics), stacklevel=level)


def internal_error_text(error: Exception) -> str:
    """The message about an exception that is a fault of ddlog."""
    return (
        f"internal error: {type(error).__name__}: {visible(str(error))}\n"
        "This is a fault of ddlog, not of your program. Please report it with the program and\n"
        "the traceback that DDLOG_DEBUG=1 shows."
    )


_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m", "help": "\x1b[1;32m"}
_RESET = "\x1b[0m"
_TAB = 4
_LONGEST = 200  # characters of a line that are shown


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics without repetition, sorted by source and place; one without a place comes first."""
    return sorted(dict.fromkeys(diagnostics), key=_place)


def render(diagnostics: Iterable[Diagnostic], color: bool = False) -> str:
    """The text that a user reads: every diagnostic with its source line, carets, notes and help."""
    # Type variables of different instances of a function differ, and read the same.
    return "\n".join(dict.fromkeys(_render_one(diagnostic, color) for diagnostic in in_order(diagnostics)))


def counted(number: int, noun: str) -> str:
    """`1 field`, `2 fields`: a number of things, for messages."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _place(diagnostic: Diagnostic) -> tuple[str, int, int, int, int]:
    span = diagnostic.span
    if span is None:
        return ("", 0, 0, 0, 0)
    return (span.source.name, span.line, span.column, span.end_line, span.end_column)


def _render_one(diagnostic: Diagnostic, color: bool) -> str:
    where = "" if diagnostic.span is None else f"{diagnostic.span}: "
    lines = [f"{_tag(diagnostic.severity, color)}: {visible(where + diagnostic.message)}"]
    if diagnostic.span is not None:
        lines += _excerpt(diagnostic.span, diagnostic.marked, diagnostic.severity, color)
    for note in diagnostic.notes:
        lines += _remark("note", note.text, note.span, color)
    if diagnostic.hint:
        lines += _remark("help", diagnostic.hint, None, color)
    return "\n".join(lines)


def _remark(tag: str, text: str, span: Span | None, color: bool) -> list[str]:
    where = "" if span is None else f"{span}: "
    lines = [f"  {_tag(tag, color)}: {visible(where + text)}"]
    if span is not None:
        lines += ["  " + line for line in _excerpt(span, "", tag, color)]
    return lines


def _tag(word: str, color: bool) -> str:
    return f"{_COLOURS.get(word, '')}{word}{_RESET}" if color else word


def _excerpt(span: Span, label: str, severity: str, color: bool) -> list[str]:
    """The first line of the span, and carets under the part of the line that belongs to it."""
    line = span.source.line(span.line)
    if not line.strip():
        return []
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    line, first, end = _cropped(line, span.column - 1, end)
    before = _shown(line[:first], 0)
    under = _shown(line[first:end], _width(before))
    carets = "^" * max(1, _width(under))
    if color:
        carets = f"{_COLOURS.get(severity, '')}{carets}{_RESET}"
    marks = " " * _width(before) + carets + (f" {visible(label)}" if label else "")
    return ["    " + _shown(line, 0), "    " + marks]


def _cropped(line: str, first: int, end: int) -> tuple[str, int, int]:
    """The part of a long line around a stretch of it, and the place of the stretch in that."""
    if len(line) <= _LONGEST:
        return line, first, end
    start = max(0, min(first - _LONGEST // 2, len(line) - _LONGEST))
    stop = start + _LONGEST
    left, right = "…" * (start > 0), "…" * (stop < len(line))
    moved = len(left) - start
    return f"{left}{line[start:stop]}{right}", first + moved, min(end, stop) + moved


def _shown(text: str, column: int) -> str:
    """The text as `visible` makes it, with tabs as spaces up to the next stop, when it begins at a display
    column."""
    shown = ""
    for character in text:
        if character == "\t":
            shown += " " * (_TAB - (column + _width(shown)) % _TAB)
        else:
            shown += visible(character)
    return shown


def _width(text: str) -> int:
    """The number of terminal cells that a text takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
