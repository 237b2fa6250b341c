"""The functions that sql.dl declares `extern`."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from ..engine.rounding import rounded
from ..values import NAN, Fault, Group, Struct, Vec, canonical_float
from .group import float_sum, mean
from .options import NONE, some

_DAY = 86_400_000_000
_LONG = Context(prec=5_000)  # the digits of a decimal, of which the usual 28 would be rounded to
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?")


def sure(found: Struct, text: str, of: str) -> Any:
    if found[0] == 0:
        raise Fault(f'"{text}" is no {of}')
    return found[1]


# ---------------------------------------------------------------------- numbers


def as_double(a: int, b: int) -> float:
    return rounded(a, b)


def from_double(a: float, places: int) -> int:
    if not math.isfinite(a):
        raise Fault(f"{double_text(a)} is no exact number")
    if places == 0:
        return round(a)
    return int((Decimal(repr(a)).scaleb(places, _LONG)).quantize(Decimal(1), "ROUND_HALF_UP", _LONG))


def double_mod(a: float, b: float) -> float:
    return NAN if b == 0 or math.isinf(a) or a != a or b != b else canonical_float(math.fmod(a, b))


def double_round(a: float, places: int) -> float:
    if not math.isfinite(a):
        return a
    scale = 10.0**places
    scaled = a * scale
    if not math.isfinite(scaled):
        return a
    whole = math.floor(abs(scaled) + 0.5)
    return canonical_float(math.copysign(whole, a) / scale)


def double_floor(a: float) -> float:
    return canonical_float(float(math.floor(a))) if math.isfinite(a) else a


def double_ceil(a: float) -> float:
    return canonical_float(float(math.ceil(a))) if math.isfinite(a) else a


def double_trunc(a: float) -> float:
    return canonical_float(float(math.trunc(a))) if math.isfinite(a) else a


def double_sqrt(a: float) -> float:
    return canonical_float(math.sqrt(a)) if a >= 0 else NAN


def double_ln(a: float) -> float:
    if a == 0:
        return -math.inf
    return canonical_float(math.log(a)) if a > 0 else NAN


def double_exp(a: float) -> float:
    try:
        return canonical_float(math.exp(a))
    except OverflowError:
        return math.inf


def double_pow(a: float, b: float) -> float:
    try:
        return canonical_float(math.pow(a, b))
    except OverflowError:
        return math.inf
    except ValueError:
        return math.inf if a == 0 else NAN


# ------------------------------------------------------------------------ texts


def read_integer(text: str) -> Struct:
    return read_decimal(text, 0)


def read_decimal(text: str, places: int) -> Struct:
    try:
        exact = Decimal(text.strip()).scaleb(places, _LONG)
        return some(int(exact.quantize(Decimal(1), "ROUND_HALF_UP", _LONG)))
    except (InvalidOperation, ValueError, OverflowError):
        return NONE


def read_double(text: str) -> Struct:
    try:
        return some(canonical_float(float(text.strip())))
    except ValueError:
        return NONE


def read_boolean(text: str) -> Struct:
    word = text.strip().lower()
    if word in ("true", "t", "1", "yes", "y"):
        return some(True)
    return some(False) if word in ("false", "f", "0", "no", "n") else NONE


def read_date(text: str) -> Struct:
    try:
        return some(days_of(text))
    except ValueError:
        return NONE


def read_time(text: str) -> Struct:
    try:
        return some(micros_of(text))
    except ValueError:
        return NONE


def read_timestamp(text: str) -> Struct:
    try:
        return some(moment_of(text))
    except ValueError:
        return NONE


@lru_cache(maxsize=1 << 14)
def days_of(text: str) -> int:
    """The days since 1970 of a date. Raises ValueError."""
    return datetime.date.fromisoformat(text.strip()).toordinal() - _EPOCH


def micros_of(text: str) -> int:
    """The microseconds of a time of day. Raises ValueError."""
    found = _CLOCK.fullmatch(text.strip())
    if found is None or int(found[1]) > 23 or int(found[2]) > 59 or int(found[3] or 0) > 59:
        raise ValueError("not hours, minutes and seconds")
    whole = (int(found[1]) * 60 + int(found[2])) * 60 + int(found[3] or 0)
    return whole * 1_000_000 + int((found[4] or "").ljust(6, "0"))


def moment_of(text: str) -> int:
    """The microseconds since 1970 of a timestamp. Raises ValueError."""
    date, _, time = text.strip().replace("T", " ").partition(" ")
    return days_of(date) * _DAY + (micros_of(time) if time else 0)


def units_of(text: str, places: int) -> int:
    """The units of a decimal. Raises ValueError where it has more places."""
    try:
        exact = Decimal(text.strip()).scaleb(places, _LONG)
        units = int(exact)
    except (InvalidOperation, OverflowError):
        raise ValueError("not a number") from None
    if units != exact:
        raise ValueError(f"more than {places} places")
    return units


def _date(days: int) -> datetime.date:
    try:
        return datetime.date.fromordinal(days + _EPOCH)
    except (ValueError, OverflowError):
        raise Fault(f"day {days} since 1970 is not in the years 1 to 9999") from None


def date_text(days: int) -> str:
    return _date(days).isoformat()


def time_text(micros: int) -> str:
    seconds, fraction = divmod(micros, 1_000_000)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


def timestamp_text(micros: int) -> str:
    days, rest = divmod(micros, _DAY)
    return f"{date_text(days)} {time_text(rest)}"


def decimal_text(units: int, places: int) -> str:
    if places == 0:
        return str(units)
    digits = str(abs(units)).rjust(places + 1, "0")
    return f"{'-' if units < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def double_text(a: float) -> str:
    if a != a:
        return "nan"
    return repr(a)


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
    from .regex import regex_match, try_regex

    found = try_regex(pattern)
    if found[0] != 0:
        raise Fault(f'"{pattern}" is no regular expression: {found[1]}')
    return regex_match(found[1], text)


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
    return "".join(each.upper() if len(each.upper()) == 1 else each for each in text)


def lower(text: str) -> str:
    return "".join(each.lower() if len(each.lower()) == 1 else each for each in text)


def reversed(text: str) -> str:
    return text[::-1]


def replaced(text: str, part: str, by: str) -> str:
    return text.replace(part, by) if part else text


def repeated(text: str, times: int) -> str:
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
    return (fill * missing)[: max(missing, 0)]


def pad_left(text: str, count: int, fill: str) -> str:
    return _filling(count - len(text), fill) + text[: max(count, 0)]


def pad_right(text: str, count: int, fill: str) -> str:
    return text[: max(count, 0)] + _filling(count - len(text), fill)


def concat_ws(separator: str, parts: Vec) -> str:
    return separator.join(each[1] for each in parts if each[0] == 1)


# ------------------------------------------------------------------------ dates


def add_months(days: int, months: int) -> int:
    if not months:
        return days
    date = _date(days)
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
    date = _date(days)
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
    return 0


def timestamp_part(part: str, micros: int) -> int:
    days, rest = divmod(micros, _DAY)
    match part:
        case "HOUR":
            return rest // 3_600_000_000
        case "MINUTE":
            return rest // 60_000_000 % 60
        case "SECOND":
            return rest // 1_000_000 % 60
    return date_part(part, days)


def truncated(unit: str, micros: int) -> int:
    days, rest = divmod(micros, _DAY)
    size = {"HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}.get(unit)
    if size is not None:
        return micros - rest % size
    date = _date(days)
    match unit:
        case "YEAR":
            date = date.replace(month=1, day=1)
        case "QUARTER":
            date = date.replace(month=(date.month - 1) // 3 * 3 + 1, day=1)
        case "MONTH":
            date = date.replace(day=1)
        case "WEEK":
            date -= datetime.timedelta(days=date.weekday())
    return (date.toordinal() - _EPOCH) * _DAY


def date_diff(unit: str, start: int, end: int) -> int:
    size = {"DAY": _DAY, "HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}.get(unit)
    if size is not None:
        return end // size - start // size
    a, b = _date(start // _DAY), _date(end // _DAY)
    months = (b.year * 12 + b.month) - (a.year * 12 + a.month)
    if unit == "MONTH":
        return months
    return (
        b.year - a.year
        if unit == "YEAR"
        else (b.year * 4 + (b.month - 1) // 3) - (a.year * 4 + (a.month - 1) // 3)
    )


# ----------------------------------------------------------------------- groups


def only(g: Group) -> Any:
    if len(g[1]) > 1:
        raise Fault("more than one row is returned by a subquery that is used as a value")
    return g[1][0][0]


def in_order(rows: Iterable[Any], order: str) -> list[Any]:
    """Rows, whose first item is the tuple of their keys, in an order; equal ones in that of their values."""
    listed = list(rows)
    for place, letter in reversed_list(order):
        if letter in "NM":  # a plain value, never NULL
            listed.sort(key=lambda row, at=place: row[0][at], reverse=letter == "M")  # type: ignore[misc]
        else:
            down = letter in "dD"
            first = letter.isupper() == down
            listed.sort(
                key=lambda row, at=place, last=first: (  # type: ignore[misc]
                    (row[0][at][0] == 0) != (not last),
                    row[0][at],
                ),
                reverse=down,
            )
    return listed


class _Down:
    """A value that comes before those that are less."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Down) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Down) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]


