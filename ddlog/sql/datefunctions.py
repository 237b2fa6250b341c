"""Functions of dates and times of SQL, a translation each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..stdlib.sqlintervals import called_unit
from ..stdlib.sqlvalues import SIZES, YEARS
from . import conversions as c
from .calls import call, check_arguments, of_arguments
from .intervals import age, bucket, moved, negated, of_units
from .intervals import literal as interval
from .intervals import part as interval_part
from .scalars import Scalars, Translate
from .types import DATE, DOUBLE, INTEGER, INTERVAL, MOMENTS, TIME, TIMESTAMP, TIMESTAMPTZ, VARCHAR, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


_PARTS = {
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFWEEK", "DOW", "ISODOW", "DAYOFYEAR", "DOY", "HOUR", "MINUTE", "SECOND",  # noqa: E501
    "CENTURY", "DECADE", "EPOCH", "MILLENNIUM", "ISOYEAR", "YEARWEEK", "ERA", "MILLISECOND", "MICROSECOND",
}  # fmt: skip
_OF_TIME = ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
_COUNTED = ("year", "month", "week", "hour", "minute", "second", "millisecond", "microsecond")
_NAMED_PARTS = (
    "century", "decade", "era", "isoyear", "microsecond", "millennium", "millisecond", "weekday", "yearweek",
)  # fmt: skip
_OTHER_NAMES = {"WEEKDAY": "DOW", "WEEKOFYEAR": "WEEK", "DECADES": "DECADE", "CENTURIES": "CENTURY"}


def unit_name(word: str) -> str:
    """The name of a unit or a part, of the names that it has: of `years`, `y` and `yr` it is YEAR."""
    name = word.upper()
    name = _OTHER_NAMES.get(name, name)
    return name if name in _PARTS else called_unit(name) or name


def part_of(s: Scalars, name: str, value: SqlValue, node: Expression) -> SqlValue:
    """A part of a moment or an interval. Raises SqlError."""
    name = unit_name(name)
    if value.type == INTERVAL:
        return interval_part(s, name, value, node)
    if value.type.kind not in (*MOMENTS, "time", "null"):
        s.places.mistyped(f"EXTRACT of {name}", str(value.type), node)
    if value.type.kind == "time" and name not in _OF_TIME:
        s.places.mistyped(f"EXTRACT of {name}", "TIME", node)
    if name == "EPOCH" and value.type.kind in MOMENTS:
        return c.strict([_since_1970(value)], "sql::as_double($, 1000000)", DOUBLE)
    value = c.wall_clock(value)
    if name not in _PARTS or name == "EPOCH":
        s.places.refuse(f"the part {name} of a date", node)
    if value.type == DATE:
        return c.strict([value], f'sql::date_part("{name}", $)', INTEGER)
    return c.strict([value], f'sql::timestamp_part("{name}", $)', INTEGER)


def extract(s: Scalars, node: Expression) -> SqlValue:
    return part_of(s, node.this.name, s.value(node.expression), node)


@of_arguments
def part_called(s: Scalars, node: Expression, name: Expression, of: Expression) -> SqlValue:
    """DATE_PART."""
    if not isinstance(name, sql.Literal):
        s.places.refuse("a part of a date that is not a constant", node)
    return part_of(s, name.name, s.value(of), node)


def part(name: str) -> Translate:
    return lambda s, node: part_of(s, name, s.value(node.this), node)


def truncated(s: Scalars, node: Expression) -> SqlValue:
    return truncated_to(s, node.args["unit"].name.upper(), s.value(node.this), node)


def truncated_to(s: Scalars, unit: str, value: SqlValue, node: Expression) -> SqlValue:
    """The beginning of the unit that a moment is in. Raises SqlError."""
    if value.type.kind not in MOMENTS:
        s.places.mistyped("DATE_TRUNC", str(value.type), node)
    unit = unit_name(unit)
    if unit not in (*YEARS, *SIZES, "QUARTER", "MONTH", "ISOYEAR"):
        s.places.refuse(f"DATE_TRUNC to {unit}", node)
    if value.type == TIMESTAMPTZ and c.zone() != c.UTC:
        return c.strict([value], f'sql::truncated_in("{unit}", $, "{c.zone()}")', TIMESTAMPTZ)
    if value.type == TIMESTAMPTZ:
        return c.instant(truncated_to(s, unit, c.wall_clock(value), node))
    moment = c.convert(value, TIMESTAMP)
    assert moment is not None
    return c.strict([moment], f'sql::truncated("{unit}", $)', TIMESTAMP)


def difference(s: Scalars, node: Expression) -> SqlValue:
    unit = node.args["unit"].name if node.args.get("unit") is not None else "DAY"
    return _units_between(s, node, unit, node.expression, node.this, "DATE_DIFF")


def whole_difference(
    s: Scalars, node: Expression, unit: Expression, earlier: Expression, later: Expression
) -> SqlValue:
    """DATE_SUB: the whole units between two moments."""
    if not isinstance(unit, sql.Literal):
        s.places.refuse("DATE_SUB in a unit that is not a constant", unit)
    return _units_between(s, node, unit.name, earlier, later, "DATE_SUB")


def without_unit(s: Scalars, node: Expression) -> SqlValue:
    """A call with something else than a text in the place of its unit."""
    s.places.refuse(f"{node.name.upper()} in a unit that is not a constant", node)


def _units_between(
    s: Scalars, node: Expression, word: str, start: Expression, end: Expression, what: str
) -> SqlValue:
    earlier, later, unit = s.value(start), s.value(end), unit_name(word)
    if unit not in (*YEARS, *SIZES, "QUARTER", "MONTH"):
        s.places.refuse(f"{what} in {unit}", node)
    is_zoned = TIMESTAMPTZ in (earlier.type, later.type)
    moments = [c.convert(each, TIMESTAMPTZ if is_zoned else TIMESTAMP) for each in (earlier, later)]
    if None in moments:
        s.places.mistyped(what, f"{earlier.type} and {later.type}", node)
    kept = [each for each in moments if each is not None]
    if is_zoned and unit in _OF_TIME:
        if what == "DATE_DIFF":
            kept = [truncated_to(s, unit, each, node) for each in kept]
        return c.strict(kept, f"sql::trunc_div($1 - $0, {SIZES[unit]})", INTEGER)
    kept = list(map(c.wall_clock, kept))
    return c.strict(kept, f'sql::{what.lower()}("{unit}", $, $)', INTEGER)


def day_of(s: Scalars, node: Expression) -> SqlValue:
    """DATE(x)."""
    check_arguments(s, node, len(list(node.iter_expressions())), 1, 1)
    return s.value(sql.cast(node.this, "date"))


def shifted(sign: int) -> Translate:
    """DATE_ADD and DATE_SUB of an interval; also DATE_ADD of days, a date."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        by = s.value(node.expression)
        if by.type == INTEGER and sign > 0 and s.value(node.this).type == DATE:
            return c.strict([s.value(node.this), by], "$ + $", DATE)
        if by.type != INTERVAL:
            s.places.mistyped(s.places.called(node), str(by.type), node)
        return moved(s, s.value(node.this), by if sign > 0 else negated(by), node)

    return translate


