"""Classes of characters in regular expressions: as RE2 has them, and as sets where it does not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Marks: TypeAlias = npt.NDArray[np.bool_]
"""For each character, by its number, whether it is in a class."""


@dataclass(frozen=True, slots=True)
class Class:
    """A class of characters: what RE2 has between brackets, and whether the others are meant."""

    text: str
    negated: bool = False

    def __invert__(self) -> Class:
        return Class(self.text, not self.negated)

    def __str__(self) -> str:
        return f"[{'^' * self.negated}{self.text}]"


DIGIT = Class(r"\p{Nd}")
SPACE = Class(r"\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}")
WORD = Class(
    r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}"
    r"\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}"
)
ASCII_DIGIT, ASCII_SPACE, ASCII_WORD = Class("0-9"), Class(r"\t-\r "), Class("0-9A-Za-z_")
_ALL = r"\x{0}-\x{10ffff}"
NONE = Class(_ALL, True)
_ASSIGNED = r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}\p{Cc}\p{Cf}\p{Co}\p{Cs}"
_SPECIAL = {
    "any": Class(_ALL),
    "ascii": Class(r"\x{0}-\x{7f}"),
    "assigned": Class(_ASSIGNED),
    **dict.fromkeys(("cn", "unassigned"), Class(_ASSIGNED, True)),
    **dict.fromkeys(("c", "other"), Class(r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}", True)),
    **dict.fromkeys(("lc", "casedletter"), Class(r"\p{Lu}\p{Ll}\p{Lt}")),
}
_CATEGORIES = """
    Cc control, Cf format, Co privateuse, Cs surrogate, L letter, Ll lowercaseletter,
    Lm modifierletter, Lo otherletter, Lt titlecaseletter,
    Lu uppercaseletter, M mark, Mc spacingmark, Me enclosingmark, Mn nonspacingmark, N number,
    Nd decimalnumber, Nl letternumber, No othernumber, P punctuation, Pc connectorpunctuation,
    Pd dashpunctuation, Pe closepunctuation, Pf finalpunctuation, Pi initialpunctuation,
    Po otherpunctuation, Ps openpunctuation, S symbol, Sc currencysymbol, Sk modifiersymbol,
    Sm mathsymbol, So othersymbol, Z separator, Zl lineseparator, Zp paragraphseparator, Zs spaceseparator
"""
_BY_NAME = {
    name.lower(): short
    for short, long in (pair.split() for pair in _CATEGORIES.split(","))
    for name in (short, long)
}
_LAST = 0x10FFFF
_MEMORY = 1 << 26  # for a compiled pattern: `\w{1000}` fits


def positive(of: Class) -> str | None:
    """The text for a class between the brackets of RE2; None if RE2 has none."""
    if not of.negated:
        return of.text
    return rf"\P{of.text[2:]}" if re.fullmatch(r"\\p\{\w+\}", of.text) else None


def property_class(kind: str, name: str) -> Class | None:
    """The characters with a property of Unicode, by any of its names and perhaps the kind of property."""
    plain = re.sub(r"[\s_-]", "", name).lower()
    if kind.lower() in ("", "gc", "general_category"):
        if plain in _SPECIAL:
            return _SPECIAL[plain]
        if plain in _BY_NAME:
            return Class(rf"\p{{{_BY_NAME[plain]}}}")
    return _script(name) if kind.lower() in ("", "sc", "script") else None


def _script(name: str) -> Class | None:
    titled = "_".join(part.capitalize() for part in re.split(r"[\s_-]+", name))
    for each in (name, titled):
        if re.fullmatch("[A-Za-z_]+", each) and _is_script(each):
            return Class(rf"\p{{{each}}}")
    return None


@cache
def _is_script(name: str) -> bool:
    try:
        compiled(rf"\p{{{name}}}")
    except ValueError:
        return False
    return True


def compiled(pattern: str) -> Any:
    """The pattern, compiled by RE2. Raises ValueError with the reason."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        raise ValueError(reason.decode() if isinstance(reason, bytes) else reason) from None


@lru_cache(maxsize=16)
def marks_of(pattern: str) -> Marks:
    """The characters that a pattern of one character matches."""
    marks = np.zeros(_LAST + 1, np.bool_)
    for each in compiled(f"(?:{pattern})+").finditer(_characters()):
        found = each.group().decode()
        marks[ord(found[0]) : ord(found[-1]) + 1] = True
    return marks


@cache
def _characters() -> bytes:
    return "".join(map(chr, (*range(0xD800), *range(0xE000, _LAST + 1)))).encode()


def written(of: Marks) -> Class:
    """The class of the characters."""
    ends = np.flatnonzero(np.diff(of, prepend=False, append=False))
    ranges = zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True)
    return Class("".join(rf"\x{{{low:x}}}-\x{{{end - 1:x}}}" for low, end in ranges)) if len(ends) else NONE
