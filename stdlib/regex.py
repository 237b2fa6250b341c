"""The functions that regex.dl declares `extern`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..values import Fault, Struct, Vec
from .options import NONE, err, ok, some
from .regexclasses import compiled
from .regexsyntax import SyntaxFault, translated
from .structs import struct

Regex = struct("regex::Regex", "pattern")
RegexSet = struct("regex::RegexSet", "patterns")

_NEVER = Regex("a^")


def regex(pattern: str) -> Struct:
    return Regex(pattern) if _wrong(pattern) is None else _NEVER


def try_regex(pattern: str) -> Struct:
    wrong = _wrong(pattern)
    return ok(Regex(pattern)) if wrong is None else err(wrong)


def regex_match(regex: Struct, text: str) -> bool:
    return _matches(regex[0], text)


def regex_first_match(regex: Struct, text: str) -> Struct:
    found = searched(regex[0]).search(text)
    return NONE if found is None else some(found.group())


def regex_all_matches(regex: Struct, text: str) -> Vec:
    """The matches. An empty one does not begin where another ends."""
    found, end = [], -1
    for each in searched(regex[0]).finditer(text):
        if each.end() > each.start() or each.start() != end:
            found.append(each.group())
        end = each.end()
    return Vec(found)


def regex_set(pattern: Vec) -> Struct:
    return RegexSet(Vec(pattern) if all(_wrong(each) is None for each in pattern) else Vec())


def try_regex_set(patterns: Vec) -> Struct:
    wrong = next((text for text in map(_wrong, patterns) if text is not None), None)
    return ok(RegexSet(patterns)) if wrong is None else err(wrong)


def regex_set_match(regex: Struct, text: str) -> bool:
    return any(_matches(pattern, text) for pattern in regex[0])


def _matches(pattern: str, text: str) -> bool:
    return searched(pattern).search(text) is not None


def _wrong(pattern: str) -> str | None:
    """The error of a pattern."""
    found = _tried(pattern)
    return found if isinstance(found, str) else None


def searched(pattern: str, captures: bool = False, ascii: bool = False) -> Any:
    """The compiled pattern, whose groups are kept if it `captures`; with `ascii`, letters, digits and spaces
    are those of ASCII. Raises Fault."""
    found = _tried(pattern, captures, ascii)
    if isinstance(found, str):
        raise Fault(found)
    return found


@lru_cache(maxsize=512)
def _tried(pattern: str, captures: bool = False, ascii: bool = False) -> Any:
    """The compiled pattern, or the error in it."""
    try:
        return compiled(translated(f"(?-u){pattern}" if ascii else pattern, captures))
    except (SyntaxFault, ValueError) as error:
        return f"in the regular expression `{pattern}`: {error}"
