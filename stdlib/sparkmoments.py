"""Dates and times of the module `sparksql`: patterns such as `yyyy-MM-dd`, months between days."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from ..values import Fault, Struct, canonical_float
from .options import NONE, some
from .sqlvalues import DAY, date_of, make_date
from .timespecifiers import DAYS, MONTHS

_PART = re.compile(r"([A-Za-z])\1*|'((?:[^']|'')*)'|([^A-Za-z'\[\]#{}]+)|(.)", re.DOTALL)
_MOST = {
    "y": 6, "M": 4, "L": 4, "d": 2, "D": 3, "H": 2, "k": 2, "K": 2, "h": 2, "m": 2, "s": 2, "S": 6, "a": 1,
    "E": 4, "Q": 2, "q": 2,
}  # fmt: skip
UNREAD = "EDQqkK"
"""Letters of patterns that moments are written by, but not read."""


@lru_cache(maxsize=256)
def parts_of(pattern: str) -> tuple[tuple[str, int, str], ...]:
    """The parts of a pattern: a letter with how often it stands there, or none and a text. Raises
    ValueError."""
    made = list[tuple[str, int, str]]()
    for found in _PART.finditer(pattern):
        letter, quoted, plain, wrong = found[1], found[2], found[3], found[4]
        count = len(found.group())
        if letter is not None and count <= _MOST.get(letter, 0):
            made.append((letter, count, ""))
        elif letter is not None or wrong is not None:
            raise ValueError(f"`{found.group()}` is not known in a pattern of moments")
        else:
            text = plain if quoted is None else quoted.replace("''", "'") or "'"
            made.append(("", 0, text))
    return tuple(made)


def _parts(pattern: str) -> tuple[tuple[str, int, str], ...]:
    try:
        return parts_of(pattern)
    except ValueError as error:
        raise Fault(str(error)) from None


def moment_text(micros: int, pattern: str) -> str:
    days, rest = divmod(micros, DAY)
    date, seconds = date_of(days), rest // 1_000_000
    hour, fraction = seconds // 3600, f"{rest % 1_000_000:06}"

    def written(letter: str, count: int) -> str:
        number = {
            "M": date.month, "L": date.month, "d": date.day, "D": date.timetuple().tm_yday,
            "H": hour, "k": hour or 24, "K": hour % 12, "h": hour % 12 or 12, "m": seconds // 60 % 60,
            "s": seconds % 60, "Q": (date.month + 2) // 3, "q": (date.month + 2) // 3,
        }.get(letter)  # fmt: skip
        if letter == "y":
            return f"{date.year % 100:02}" if count == 2 else str(date.year).rjust(count, "0")
        if letter in "ML" and count > 2:
            return MONTHS[date.month - 1][: 3 if count == 3 else None]
        if letter == "E":
            return DAYS[date.weekday()][: 3 if count < 4 else None]
        if letter == "a":
            return "AM" if hour < 12 else "PM"
        return fraction[:count] if letter == "S" else str(number).rjust(count, "0")

    return "".join(written(letter, count) if letter else text for letter, count, text in _parts(pattern))


def read_moment(text: str, pattern: str) -> Struct:
    found = _reader(pattern)(text)
    if found is None:
        return NONE
    year, hour, half = int(found.get("y", 1970)), int(found.get("H", found.get("h", 0))), found.get("a", "")
    if "yy" in found:
        year = 2000 + int(found["yy"])
    month = found.get("M", "1")
    number = int(month) if month.isdigit() else [each[: len(month)] for each in MONTHS].index(month) + 1
    minute, second = int(found.get("m", 0)), int(found.get("s", 0))
    if "h" in found:
        if not 1 <= hour <= 12:
            return NONE
        hour = hour % 12 + (12 if half == "PM" else 0)
    try:
        days = make_date(year, number, int(found.get("d", 1)))
    except Fault:
        return NONE
    if hour > 23 or minute > 59 or second > 59:
        return NONE
    clock = ((hour * 60 + minute) * 60 + second) * 1_000_000
    return some(days * DAY + clock + int(found.get("S", "0").ljust(6, "0")))


@lru_cache(maxsize=256)
def _reader(pattern: str) -> Callable[[str], dict[str, str] | None]:
    """A function that gives the texts of the parts of a moment by their letters, None for a text that does
    not fit."""
    made = ""
    for letter, count, text in _parts(pattern):
        name = "M" if letter == "L" else letter
        if not letter:
            made += re.escape(text)
        elif letter in UNREAD:
            raise Fault(f"moments are not read by `{letter}`")
        elif name == "y":
            made += r"(?P<yy>\d\d)" if count == 2 else rf"(?P<y>\d{{{count if count > 1 else '1,6'}}})"
        elif name == "M" and count > 2:
            made += f"(?P<M>{'|'.join(each[: 3 if count == 3 else None] for each in MONTHS)})"
        elif name == "a":
            made += "(?P<a>AM|PM)"
        else:
            made += rf"(?P<{name}>\d{{{'1,2' if count == 1 and name != 'S' else count}}})"
    try:
        compiled = re.compile(made)
    except re.error:
        raise Fault(f"`{pattern}` has a part twice") from None

    def read(text: str) -> dict[str, str] | None:
        found = compiled.fullmatch(text)
        return None if found is None else found.groupdict()

    return read


_DATE = re.compile(r"(\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_TIMESTAMP = re.compile(
    r"(\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](?:(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{0,9}))?)?)?)?)?)?"
    r"(?:Z|UTC|[+]00:00)?"
)


def read_date(text: str) -> Struct:
    found = _DATE.fullmatch(text.strip())
    return NONE if found is None else _day(found)


def _day(found: re.Match[str]) -> Struct:
    try:
        return some(make_date(int(found[1]), int(found[2] or 1), int(found[3] or 1)))
    except Fault:
        return NONE


def read_timestamp(text: str) -> Struct:
    found = _TIMESTAMP.fullmatch(text.strip())
    if found is None:
        return NONE
    day, (hour, minute, second) = _day(found), (int(found[at] or 0) for at in (4, 5, 6))
    if day == NONE or hour > 23 or minute > 59 or second > 59:
        return NONE
    clock = ((hour * 60 + minute) * 60 + second) * 1_000_000
    return some(day[1] * DAY + clock + int((found[7] or "")[:6].ljust(6, "0")))


def months_between(later: int, earlier: int, round: bool) -> float:
    (a, rest_a), (b, rest_b) = divmod(later, DAY), divmod(earlier, DAY)
    one, other = date_of(a), date_of(b)
    months = (one.year - other.year) * 12 + one.month - other.month

    def is_last(days: int) -> bool:
        return date_of(days + 1).day == 1

    if one.day == other.day or (is_last(a) and is_last(b)):
        return float(months)
    seconds = (one.day - other.day) * 86_400 + (rest_a - rest_b) // 1_000_000
    found = months + seconds / (31 * 86_400)
    return canonical_float(float(f"{found:.8f}") if round else found)


def next_day(days: int, name: str) -> Struct:
    short = name.strip().upper()
    for at, each in enumerate(DAYS):
        if short in (each.upper(), each[:3].upper(), each[:2].upper()):
            return some(days + 1 + (at - date_of(days).weekday() - 1) % 7)
    return NONE
