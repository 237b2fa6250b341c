"""Explanations as indented text with box lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .node import Reason
from .titles import Titles, one_line

_STYLES = {"strong": "\x1b[1m", "faint": "\x1b[2m", "good": "\x1b[32m", "bad": "\x1b[31m"}


@dataclass(frozen=True)
class TextTree:
    """Writes nodes; in `color` for a terminal."""

    titles: Titles
    color: bool = False

    def of(self, node: Reason) -> Iterator[str]:
        """The lines of a node."""
        if node.is_sequence:
            for child in node.children:
                yield from self.of(child)
            return
        title = self._in(self.titles.style(node), self.titles.title(node))
        notes = self._in("faint", ", ".join(self.titles.notes(node)))
        yield "  ".join(filter(None, (title, notes)))
        bar = "│ " if node.children else "  "
        for line in self._rule(node):
            yield bar + line
        for child in node.children:
            lead, rest = ("└─ ", "   ") if child is node.children[-1] else ("├─ ", "│  ")
            first, *others = self.of(child)
            yield lead + first
            yield from (rest + line for line in others)

    def _rule(self, node: Reason) -> Iterator[str]:
        rule = self.titles.rule(node)
        if rule is not None:
            text, place, variables = rule
            yield f"{one_line(text)}  {self._in('faint', place)}"
            yield from [self._in("faint", variables)] if variables else []

    def _in(self, style: str, text: str) -> str:
        """A text in a style of the terminal, if there are colors."""
        return f"{_STYLES[style]}{text}\x1b[0m" if self.color and text and style in _STYLES else text
