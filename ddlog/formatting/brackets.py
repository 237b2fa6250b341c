"""Lists in brackets, blocks and bodies: what stands on one line, or on several."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from ..syntax.lexer import Token
from ..syntax.parser import Phrase
from .words import TokenWriter

_SEPARATORS = (",", ";")
_CLOSE_OF = {"(": ")", "[": "]", "{": "}"}
BLOCKS = ("block", "block_statement")
HUGGED = (*BLOCKS, "match", "match_statement", "closure", "struct", "call", "vector", "map")


class Brackets(TokenWriter):
    """Lays out what most phrases consist of."""

    @abstractmethod
    def _part(self, part: Any) -> None:
        """Lays out a phrase or a token."""

    def _glue(self, part: Any) -> None:
        self._glued = True
        self._part(part)

    def _parts(self, parts: Iterable[Any]) -> None:
        for each in parts:
            self._part(each)

    def _joined(self, parts: Sequence[Any]) -> None:
        """The parts without spaces between them."""
        for number, each in enumerate(parts):
            self._glued = self._glued or number > 0
            self._part(each)

    def _call(self, parts: Sequence[Any]) -> None:
        """Parts of which the first brackets stand close to what is before them."""
        self._bracketed(parts, close=True)

    def _spaced(self, parts: Sequence[Any]) -> None:
        """Parts whose brackets have a space before them."""
        self._bracketed(parts, close=False)

    def _bracketed(self, parts: Sequence[Any], close: bool) -> None:
        at = 0
        while at < len(parts):
            part = parts[at]
            last = _CLOSE_OF.get(part.value) if type(part) is Token else None
            if last is None:
                self._part(part)
                at += 1
                continue
            end = next(k for k in range(at, len(parts)) if is_token(parts[k], last))
            self._glued = self._glued or close
            self._brackets(parts[at : end + 1], "")
            at, close = end + 1, False

    def _block(self, parts: Sequence[Any]) -> None:
        self._brackets(parts, " ")

    def _brackets(self, parts: Sequence[Any], pad: str) -> None:
        """An opening token, a list, and a closing token: on one line, or with a line for each item."""
        opening, *inner, closing = parts
        items = spliced(inner)
        if not pad and _hugs(items) and not self._breaks_after(opening):
            self._part(opening)
            self._items(items, flat=True)
            self._glue(closing)
            return
        if not items and not self._breaks_after(opening):
            self._part(opening)
            self._glue(closing)
            return
        out = self.out
        out.group(self._breaks_after(opening))
        self._part(opening)
        out.indent()
        out.line(pad, plain=True)
        self._items(items)
        if self._gap.comments:
            self._comments()
        out.dedent()
        if out.at_break is None:
            out.line(pad, plain=True)
        self._glue(closing)
        out.close()

    def _items(self, items: Sequence[Any], flat: bool = False) -> None:
        for number, each in enumerate(items):
            self._part(each)
            if _separates(each) and number + 1 < len(items) and not flat:
                self.out.line()

    def _body(self, part: Any) -> None:
        """Writes the body of a heading: on its line, or indented below it."""
        if is_block(part):
            self._part(part)
        else:
            self._below(part, broken=self._gap.new_line)

    def _value(self, part: Any) -> None:
        """Writes the expression after `=` or `->`: on its line, or indented below it if that helps."""
        if type(part) is Phrase and part.action in (*HUGGED, "if_", "method", "text", "for_"):
            self._part(part)
        else:
            self._below(part)

    def _below(self, part: Any, broken: bool = False) -> None:
        """Writes a part on this line, or indented on the next one."""
        self.out.group(broken)
        self.out.indent()
        self.out.line()
        self._part(part)
        self.out.dedent()
        self.out.close()


def is_token(part: Any, value: str) -> bool:
    """Whether a part is the token of a sign or a word."""
    return type(part) is Token and part.value == value and part.kind not in ("TEXT", "QUOTED")


def is_block(part: Any) -> bool:
    """Whether a part is a block in braces."""
    return type(part) is Phrase and part.action in BLOCKS


def _separates(part: Any) -> bool:
    """Whether a part stands between two items of a list."""
    if type(part) is Phrase:
        return part.action == "semicolon"
    return part.value in _SEPARATORS and part.kind not in ("TEXT", "QUOTED")


def spliced(parts: Iterable[Any]) -> list[Any]:
    """The parts, with those of a list in its place."""
    found = list[Any]()
    for each in parts:
        lists = type(each) is Phrase and each.action in ("listing", "heads", "clauses")
        found += each.parts if lists else [each]
    return found


def _hugs(items: Sequence[Any]) -> bool:
    """Whether brackets around these stand close to those that a single item, or a closure at the end, has
    itself."""
    if not items or type(items[-1]) is not Phrase:
        return False
    last = items[-1].parts[1] if items[-1].action == "reference" else items[-1]
    if type(last) is not Phrase:
        return False
    if last.action == "closure":
        return is_block(last.parts[-1])
    return len(items) == 1 and last.action in HUGGED
