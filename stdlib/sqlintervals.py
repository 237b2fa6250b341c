"""Intervals of the module `sql`: months, days and microseconds, read and written as SQL does."""

from __future__ import annotations

import re
from fractions import Fraction

from ..values import Fault, Struct
from .options import NONE, some
from .sqlvalues import DAY, add_months, date_of, time_text
from .structs import struct

_HOUR, _MINUTE, _SECOND = 3_600_000_000, 60_000_000, 1_000_000
Interval = struct("sql::Interval", "months", "days", "micros")

UNITS: dict[str, tuple[int, int]] = {
    "MILLENNIUM": (0, 12_000), "CENTURY": (0, 1200), "DECADE": (0, 120), "YEAR": (0, 12), "QUARTER": (0, 3),
    "MONTH": (0, 1), "WEEK": (1, 7), "DAY": (1, 1), "HOUR": (2, _HOUR), "MINUTE": (2, _MINUTE),
    "SECOND": (2, _SECOND), "MILLISECOND": (2, 1000), "MICROSECOND": (2, 1),
}  # fmt: skip
"""For each unit which part of an interval has it, and how often."""
_SHORT = {
    "Y": "YEAR", "YR": "YEAR", "MON": "MONTH", "W": "WEEK", "D": "DAY", "H": "HOUR", "HR": "HOUR",
    "M": "MINUTE", "MIN": "MINUTE", "S": "SECOND", "SEC": "SECOND", "MS": "MILLISECOND",
    "MSEC": "MILLISECOND",
    "US": "MICROSECOND", "USEC": "MICROSECOND", "CENTURIES": "CENTURY", "MILLENNIA": "MILLENNIUM",
}  # fmt: skip
_PARTS = re.compile(r"\s*,?\s*([+-]?\d+(?:\.\d*)?)(?:\s*([a-zA-Z]+)|(?::(\d+)(?::(\d+(?:\.\d*)?))?))?")


def called_unit(word: str) -> str:
    """The name of the unit that a word means, in whatever number and case; empty for another word."""
    name = word.upper()
    found = (_SHORT.get(each, each) for each in (name, name.removesuffix("S")))
    return next((each for each in found if each in UNITS), "")


def unit_of(word: str) -> tuple[int, int] | None:
    """The unit that a word names, in whatever number and case; None for another word."""
    return UNITS.get(called_unit(word))


def interval_of(text: str) -> tuple[int, int, int]:
    """The months, days and microseconds of an interval, as `1 day 02:00:00`. Raises ValueError."""
    text, ago = text.strip(), 1
    if text.lower().endswith(" ago"):
        text, ago = text[:-4], -1
    found, at = [Fraction(0), Fraction(0), Fraction(0)], 0
    while at < len(text):
        part = _PARTS.match(text, at)
        if part is None:
            raise ValueError("not numbers with units")
        number, word, minutes, seconds = part.groups()
        if minutes is not None:
            sign = -1 if number.startswith("-") else 1
            found[2] += Fraction(number) * _HOUR + sign * (int(minutes) * _MINUTE)
            found[2] += sign * Fraction(seconds or 0) * _SECOND
        else:
            unit = unit_of(word or "SECOND")
            if unit is None:
                raise ValueError(f"{word} is no unit")
            found[unit[0]] += Fraction(number) * unit[1]
        at = part.end()
    if not text:
        raise ValueError("nothing")
    return whole(*(ago * each for each in found))


def whole(months: Fraction, days: Fraction, micros: Fraction) -> tuple[int, int, int]:
    """The parts as whole numbers: a rest of a month is days, and one of a day a time."""
    days += (months - int(months)) * 30
    micros += (days - int(days)) * DAY
    return int(months), int(days), round(micros)


def read_interval(text: str) -> Struct:
    try:
        return some(Interval(*interval_of(text)))
    except (ValueError, ZeroDivisionError):
        return NONE


def interval_text(x: Struct) -> str:
    months, days, micros = x
    sign = 1 if months > 0 else -1
    years, months = sign * (abs(months) // 12), sign * (abs(months) % 12)
    found = [
        f"{number} {name}{'s' if abs(number) != 1 else ''}"
        for number, name in ((years, "year"), (months, "month"), (days, "day"))
        if number
    ]
    if micros or not found:
        found.append(f"{'-' if micros < 0 else ''}{time_text(abs(micros))}")
    return " ".join(found)


def add_interval(micros: int, x: Struct) -> int:
    days, rest = divmod(micros, DAY)
    return int((add_months(days, x[0]) + x[1]) * DAY + rest + x[2])


def scaled(x: Struct, by: float) -> Struct:
    try:
        factor = Fraction(by)
    except (ValueError, OverflowError):
        raise Fault(f"an interval times {by} is no interval") from None
    return Interval(*whole(*(each * factor for each in x)))


def divided(x: Struct, by: float) -> Struct:
    if not by:
        raise Fault("division by zero")
    return Interval(*whole(*(each / Fraction(by) for each in x)))


def interval_part(part: str, x: Struct) -> int:
    held, size = UNITS[part]
    number: int = x[held]
    above = {"MONTH": 12, "QUARTER": 12, "MINUTE": _HOUR, "SECOND": _MINUTE}.get(part)
    if above is not None:
        number = number % above if number >= 0 else -(-number % above)
    found = number // size if number >= 0 else -(-number // size)
    return found + 1 if part == "QUARTER" else found


def age(later: int, earlier: int) -> Struct:
    if later < earlier:
        return Interval(*(-each for each in age(earlier, later)))
    a, b = date_of(later // DAY), date_of(earlier // DAY)
    months, rest = (a.year - b.year) * 12 + a.month - b.month, later % DAY - earlier % DAY
    days = a.day - b.day
    if rest < 0:
        days, rest = days - 1, rest + DAY
    if days < 0:
        months -= 1
        first = add_months(earlier // DAY - (b.day - 1), 1)
        days += first - (earlier // DAY - (b.day - 1))
    return Interval(months, days, rest)


def bucket(x: Struct, micros: int, origin: int) -> int:
    months, days, rest = x
    if months and not days and not rest:
        if months < 0:
            raise Fault("a bucket is as long as an interval that is not negative")
        start, first = date_of(micros // DAY), date_of(origin // DAY)
        count = (start.year - first.year) * 12 + start.month - first.month
        return add_months(origin // DAY - first.day + 1, count // months * months) * DAY
    width = days * DAY + rest
    if months or width <= 0:
        raise Fault("a bucket has months alone, or days and a time")
    return int(origin + (micros - origin) // width * width)