def at_zone(s: Scalars, node: Expression) -> SqlValue:
    """`x AT TIME ZONE z`: what a clock there shows at an instant, or the instant of a timestamp."""
    return _there(s, s.value(node.this), node.args["zone"], node)


def timezone(s: Scalars, node: Expression, zone: Expression, of: Expression) -> SqlValue:
    """TIMEZONE(z, x)."""
    return _there(s, s.value(of), zone, node)


def _there(s: Scalars, value: SqlValue, zone: Expression, node: Expression) -> SqlValue:
    named = s.text(zone)
    if isinstance(named.constant, str):
        named = c.string(c.zone_called(named.constant))
    if value.type.kind not in (*MOMENTS, "null"):
        s.places.mistyped("AT TIME ZONE", str(value.type), node)
    if value.type == TIMESTAMPTZ:
        return c.strict([value, named], "sql::wall_clock($, $)", TIMESTAMP)
    return c.strict([c.convert(value, TIMESTAMP) or value, named], "sql::instant($, $)", TIMESTAMPTZ)


def strftime(s: Scalars, node: Expression) -> SqlValue:
    """STRFTIME of a moment and a format, in either order; of an instant in the time zone."""
    of, by = node.this, node.args["format"]
    if s.value(by).type.kind in MOMENTS:
        of, by = by, of
    value, form = s.value(of), s.brought(by, VARCHAR, node)
    if value.type == TIMESTAMPTZ:
        return c.strict([value, form], f'sql::strftime_in($, $, "{c.zone()}")', VARCHAR)
    return c.strict([s.brought(of, TIMESTAMP, node), form], "sql::strftime($, $)", VARCHAR)


