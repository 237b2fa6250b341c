"""Values of the library's types to text, and to the objects of Python's library that stand for them.

A writer returns None for a struct that is no value, such as a day of the 13th month, and for one that its
text does not give back. The maker of an object returns the value itself where Python has no such object: for
a year beyond 9999, and for a part of a microsecond.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import Any, cast
from uuid import UUID

from ..values import Struct
from . import calendar
from .timespecifiers import fraction_text

_DAY = 86_400
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)

# ----------------------------------------------------------------------- texts


def time(value: Struct) -> str | None:
    """A Time as `10:11:12`, with the fraction of the second if there is one."""
    hour, minute, second, nanosecond = value
    if not _is_time(value):
        return None
    return f"{hour:02}:{minute:02}:{second:02}{fraction_text(nanosecond)}"


def _is_time(value: Struct) -> bool:
    hour, minute, second, nanosecond = value
    return hour < 24 and minute < 60 and second < 60 and nanosecond < 1_000_000_000  # type: ignore[no-any-return]


def date(value: Struct) -> str | None:
    """A Date as `2021-03-04`, with a sign before a year of five digits."""
    year, month, day = value
    if not calendar.is_known(value):
        return None
    return f"{'-' if year < 0 else '+' if year > 9999 else ''}{abs(year):04}-{month:02}-{day:02}"


def date_time(value: Struct) -> str | None:
    """A DateTime as `2021-03-04T10:11:12`."""
    day, clock = date(value[0]), time(value[1])
    return None if day is None or clock is None else f"{day}T{clock}"


def tz_date_time(value: Struct) -> str | None:
    """A TzDateTime as `2021-03-04T10:11:12+01:00`, with the seconds of the offset if it has any."""
    from .time import local_datetime

    utc, offset = value
    if date_time(utc) is None or not -_DAY < offset < _DAY:
        return None
    text = date_time(local_datetime(value))
    minutes, seconds = divmod(abs(offset), 60)
    zone = f"{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
    return None if text is None else f"{text}{zone}{f':{seconds:02}' if seconds else ''}"


def uuid(value: Struct) -> str:
    """A Uuid with hyphens."""
    return str(UUID(int=value[0]))


def ipv4(value: Struct) -> str:
    """An Ipv4Addr with points."""
    return str(IPv4Address(value[0]))


def ipv6(value: Struct) -> str:
    """An Ipv6Addr with colons."""
    return str(IPv6Address(value[0]))


def ip(value: Struct) -> str:
    """An IpAddr of either kind."""
    return ipv6(value[1]) if value[0] else ipv4(value[1])


@lru_cache(maxsize=1 << 12)
def given_back(read: Callable[[str], Struct], value: Struct) -> str | None:
    """The text of a value that is one, such as a Url, if reading the text gives the value."""
    try:
        return cast("str", value[0]) if read(value[0]) == value else None
    except ValueError:
        return None


# --------------------------------------------------------------------- objects


def python_time(value: Struct) -> Any:
    """A Time as datetime.time."""
    hour, minute, second, nanosecond = value
    if not _is_time(value) or nanosecond % 1000:
        return value
    return datetime.time(hour, minute, second, nanosecond // 1000)


def python_date(value: Struct) -> Any:
    """A Date as datetime.date."""
    return datetime.date(*value) if 1 <= value[0] <= 9999 and calendar.is_known(value) else value


def python_date_time(value: Struct) -> Any:
    """A DateTime as datetime.datetime."""
    day, clock = python_date(value[0]), python_time(value[1])
    if isinstance(day, datetime.date) and isinstance(clock, datetime.time):
        return datetime.datetime.combine(day, clock)
    return value


def python_tz_date_time(value: Struct) -> Any:
    """A TzDateTime as datetime.datetime with an offset."""
    utc, offset = python_date_time(value[0]), value[1]
    if not isinstance(utc, datetime.datetime) or not -_DAY < offset < _DAY:
        return value
    try:
        zone = datetime.timezone(datetime.timedelta(seconds=offset))
        return utc.replace(tzinfo=datetime.UTC).astimezone(zone)
    except OverflowError:
        return value


def python_uuid(value: Struct) -> UUID:
    """A Uuid as uuid.UUID."""
    return UUID(int=value[0])


def python_ipv4(value: Struct) -> IPv4Address:
    """An Ipv4Addr as ipaddress.IPv4Address."""
    return IPv4Address(value[0])


def python_ipv6(value: Struct) -> IPv6Address:
    """An Ipv6Addr as ipaddress.IPv6Address."""
    return IPv6Address(value[0])


def python_ip(value: Struct) -> IPv4Address | IPv6Address:
    """An IpAddr as the object of its kind."""
    return python_ipv6(value[1]) if value[0] else python_ipv4(value[1])


def python_sql(kind: str, value: Struct) -> Any:
    """A date, time, timestamp, instant or decimal of SQL as an object of datetime or a Decimal."""
    if kind.startswith("Decimal"):
        digits = tuple(map(int, str(abs(value[0]))))
        return Decimal((int(value[0] < 0), digits, -int(kind.removeprefix("Decimal"))))
    try:
        if kind == "Date":
            return (_EPOCH + datetime.timedelta(days=value[0])).date()
        moment = _EPOCH + value[0] * _MICROSECOND
    except OverflowError:
        return value
    if kind == "Timestamp":
        return moment
    if kind == "TimestampTz":
        return moment.replace(tzinfo=datetime.UTC)
    return moment.time() if 0 <= value[0] < _DAY * 1_000_000 else value


def sql_interval(value: Struct) -> str:
    """The text of an Interval of SQL."""
    from .sqlintervals import interval_text

    return interval_text(value)


def python_interval(value: Struct) -> Any:
    """An Interval of SQL as datetime.timedelta, if it has no months."""
    try:
        return value if value[0] else datetime.timedelta(days=value[1], microseconds=value[2])
    except OverflowError:
        return value
