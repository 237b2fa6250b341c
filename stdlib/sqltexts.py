"""Functions of strings of the module `sql`."""

from __future__ import annotations

import re
from functools import lru_cache

from ..engine.memory import reserve
from ..values import Fault, Vec
from .strings import string_replace


@lru_cache(maxsize=256)
def _pattern(pattern: str, escape: str, any_case: bool) -> re.Pattern[str]:
    made, letters = "", iter(pattern)
    for letter in letters:
        if escape and letter == escape:
            following = next(letters, None)
            if following is None:
                raise Fault("a pattern of LIKE must not end with the escape character")
            made += re.escape(following)
        else:
            made += {"%": ".*", "_": "."}.get(letter) or re.escape(letter)
    return re.compile(made, re.DOTALL | (re.IGNORECASE if any_case else 0))


def like(text: str, pattern: str, escape: str) -> bool:
    return _pattern(pattern, escape, False).fullmatch(text) is not None


def ilike(text: str, pattern: str, escape: str) -> bool:
    return _pattern(pattern, escape, True).fullmatch(text) is not None


def regexp_matches(text: str, pattern: str) -> bool:
    from .regex import regex_match, try_regex

    found = try_regex(pattern)
    if found[0] != 0:
        raise Fault(f'"{pattern}" is no regular expression: {found[1]}')
    return regex_match(found[1], text)


def length(text: str) -> int:
    return len(text)


def position(text: str, part: str) -> int:
    return text.find(part) + 1


def substring(text: str, start: int, count: int) -> str:
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else -1
    end = begin + count
    if end < begin:
        begin, end = end, begin
    return text[max(begin, 0) : max(end, 0)]


def substring_from(text: str, start: int) -> str:
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    return text[max(begin, 0) :]


def left(text: str, count: int) -> str:
    return text[:count] if count >= 0 else text[: max(len(text) + count, 0)]


def right(text: str, count: int) -> str:
    return text[max(len(text) - count, 0) :] if count >= 0 else text[-count:]


def upper(text: str) -> str:
    return "".join(each.upper() if len(each.upper()) == 1 else each for each in text)


def lower(text: str) -> str:
    return "".join(each.lower() if len(each.lower()) == 1 else each for each in text)


def reversed(text: str) -> str:
    return text[::-1]


def replaced(text: str, part: str, by: str) -> str:
    return string_replace(text, part, by) if part else text


def repeated(text: str, times: int) -> str:
    reserve(len(text) * max(times, 0))
    return text * max(times, 0)


def trim_both(text: str, letters: str) -> str:
    return text.strip(letters) if letters else text


def trim_leading(text: str, letters: str) -> str:
    return text.lstrip(letters) if letters else text


def trim_trailing(text: str, letters: str) -> str:
    return text.rstrip(letters) if letters else text


def _filling(missing: int, fill: str) -> str:
    if missing > 0 and not fill:
        raise Fault("there is nothing to pad with")
    reserve(2 * max(missing, 0))
    return (fill * -(-missing // len(fill)))[:missing] if missing > 0 else ""


def pad_left(text: str, count: int, fill: str) -> str:
    return _filling(count - len(text), fill) + text[: max(count, 0)]


def pad_right(text: str, count: int, fill: str) -> str:
    return text[: max(count, 0)] + _filling(count - len(text), fill)


def concat_ws(separator: str, parts: Vec) -> str:
    return separator.join(each[1] for each in parts if each[0] == 1)
