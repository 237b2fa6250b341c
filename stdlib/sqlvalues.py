"""Numbers, dates and times of the module `sql`: read and written as SQL does, and their parts."""

from __future__ import annotations

import datetime
import math
import re
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache

from ..engine.memory import reserve
from ..values import Fault, Struct, Vec, canonical_float
from .options import NONE, some

DAY = 86_400_000_000
SIZES = {
    "WEEK": 7 * DAY, "DAY": DAY, "HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000,
    "MILLISECOND": 1000, "MICROSECOND": 1,
}  # fmt: skip
"""The microseconds of units that are always as long."""
YEARS = {"YEAR": 1, "DECADE": 10, "CENTURY": 100, "MILLENNIUM": 1000}

LONG = Context(prec=5_000)  # the digits of a decimal, of which the usual 28 would be rounded to

_DIRECTIVE = re.compile(r"%(.)", re.DOTALL)
_EPOCH = datetime.date(1970, 1, 1).toordinal()


_DATE = re.compile(r"(?P<year>\d{1,4})(?P<sign>[-/ \\])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})", re.ASCII)
_CLOCK = re.compile(r"(?P<h>\d{1,2}):(?P<m>\d{1,2})(?::(?P<s>\d{1,2})(?:\.(?P<fraction>\d*))?)?", re.ASCII)
_MOMENT = re.compile(
    rf"\s*(?P<date>{_DATE.pattern})(?:(?:T|\s+)(?P<time>{_CLOCK.pattern})(?P<zone>\s*\S*))?\s*", re.ASCII
)
_UTC = re.compile(r"|\s*(?:Z|UTC|[+-]00(?::?00)?)", re.IGNORECASE)
_ZONE = re.compile(r"|\s*(?:Z|[+-]\d\d(?::?\d\d)?)|\s+[A-Z][\w/+-]*", re.ASCII | re.IGNORECASE)
_DIGITS = r"\d+(?:_\d+)*"
_NUMBER = re.compile(rf"[+-]?(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?\d+)?", re.ASCII)
_BASED = re.compile(r"0(?:[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|[bB][01]+(?:_[01]+)*)")
_WHOLE = re.compile(r"[+-]?(?:0x[0-9a-f]+|0b[01]+|[0-9]+)", re.IGNORECASE | re.ASCII)
_SPACES = " \t\n\r\v\f"


def read_integer(text: str) -> Struct:
    text = text.strip(_SPACES)
    return some(int(text, 0)) if _BASED.fullmatch(text) else read_decimal(text, 0)


def integer_of(text: str) -> Struct:
    if not _WHOLE.fullmatch(text):
        return NONE
    base = {"0x": 16, "0b": 2}.get(text.lstrip("+-")[:2].lower(), 10)
    return some(int(text, base))


def read_decimal(text: str, places: int) -> Struct:
    text = text.strip(_SPACES)
    if not _NUMBER.fullmatch(text):
        return NONE
    try:
        exact = Decimal(text).scaleb(places, LONG)
        return some(int(exact.quantize(Decimal(1), "ROUND_HALF_UP", LONG)))
    except (InvalidOperation, ValueError, OverflowError):
        return NONE


def read_double(text: str) -> Struct:
    try:
        return some(canonical_float(float(text.strip(_SPACES)))) if text.isascii() else NONE
    except ValueError:
        return NONE


def read_boolean(text: str) -> Struct:
    word = text.strip().lower()
    if word in ("true", "t", "1", "yes", "y"):
        return some(True)
    return some(False) if word in ("false", "f", "0", "no", "n") else NONE


