"""Text to values of the library's types, in command files, in facts and from Python.

A text is what `writing.py` writes, what the `to_string` of the type gives, or what its parser takes. Times
take any number of digits of the second's fraction, or none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..types import UNIT, Constructor, TextForm
from ..values import Struct, struct_class
from . import counting, writing
from .structs import struct

_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?")
_DAY = re.compile(r"[+-]?[0-9]+-[0-9]+-[0-9]+")
_MOMENT = re.compile(rf"({_DAY.pattern})[Tt ]([0-9:.]+)")
_MIDNIGHT = re.compile(r"[T ]00:00(?::00(?:\.0*)?)?\Z")  # a date as pandas has it
_OFFSET = re.compile(r"(.*?) ?(?:[Zz]|([+-])([0-9]{2})(?::?([0-5][0-9])(?::?([0-5][0-9]))?)?)", re.DOTALL)


def _result(found: Struct) -> Struct:
    """The value in an `Ok`. Raises ValueError with the text in an `Err`."""
    if found[0] != 0:
        raise ValueError(found[1])
    return found[1]  # type: ignore[no-any-return]


def time(text: str) -> Struct:
    """A Time. Raises ValueError."""
    from .time import try_from_hms_nano

    found = _CLOCK.fullmatch(text)
    if found is None:
        raise ValueError("not hours, minutes and seconds")
    hours, minutes, seconds, fraction = found.groups()
    nanoseconds = int((fraction or "").ljust(9, "0"))
    return _result(try_from_hms_nano(int(hours), int(minutes), int(seconds), nanoseconds))


def _other(text: str) -> str:
    """A remark that a text is one of another type of dates and times; empty if it is of none."""
    zoned = _OFFSET.fullmatch(text)
    if zoned is not None and _MOMENT.fullmatch(zoned[1]) is not None:
        return "; with an offset from UTC it is a time::TzDateTime"
    if _MOMENT.fullmatch(text) is not None:
        return "; a date and a time are a time::DateTime"
    return "; without a time it is a time::Date" if _DAY.fullmatch(text) is not None else ""


def date(text: str) -> Struct:
    """A Date. Raises ValueError."""
    from .time import date_parse

    day = _MIDNIGHT.sub("", text)
    if _DAY.fullmatch(day) is None and _other(text):
        raise ValueError(f"not a date alone{_other(text)}")
    return _result(date_parse(day, "%Y-%m-%d"))


def date_time(text: str) -> Struct:
    """A DateTime. Raises ValueError."""
    from .time import DateTime

    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError(f"not a date, T and a time{_other(text)}")
    return DateTime(date(found[1]), time(found[2]))


def tz_date_time(text: str) -> Struct:
    """A TzDateTime, also in the form of RFC 2822. Raises ValueError."""
    from .time import offset_timezone, tz_datetime_parse_from_rfc2822

    found = _OFFSET.fullmatch(text)
    if found is None or _MOMENT.fullmatch(found[1]) is None:
        parsed = tz_datetime_parse_from_rfc2822(text)
        if parsed[0] == 0:
            return _result(parsed)
        raise ValueError(f"not a date, T, a time and an offset from UTC{_other(text)}")
    _, sign, *parts = found.groups()
    hours, minutes, rest = (int(part or 0) for part in parts)
    if hours > 23:
        raise ValueError("the offset is a day or more")
    seconds = 3600 * hours + 60 * minutes + rest
    return offset_timezone(date_time(found[1]), -seconds if sign == "-" else seconds)


def uuid(text: str) -> Struct:
    """A Uuid. Raises ValueError."""
    from .uuid import parse_str

    return _result(parse_str(text))


def url(text: str) -> Struct:
    """A Url, normalised. Raises ValueError."""
    from .url import url_parse

    return _result(url_parse(text))


def url_text(value: Struct) -> str | None:
    """The text of a Url."""
    return writing.given_back(url, value)


def regex_text(value: Struct) -> str | None:
    """The text of a Regex."""
    return writing.given_back(regex, value)


def regex(text: str) -> Struct:
    """A Regex. Raises ValueError."""
    from .regex import try_regex

    return _result(try_regex(text))


def ipv4(text: str) -> Struct:
    """An Ipv4Addr. Raises ValueError."""
    from .net.ipv4 import ipv4_from_str

    return _result(ipv4_from_str(text))


def ipv6(text: str) -> Struct:
    """An Ipv6Addr. Raises ValueError."""
    from .net.ipv6 import ipv6_from_str

    return _result(ipv6_from_str(text))


def ip(text: str) -> Struct:
    """An IpAddr, of either kind. Raises ValueError."""
    if ":" in text:
        return _address("IpAddrV6", 1, "addr6", ipv6(text))
    return _address("IpAddrV4", 0, "addr4", ipv4(text))


def _address(name: str, number: int, field: str, held: Struct) -> Struct:
    constructor = Constructor(f"net::ipaddr::{name}", number, ((field, UNIT),))
    return struct_class("net::ipaddr::IpAddr", constructor, True).make(held)  # type: ignore[no-any-return]


def sql_interval(text: str) -> Struct:
    """An Interval of the module `sql`. Raises ValueError."""
    from .sqlintervals import Interval, interval_of

    return Interval(*interval_of(text))


_SQL_UNITS = {"Date": "days", "Time": "time", "Timestamp": "micros", "TimestampTz": "instants"}


def sql_form(kind: str, example: str) -> TextForm:
    """The form of the dates, times, timestamps, instants or decimals of the module `sql`."""
    unit: str | int = _SQL_UNITS.get(kind, "")
    unit = unit or int(kind.removeprefix("Decimal"))
    read, write, python, made = (
        _OfKind(each, kind) for each in (_read_sql, _write_sql, writing.python_sql, sql_number)
    )
    return TextForm(read, example, write, True, python, unit, made, _units)


@dataclass(frozen=True, slots=True)
class _OfKind:
    """A function of a kind and a value, for one kind. Equal ones are equal, as programs are compared."""

    function: Callable[[str, Any], Any]
    kind: str

    def __call__(self, value: Any) -> Any:
        return self.function(self.kind, value)


def _units(value: Struct) -> int:
    return value[0]  # type: ignore[no-any-return]


@cache
def _sql_class(kind: str) -> type[Struct]:
    field = "days" if kind == "Date" else "micros" if kind in _SQL_UNITS else "units"
    return struct(f"sql::{kind}", field)


def sql_number(kind: str, number: int) -> Struct:
    """The value of so many units."""
    return _sql_class(kind)(number)


def _read_sql(kind: str, text: str) -> Struct:
    from . import sql

    match kind:
        case "Date":
            number = sql.days_of(_MIDNIGHT.sub("", text))
        case "Time":
            number = sql.micros_of(text)
        case "Timestamp":
            number = sql.moment_of(text)
        case "TimestampTz":
            number = sql.instant_of(text, "UTC")
        case _:
            number = sql.units_of(text, int(kind.removeprefix("Decimal")))
    return sql_number(kind, number)


def _write_sql(kind: str, value: Struct) -> str:
    from . import sql

    match kind:
        case "Date":
            return sql.date_text(value[0])
        case "Time":
            return sql.time_text(value[0])
        case "Timestamp":
            return sql.timestamp_text(value[0])
        case "TimestampTz":
            return sql.timestamptz_text(value[0], "UTC")
    return sql.decimal_text(value[0], int(kind.removeprefix("Decimal")))


TEXT_FORMS: Mapping[str, TextForm] = {
    "time::Time": TextForm(
        time, "10:11:12.5", writing.time, True, writing.python_time,
        "nanos", counting.time_of, counting.nanos_of,
    ),
    "time::Date": TextForm(
        date, "2021-03-04", writing.date, True, writing.python_date,
        "days", counting.date_of, counting.days_of,
    ),
    "time::DateTime": TextForm(
        date_time, "2021-03-04T10:11:12", writing.date_time, True, writing.python_date_time,
        "micros", counting.date_time_of, counting.micros_of,
    ),
    "time::TzDateTime": TextForm(
        tz_date_time, "2021-03-04T10:11:12+01:00", writing.tz_date_time, True, writing.python_tz_date_time
    ),
    "sql::Date": sql_form("Date", "2021-03-04"),
    "sql::Time": sql_form("Time", "10:11:12.5"),
    "sql::Timestamp": sql_form("Timestamp", "2021-03-04 10:11:12"),
    "sql::TimestampTz": sql_form("TimestampTz", "2021-03-04 10:11:12+01"),
    **{f"sql::Decimal{n}": sql_form(f"Decimal{n}", "0." + "5" * n) for n in range(1, 39)},
    "sql::Interval": TextForm(
        sql_interval, "1 day 02:00:00", writing.sql_interval, True, writing.python_interval
    ),
    "uuid::Uuid": TextForm(
        uuid, "67e55044-10b1-426f-9247-bb680e5fe0c8", writing.uuid, python=writing.python_uuid
    ),
    "url::Url": TextForm(url, "https://example.org/a?b", url_text),
    "regex::Regex": TextForm(regex, "a[0-9]+", regex_text),
    "net::ipv4::Ipv4Addr": TextForm(ipv4, "192.0.2.1", writing.ipv4, python=writing.python_ipv4),
    "net::ipv6::Ipv6Addr": TextForm(ipv6, "2001:db8::1", writing.ipv6, python=writing.python_ipv6),
    "net::ipaddr::IpAddr": TextForm(ip, "192.0.2.1 or 2001:db8::1", writing.ip, python=writing.python_ip),
}  # fmt: skip
"""The forms of the types that are written as text, by their names."""
