"""Intervals of SQL: literals, sums with moments and with each other, multiples, and parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..stdlib.sqlintervals import unit_of
from . import conversions as c
from .calls import check_arguments
from .scalars import Scalars, Translate
from .types import (
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    MOMENTS,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    VARCHAR,
    SqlValue,
    null,
)

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

_DAY = 86_400_000_000


def literal(s: Scalars, node: Expression) -> SqlValue:
    """INTERVAL of a text, or of a number of units."""
    amount, unit = node.this, node.args.get("unit")
    if unit is None:
        return text(s, s.value(amount), node)
    if node.args.get("fraction_in_string"):
        return text(s, c.string(f"{amount.name} {unit.name}"), node)
    return in_units(s, unit.name, amount, node)


def text(s: Scalars, value: SqlValue, node: Expression) -> SqlValue:
    """A text as an interval."""
    made = c.cast(value, INTERVAL, may_fail=False)
    if made is None:
        s.places.mistyped("INTERVAL", str(value.type), node)
    return made


def in_units(s: Scalars, name: str, amount: Expression, node: Expression) -> SqlValue:
    """An interval of so many units. Raises SqlError."""
    unit = unit_of(name)
    if unit is None:
        s.places.refuse(f"the unit {name} of an interval", node)
    given = s.value(amount)
    if isinstance(given.constant, str):
        try:
            given = c.integer(int(given.constant))
        except ValueError:
            s.places.wrong(f"`{given.constant}` is no whole number", node)
    if given.type != INTEGER and given.type.kind != "null":
        s.places.mistyped(f"an interval of {name.upper()}", str(given.type), node)
    held, size = unit
    if isinstance(given.constant, int):
        parts = [0, 0, 0]
        parts[held] = given.constant * size
        return c.interval(*parts)
    cells = ["0", "0", "0"]
    cells[held] = f"$ * {size}"
    return c.strict([given], f"sql::Interval{{{', '.join(cells)}}}", INTERVAL)


def of_units(name: str) -> Translate:
    """TO_DAYS and the like."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        given = [each for each in node.iter_expressions() if isinstance(each, sql.Expression)]
        check_arguments(s, node, len(given), 1, 1)
        return in_units(s, name, given[0], node)

    return translate


def moved(s: Scalars, moment: SqlValue, by: SqlValue, node: Expression) -> SqlValue:
    """A date or a timestamp plus an interval, a timestamp; a time of day plus one, such a time."""
    if moment.type.kind not in (*MOMENTS, "time"):
        s.places.mistyped("adding an interval", str(moment.type), node)
    if moment.type == TIMESTAMPTZ:
        return _later_instant(s, moment, by, node)
    if moment.type == TIME:
        later = f"sql::floor_mod($ + sql::span($), {_DAY})"
        return c.strict([moment, by], later, TIME)
    if not isinstance(by.constant, tuple):
        start = c.convert(moment, TIMESTAMP)
        assert start is not None
        return c.strict([start, by], "sql::add_interval($, $)", TIMESTAMP)
    months, days, micros = by.constant
    if moment.type == DATE and isinstance(moment.constant, int):
        from ..stdlib.sql import add_months

        whole = (add_months(moment.constant, months) + days) * _DAY + micros
        return c.integer(whole, TIMESTAMP)
    if moment.type == DATE:
        parts = [moment, *map(c.integer, (months, days, micros))]
        return c.strict(parts, f"(sql::add_months($, $) + $) * {_DAY} + $", TIMESTAMP)
    shift = c.integer(days * _DAY + micros)
    if months == 0:
        return c.strict([moment, shift], "$ + $", TIMESTAMP)
    months_on = f"sql::add_months(sql::floor_div($0, {_DAY}), $1) * {_DAY}"
    return c.strict(
        [moment, c.integer(months), shift], f"{months_on} + sql::floor_mod($0, {_DAY}) + $2", TIMESTAMP
    )


def _later_instant(s: Scalars, moment: SqlValue, by: SqlValue, node: Expression) -> SqlValue:
    """An instant plus an interval, whose months and days are those of the time zone."""
    months, days, micros = by.constant if isinstance(by.constant, tuple) else (1, 1, 1)
    if not months and (not days or (c.zone() == c.UTC and not micros)):
        return replace(moved(s, replace(moment, type=TIMESTAMP), by, node), type=TIMESTAMPTZ)
    return c.strict([moment, by], f'sql::add_interval_in($, $, "{c.zone()}")', TIMESTAMPTZ)


