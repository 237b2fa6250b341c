"""Functions of dates and times of SQL, a translation each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import conversions as c
from .intervals import moved, negated
from .intervals import part as interval_part
from .scalars import Scalars, Translate
from .types import (
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    TIMESTAMP,
    SqlValue,
)

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
    if value.type.kind not in ("date", "timestamp", "time", "null"):
        s.places.mistyped(f"EXTRACT of {name}", str(value.type), node)
    if value.type.kind == "time" and name not in ("HOUR", "MINUTE", "SECOND"):
        s.places.mistyped(f"EXTRACT of {name}", "TIME", node)
    if name == "EPOCH" and value.type in (DATE, TIMESTAMP):
        return c.strict([c.convert(value, TIMESTAMP) or value], "sql::as_double($, 1000000)", DOUBLE)
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
    if value.type not in (DATE, TIMESTAMP):
        s.places.mistyped("DATE_TRUNC", str(value.type), node)
    if unit not in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"):
        s.places.refuse(f"DATE_TRUNC to {unit}", node)
    moment = c.convert(value, TIMESTAMP)
    assert moment is not None
    return c.strict([moment], f'sql::truncated("{unit}", $)', TIMESTAMP)


def difference(s: Scalars, node: Expression) -> SqlValue:
    later, earlier = s.value(node.this), s.value(node.expression)
    unit = node.args["unit"].name.upper() if node.args.get("unit") is not None else "DAY"
    if unit not in ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"):
        s.places.refuse(f"DATE_DIFF in {unit}", node)
    moments = [c.convert(each, TIMESTAMP) for each in (earlier, later)]
    if None in moments:
        s.places.mistyped("DATE_DIFF", f"{earlier.type} and {later.type}", node)
    kept = [each for each in moments if each is not None]
    return c.strict(kept, f'sql::date_diff("{unit}", $, $)', INTEGER)


def shifted(sign: int) -> Translate:
    def translate(s: Scalars, node: Expression) -> SqlValue:
        by = s.value(node.expression)
        if by.type != INTERVAL:
            s.places.mistyped(s.places.called(node), str(by.type), node)
        return moved(s, s.value(node.this), by if sign > 0 else negated(by), node)

    return translate
