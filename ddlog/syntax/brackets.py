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

from collections.abc import Sequence
from typing import NamedTuple

from .lexer import Token

CLOSING = {"(": ")", "[": "]", "{": "}"}


class OpenBracket(NamedTuple):
    """The token of a bracket that lacks its end, and that of a bracket which closes it in its place."""

    token: Token
    closed_by: Token | None = None

    @property
    def mark(self) -> str:
        """The bracket; in a text, `{` of `${`."""
        return "{" if self.token.kind == "_OPEN_SPLICE" else self.token.value


def open_bracket(tokens: Sequence[Token], text: str) -> OpenBracket | None:
    """The bracket that lacks its end in the tokens of the declarations so far; None: all are closed."""
    opened: list[Token] = []
    doubtful: dict[int, OpenBracket] = {}  # the first in each open bracket, by its depth
    for token in tokens:
        if token.kind in ("QUOTED", "TEXT"):
            continue
        if token.value in CLOSING or token.kind == "_OPEN_SPLICE":
            opened.append(token)
        elif token.value in CLOSING.values() and opened:
            begin, depth = opened.pop(), len(opened)
            within = doubtful.pop(depth + 1, None)
            if _are_at_odds(begin, token, text):
                doubtful.setdefault(depth, within or OpenBracket(begin, token))
    if not opened:
        return None
    return doubtful.get(len(opened)) or OpenBracket(opened[-1])


def _are_at_odds(begin: Token, end: Token, text: str) -> bool:
    """Whether a closing bracket begins a line that is indented otherwise than that of its opening one."""
    before = _line_before(end, text)
    first = _line_before(begin, text)
    return not before.strip() and before != first[: len(first) - len(first.lstrip())]


def _line_before(token: Token, text: str) -> str:
    return text[text.rfind("\n", 0, token.start) + 1 : token.start]