_PATTERN = re.compile(r'"([^"]*)"|([A-Za-z]+[0-9]*)|([^A-Za-z"]+)|(")')
_LETTERS = {
    "YYYY": "%Y", "YY": "%y", "MM": "%m", "DD": "%d", "DDD": "%j", "HH": "%I", "HH12": "%I", "HH24": "%H",
    "MI": "%M", "SS": "%S", "MS": "%g", "US": "%f", "AM": "%p", "PM": "%p", "Mon": "%b", "Dy": "%a",
    "FMMonth": "%B", "FMDay": "%A",
}  # fmt: skip
_LETTERS |= {word.lower(): code for word, code in _LETTERS.items() if word.isupper() and code != "%p"}


def to_char(s: Scalars, node: Expression) -> SqlValue:
    """TO_CHAR of a moment, as in PostgreSQL, by a constant pattern of these letters."""
    by, made = node.args.get("format"), ""
    if by is None or not by.is_string:
        s.places.refuse("TO_CHAR without a pattern that is a constant", node)
    for quoted, letters, others, wrong in _PATTERN.findall(by.name):
        while letters and not wrong:
            end = next((end for end in range(len(letters), 0, -1) if letters[:end] in _LETTERS), 0)
            made, letters, wrong = made + _LETTERS.get(letters[:end], ""), letters[end:], not end
        if wrong:
            s.places.refuse(
                f"the pattern {by.name} of TO_CHAR",
                by,
                f"there are {', '.join(word for word in _LETTERS if not word.islower())}",
            )
        made += (quoted or others).replace("%", "%%")
    return strftime(s, sql.TimeToStr(this=node.this, format=sql.Literal.string(made)))


def strptime(s: Scalars, node: Expression) -> SqlValue:
    """STRPTIME: an instant where the form has an offset."""
    text, form = s.text(node.this), s.brought(node.args["format"], VARCHAR, node)
    if isinstance(form.constant, str) and "%Z" in form.constant:
        s.places.refuse(
            "STRPTIME with %Z", node, "CAST('2024-02-01 10:00 Europe/Berlin' AS TIMESTAMPTZ) reads a zone"
        )
    if isinstance(form.constant, str) and "%z" in form.constant:
        return c.strict([text, form], "sql::strptime_in($, $)", TIMESTAMPTZ)
    return c.strict([text, form], "sql::strptime($, $)", TIMESTAMP)


def of_seconds(s: Scalars, node: Expression) -> SqlValue:
    """TO_TIMESTAMP of seconds since 1970, an instant; EPOCH_MS of milliseconds and MAKE_TIMESTAMP of
    microseconds, a timestamp."""
    scale = node.args.get("scale")
    if scale is not None:
        units = {"3": "1000", "6": "1"}[scale.name]
        value = s.value(node.this)
        if value.type.kind in MOMENTS:
            return _in_units(s, node, node.this, units)
        return c.strict([s.brought(node.this, INTEGER, node)], f"$ * {units}", TIMESTAMP)
    seconds = s.brought(node.this, DOUBLE, node)
    return c.strict([seconds], "sql::from_double($, 6)", TIMESTAMPTZ)


def in_units(divisor: str, factor: str = "1") -> Translate:
    """EPOCH_US and EPOCH_NS of a moment: the units since 1970."""
    return of_arguments(lambda s, node, of: _in_units(s, node, of, divisor, factor))


