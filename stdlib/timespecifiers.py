"""The specifiers of time formats: what time.dl's header lists, with what each writes and reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..values import Struct
from . import calendar

Fields = dict[str, int]

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Moment:
    """The value to format; `timestamp` is in seconds."""

    date: Struct | None = None
    time: Struct | None = None
    offset: int | None = None
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class NumberSpecifier:
    """A specifier of a number, with its greatest number of digits; years have more, after a sign."""

    field: str
    needs: str
    digits: int
    value: Callable[[Struct], int]
    padding: str = "0"
    is_year: bool = False


@dataclass(frozen=True, slots=True)
class NameSpecifier:
    """A specifier of one of several names; parsing gives the place of the name, from `first` on."""

    field: str
    needs: str
    names: tuple[str, ...]
    value: Callable[[Struct], int]
    first: int = 1


@dataclass(frozen=True, slots=True)
class Form:
    """A specifier that is written and read in its own way."""

    needs: str
    write: Callable[[Any], str]
    pattern: str
    read: Callable[[str], Fields]


Specifier = NumberSpecifier | NameSpecifier | Form


@dataclass(frozen=True, slots=True, eq=False)
class TimeDialect:
    """The specifiers that formats may have, and whether parsed numbers may be short and names in any case."""

    specifiers: Mapping[str, Specifier]
    composites: Mapping[str, str]
    lenient: bool = False


# ------------------------------------------------------------------ specifiers


def _short(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name[:3] for name in names)


def _twelve(time: Struct) -> int:
    hour: int = time[0]
    return (hour + 11) % 12 + 1


def _afternoon(time: Struct) -> int:
    return int(time[0] >= 12)


def _weekday(date: Struct) -> int:
    return calendar.iso(date)[2]


def offset_text(seconds: int, colon: str = "") -> str:
    """An offset from UTC, as `+0130`."""
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02}{colon}{minutes:02}"


def read_offset(text: str) -> int:
    """The seconds of `+0130` or `+01:30`."""
    seconds = int(text[1:3]) * 3600 + int(text[-2:]) * 60
    return -seconds if text[0] == "-" else seconds


def fraction_text(nanoseconds: int) -> str:
    """`.` and three, six or nine digits; nothing for a whole second."""
    digits = f"{nanoseconds:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}" if digits else ""


def read_fraction(text: str) -> int:
    """The nanoseconds of digits after a point, of which nine count."""
    return int(text.removeprefix(".").ljust(9, "0")[:9])


def _offset(colon: str) -> Form:
    return Form(
        "offset",
        lambda offset: offset_text(offset, colon),
        r"[+-][0-9]{2}:?[0-5][0-9]",
        lambda text: {"offset": read_offset(text)},
    )


_NANOSECONDS = Form(
    "time",
    lambda time: f"{time[3]:09}",
    r"[0-9]{1,9}",
    lambda text: {"nanosecond": read_fraction(text)},
)
_FRACTION = Form(
    "time",
    lambda time: fraction_text(time[3]),
    r"(?:\.[0-9]{1,9})?",
    lambda text: {"nanosecond": read_fraction(text)},
)


_SPECIFIERS: dict[str, Specifier] = {
    "a": NameSpecifier("weekday", "date", _short(DAYS), _weekday),
    "A": NameSpecifier("weekday", "date", DAYS, _weekday),
    "b": NameSpecifier("month", "date", _short(MONTHS), lambda d: d[1]),
    "B": NameSpecifier("month", "date", MONTHS, lambda d: d[1]),
    "C": NumberSpecifier("century", "date", 2, lambda d: d[0] // 100),
    "d": NumberSpecifier("day", "date", 2, lambda d: d[2]),
    "g": NumberSpecifier("iso_year_of_century", "date", 2, lambda d: calendar.iso(d)[0] % 100),
    "G": NumberSpecifier("iso_year", "date", 4, lambda d: calendar.iso(d)[0], is_year=True),
    "H": NumberSpecifier("hour", "time", 2, lambda t: t[0]),
    "I": NumberSpecifier("hour_of_12", "time", 2, _twelve),
    "j": NumberSpecifier("ordinal", "date", 3, calendar.ordinal),
    "m": NumberSpecifier("month", "date", 2, lambda d: d[1]),
    "M": NumberSpecifier("minute", "time", 2, lambda t: t[1]),
    "f": _NANOSECONDS,
    ".f": _FRACTION,
    "N": _NANOSECONDS,
    "p": NameSpecifier("afternoon", "time", ("am", "pm"), _afternoon, 0),
    "P": NameSpecifier("afternoon", "time", ("AM", "PM"), _afternoon, 0),
    "S": NumberSpecifier("second", "time", 2, lambda t: t[2]),
    "u": NumberSpecifier("weekday", "date", 1, _weekday),
    "U": NumberSpecifier("sunday_week", "date", 2, lambda d: calendar.week_from(d, 7)),
    "V": NumberSpecifier("iso_week", "date", 2, lambda d: calendar.iso(d)[1]),
    "w": NumberSpecifier("sunday_weekday", "date", 1, lambda d: _weekday(d) % 7),
    "W": NumberSpecifier("monday_week", "date", 2, lambda d: calendar.week_from(d, 1)),
    "y": NumberSpecifier("year_of_century", "date", 2, lambda d: d[0] % 100),
    "Y": NumberSpecifier("year", "date", 4, lambda d: d[0], is_year=True),
    "z": _offset(""),
}

PLAIN = TimeDialect(
    _SPECIFIERS,
    {
        "c": "%a %b %-d %-H:%M:%S %-Y",
        "D": "%-m/%d/%y",
        "F": "%-Y-%m-%d",
        "r": "%-I:%M:%S %p",
        "R": "%-H:%M",
        "T": "%-H:%M:%S",
    },
)
"""The formats of times, dates, and dates with times."""

WITH_OFFSET = TimeDialect(
    {
        **_SPECIFIERS,
        "p": _SPECIFIERS["P"],
        "P": _SPECIFIERS["p"],
        "e": NumberSpecifier("day", "date", 2, lambda d: d[2], " "),
        "h": _SPECIFIERS["b"],
        "k": NumberSpecifier("hour", "time", 2, lambda t: t[0], " "),
        "l": NumberSpecifier("hour_of_12", "time", 2, _twelve, " "),
        ":z": _offset(":"),
        "s": Form(
            "timestamp",
            str,
            r"[+-]?[0-9]{1,15}",
            lambda text: {"timestamp": int(text)},
        ),
    },
    {
        "c": "%a %b %e %H:%M:%S %Y",
        "D": "%m/%d/%y",
        "F": "%Y-%m-%d",
        "n": "\n",
        "r": "%I:%M:%S %p",
        "R": "%H:%M",
        "t": "\t",
        "T": "%H:%M:%S",
        "v": "%e-%b-%Y",
        "x": "%m/%d/%y",
        "X": "%H:%M:%S",
        "+": "%Y-%m-%dT%H:%M:%S%.f%:z",
    },
    lenient=True,
)
"""The formats of dates with times and offsets."""
