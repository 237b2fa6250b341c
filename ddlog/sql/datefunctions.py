"""Functions of dates and times of SQL, a translation each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import conversions as c
from .intervals import moved, negated
from .intervals import part as interval_part
from .scalars import Scalars, Translate
from .types import DATE, DOUBLE, INTEGER, INTERVAL, MOMENTS, TIMESTAMP, TIMESTAMPTZ, VARCHAR, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


_PARTS = {
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFWEEK", "DOW", "ISODOW", "DAYOFYEAR", "DOY", "HOUR", "MINUTE", "SECOND",  # noqa: E501
    "CENTURY", "DECADE", "EPOCH",
}  # fmt: skip


def part_of(s: Scalars, name: str, value: SqlValue, node: Expression) -> SqlValue:
    """A part of a moment or an interval. Raises SqlError."""
    name = name.upper()
    if value.type == INTERVAL:
        return interval_part(s, name, value, node)
    if value.type.kind not in (*MOMENTS, "time", "null"):
        s.places.mistyped(f"EXTRACT of {name}", str(value.type), node)
    if value.type.kind == "time" and name not in ("HOUR", "MINUTE", "SECOND"):
        s.places.mistyped(f"EXTRACT of {name}", "TIME", node)
    if name == "EPOCH" and value.type.kind in MOMENTS:
        return c.strict(
            [value if value.type == TIMESTAMPTZ else c.convert(value, TIMESTAMP) or value],
            "sql::as_double($, 1000000)",
            DOUBLE,
        )
    value = c.wall_clock(value)
    if name not in _PARTS or name == "EPOCH":
        s.places.refuse(f"the part {name} of a date", node)
    if value.type == DATE:
        return c.strict([value], f'sql::date_part("{name}", $)', INTEGER)
    return c.strict([value], f'sql::timestamp_part("{name}", $)', INTEGER)


def extract(s: Scalars, node: Expression) -> SqlValue:
    return part_of(s, node.this.name, s.value(node.expression), node)


def part(name: str) -> Translate:
    return lambda s, node: part_of(s, name, s.value(node.this), node)


def truncated(s: Scalars, node: Expression) -> SqlValue:
    return truncated_to(s, node.args["unit"].name.upper(), s.value(node.this), node)


def truncated_to(s: Scalars, unit: str, value: SqlValue, node: Expression) -> SqlValue:
    """The beginning of the unit that a moment is in. Raises SqlError."""
    if value.type.kind not in MOMENTS:
        s.places.mistyped("DATE_TRUNC", str(value.type), node)
    if unit not in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"):
        s.places.refuse(f"DATE_TRUNC to {unit}", node)
    if value.type == TIMESTAMPTZ and c.zone() != c.UTC:
        return c.strict([value], f'sql::truncated_in("{unit}", $, "{c.zone()}")', TIMESTAMPTZ)
    if value.type == TIMESTAMPTZ:
        return c.instant(truncated_to(s, unit, c.wall_clock(value), node))
    moment = c.convert(value, TIMESTAMP)
    assert moment is not None
    return c.strict([moment], f'sql::truncated("{unit}", $)', TIMESTAMP)


def difference(s: Scalars, node: Expression) -> SqlValue:
    later, earlier = s.value(node.this), s.value(node.expression)
    unit = node.args["unit"].name.upper() if node.args.get("unit") is not None else "DAY"
    if unit not in ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"):
        s.places.refuse(f"DATE_DIFF in {unit}", node)
    is_zoned = TIMESTAMPTZ in (earlier.type, later.type)
    moments = [c.convert(each, TIMESTAMPTZ if is_zoned else TIMESTAMP) for each in (earlier, later)]
    if None in moments:
        s.places.mistyped("DATE_DIFF", f"{earlier.type} and {later.type}", node)
    kept = [each for each in moments if each is not None]
    if is_zoned and unit in ("HOUR", "MINUTE", "SECOND"):
        kept = [truncated_to(s, unit, each, node) for each in kept]
        size = {"HOUR": 3_600, "MINUTE": 60, "SECOND": 1}[unit] * 1_000_000
        return c.strict(kept, f"sql::trunc_div($1 - $0, {size})", INTEGER)
    kept = list(map(c.wall_clock, kept))
    return c.strict(kept, f'sql::date_diff("{unit}", $, $)', INTEGER)


def shifted(sign: int) -> Translate:
    def translate(s: Scalars, node: Expression) -> SqlValue:
        by = s.value(node.expression)
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
    """STRFTIME, of an instant in the time zone."""
    value, form = s.value(node.this), s.brought(node.args["format"], VARCHAR, node)
    if value.type == TIMESTAMPTZ:
        return c.strict([value, form], f'sql::strftime_in($, $, "{c.zone()}")', VARCHAR)
    return c.strict([s.brought(node.this, TIMESTAMP, node), form], "sql::strftime($, $)", VARCHAR)


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
    """TO_TIMESTAMP of seconds since 1970, an instant; EPOCH_MS of milliseconds, a timestamp."""
    scale = node.args.get("scale")
    if scale is not None:
        if scale.name != "3":
            s.places.refuse(s.places.called(node), node)
        return c.strict([s.brought(node.this, INTEGER, node)], "$ * 1000", TIMESTAMP)
    seconds = s.brought(node.this, DOUBLE, node)
    return c.strict([seconds], "sql::from_double($, 6)", TIMESTAMPTZ)
