"""Texts within a command file that are read by themselves: queries, and statements of SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..errors.diagnostics import DDlogError, moved
from ..errors.excerpt import Excerpt
from ..errors.source import Span
from .interpreter import placed


@dataclass(frozen=True, slots=True)
class Passage:
    """A text, what stands before it on its line, and the name of the file and the line where it begins."""

    text: str
    before: str
    name: str
    line: int

    def span(self) -> Span:
        """The place of its first line."""
        column, width = len(self.before) + 1, len(self.text.split("\n", 1)[0])
        return Span(self._source(), self.line, column, self.line, column + width)

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Errors about the text, which are raised inside, have their places in the file."""
        try:
            yield
        except DDlogError as error:
            found = DDlogError([moved(each, self._in_file) for each in error.diagnostics])
            raise placed(found, self.span()) from None

    def _source(self) -> Excerpt:
        return Excerpt(self.name, self.before + self.text, self.line)

    def _in_file(self, span: Span) -> Span:
        if span.source.text != self.text:
            return span
        more = self.line - 1
        begin = span.column + (len(self.before) if span.line == 1 else 0)
        end = span.end_column + (len(self.before) if span.end_line == 1 else 0)
        return Span(self._source(), span.line + more, begin, span.end_line + more, end)


def passage_of(name: str, text: str, line: int, begin: int, end: int) -> Passage:
    """The passage of a text from offset `begin`, which is on this line of a file, to `end`."""
    start = text.rfind("\n", 0, begin) + 1
    return Passage(text[begin:end], text[start:begin], name, line)
