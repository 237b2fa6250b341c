"""Brackets that are open at a token, and the one that seems to lack its end.

The tokens before an error are of a text that the grammar takes, so their brackets pair up. A bracket that is
forgotten is not always the one that is left open in the end: the bracket of an outer phrase may have closed
the inner one. The lines tell, if the text is indented.

    function f(x: u32): u32 {
        if (x > 3) { x           is closed in the last line, which is indented otherwise:
        else { 0 }               so this `{` is named, and not that of the first line
    }
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..errors.diagnostics import Diagnostic, Note
from ..errors.source import Span
from ..errors.syntax import UnclosedBracket

CLOSING = {"(": ")", "[": "]", "{": "}"}
BRACKETS = frozenset((*CLOSING, *CLOSING.values()))


class PlacedBracket(NamedTuple):
    """A bracket, and its place."""

    mark: str
    span: Span


class OpenBracket(NamedTuple):
    """A bracket that lacks its end, and the bracket which closes it in its place, if one does."""

    opened: PlacedBracket
    closed_by: PlacedBracket | None = None

    def places(self) -> tuple[Note, ...]:
        """Where it was opened, and where closed."""
        opened = Note(f"`{self.opened.mark}` is opened here", self.opened.span)
        if self.closed_by is None:
            return (opened,)
        said = f"it is closed by this `{self.closed_by.mark}`, which is indented otherwise"
        return opened, Note(said, self.closed_by.span)

    def error(self) -> Diagnostic:
        """The error if the text ends before the bracket is closed."""
        mark, span = self.opened
        return UnclosedBracket(mark, CLOSING[mark], span=span, notes=self.places()[1:])


def open_bracket(brackets: Iterable[PlacedBracket]) -> OpenBracket | None:
    """The bracket that lacks its end; None: all are closed."""
    opened: list[PlacedBracket] = []
    doubtful: dict[int, OpenBracket] = {}  # the first in each open bracket, by its depth
    for bracket in brackets:
        if bracket.mark in CLOSING:
            opened.append(bracket)
        elif opened:
            begin, depth = opened.pop(), len(opened)
            within = doubtful.pop(depth + 1, None)
            if _are_at_odds(begin, bracket):
                doubtful.setdefault(depth, within or OpenBracket(begin, bracket))
    if not opened:
        return None
    return doubtful.get(len(opened)) or OpenBracket(opened[-1])


def _are_at_odds(begin: PlacedBracket, end: PlacedBracket) -> bool:
    """Whether a closing bracket begins a line that is indented otherwise than that of its opening one."""
    first, last = _before(begin), _before(end)
    return not last.strip() and last != first[: len(first) - len(first.lstrip())]


def _before(bracket: PlacedBracket) -> str:
    """The text of the line before a bracket."""
    return bracket.span.source.line(bracket.span.line)[: bracket.span.column - 1]
