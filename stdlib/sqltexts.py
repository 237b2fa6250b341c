"""Functions of strings of the module `sql`."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from ..engine.memory import reserve
from ..values import Fault, Vec
from .regex import searched
from .strings import string_replace

_WORD = re.compile(r"[^\W_]+")


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
    return searched(pattern, ascii=True).search(text) is not None


def glob(text: str, pattern: str) -> bool:
    made = _of_glob(pattern)
    return made is not None and searched(made, ascii=True).fullmatch(text) is not None


@lru_cache(maxsize=1 << 10)
def _of_glob(pattern: str) -> str | None:
    """The regular expression of a pattern with `*`, `?` and `[a-c]`; None for one that nothing matches."""
    made, at = "(?s)", 0
    while at < len(pattern):
        sign, at = pattern[at], at + 1
        match sign:
            case "*":
                made += ".*"
            case "?":
                made += "."
            case "[":
                negated = pattern[at : at + 1] in ("!", "^")
                at += negated
                end = pattern.find("]", at + 1)
                if end < 0:
                    return None
                inside = re.sub(r"[\\\[\]^&~]", r"\\\g<0>", pattern[at:end])
                made, at = f"{made}[{'^' * negated}{inside}]", end + 1
            case _:
                at += sign == "\\" and at < len(pattern)
                made += re.sub(r"[][\\.^$|?*+(){}]", r"\\\g<0>", pattern[at - 1])
    return made


def text_slice(text: str, from_: int, to: int) -> str:
    first, last = (each + len(text) + 1 if each < 0 else each for each in (from_, to))
    return text[max(first, 1) - 1 : max(last, 0)]


def initcap(text: str) -> str:
    return _WORD.sub(lambda word: word[0][0].upper() + word[0][1:].lower(), text)


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
    return "".join("ẞ" if each == "ß" else each.upper() if len(each.upper()) == 1 else each for each in text)


def lower(text: str) -> str:
    return "".join("i" if each == "İ" else each.lower() if len(each.lower()) == 1 else each for each in text)


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


def split_part(text: str, by: str, at: int) -> str:
    parts = text.split(by) if by else list(text)
    place = at - 1 if at > 0 else len(parts) + at
    return parts[place] if at and 0 <= place < len(parts) else ""


def translated(text: str, letters: str, by: str) -> str:
    table = {ord(letter): by[at] if at < len(by) else None for at, letter in reversed_pairs(letters)}
    return text.translate(table)


def reversed_pairs(letters: str) -> list[tuple[int, str]]:
    """The letters with their places, last first, so that in a table the first of equal ones wins."""
    return list(enumerate(letters))[::-1]


def chr(letter: int) -> str:
    if not 0 <= letter < 0x110000 or 0xD800 <= letter < 0xE000:
        raise Fault(f"{letter} is no letter")
    return f"{letter:c}"


def ascii(text: str) -> int:
    return ord(text[0]) if text else 0


def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def hex_text(text: str) -> str:
    return text.encode().hex().upper()


def levenshtein(a: str, b: str) -> int:
    reserve(len(b) * 8)
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def format_integer(form: str, a: int) -> str:
    return format(a, form)


def format_double(form: str, a: float) -> str:
    return format(float(a), form)


def format_text(form: str, a: str) -> str:
    return format(a, form)
