"""The functions that time.dl declares `extern`."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..values import Fault, Struct
from . import calendar
from .calendar import OutOfRange, known
from .options import err, ok
from .structs import constants, struct
from .timeformat import FormatError, read, write
from .timespecifiers import DAYS, MONTHS, PLAIN, WITH_OFFSET, Fields, Moment

Time = struct("time::Time", "hour", "minute", "second", "nanosecond")
DateTime = struct("time::DateTime", "date", "time")
TzDateTime = struct("time::TzDateTime", "utc", "offset")
WEEKDAYS = constants("time::Weekday", *DAYS)

_DAY = 86_400
_EPOCH = 2_440_588  # the Julian day number of 1970-01-01


def _result(compute: Callable[[], object]) -> Struct:
    """`Ok` of the computed value, or `Err` of the fault's text."""
    try:
        return ok(compute())
    except (FormatError, OutOfRange, Fault) as error:
        return err(str(error))


# ----------------------------------------------------------------------- times


def try_from_hms(hours: int, minutes: int, seconds: int) -> Struct:
    return _result(lambda: _time(hours, minutes, seconds))


def try_from_hms_milli(hours: int, minutes: int, seconds: int, milliseconds: int) -> Struct:
    return _result(lambda: _time(hours, minutes, seconds, "millisecond", milliseconds, 1_000))


def try_from_hms_micro(hours: int, minutes: int, seconds: int, microseconds: int) -> Struct:
    return _result(lambda: _time(hours, minutes, seconds, "microsecond", microseconds, 1_000_000))


def try_from_hms_nano(hours: int, minutes: int, seconds: int, microseconds: int) -> Struct:
    return _result(lambda: _time(hours, minutes, seconds, "nanosecond", microseconds))


