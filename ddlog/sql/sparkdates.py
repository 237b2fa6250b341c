"""Functions of dates and times of Spark's SQL, a translation each. The time zone is UTC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..stdlib.sparkmoments import UNREAD, parts_of
from ..stdlib.sqlvalues import SIZES
from ..syntax.templates import tree
from . import conversions as c
from .calls import call, either, of_arguments
from .datefunctions import part_of, truncated_to
from .intervals import in_units
from .scalars import Scalars, Translate
from .sparkcasts import cast
from .sparknumbers import DAY
from .types import DATE, DOUBLE, INTEGER, TIMESTAMP, VARCHAR, SqlType, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def _pattern(s: Scalars, node: Expression, written: bool) -> str:
    """A pattern of moments, which is a constant. Raises SqlError."""
    if not (isinstance(node, sql.Literal) and node.is_string):
        s.places.refuse("a pattern of moments that is not a constant", node)
    try:
        parts = parts_of(node.name)
    except ValueError as error:
        s.places.wrong(str(error), node)
    unread = [letter for letter, _, _ in parts if letter and letter in UNREAD]
    if unread and not written:
        s.places.refuse(f"reading moments by `{unread[0]}`", node)
    return node.name


def _format(kind: SqlType, factor: int = 1) -> Translate:
    """A moment written by a pattern."""

    @of_arguments
    def translate(s: Scalars, node: Expression, of: Expression, by: Expression | None = None) -> SqlValue:
        value = s.brought(of, kind, node)
        pattern = "yyyy-MM-dd HH:mm:ss" if by is None else _pattern(s, by, True)
        return c.strict([value, c.string(pattern)], f"sparksql::moment_text($ * {factor}, $)", VARCHAR)

    return translate


def _read(type: SqlType, form: str, *, may_fail: bool = False, default: str = "") -> Translate:
    """A moment read from a text by a pattern, or as a cast does. `form` makes the value of it."""

    @of_arguments
    def translate(s: Scalars, node: Expression, first: Expression, by: Expression | None = None) -> SqlValue:
        value = s.value(first)
        pattern = default if by is None else _pattern(s, by, False)
        if value.type != VARCHAR or not pattern:
            wanted = DATE if type == DATE else TIMESTAMP
            made = cast(value, wanted, may_fail=may_fail)
            if made is None:
                s.places.mistyped(s.places.called(node), str(value.type), first)
            return made if type in (DATE, TIMESTAMP) else c.strict([made], form, type)
        read = "sparksql::read_moment($, $)"
        values = [value, c.string(pattern)]
        if may_fail:
            found = c.strict(values, read, TIMESTAMP, optional=True)
        else:
            found = c.strict(values, lambda x, y: tree(f"sql::sure({read}, $, $)", x, y, x, y), TIMESTAMP)
        return c.strict([found], form, type)

    return translate


_DAYS, _SECONDS = f"sql::floor_div($, {DAY})", "sql::floor_div($, 1000000)"


def _part(name: str) -> Translate:
    """A part of a moment, or of a text that is one."""

    @of_arguments
    def translate(s: Scalars, node: Expression, of: Expression) -> SqlValue:
        value = s.value(of)
        if value.type == VARCHAR:
            value = s.brought(of, TIMESTAMP, node)
        return part_of(s, name, value, node)

    return translate


def extracted(s: Scalars, node: Expression) -> SqlValue:
    """EXTRACT."""
    return _named_part(s, node, node.this, node.expression)


def _named_part(s: Scalars, node: Expression, part: Expression, of: Expression) -> SqlValue:
    """A part of a moment by its name: days of the week are counted from 1."""
    name = part.name
    word = _PARTS.get(name.upper(), name.upper())
    found = part_of(s, word, s.value(of), node)
    return c.strict([found], "$ + 1", INTEGER) if name.upper() in ("DOW", "DAYOFWEEK") else found


_PARTS = {
    "DAYS": "DAY", "D": "DAY", "DAYOFWEEK": "DOW", "DAYOFWEEK_ISO": "ISODOW", "DOW_ISO": "ISODOW",
    "H": "HOUR", "HOURS": "HOUR", "M": "MINUTE", "MIN": "MINUTE", "MINUTES": "MINUTE", "MON": "MONTH",
    "MONTHS": "MONTH", "QTR": "QUARTER", "S": "SECOND", "SEC": "SECOND", "SECONDS": "SECOND", "W": "WEEK",
    "WEEKS": "WEEK", "Y": "YEAR", "YEARS": "YEAR", "YR": "YEAR",
}  # fmt: skip
_UNITS = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "YEAR"), **dict.fromkeys(("MONTH", "MON", "MM"), "MONTH"),
    **dict.fromkeys(("DAY", "DD"), "DAY"), **{e: e for e in ("QUARTER", "WEEK", "HOUR", "MINUTE", "SECOND")},
}  # fmt: skip


@of_arguments
def _truncated(s: Scalars, node: Expression, unit: Expression, of: Expression) -> SqlValue:
    """DATE_TRUNC(unit, moment)."""
    return truncated_to(s, _unit(s, unit), s.brought(of, TIMESTAMP, node), node)


@of_arguments
def _truncated_day(s: Scalars, node: Expression, of: Expression, unit: Expression) -> SqlValue:
    """TRUNC(day, unit)."""
    found = truncated_to(s, _unit(s, unit), s.brought(of, DATE, node), node)
    return c.strict([found], _DAYS, DATE)


def _unit(s: Scalars, node: Expression) -> str:
    found = _UNITS.get(node.name.upper())
    if found is None:
        s.places.refuse(f"the unit {node.name}", node)
    return found


@of_arguments
def _elapsed(s: Scalars, node: Expression, unit: Expression, one: Expression, other: Expression) -> SqlValue:
    """TIMESTAMPDIFF(unit, from, to), and DATEDIFF with a unit."""
    values = [s.brought(each, TIMESTAMP, node) for each in (one, other)]
    name = unit.name.upper()
    if name not in (*SIZES, "MONTH", "QUARTER", "YEAR"):
        s.places.refuse(f"the unit {name}", unit)
    return c.strict(values, f'sql::date_sub("{name}", $, $)', INTEGER)


@of_arguments
def _later(s: Scalars, node: Expression, unit: Expression, count: Expression, of: Expression) -> SqlValue:
    """TIMESTAMPADD(unit, count, moment), and DATEADD of so many arguments."""
    value = s.value(of)
    by = in_units(s, unit.name, count, node)
    moment = value if value.type in (DATE, TIMESTAMP) else s.brought(of, TIMESTAMP, node)
    start = c.convert(moment, TIMESTAMP)
    assert start is not None
    made = c.strict([start, by], "sql::add_interval($, $)", TIMESTAMP)
    small = unit.name.upper() in ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR")
    return made if moment.type != DATE or small else c.strict([made], _DAYS, DATE)


DATES: dict[str, Translate] = {
    "add_months": call("sql::add_months($, $)", DATE, "0 date", "1 integer"),
    **dict.fromkeys(("date_add", "dateadd"), either(2, call("$ + $", DATE, "0 date", "1 integer"), _later)),
    "date_diff": either(2, call("$ - $", INTEGER, "0 date", "1 date"), _elapsed),
    "date_format": _format(TIMESTAMP),
    "date_from_unix_date": call("$", DATE, "0 integer"),
    "date_part": of_arguments(_named_part),
    "date_sub": call("$ - $", DATE, "0 date", "1 integer"),
    "date_trunc": _truncated,
    "datediff": either(2, call("$ - $", INTEGER, "0 date", "1 date"), _elapsed),
    "datepart": of_arguments(_named_part),
    "day": _part("DAY"),
    "dayname": call('sparksql::moment_text($, "E")', VARCHAR, "0 timestamp"),
    "dayofmonth": _part("DAY"),
    "dayofweek": call('sql::date_part("DOW", $) + 1', INTEGER, "0 date"),
    "dayofyear": _part("DOY"),
    "from_utc_timestamp": call("sql::wall_clock($, $)", TIMESTAMP, "0 timestamp", "1 text"),
    "from_unixtime": _format(INTEGER, 1_000_000),
    "hour": _part("HOUR"),
    "last_day": call(f"sql::last_day($ * {DAY})", DATE, "0 date"),
    "make_date": call("sql::make_date($, $, $)", DATE, "0 integer", "1 integer", "2 integer"),
    "minute": _part("MINUTE"),
    "month": _part("MONTH"),
    "monthname": call('sparksql::moment_text($, "MMM")', VARCHAR, "0 timestamp"),
    "months_between": either(
        2, call("sparksql::months_between($, $, true)", DOUBLE, "0 timestamp", "1 timestamp"),
        call("sparksql::months_between($, $, $)", DOUBLE, "0 timestamp", "1 timestamp", "2 boolean"),
    ),
    "next_day": call("sparksql::next_day($, $)", DATE, "0 date", "1 text", optional=True),
    "quarter": _part("QUARTER"),
    "second": _part("SECOND"),
    "timestamp_micros": call("$", TIMESTAMP, "0 integer"),
    "timestamp_millis": call("$ * 1000", TIMESTAMP, "0 integer"),
    "timestamp_seconds": call("$ * 1000000", TIMESTAMP, "0 integer"),
    "timestampadd": _later,
    "timestampdiff": _elapsed,
    "to_date": _read(DATE, _DAYS),
    "to_timestamp": _read(TIMESTAMP, "$"),
    "to_utc_timestamp": call("sparksql::to_utc($, $)", TIMESTAMP, "0 timestamp", "1 text"),
    "to_unix_timestamp": _read(INTEGER, _SECONDS, default="yyyy-MM-dd HH:mm:ss"),
    "trunc": _truncated_day,
    "try_to_date": _read(DATE, _DAYS, may_fail=True),
    "try_to_timestamp": _read(TIMESTAMP, "$", may_fail=True),
    "unix_date": call("$", INTEGER, "0 date"),
    "unix_micros": call("$", INTEGER, "0 timestamp"),
    "unix_millis": call("sql::floor_div($, 1000)", INTEGER, "0 timestamp"),
    "unix_seconds": call("sql::floor_div($, 1000000)", INTEGER, "0 timestamp"),
    "unix_timestamp": _read(INTEGER, _SECONDS, default="yyyy-MM-dd HH:mm:ss"),
    "weekday": call('sql::date_part("ISODOW", $) - 1', INTEGER, "0 date"),
    "weekofyear": _part("WEEK"),
    "year": _part("YEAR"),
}  # fmt: skip
"""The translation of each function of dates and times."""
