"""A document in pieces, of which only those that changed are parsed again.

A piece ends at some of the empty lines before declarations; the text behind them decides, so an edit moves no
end but near it. Its tree has places in its own text, so it stays as it is when lines come or go above it;
`PlacedPiece.first` says where it is now.

    text --split--> texts of pieces --known before?--> parsed pieces --> one tree

A comment, a raw string or a loop may go on in the next pieces. Such a piece is put together with those after
it. If they do not end it, what follows is read as if it did: so one key hides no names. The errors that an
editor shows are those of the whole text, which the checker finds.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from zlib import crc32

from .. import syntax
from ..errors.diagnostics import Diagnostic
from ..errors.source import Source, Span
from ..errors.syntax import HidingString, UnclosedComment, UnclosedString
from ..syntax.lexer import Places, tokenize
from ..syntax.parser import parse_program
from .occurrences import Occurrence, occurrences

_END = re.compile(
    r"""
    \n [ \t\r]* \n (?= (?: //[^\n]*\n )*
        (?: (?: typedef | input | output | relation | stream | multiset | extern | import | apply | function
              | index | loop | initial | for ) \b | \#\[ | [A-Z]\w* [(\[] ) )
    """,
    re.VERBOSE,
)
_ONE_IN = 8  # of these places is an end: a parser takes as long to begin as it takes for forty lines
_MOST = 8  # pieces that an open one is put together with
_LOOP = re.compile(r"^[ \t]*loop\b", re.MULTILINE)


@dataclass(eq=False)
class Parsed:
    """The text of a piece, read. `types` are those of the variables of its rules, where they are known;
    `tokens` its names in the numbers of the protocol, once they are asked for."""

    source: Source
    tree: syntax.Module
    errors: Sequence[Diagnostic]
    is_open: bool
    types: list[tuple[Span, dict[str, tuple[str, str | None]]]] = field(default_factory=list)
    tokens: array[int] | None = None

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """The names in the piece, in order of their places."""
        return occurrences(self.tree)


@dataclass(frozen=True, slots=True)
class PlacedPiece:
    """A piece where it is: after so many lines of the document."""

    first: int
    parsed: Parsed


Known = dict[tuple[str, int], Parsed]
"""Pieces by their texts; of those with one text, by their number among these."""


def pieces(source: Source, before: Known) -> tuple[list[PlacedPiece], Known]:
    """The pieces of a document, and what is known for its next version. Pieces with texts as before are the
    same objects."""
    found: list[PlacedPiece] = []
    now: Known = {}
    seen: Counter[str] = Counter()

    def parsed(text: str) -> Parsed:
        key = (text, seen[text])
        if key not in now:
            now[key] = before[key] if key in before else _parse(Source(source.name, text))
        return now[key]

    texts, at, line = _split(source.text), 0, 0
    while at < len(texts):
        text, count = texts[at], 1
        if parsed(text).is_open:
            count = _closed(texts[at:], lambda whole: parsed(whole).is_open)
            text = "".join(texts[at : at + count])
        found.append(PlacedPiece(line, parsed(text)))
        seen[text] += 1
        line += text.count("\n")
        at += count
    return found, now


def _split(text: str) -> list[str]:
    """The texts of pieces, at least one."""
    found = (each.end() for each in _END.finditer(text))
    ends = [0, *(at for at in found if _is_end(text, at)), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


def _is_end(text: str, at: int) -> bool:
    """Whether a place is one in so many, as the text behind it decides."""
    return crc32(text[at : at + 80].encode()) % _ONE_IN == 0


def _closed(texts: Sequence[str], is_open: Callable[[str], bool]) -> int:
    """How many texts belong together since the first is open."""
    count = 2
    while count <= min(_MOST, 2 * len(texts)):
        if not is_open("".join(texts[:count])):
            return min(count, len(texts))
        count *= 2
    return 1


def _goes_on(error: Diagnostic) -> bool:
    """Whether an error is that of a comment or a string which may end in the next piece."""
    raw = isinstance(error, UnclosedString) and error.mark == "|]"
    return raw or isinstance(error, UnclosedComment | HidingString)


def _parse(source: Source) -> Parsed:
    tree, errors = parse_program(source)
    is_open = False
    if errors:
        tokens, lexical, _ = tokenize(Places(source))
        signs = Counter(each.value for each in tokens if each.kind not in ("QUOTED", "TEXT"))
        is_open = _LOOP.search(source.text) is not None and signs["{"] > signs["}"]
        is_open |= any(map(_goes_on, lexical))
    return Parsed(source, tree, errors, is_open)
