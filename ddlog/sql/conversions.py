"""Values brought to other types: literals, casts, and operations that are NULL where an operand is."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from itertools import count

from .types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    TIME,
    TIMESTAMP,
    VARCHAR,
    SqlType,
    Value,
    decimal,
    null,
)

_names = count(1)
_TEXT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "$": "\\$"}
_EPOCH = datetime.date(1970, 1, 1)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?")


class BadLiteral(Exception):
    """A literal that is no value of its type; the text says why."""


def strict(
    args: Sequence[Value], build: Callable[..., str], type: SqlType, *, optional: bool = False
) -> Value:
    """What `build` makes of the plain texts of the arguments; NULL where one of them is. `optional`: `build`
    makes an Option itself."""
    if any(each.type.kind == "null" for each in args):
        return null(type)
    texts, opened = [], []
    for each in args:
        if each.nullable:
            name = f"n{next(_names)}"
            opened.append((each.text, name))
            texts.append(name)
        else:
            texts.append(each.text)
    text = build(*texts)
    if not opened:
        return Value(text, type, optional)
    text = text if optional else f"Some{{{text}}}"
    for source, name in reversed(opened):
        text = f"match ({source}) {{Some{{var {name}}} -> {text}, None -> None}}"
    return Value(f"({text}: Option<{type.plain}>)", type, True)


def quoted(text: str) -> str:
    """A string as a literal of the language."""
    return '"' + "".join(_TEXT.get(each, each) for each in text) + '"'


def integer(number: int, type: SqlType = INTEGER) -> Value:
    """A whole number as a literal."""
    return Value(f"({number}: bigint)" if number >= 0 else f"(-({-number}: bigint))", type, False, number)


def string(text: str) -> Value:
    """A string literal."""
    return Value(quoted(text), VARCHAR, False, text)


def boolean(value: bool) -> Value:
    """TRUE or FALSE."""
    return Value("true" if value else "false", BOOLEAN, False, value)


def double(number: float) -> Value:
    """A literal with an exponent."""
    text = f"({abs(number)!r}: double)" if "e" not in repr(number) else f"({Decimal(abs(number)):f}: double)"
    text = text if "." in text else text.replace(": double", ".0: double")
    return Value(text if number >= 0 else f"(-{text})", DOUBLE, False, number)


def number(text: str) -> Value:
    """A number as SQL writes it."""
    if text.isdigit():
        return integer(int(text))
    if "e" in text.lower():
        return double(float(text))
    exact = Decimal(text)
    scale = -int(exact.as_tuple().exponent)
    units = integer(int(exact.scaleb(scale)), decimal(scale))
    return Value(units.text, units.type, False, exact)


def read_literal(text: str, type: SqlType) -> Value:
    """A string literal as a value of another type. Raises BadLiteral."""
    try:
        match type.kind:
            case "date":
                return integer(days(text), DATE)
            case "timestamp":
                return integer(microseconds(text), TIMESTAMP)
            case "time":
                return integer(_clock(text), TIME)
            case "integer":
                return integer(int(text))
            case "double":
                return double(float(text))
            case "decimal":
                units = int(_rounded(Decimal(text.strip()).scaleb(type.scale)))
                return integer(units, type)
            case "boolean":
                return boolean({"true": True, "t": True, "false": False, "f": False}[text.lower()])
    except (ValueError, KeyError, InvalidOperation):
        pass
    if type == VARCHAR:
        return string(text)
    raise BadLiteral(f"`{text}` is no {type}")


def _rounded(exact: Decimal) -> Decimal:
    return exact.quantize(Decimal(1), rounding="ROUND_HALF_UP")


def days(text: str) -> int:
    """The days since 1970 of a date. Raises ValueError."""
    return (datetime.date.fromisoformat(text.strip()) - _EPOCH).days


def microseconds(text: str) -> int:
    """The microseconds since 1970 of a timestamp. Raises ValueError."""
    date, _, time = text.strip().replace("T", " ").partition(" ")
    return days(date) * 86_400_000_000 + (_clock(time) if time else 0)


def _clock(text: str) -> int:
    found = _CLOCK.fullmatch(text.strip())
    if found is None or int(found[1]) > 23 or int(found[2]) > 59 or int(found[3] or 0) > 59:
        raise ValueError(text)
    whole = (int(found[1]) * 60 + int(found[2])) * 60 + int(found[3] or 0)
    return whole * 1_000_000 + int((found[4] or "").ljust(6, "0"))


def convert(value: Value, type: SqlType) -> Value | None:
    """The value as one of another type, without loss where SQL converts by itself; None where it cannot."""
    source = value.type
    if source == type:
        return value
    if source.kind == "null":
        return null(type)
    if isinstance(value.constant, str) and source == VARCHAR:
        return read_literal(value.constant, type)
    match source.kind, type.kind:
        case (("integer" | "decimal"), ("integer" | "decimal")) if type.scale >= source.scale:
            factor = 10 ** (type.scale - source.scale)
            if isinstance(value.constant, int) and not isinstance(value.constant, bool):
                return integer(value.constant * factor, type)
            return strict([value], lambda x: f"({x} * {factor})" if factor > 1 else x, type)
        case (("integer" | "decimal"), "double"):
            return strict([value], lambda x: as_double(x, source.scale), DOUBLE)
        case "date", "timestamp":
            return strict([value], lambda x: f"({x} * 86400000000)", TIMESTAMP)
    return None


def as_double(text: str, scale: int) -> str:
    """Units of a decimal as a double."""
    return f"({text} as double)" if scale == 0 else f"sql::as_double({text}, {10**scale})"


def cast(value: Value, type: SqlType, *, may_fail: bool) -> Value | None:
    """CAST, or TRY_CAST if it `may_fail`: NULL in place of a fault. None where there is no such cast."""
    try:
        found = convert(value, type)
    except BadLiteral:
        if not may_fail:
            raise
        return null(type)
    if found is not None:
        return found
    source = value.type
    read = {
        "integer": "sql::read_integer({x})",
        "decimal": f"sql::read_decimal({{x}}, {type.scale})",
        "double": "sql::read_double({x})",
        "boolean": "sql::read_boolean({x})",
        "date": "sql::read_date({x})",
        "timestamp": "sql::read_timestamp({x})",
        "time": "sql::read_time({x})",
    }
    match source.kind, type.kind:
        case "varchar", kind if kind in read:
            text = read[kind]
            if may_fail:
                return strict([value], lambda x: text.format(x=x), type, optional=True)
            return strict([value], lambda x: f'sql::sure({text.format(x=x)}, {x}, "{type}")', type)
        case _, "varchar":
            return strict([value], lambda x: as_text(x, source), VARCHAR)
        case (("integer" | "decimal"), ("integer" | "decimal")):
            drop = 10 ** (source.scale - type.scale)
            return strict([value], lambda x: f"sql::rounded({x}, {drop})", type)
        case "double", ("integer" | "decimal"):
            return strict([value], lambda x: f"sql::from_double({x}, {type.scale})", type)
        case "boolean", "integer":
            return strict([value], lambda x: f"(if ({x}) (1: bigint) else (0: bigint))", INTEGER)
        case "integer", "boolean":
            return strict([value], lambda x: f"({x} != 0)", BOOLEAN)
        case "timestamp", "date":
            return strict([value], lambda x: f"sql::floor_div({x}, 86400000000)", DATE)
        case "timestamp", "time":
            return strict([value], lambda x: f"sql::floor_mod({x}, 86400000000)", TIME)
    return None


def span(value: Value) -> Value:
    """The length of an interval, by which it is compared; any other value as it is."""
    return strict([value], lambda x: f"sql::span({x})", INTEGER) if value.type == INTERVAL else value


def as_text(text: str, type: SqlType) -> str:
    """A plain value as SQL writes it."""
    match type.kind:
        case "varchar":
            return text
        case "date" | "timestamp" | "time" | "double":
            return f"sql::{type.kind}_text({text})"
        case "decimal":
            return f"sql::decimal_text({text}, {type.scale})"
    return f"to_string({text})"
