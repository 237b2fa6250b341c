"""Dates and times as whole numbers of a unit, as Arrow has them, and back. What is no value, or finer than
the unit, raises ValueError."""

from __future__ import annotations

from ..values import Fault, Struct
from . import calendar
from .time import DateTime, Time

_EPOCH = 2_440_588  # the Julian day number of 1970-01-01
_DAY = 86_400 * 1_000_000_000


def nanos_of(value: Struct) -> int:
    """The nanoseconds of a Time since midnight."""
    hour, minute, second, nanosecond = value
    if hour > 23 or minute > 59 or second > 59 or nanosecond > 999_999_999:
        raise ValueError(f"there is no time {hour}:{minute}:{second}")
    seconds: int = (hour * 60 + minute) * 60 + second
    return seconds * 1_000_000_000 + int(nanosecond)


def time_of(nanos: int) -> Struct:
    """The Time of so many nanoseconds since midnight."""
    seconds, nanosecond = divmod(nanos, 1_000_000_000)
    minutes, second = divmod(seconds, 60)
    return Time(*divmod(minutes, 60), second, nanosecond)


def days_of(value: Struct) -> int:
    """The days of a Date since 1970."""
    try:
        return calendar.number(value) - _EPOCH
    except Fault as fault:
        raise ValueError(fault.message) from None


def date_of(days: int) -> Struct:
    """The Date of so many days since 1970."""
    return calendar.from_number(_EPOCH + days)


def micros_of(value: Struct) -> int:
    """The microseconds of a DateTime since 1970."""
    micros, finer = divmod(days_of(value[0]) * _DAY + nanos_of(value[1]), 1000)
    if finer:
        raise ValueError("a time has parts of a microsecond")
    return micros


def date_time_of(micros: int) -> Struct:
    """The DateTime of so many microseconds since 1970."""
    days, nanos = divmod(micros * 1000, _DAY)
    return DateTime(date_of(days), time_of(nanos))