def read_date(text: str) -> Struct:
    micros = read_timestamp(text)
    return some(micros[1] // DAY) if micros[0] else NONE


def read_time(text: str) -> Struct:
    try:
        return some(micros_of(text))
    except ValueError:
        micros = read_timestamp(text)
    return some(micros[1] % DAY) if micros[0] else NONE


def read_timestamp(text: str) -> Struct:
    try:
        return some(moment_of(text, _ZONE))
    except ValueError:
        return NONE


@lru_cache(maxsize=1 << 14)
def days_of(text: str) -> int:
    """The days since 1970 of a date. Raises ValueError."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        raise ValueError("not a year, a month and a day")
    return datetime.date(*(int(found[each]) for each in ("year", "month", "day"))).toordinal() - _EPOCH


def micros_of(text: str) -> int:
    """The microseconds of a time of day. Raises ValueError."""
    found = _CLOCK.fullmatch(text.strip())
    if found is None or int(found["h"]) > 23 or int(found["m"]) > 59 or int(found["s"] or 0) > 59:
        raise ValueError("not hours, minutes and seconds")
    hour, minute, second = (int(found[each] or 0) for each in "hms")
    fraction = int((found["fraction"] or "")[:6].ljust(6, "0"))
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction


def moment_of(text: str, zones: re.Pattern[str] = _UTC) -> int:
    """The microseconds since 1970 of a timestamp, with one of `zones` behind it. Raises ValueError."""
    if text.strip().lower() == "epoch":
        return 0
    found = _MOMENT.fullmatch(text)
    if found is None or not zones.fullmatch((found["zone"] or "").rstrip()):
        raise ValueError("not a date and a time of day")
    return days_of(found["date"]) * DAY + (micros_of(found["time"]) if found["time"] else 0)


def units_of(text: str, places: int) -> int:
    """The units of a decimal. Raises ValueError where it has more places."""
    try:
        exact = Decimal(text.strip()).scaleb(places, LONG)
        units = int(exact)
    except (InvalidOperation, OverflowError):
        raise ValueError("not a number") from None
    if units != exact:
        raise ValueError(f"more than {places} places")
    return units


def date_of(days: int) -> datetime.date:
    try:
        return datetime.date.fromordinal(days + _EPOCH)
    except (ValueError, OverflowError):
        raise Fault(f"day {days} since 1970 is not in the years 1 to 9999") from None


_CYCLE = 146_097  # the days of 400 years


def date_text(days: int) -> str:
    cycles = 0 if -719_162 <= days <= 2_932_896 else days // _CYCLE  # of other years than 1 to 9999
    date = date_of(days - cycles * _CYCLE)
    year = date.year + 400 * cycles
    text = f"{year if year > 0 else 1 - year:04}-{date.month:02}-{date.day:02}"
    return text if year > 0 else f"{text} (BC)"


def time_text(micros: int) -> str:
    seconds, fraction = divmod(micros, 1_000_000)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


def timestamp_text(micros: int) -> str:
    days, rest = divmod(micros, DAY)
    return f"{date_text(days)} {time_text(rest)}"


def decimal_text(units: int, places: int) -> str:
    if places == 0:
        return str(units)
    digits = str(abs(units)).rjust(places + 1, "0")
    return f"{'-' if units < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def double_text(a: float) -> str:
    return "nan" if math.isnan(a) else repr(a)


def add_months(days: int, months: int) -> int:
    if not months:
        return days
    date = date_of(days)
    count = date.year * 12 + date.month - 1 + months
    year, month = divmod(count, 12)
    if not 1 <= year <= 9999:
        raise Fault(f"the year {year} is not in the years 1 to 9999")
    following = (
        datetime.date(year + month // 11, (month + 1) % 12 + 1, 1) if year < 9999 or month < 11 else None
    )
    last = 31 if following is None else (following - datetime.timedelta(days=1)).day
    return datetime.date(year, month + 1, min(date.day, last)).toordinal() - _EPOCH


def date_part(part: str, days: int) -> int:
    date = date_of(days)
    match part:
        case "YEAR":
            return date.year
        case "QUARTER":
            return (date.month + 2) // 3
        case "MONTH":
            return date.month
        case "WEEK":
            return date.isocalendar().week
        case "DAY":
            return date.day
        case "DOW" | "DAYOFWEEK":
            return date.isoweekday() % 7
        case "ISODOW":
            return date.isoweekday()
        case "DOY" | "DAYOFYEAR":
            return date.timetuple().tm_yday
        case "DECADE":
            return date.year // 10
        case "CENTURY":
            return (date.year + 99) // 100
        case "MILLENNIUM":
            return (date.year + 999) // 1000
        case "ISOYEAR":
            return date.isocalendar().year
        case "YEARWEEK":
            return date.isocalendar().year * 100 + date.isocalendar().week
        case "ERA":
            return 1
    return 0


def timestamp_part(part: str, micros: int) -> int:
    days, rest = divmod(micros, DAY)
    match part:
        case "HOUR":
            return rest // 3_600_000_000
        case "MINUTE":
            return rest // 60_000_000 % 60
        case "SECOND":
            return rest // 1_000_000 % 60
        case "MILLISECOND":
            return rest // 1000 % 60_000
        case "MICROSECOND":
            return rest % 60_000_000
    return date_part(part, days)


def truncated(unit: str, micros: int) -> int:
    days, rest = divmod(micros, DAY)
    if unit in SIZES and SIZES[unit] < DAY:
        return micros - rest % SIZES[unit]
    date = date_of(days)
    match unit:
        case "YEAR":
            date = date.replace(month=1, day=1)
        case "QUARTER":
            date = date.replace(month=(date.month - 1) // 3 * 3 + 1, day=1)
        case "MONTH":
            date = date.replace(day=1)
        case "WEEK":
            date -= datetime.timedelta(days=date.weekday())
        case "ISOYEAR":
            date = datetime.date.fromisocalendar(date.isocalendar().year, 1, 1)
        case "DECADE" | "CENTURY" | "MILLENNIUM":
            years = YEARS[unit]
            date = date_of(make_date(max(date.year // years * years, 1), 1, 1))
    return (date.toordinal() - _EPOCH) * DAY


def date_diff(unit: str, start: int, end: int) -> int:
    if unit == "WEEK":
        days = end // DAY - start // DAY
        return days // 7 if days >= 0 else -(-days // 7)
    size = SIZES.get(unit)
    if size is not None:
        return end // size - start // size
    a, b = date_of(start // DAY), date_of(end // DAY)
    months = (b.year * 12 + b.month) - (a.year * 12 + a.month)
    if unit == "MONTH":
        return months
    if unit in YEARS:
        return b.year // YEARS[unit] - a.year // YEARS[unit]
    return (b.year * 4 + (b.month - 1) // 3) - (a.year * 4 + (a.month - 1) // 3)


def date_sub(unit: str, start: int, end: int) -> int:
    if end < start:
        return -date_sub(unit, end, start)
    if unit in SIZES:
        return (end - start) // SIZES[unit]
    a, b = date_of(start // DAY), date_of(end // DAY)
    months = (b.year - a.year) * 12 + b.month - a.month
    while add_months(start // DAY, months) * DAY + start % DAY > end:
        months -= 1
    return months // {"MONTH": 1, "QUARTER": 3}.get(unit, 12 * YEARS.get(unit, 1))


def make_time(hour: int, minute: int, second: float) -> int:
    micros = round(second * 1_000_000)
    if not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= micros < 60_000_000):
        raise Fault(f"{hour}:{minute}:{second} is no time")
    return (hour * 60 + minute) * 60_000_000 + micros


def _moment(micros: int) -> datetime.datetime:
    days, rest = divmod(micros, DAY)
    return datetime.datetime.combine(date_of(days), datetime.time()) + datetime.timedelta(microseconds=rest)


def strftime(micros: int, format: str, zone: str = "", offset: str = "+00") -> str:
    moment = _moment(micros)
    named = {
        "Y": f"{moment.year:04}", "G": f"{moment.isocalendar().year:04}", "z": offset, "Z": zone,
        "c": moment.isoformat(" ", "seconds"), "x": moment.date().isoformat(),
        "X": moment.time().isoformat("seconds"), "g": f"{moment.microsecond // 1000:03}",
        "n": f"{moment.microsecond * 1000:09}",
    }  # fmt: skip
    return moment.strftime(_DIRECTIVE.sub(lambda found: named.get(found[1], found[0]), format))


def strptime(text: str, format: str) -> int:
    try:
        moment = datetime.datetime.strptime(text, format)
    except ValueError as error:
        raise Fault(str(error)) from None
    if moment.tzinfo is not None:
        raise Fault(f"the form '{format}' has %z: a text with an offset is read by a constant form")
    return (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)


def last_day(micros: int) -> int:
    first = date_of(micros // DAY).replace(day=1)
    return add_months(first.toordinal() - _EPOCH, 1) - 1


def make_date(year: int, month: int, day: int) -> int:
    try:
        return datetime.date(year, month, day).toordinal() - _EPOCH
    except (ValueError, OverflowError):
        raise Fault(f"{year}-{month}-{day} is no date") from None


def series(start: int, end: int, step: int, open: bool) -> Vec:
    if not step:
        raise Fault("a series has steps that are not 0")
    reserve(8 * max((end - start) // step, 0))
    return Vec(range(start, end if open else end + (1 if step > 0 else -1), step))
