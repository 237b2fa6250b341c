"""The layout of a command file: its lines stay, with one space where spaces are, and four before lines on
which a command goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .layout import STEP

_PIECE = re.compile(
    r"""
    (?P<STRING> " (?: [^"\\] | \\. )* "? )
  | (?P<COMMENT> (?<! \S ) \# [^\n]* )
  | (?P<ECHO> (?<! \w ) echo \s [^;]* )
  | (?P<LINES> \s* \n \s* )
  | (?P<SPACE> \s+ )
  | (?P<SIGN> [^\w\s] )
  | (?P<WORD> \w+ )
    """,
    re.VERBOSE | re.DOTALL,
)


_OPENING, _SEPARATORS = ("(", "["), (",", ";")
_CLOSING = (")", "]", *_SEPARATORS)


def formatted_commands(text: str) -> str:
    """A command file with the same words and comments."""
    lines = [line.rstrip() for line in "".join(_laid_out(text)).split("\n")]
    result = "\n".join(lines).strip("\n")
    return f"{result}\n" if result else ""


def _laid_out(text: str) -> Iterator[str]:
    before, space, open = "\n", False, 0
    inside = False  # of a command, and not between those of a batch
    for found in _PIECE.finditer(text):
        kind, piece = found.lastgroup, found.group()
        if kind == "SPACE":
            space = True
        elif kind == "LINES":
            yield "\n\n" if piece.count("\n") > 1 else "\n"
            before, space = "\n", False
        else:
            if before == "\n":
                yield " " * STEP * (inside and piece not in ")]}")
            elif piece not in _CLOSING and (before in _SEPARATORS or (space and before not in _OPENING)):
                yield " "
            yield piece.rstrip() if kind == "ECHO" else piece
            open = max(0, open + (piece in ("(", "[", "{")) - (piece in (")", "]", "}")))
            if kind != "COMMENT":
                inside = piece != ";" and (piece != "," or open > 0)
                open *= inside
            before, space = piece, False