def _in_units(s: Scalars, node: Expression, of: Expression, divisor: str, factor: str = "1") -> SqlValue:
    value = s.value(of)
    if value.type.kind not in (*MOMENTS, "null"):
        s.places.mistyped(s.places.called(node), str(value.type), of)
    return c.strict([_since_1970(value)], f"sql::rounded($, {divisor}) * {factor}", INTEGER)


def _since_1970(moment: SqlValue) -> SqlValue:
    """An instant as it is, and a date as a timestamp: both are microseconds since 1970."""
    return moment if moment.type == TIMESTAMPTZ else c.convert(moment, TIMESTAMP) or moment


def named_part(name: str) -> Translate:
    """A part of a moment, by a function of its own."""
    return of_arguments(lambda s, node, of: part_of(s, name, s.value(of), node))


def of_parts(s: Scalars, node: Expression) -> SqlValue:
    """MAKE_TIMESTAMP of a date and a time, and MAKE_TIME."""
    given = {name: node.args.get(name) for name in ("year", "month", "day", "hour", "min", "sec")}
    there = [each for each in given.values() if each is not None]
    is_time = isinstance(node, sql.TimeFromParts)
    if len(there) != (3 if is_time else 6):
        s.places.refuse(s.places.called(node), node, "it takes " + ("3" if is_time else "6") + " arguments")
    kinds = [DOUBLE if each is given["sec"] else INTEGER for each in there]
    values = [s.brought(each, kind, node) for each, kind in zip(there, kinds, strict=True)]
    if is_time:
        return c.strict(values, "sql::make_time($, $, $)", TIME)
    form = "sql::make_date($, $, $) * 86400000000 + sql::make_time($, $, $)"
    return c.strict(values, form, TIMESTAMP)


DATES: dict[type[Expression], Translate] = {
    sql.Extract: extract,
    sql.Year: part("YEAR"),
    sql.Quarter: part("QUARTER"),
    sql.Month: part("MONTH"),
    sql.Week: part("WEEK"),
    sql.Day: part("DAY"),
    sql.DayOfMonth: part("DAY"),
    sql.Date: day_of,
    sql.DayOfWeek: part("DOW"),
    sql.DayOfYear: part("DOY"),
    sql.Hour: part("HOUR"),
    sql.Minute: part("MINUTE"),
    sql.Second: part("SECOND"),
    sql.TimestampTrunc: truncated,
    sql.DateTrunc: truncated,
    sql.DateDiff: difference,
    sql.DateAdd: shifted(1),
    sql.DateSub: shifted(-1),
    sql.TimeToStr: strftime,
    sql.StrToTime: strptime,
    sql.ToChar: to_char,
    sql.UnixToTime: of_seconds,
    sql.AtTimeZone: at_zone,
    sql.TimestampFromParts: of_parts,
    sql.TimeFromParts: of_parts,
    sql.Dayname: call('sql::strftime($, "%A")', VARCHAR, "this timestamp"),
    sql.Monthname: call('sql::strftime($, "%B")', VARCHAR, "this timestamp"),
    sql.TimeToUnix: part("EPOCH"),
    sql.WeekOfYear: part("WEEK"),
    sql.DayOfWeekIso: part("ISODOW"),
    sql.Interval: interval,
    sql.ToDays: of_units("DAY"),
    sql.DateBin: bucket,
}
"""The translation of each kind of node about dates."""

NAMED_DATES: dict[str, Translate] = {
    **{f"to_{each}s": of_units(f"{each}s") for each in _COUNTED},
    **{each: named_part(each) for each in _NAMED_PARTS},
    **dict.fromkeys(("date_part", "datepart"), part_called),
    **dict.fromkeys(("date_sub", "datesub"), of_arguments(whole_difference)),
    **dict.fromkeys(("date_trunc", "datetrunc", "date_diff", "datediff"), without_unit),
    "age": age,
    "timezone": of_arguments(timezone),
    "epoch_us": in_units("1"),
    "epoch_ns": in_units("1", "1000"),
}
"""The translation of each function of dates that the parser knows by its name alone."""