def order_key(order: str) -> Callable[[Any], Any]:
    """The key by which `in_order` sorts rows, equal ones included."""
    places = list(enumerate(order))

    def key(row: Any) -> Any:
        keys: list[Any] = []
        for place, letter in places:
            value = row[0][place]
            if letter in "adAD":
                value = ((value[0] == 0) == (letter in "aD"), value)
            keys.append(_Down(value) if letter in "MdD" else value)
        return (*keys, row)

    return key


def reversed_list(order: str) -> list[tuple[int, str]]:
    """The places and letters of an order, last first."""
    return list(enumerate(order))[::-1]


def top(g: Group, order: str, first: int, count: int) -> Vec:
    rows = in_order(g[1], order)
    return Vec(row[1] for row in (rows[first:] if count < 0 else rows[first : first + count]))


def _peers(rows: list[Any], order: str) -> list[tuple[int, int]]:
    """For each row, where the rows that are equal in the order begin and end."""
    found: list[tuple[int, int]] = []
    count = len(order)
    while len(found) < len(rows):
        start = len(found)
        key = rows[start][0][:count]
        end = start + 1
        while end < len(rows) and rows[end][0][:count] == key:
            end += 1
        found += [(start, end)] * (end - start)
    return found


def _frames(rows: list[Any], order: str, frame: str) -> list[tuple[int, int]]:
    """For each row, where its frame begins and ends."""
    kind, start, end = frame.split()
    size, peers = len(rows), _peers(rows, order)

    def edge(text: str, at: int, last: bool) -> int:
        if text in "-+":
            return 0 if text == "-" else size
        if kind == "range":
            return peers[at][1 if last else 0]
        return min(max(at + int(text) + last, 0), size)

    return [(edge(start, at, False), edge(end, at, True)) for at in range(size)]


