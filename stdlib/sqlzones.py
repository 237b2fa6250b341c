"""Time zones of the module `sql`: an instant is the microseconds since 1970 in UTC, and a timestamp is what a
clock on a wall in a zone shows.

A time that clocks leave out when they are put forward is read as if they had not been put forward yet. Of two
instants at which a clock that is put back shows one time, the later one counts. Days that are added keep the
time that the clock shows, and the offset from UTC if that is one of the zone then.
"""

from __future__ import annotations

import datetime
import re
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from ..engine.memory import reserve
from ..values import Fault, Struct, Vec
from .options import NONE, some
from .sqlintervals import Interval, add_interval
from .sqlvalues import DAY, add_months, moment_of, strftime, timestamp_text, truncated

_EPOCH = datetime.datetime(1970, 1, 1)
_UTC_EPOCH = _EPOCH.replace(tzinfo=datetime.UTC)
_MICRO = datetime.timedelta(microseconds=1)
_ZONED = re.compile(
    r"(?P<wall>.*?)(?:(?P<sign>[+-])(?P<hours>\d\d)(?::?(?P<minutes>\d\d)(?::?(?P<seconds>\d\d))?)?|[Zz]"
    r"| (?P<zone>[A-Za-z][\w/+-]*))?",
    re.DOTALL,
)
_DATE = re.compile(r"\d+-\d+-\d+")
_WHOLE_HOURS = re.compile(r"[+-]\d\d\Z")


@lru_cache(maxsize=1 << 10)
def zone_of(name: str) -> ZoneInfo:
    """The time zone of a name, in whatever case. Raises ValueError."""
    try:
        return ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        known = {each.lower(): each for each in available_timezones()}.get(name.lower())
    if known is None:
        raise ValueError(f"there is no time zone `{name}`: zones have names as Europe/Berlin and UTC")
    return ZoneInfo(known)


def _zone(name: str) -> ZoneInfo:
    try:
        return zone_of(name)
    except ValueError as error:
        raise Fault(str(error)) from None


def _offset(micros: int, zone: ZoneInfo) -> int:
    """The microseconds by which clocks of a zone are ahead of UTC at an instant."""
    try:
        offset = (_UTC_EPOCH + datetime.timedelta(microseconds=micros)).astimezone(zone).utcoffset()
    except (OverflowError, ValueError):
        raise Fault(f"{micros} microseconds since 1970 are not in the years 1 to 9999") from None
    assert offset is not None
    return offset // _MICRO


def wall_clock(micros: int, zone: str) -> int:
    return micros + _offset(micros, _zone(zone))


def instant(micros: int, zone: str) -> int:
    return micros - min(_offsets(micros, zone))


def to_utc(micros: int, zone: str) -> int:
    """As `instant`, but of two instants the earlier one."""
    return micros - _offsets(micros, zone)[0]


def _offsets(micros: int, zone: str) -> list[int]:
    """The offsets from UTC of a time on the clock: as before it is put forward or back, and as behind."""
    try:
        wall = (_EPOCH + datetime.timedelta(microseconds=micros)).replace(tzinfo=_zone(zone))
        offsets = [wall.replace(fold=fold).utcoffset() for fold in (0, 1)]
    except (OverflowError, ValueError):
        raise Fault(f"{micros} microseconds since 1970 are not in the years 1 to 9999") from None
    return [each // _MICRO for each in offsets if each is not None]


def add_interval_in(micros: int, x: Struct, zone: str) -> int:
    months, days, rest = x
    is_back = min(x) < 0  # then the time comes first
    if is_back:
        micros += rest
    if months:
        date, time = divmod(wall_clock(micros, zone), DAY)
        micros = instant(add_months(date, months) * DAY + time, zone)
    micros = _days_later(micros, days, zone)
    return int(micros if is_back else micros + rest)


def _days_later(micros: int, days: int, zone: str) -> int:
    if not days:
        return micros
    wall, kept = wall_clock(micros, zone) + days * DAY, micros + days * DAY
    return kept if wall_clock(kept, zone) == wall else instant(wall, zone)


def moments(start: int, end: int, step: Struct, open: bool, zone: str) -> Vec:
    length = (step[0] * 30 + step[1]) * DAY + step[2]
    if not length or min(step) < 0 < max(step):
        raise Fault("a series has steps in one direction")
    reserve(8 * max((end - start) // length, 0))
    found, at = [], start
    while (at < end if length > 0 else at > end) or (at == end and not open):
        found.append(at)
        at = add_interval(at, step) if zone == "UTC" else add_interval_in(at, step, zone)
    return Vec(found)


def between_in(later: int, earlier: int, zone: str) -> Struct:
    if later < earlier:
        return Interval(*(-each for each in between_in(earlier, later, zone)))
    days = (later - earlier) // DAY + 1
    while _days_later(earlier, days, zone) > later:
        days -= 1
    return Interval(0, days, later - _days_later(earlier, days, zone))


def truncated_in(unit: str, micros: int, zone: str) -> int:
    wall = wall_clock(micros, zone)
    begin = truncated(unit, wall)
    return micros - (wall - begin) if unit in ("MINUTE", "SECOND") else instant(begin, zone)


def offset_text(offset: int) -> str:
    """An offset of microseconds from UTC, with its minutes and seconds where it has any."""
    seconds = abs(offset) // 1_000_000
    parts = [seconds // 3600, seconds // 60 % 60, seconds % 60]
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return ("-" if offset < 0 else "+") + ":".join(f"{each:02}" for each in parts)


def timestamptz_text(micros: int, zone: str) -> str:
    offset = _offset(micros, _zone(zone))
    return timestamp_text(micros + offset) + offset_text(offset)


def instant_of(text: str, zone: str) -> int:
    """The instant that a text writes, in a zone if it names neither another one nor an offset. Raises
    ValueError."""
    text = text.strip()
    found = _ZONED.fullmatch(text)
    if found is None or _DATE.fullmatch(text):
        return _in_zone(moment_of(text), zone)
    micros = moment_of(found["wall"])
    if found["zone"]:
        return _in_zone(micros, found["zone"])
    if found["sign"]:
        hours, minutes, seconds = (int(found[each] or 0) for each in ("hours", "minutes", "seconds"))
        if hours > 23 or minutes > 59 or seconds > 59:
            raise ValueError("the offset is a day or more")
        offset = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000
        return micros + offset if found["sign"] == "-" else micros - offset
    return micros if text[-1:] in "Zz" else _in_zone(micros, zone)


def _in_zone(micros: int, zone: str) -> int:
    zone_of(zone)
    try:
        return instant(micros, zone)
    except Fault as fault:
        raise ValueError(fault.message) from None


def read_timestamptz(text: str, zone: str) -> Struct:
    try:
        return some(instant_of(text, zone))
    except ValueError:
        return NONE


def strftime_in(micros: int, format: str, zone: str) -> str:
    offset = _offset(micros, _zone(zone))
    return strftime(micros + offset, format, zone_of(zone).key, offset_text(offset))


def strptime_in(text: str, format: str) -> int:
    if format.endswith("%z") and _WHOLE_HOURS.search(text):
        text += "00"
    try:
        moment = datetime.datetime.strptime(text, format)
    except ValueError as error:
        raise Fault(str(error)) from None
    return (moment.replace(tzinfo=moment.tzinfo or datetime.UTC) - _UTC_EPOCH) // _MICRO
