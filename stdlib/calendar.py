"""The Gregorian calendar, for years of any size and sign."""

from __future__ import annotations

import datetime

from ..values import Fault, Struct
from .structs import struct

Date = struct("time::Date", "year", "month", "day")

FIRST_YEAR, LAST_YEAR = -100_000, 100_000
_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097
_BEFORE_YEAR_1 = 1_721_425


class OutOfRange(Exception):
    """A part of a date or time that is not in its range."""


def check(name: str, value: int, least: int, greatest: int, depends: bool = False) -> int:
    """The value, if it is in its range; the range may depend on other values."""
    if not least <= value <= greatest:
        reason = ", given values of other parameters" if depends else ""
        raise OutOfRange(f"{name} must be in the range {least}..={greatest}{reason}")
    return value


def from_ymd(year: int, month: int, day: int) -> Struct:
    """The date, or OutOfRange."""
    check("year", year, FIRST_YEAR, LAST_YEAR)
    check("month", month, 1, 12)
    check("day", day, 1, _days_of_month(year, month), depends=True)
    return Date(year, month, day)


def from_yo(year: int, ordinal: int) -> Struct:
    """The date of a day of the year, or OutOfRange."""
    check("year", year, FIRST_YEAR, LAST_YEAR)
    first, last = number(Date(year, 1, 1)), number(Date(year, 12, 31))
    check("ordinal", ordinal, 1, last - first + 1, depends=True)
    return from_number(first + ordinal - 1)


def from_iso(year: int, week: int, weekday: int) -> Struct:
    """The date of a day (Monday is 1) of an ISO week, or OutOfRange."""
    check("year", year, FIRST_YEAR, LAST_YEAR)
    check("week", week, 1, iso(Date(year, 12, 28))[1], depends=True)
    in_first_week = Date(year, 1, 4)
    monday = number(in_first_week) - iso(in_first_week)[2] + 1
    return in_range(monday + 7 * (week - 1) + weekday - 1)


def from_week(year: int, week: int, weekday: int, starts_on: int) -> Struct:
    """The date of a day (Monday is 1) of a week. Week 1 begins with the first `starts_on` of the year."""
    check("week", week, 0, 53)
    new_year = number(from_ymd(year, 1, 1))
    start = new_year + (starts_on - 1 - new_year) % 7
    return in_range(start + 7 * (week - 1) + (weekday - starts_on) % 7)


def known(date: Struct) -> Struct:
    """The date itself. Raises Fault if there is no such day: structs can be built with any fields."""
    try:
        return from_ymd(*date)
    except OutOfRange:
        raise Fault("there is no day {}-{:02}-{:02}".format(*date)) from None


def is_known(date: Struct) -> bool:
    """Whether there is such a day."""
    try:
        return from_ymd(*date) is not None
    except OutOfRange:
        return False


def number(date: Struct) -> int:
    """The Julian day number."""
    day, years = _shifted(date)
    return day.toordinal() + years // _CYCLE_YEARS * _CYCLE_DAYS + _BEFORE_YEAR_1


def from_number(julian: int) -> Struct:
    """The date of a Julian day number. Raises Fault where the calendar ends."""
    try:
        return in_range(julian)
    except OutOfRange:
        raise Fault(f"the years of dates go from {FIRST_YEAR} to {LAST_YEAR}") from None


def in_range(julian: int) -> Struct:
    """The date of a Julian day number, or OutOfRange."""
    cycles, day = divmod(julian - _BEFORE_YEAR_1 - 1, _CYCLE_DAYS)
    found = datetime.date.fromordinal(day + 1)
    year = check("year", found.year + cycles * _CYCLE_YEARS, FIRST_YEAR, LAST_YEAR)
    return Date(year, found.month, found.day)


def ordinal(date: Struct) -> int:
    """The day of the year, from 1."""
    return number(date) - number(Date(date[0], 1, 1)) + 1


def iso(date: Struct) -> tuple[int, int, int]:
    """The year of the ISO week, the week, and the day of the week (Monday is 1)."""
    day, years = _shifted(date)
    year, week, weekday = day.isocalendar()
    return year + years, week, weekday


def week_from(date: Struct, starts_on: int) -> int:
    """The week of the year; week 1 begins with its first day that is the one to start on (Monday is 1)."""
    since_start = (iso(date)[2] - starts_on) % 7
    return (ordinal(date) + 6 - since_start) // 7


def _shifted(date: Struct) -> tuple[datetime.date, int]:
    """The same day in the first cycle of the calendar, and how many years were taken off."""
    year, month, day = known(date)
    cycles, of_cycle = divmod(year - 1, _CYCLE_YEARS)
    return datetime.date(of_cycle + 1, month, day), cycles * _CYCLE_YEARS


def _days_of_month(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31