def window_number(g: Group, order: str, what: str, frame: str) -> Vec:
    rows = in_order(g[1], order)
    name, number = what.split()
    peers = _peers(rows, order)
    size = len(rows)
    match name:
        case "row_number":
            found = list(range(1, size + 1))
        case "rank":
            found = [start + 1 for start, _ in peers]
        case "dense_rank":
            starts = {start: i for i, start in enumerate(sorted({start for start, _ in peers}), 1)}
            found = [starts[start] for start, _ in peers]
        case "ntile":
            parts = int(number)
            small, more = divmod(size, parts)
            found = [
                i // (small + 1) + 1
                if i < more * (small + 1)
                else more + (i - more * (small + 1)) // small + 1
                for i in range(size)
            ]
        case _:
            there = [row[1][0] for row in rows]
            found = [sum(there[a:b]) for a, b in _frames(rows, order, frame)]
    return Vec((row[2], value) for row, value in zip(rows, found, strict=True))


def window_share(g: Group, order: str, what: str, frame: str) -> Vec:
    rows = in_order(g[1], order)
    peers, size = _peers(rows, order), len(rows)
    if what == "cume_dist":
        found = [rounded(end, size) for _, end in peers]
    else:
        found = [rounded(start, size - 1) if size > 1 else 0.0 for start, _ in peers]
    return Vec((row[2], value) for row, value in zip(rows, found, strict=True))


def window_value(g: Group, order: str, what: str, frame: str) -> Vec:
    rows = in_order(g[1], order)
    name, text = what.split()
    number, values = int(text), [row[1] for row in rows]
    if name in ("lag", "lead"):
        shift = -number if name == "lag" else number
        found = [values[i + shift] if 0 <= i + shift < len(rows) else NONE for i in range(len(rows))]
    else:
        found = [_of_frame(name, number, values[a:b]) for a, b in _frames(rows, order, frame)]
    return Vec((row[2], value) for row, value in zip(rows, found, strict=True))


def _of_frame(name: str, number: int, values: list[Any]) -> Any:
    match name:
        case "first":
            return values[0] if values else NONE
        case "last":
            return values[-1] if values else NONE
        case "nth":
            return values[number - 1] if 0 < number <= len(values) else NONE
    there = [each[1] for each in values if each[0] == 1]
    if not there:
        return NONE
    if name == "sum":
        return some(float_sum(there) if isinstance(there[0], float) else sum(there))
    return some(min(there) if name == "min" else max(there))


def window_mean(g: Group, order: str, what: str, frame: str, scale: int) -> Vec:
    rows = in_order(g[1], order)
    found = []
    for a, b in _frames(rows, order, frame):
        there = [row[1][1] for row in rows[a:b] if row[1][0] == 1]
        found.append(some(rounded(sum(there), len(there) * scale)) if there else NONE)
    return Vec((row[2], value) for row, value in zip(rows, found, strict=True))


def window_mean_of_doubles(g: Group, order: str, what: str, frame: str, scale: int) -> Vec:
    rows = in_order(g[1], order)
    found = []
    for a, b in _frames(rows, order, frame):
        there = [row[1][1] for row in rows[a:b] if row[1][0] == 1]
        found.append(some(mean(there)) if there else NONE)
    return Vec((row[2], value) for row, value in zip(rows, found, strict=True))


def joined(texts: Vec, separator: str) -> Struct:
    there = [each[1] for each in texts if each[0] == 1]
    return some(separator.join(sorted(there))) if there else NONE


def variance(n: int, total: int, squares: int, scale: int, population: bool) -> Struct:
    below = n if population else n - 1
    if below < 1:
        return NONE
    return some(rounded(n * squares - total * total, n * below * scale * scale))


def deviation(n: int, total: int, squares: int, scale: int, population: bool) -> Struct:
    found = variance(n, total, squares, scale, population)
    return found if found[0] == 0 else some(math.sqrt(found[1]))
