"""Sources of which only a part is at hand: a line of a large file, the unread part of a stream, a row of a
table."""

from __future__ import annotations

from dataclasses import dataclass

from .source import Source, Span


@dataclass(frozen=True, slots=True)
class Excerpt(Source):
    """The text of some lines of a source; `first` is the number of the first of them."""

    first: int = 1

    def line(self, number: int) -> str:
        """The text of a line of the whole source, if it is in the excerpt."""
        lines = self.text.split("\n")
        place = number - self.first
        return lines[place].rstrip("\r") if 0 <= place < len(lines) else ""


@dataclass(frozen=True, slots=True)
class RowSource(Source):
    """A file or a table of rows that are not lines of a text."""

    def place(self, line: int, column: int) -> str:
        """A row of it as messages write it."""
        return f"{self.name}: row {line}"


def row_span(name: str, row: int) -> Span:
    """The place of a row, counted from 1, of a file or a table without lines."""
    return Span(RowSource(name, ""), row, 1, row, 2)


def span_in(name: str, text: str, line: int, start: int, end: int) -> Span:
    """The span from offset `start`, which is on this line of a source, to `end` of a text."""
    begin = text.rfind("\n", 0, start) + 1
    last_begin = text.rfind("\n", 0, max(start, end)) + 1
    stop = text.find("\n", end)
    shown = text[begin : stop if stop >= 0 else len(text)]
    last = line + text.count("\n", begin, last_begin)
    return Span(Excerpt(name, shown, line), line, start - begin + 1, last, max(end, start) - last_begin + 1)