def _time(
    hour: int, minute: int, second: int, unit: str = "nanosecond", part: int = 0, of: int = 1_000_000_000
) -> Struct:
    """The time of day, where the last second is counted in parts of a unit; or OutOfRange."""
    calendar.check("hour", hour, 0, 23)
    calendar.check("minute", minute, 0, 59)
    calendar.check("second", second, 0, 59)
    calendar.check(unit, part, 0, of - 1)
    return Time(hour, minute, second, part * (1_000_000_000 // of))


def time2string(t: Struct) -> str:
    return write(Moment(time=t), "%T.%N", PLAIN)


def time_format(t: Struct, format: str) -> Struct:
    return _result(lambda: write(Moment(time=t), format, PLAIN))


def time_parse(s: str, format: str) -> Struct:
    return _result(lambda: _time_of(read(s, format, PLAIN)))


# ----------------------------------------------------------------------- dates


def try_from_ymd(year: int, month: int, day: int) -> Struct:
    return _result(lambda: calendar.from_ymd(year, month, day))


def try_from_yo(year: int, ordinal: int) -> Struct:
    return _result(lambda: calendar.from_yo(year, ordinal))


def try_from_iso_ywd(year: int, week: int, weekday: Struct) -> Struct:
    return _result(lambda: calendar.from_iso(year, week, weekday[0] + 1))


def ordinal(date: Struct) -> int:
    return calendar.ordinal(date)


def week(date: Struct) -> int:
    return calendar.iso(date)[1]


def weekday(date: Struct) -> Struct:
    return WEEKDAYS[calendar.iso(date)[2] - 1]


def next_day(date: Struct) -> Struct:
    return calendar.from_number(calendar.number(date) + 1)


def previous_day(date: Struct) -> Struct:
    return calendar.from_number(calendar.number(date) - 1)


def julian_day(date: Struct) -> int:
    return calendar.number(date)


def from_julian_day(julian_day: int) -> Struct:
    return calendar.from_number(julian_day)


def date_parse(s: str, format: str) -> Struct:
    return _result(lambda: _date_of(read(s, format, PLAIN)))


def date_format(date: Struct, format: str) -> Struct:
    return _result(lambda: write(Moment(known(date)), format, PLAIN))


def date2string(t: Struct) -> str:
    return write(Moment(known(t)), "%Y-%m-%d", PLAIN)


# ------------------------------------------------------------- dates with times


def datetime_parse(s: str, format: str) -> Struct:
    return _result(lambda: _datetime_of(read(s, format, PLAIN)))


def dateTime2string(d: Struct) -> str:
    return write(Moment(known(d[0]), d[1]), "%Y-%m-%dT%T", PLAIN)


def datetime_format(d: Struct, format: str) -> Struct:
    return _result(lambda: write(Moment(known(d[0]), d[1]), format, PLAIN))


def datetime_from_unix_timestamp(timestamp: int) -> Struct:
    return _from_timestamp(timestamp, 0)


def _from_timestamp(timestamp: int, nanosecond: int) -> Struct:
    days, seconds = divmod(timestamp, _DAY)
    hour, minute = divmod(seconds // 60, 60)
    return DateTime(calendar.from_number(_EPOCH + days), Time(hour, minute, seconds % 60, nanosecond))


def _timestamp(d: Struct) -> int:
    hour, minute, second, _ = d[1]
    seconds: int = (hour * 60 + minute) * 60 + second
    return (calendar.number(d[0]) - _EPOCH) * _DAY + seconds


# ---------------------------------------------------------- with an offset, too


def offset_timezone(dt: Struct, eastOffsetInSeconds: int) -> Struct:
    _check_offset(eastOffsetInSeconds)
    return TzDateTime(_later(dt, -eastOffsetInSeconds), eastOffsetInSeconds)


def change_offset(dt: Struct, eastOffsetInSeconds: int) -> Struct:
    _check_offset(eastOffsetInSeconds)
    return TzDateTime(dt[0], eastOffsetInSeconds)


def time(dt: Struct) -> Struct:
    return local_datetime(dt)[1]  # type: ignore[no-any-return]


def _check_offset(seconds: int) -> None:
    if not -_DAY < seconds < _DAY:
        raise Fault(f"an offset from UTC is less than a day, not {seconds} seconds")


def _later(d: Struct, seconds: int) -> Struct:
    return _from_timestamp(_timestamp(d) + seconds, d[1][3])


def local_datetime(td: Struct) -> Struct:
    """The date and time that clocks show at the offset."""
    return _later(*td)


def _moment(td: Struct) -> Moment:
    date, time = local_datetime(td)
    return Moment(date, time, td[1], _timestamp(td[0]))


def tz_datetime_format(td: Struct, format: str) -> Struct:
    return _result(lambda: write(_moment(td), format, WITH_OFFSET))


def tzDateTime2string(td: Struct) -> str:
    return write(_moment(td), "%Y-%m-%dT%T%z", WITH_OFFSET)


def to_rfc2822(td: Struct) -> str:
    return write(_moment(td), "%a, %d %b %Y %T %z", WITH_OFFSET)


def to_rfc3339(td: Struct) -> str:
    return write(_moment(td), "%+", WITH_OFFSET)


def tz_datetime_parse(s: str, format: str) -> Struct:
    return _result(lambda: _tz_datetime_of(read(s, format, WITH_OFFSET)))


_RFC3339 = re.compile(r"([0-9-]{10})[Tt ]([0-9:]{8}(?:\.[0-9]+)?)([Zz]|[+-][0-9]{2}:[0-9]{2})", re.ASCII)
_RFC2822 = re.compile(
    rf"""\s* (?P<weekday> (?:{"|".join(each[:3] for each in DAYS)}) \s*,)? \s* (?P<day>[0-9]{{1,2}}) \s+
    (?P<month>{"|".join(each[:3] for each in MONTHS)}) \s+ (?P<year>[0-9]{{2,4}}) \s+
    (?P<time>[0-9]{{2}}:[0-9]{{2}}(?P<second>:[0-9]{{2}})?) \s+ (?P<zone>[+-][0-9]{{4}}|[A-Z]+) \s*""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_ZONES = {"EST": 5, "EDT": 4, "CST": 6, "CDT": 5, "MST": 7, "MDT": 6, "PST": 8, "PDT": 7}
_ZONE_OF_UTC = ("UT", "GMT", "UTC", "Z")


def tz_datetime_parse_from_rfc3339(s: str) -> Struct:
    found = _RFC3339.fullmatch(s)
    if found is None:
        return err(f"not a date and time as RFC 3339 has them: {s}")
    date, time, zone = found.groups()
    zone = "+00:00" if zone in "Zz" else zone
    return tz_datetime_parse(f"{date}T{time[:8]}{time[8:18]}{zone}", "%+")


def tz_datetime_parse_from_rfc2822(s: str) -> Struct:
    found = _RFC2822.fullmatch(s)
    zone = None if found is None else _zone(found["zone"].upper())
    if found is None or zone is None:
        return err(f"not a date and time as RFC 2822 has them: {s}")
    time = found["time"] + ("" if found["second"] else ":00")
    rest = f"{found['day']} {found['month']} {_full_year(found['year'])} {time} {zone}"
    if found["weekday"]:
        return tz_datetime_parse(f"{found['weekday'][:3]} {rest}", "%a %d %b %Y %T %z")
    return tz_datetime_parse(rest, "%d %b %Y %T %z")


def _zone(text: str) -> str | None:
    """The offset that a zone of RFC 2822 is, if it is known."""
    if text[0] in "+-":
        return text
    if text in _ZONE_OF_UTC:
        return "+0000"
    return f"-{_ZONES[text]:02}00" if text in _ZONES else None


def _full_year(digits: str) -> str:
    """Two digits are of 1950 to 2049, three count from 1900."""
    number = int(digits)
    if len(digits) == 4:
        return digits
    return str(number + (2000 if len(digits) == 2 and number < 50 else 1900))


# ------------------------------------------------------------ from parsed fields


def _time_of(fields: Fields) -> Struct:
    hour = fields.get("hour")
    if hour is None:
        if "hour_of_12" not in fields or "afternoon" not in fields:
            raise FormatError("the format does not say which time it is")
        hour = calendar.check("hour", fields["hour_of_12"], 1, 12) % 12 + 12 * fields["afternoon"]
    return _time(hour, fields.get("minute", 0), fields.get("second", 0), part=fields.get("nanosecond", 0))


def _date_of(fields: Fields) -> Struct:
    year, weekday, iso_year = _year_of(fields), _weekday_of(fields), fields.get("iso_year")
    if year is not None:
        if "month" in fields and "day" in fields:
            return calendar.from_ymd(year, fields["month"], fields["day"])
        if "ordinal" in fields:
            return calendar.from_yo(year, fields["ordinal"])
    if weekday is not None:
        if iso_year is not None and "iso_week" in fields:
            return calendar.from_iso(iso_year, fields["iso_week"], weekday)
        if year is not None and "sunday_week" in fields:
            return calendar.from_week(year, fields["sunday_week"], weekday, 7)
        if year is not None and "monday_week" in fields:
            return calendar.from_week(year, fields["monday_week"], weekday, 1)
    raise FormatError("the format does not say which day it is")


def _year_of(fields: Fields) -> int | None:
    """The year; two digits alone are of 1970 to 2069."""
    if "year" in fields or "year_of_century" not in fields:
        return fields.get("year")
    part = fields["year_of_century"]
    return fields.get("century", 19 if part >= 70 else 20) * 100 + part


def _weekday_of(fields: Fields) -> int | None:
    """The day of the week; Monday is 1."""
    found = fields.get("weekday")
    if found is None and "sunday_weekday" in fields:
        found = calendar.check("weekday", fields["sunday_weekday"], 0, 6) or 7
    return None if found is None else calendar.check("weekday", found, 1, 7)


def _datetime_of(fields: Fields) -> Struct:
    return DateTime(_date_of(fields), _time_of(fields))


def _tz_datetime_of(fields: Fields) -> Struct:
    offset = fields.get("offset")
    if "timestamp" in fields:
        return TzDateTime(_from_timestamp(fields["timestamp"], fields.get("nanosecond", 0)), offset or 0)
    if offset is None:
        raise FormatError("the format does not say what the offset from UTC is")
    local = _datetime_of(fields)
    weekday, actual = _weekday_of(fields), calendar.iso(local[0])[2]
    if weekday not in (None, actual):
        raise FormatError(f"{date2string(local[0])} is a {DAYS[actual - 1]}")
    return offset_timezone(local, offset)
