"""The comments between two tokens, and whether empty lines stand there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MARK = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment. `new_line`: it is the first of its line; `after_empty`: an empty line is before it; `alone`:
    nothing is behind it on its line."""

    text: str
    new_line: bool
    after_empty: bool
    alone: bool

    @property
    def ends_line(self) -> bool:
        """Whether the line of the comment ends with it in any layout."""
        return self.text.startswith("//") or "\n" in self.text


@dataclass(frozen=True, slots=True)
class TokenGap:
    """Space and comments between two tokens; `new_line` and `after_empty` are about the second one."""

    comments: tuple[Comment, ...]
    new_line: bool
    after_empty: bool


def gap_of(text: str, first: bool = False) -> TokenGap:
    """The gap that a text of spaces and comments is; `first`: before the first token of a file."""
    comments, at = list[Comment](), 0
    lines = 1 if first else 0
    for start, end in _places(text):
        lines += text.count("\n", at, start)
        rest = text.find("\n", end)
        alone = rest >= 0 and not text[end:rest].strip()
        comments.append(Comment(_plain(text[start:end]), lines > 0, lines > 1 and not first, alone))
        at, lines, first = end, 0, False
    lines += text.count("\n", at)
    return TokenGap(tuple(comments), lines > 0, lines > 1 and not first)


def _places(text: str) -> Iterator[tuple[int, int]]:
    at = text.find("/")
    while at >= 0:
        if text.startswith("//", at):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
        else:
            end = _end_of_block(text, at)
        yield at, end
        at = text.find("/", end)


def _end_of_block(text: str, at: int) -> int:
    depth, end = 1, at + 2
    while depth:
        mark = _MARK.search(text, end)
        assert mark is not None, "a comment without end is an error of the lexer"
        depth += 1 if mark.group() == "/*" else -1
        end = mark.end()
    return end


def _plain(comment: str) -> str:
    """A comment without spaces at the ends of its lines."""
    return "\n".join(line.rstrip() for line in comment.split("\n"))


def at_margin(comment: str, margin: int) -> str:
    """A comment whose first line stands at a column: lines that begin with a star stand below its star."""
    first, *rest = comment.split("\n")
    moved = [f"{' ' * margin} {line.lstrip()}" if line.lstrip().startswith("*") else line for line in rest]
    return "\n".join([first, *moved])
