"""The pieces of a string literal: text, the code in `${...}`, and the end.

A literal in quotes is unescaped as a whole before `${...}` is found in it, so the code inside it is escaped
once more than its own text: `"${xs.join(\", \")}"`. That code may hold literals in turn, escaped twice:

    "${\"${\\\"${8 + 8}\\\"}\"}"

Nothing is unescaped before it is read, so all places are those of the file. Instead each place has a level:
how often it is unescaped. A quote of level n stands after 2**n - 1 backslashes. Text in quotes of level n
is unescaped n + 1 times, and that is the level of its code; there, quotes of every level up to it open a
literal. So code may also leave out the backslash before a quote: `"${xs.join(", ")}"`. Text in `[| ... |]` is
unescaped as often as the code around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Sort(Enum):
    """The kinds of pieces of a string."""

    TEXT = "text"
    SPLICE = "splice"
    CLOSE = "close"
    BAD = "bad"


@dataclass(slots=True)
class Literal:
    """A string that is being read. `raw` is `$[| ... |]`; `level` is how often its text is unescaped, and the
    level of its code; `braces` are open in this code."""

    start: int
    raw: bool
    level: int
    braces: int = 0


_ESCAPED = r"""
    (?P<escape> (?P<run> \\+ ) (?: x[0-9A-Fa-f]{2} | u[0-9A-Fa-f]{4} | u\{[0-9A-Fa-f]{1,6}\}
                                 | \s* \n \s* (?P=run)? | [^\\\n] )? )
"""
_COOKED = re.compile(
    rf"""(?P<text> (?: [^"\\$\n] | \$(?!\{{) )+ ) | (?P<splice> \$\{{ ) | (?P<close> " ) | {_ESCAPED}""",
    re.VERBOSE,
)
_RAW = re.compile(r"(?P<text>(?:[^|$]|\|(?!\])|\$(?!\{))+)|(?P<splice>\$\{)|(?P<close>\|\])")
_RAW_IN_QUOTES = re.compile(
    rf"""(?P<text> (?: [^|$\\] | \|(?!\]) | \$(?!\{{) )+ ) | (?P<splice> \$\{{ ) | (?P<close> \|\] )
       | {_ESCAPED}""",
    re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\ (?: x([0-9A-Fa-f]{2}) | u([0-9A-Fa-f]{4}) | u\{([0-9A-Fa-f]{1,6})\} | (\s* \n \s* \\?) | (.?) )",
    re.VERBOSE,
)
_MEANINGS = dict(zip("\\\"'nartbfv0?$", "\\\"'\n\a\r\t\b\f\v\0?$", strict=True))


def next_piece(text: str, at: int, literal: Literal) -> tuple[Sort, str, int] | None:
    """The piece of the literal at a place: its sort, its text unescaped (as written if that is impossible),
    and where it ends. None if the literal has no end."""
    level = literal.level
    pattern = (_RAW_IN_QUOTES if level else _RAW) if literal.raw else _COOKED
    found = pattern.match(text, at)
    if found is None:
        return None
    kind, piece, end = found.lastgroup, found.group(), found.end()
    if kind == "close" and not literal.raw and level > 1:
        return None  # the quote of a literal around this one
    if kind != "escape":
        return Sort(kind), piece, end
    run = len(found.group("run"))
    whole = run >> level << level
    if whole:
        return Sort.TEXT, "\\" * (run >> level), at + whole
    if not literal.raw and text.startswith('"', at + run):
        return _quote(run, level, at + run)
    if text.startswith("${", at + run) and (literal.raw or not run >> (level - 1)):
        return Sort.TEXT, "", at + run
    plain = unescaped(piece, level)
    return (Sort.BAD, piece, end) if plain is None else (Sort.TEXT, plain, end)


def _quote(run: int, level: int, place: int) -> tuple[Sort, str, int] | None:
    """A quote after fewer than 2**level backslashes, in text in quotes that is unescaped `level` times."""
    if run == (1 << level) - 1:
        return Sort.TEXT, '"', place + 1
    if run == (1 << (level - 1)) - 1:
        return Sort.CLOSE, '"', place + 1
    return None


def quote_level(run: int) -> int | None:
    """The level of a quote after so many backslashes; None if it is no quote of any level."""
    return None if run & (run + 1) else run.bit_length()


def unescaped(text: str, times: int) -> str | None:
    """The text after its escapes have been read so many times; None if one of them is unknown."""
    for _ in range(times):
        if "\\" not in text:
            return text
        try:
            text = _ESCAPE.sub(_meaning, text)
        except ValueError:
            return None
    return text


def _meaning(escape: re.Match[str]) -> str:
    """The character of an escape. Raises ValueError if the escape has none."""
    *codes, gap, letter = escape.groups()
    if gap is not None:
        return ""
    if letter is not None:
        if letter not in _MEANINGS:
            raise ValueError
        return _MEANINGS[letter]
    code = int(next(each for each in codes if each is not None), 16)
    if 0xD800 <= code < 0xE000:
        raise ValueError
    return chr(code)