def negated(value: SqlValue) -> SqlValue:
    """An interval in the other direction."""
    if isinstance(value.constant, tuple):
        return c.interval(*(-each for each in value.constant))
    return c.strict([value], "sql::times($, -1)", INTERVAL)


def summed(s: Scalars, op: str, a: SqlValue, b: SqlValue, node: Expression) -> SqlValue:
    """`+` and `-` of values of which one is an interval. Raises SqlError."""
    if a.type.kind == "null" or b.type.kind == "null":
        return null(INTERVAL)
    if a.type == b.type:
        return c.strict([a, negated(b) if op == "-" else b], "sql::plus($, $)", INTERVAL)
    if b.type == INTERVAL:
        return moved(s, a, negated(b) if op == "-" else b, node)
    if op == "-":
        s.places.mistyped("subtracting from an interval", str(b.type), node)
    return moved(s, b, a, node)


def multiple(s: Scalars, value: SqlValue, factor: SqlValue, node: Expression) -> SqlValue:
    """An interval times a number, or divided by one."""
    if factor.type == INTEGER and isinstance(node, sql.Mul):
        return c.strict([value, factor], "sql::times($, $)", INTERVAL)
    number = c.convert(factor, DOUBLE) if factor.type.is_number or factor.type.kind == "null" else None
    if number is None:
        s.places.mistyped("a multiple of an interval", str(factor.type), node)
    call = "scaled" if isinstance(node, sql.Mul) else "divided"
    return c.strict([value, number], f"sql::{call}($, $)", INTERVAL)


def part(s: Scalars, name: str, value: SqlValue, node: Expression) -> SqlValue:
    """EXTRACT of an interval."""
    if name == "EPOCH":
        return c.strict([value], "sql::as_double(sql::since_epoch($), 1000000)", DOUBLE)
    if name not in ("YEAR", "DECADE", "CENTURY", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"):
        s.places.refuse(f"the part {name} of an interval", node)
    return c.strict([value], f'sql::interval_part("{name}", $)', INTEGER)


def _moment(s: Scalars, node: Expression, whole: Expression) -> SqlValue:
    value = c.wall_clock(s.value(node))
    made = c.convert(value, TIMESTAMP) if value.type != VARCHAR or value.constant is not None else None
    if made is None:
        s.places.mistyped(s.places.called(whole), str(value.type), whole)
    return made


def age(s: Scalars, node: Expression) -> SqlValue:
    """AGE of two moments: years, months, days and the time."""
    if len(node.expressions) != 2:
        s.places.refuse("AGE of one moment", node, "say the other one, too")
    return c.strict([_moment(s, each, node) for each in node.expressions], "sql::age($, $)", INTERVAL)


def bucket(s: Scalars, node: Expression) -> SqlValue:
    """TIME_BUCKET: the start of the stretch of time that a moment is in, counted from an origin."""
    width, value, given = s.value(node.this), s.value(node.expression), node.args.get("unit")
    if width.type != INTERVAL:
        s.places.mistyped("TIME_BUCKET", str(width.type), node)
    origin = _origin(s, given, value, node)
    if value.type == TIMESTAMPTZ:
        return c.strict([width, value, origin], "sql::bucket($, $, $)", TIMESTAMPTZ)
    moment = _moment(s, node.expression, node)
    start = c.strict([width, moment, origin], "sql::bucket($, $, $)", TIMESTAMP)
    return c.cast(start, DATE, may_fail=False) or start if value.type == DATE else start


def _origin(s: Scalars, node: Expression | None, value: SqlValue, whole: Expression) -> SqlValue:
    """The moment from which TIME_BUCKET counts: the first Monday of 2000, unless its third argument is one,
    in a zone if the value is."""
    if node is None:
        return c.integer(10_959 * _DAY)
    if (s.value(node).type == TIMESTAMPTZ) != (value.type == TIMESTAMPTZ) or s.value(node).type == VARCHAR:
        s.places.mistyped("the origin of TIME_BUCKET", str(s.value(node).type), node)
    return s.value(node) if value.type == TIMESTAMPTZ else _moment(s, node, whole)
