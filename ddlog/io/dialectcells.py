"""Cells as a dialect writes them: texts for what is absent, signs in numbers, and formats of dates."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache, partial
from typing import Any

from ..types import BigInt, Bit, Bool, Float, Signed, String, Type
from ..values.defaults import default_value
from ..values.shapes import is_option, some_maker
from ..values.written import text_form
from .columns import TypeDefs, cell_reader
from .dialects import Dialect

_DATES = {"Date": "date", "Time": "time", "DateTime": "datetime"}


def dialect_reader(type: Type, typedefs: TypeDefs, dialect: Dialect) -> Callable[[str], Any]:
    """A function that reads a cell as a value of the type. It raises ValueError."""
    held = type.args[0] if is_option(type) else type
    read = cell_reader(type, typedefs)
    if dialect.null and held == String() and is_option(type):
        read = some_maker(type, typedefs)  # an empty text is there, if another one is absent
    part = _DATES.get(str(held).rpartition("::")[2]) if dialect.date is not None else None
    if part is not None and text_form(held, typedefs) is not None:
        read = partial(_read_date, read, dialect.date or "", part)
    if _is_number(held, typedefs) and (dialect.decimal != "." or dialect.thousands):
        read = partial(_read_number, read, dialect)
    if not dialect.null:
        return read
    none = default_value(type, typedefs) if is_option(type) else None
    return partial(_read_nullable, read, frozenset(dialect.null), none)


def large_reader(type: Type, typedefs: TypeDefs, dialect: Dialect) -> Callable[[str], Any] | None:
    """The function that reads each of many cells. None for numbers and truth values whose cells mean the same
    in the dialect as without it: a reader of columns takes those, and other cells are wrong."""
    usual = cell_reader(type, typedefs)
    is_plain = isinstance(type, Bool | Float | BigInt | Bit | Signed) and not dialect.thousands
    if is_plain and dialect.decimal == "." and not any(_is_value(usual, text) for text in dialect.null):
        return None
    return dialect_reader(type, typedefs, dialect)


def _is_value(read: Callable[[str], Any], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _is_number(type: Type, typedefs: TypeDefs) -> bool:
    form = text_form(type, typedefs)
    is_decimal = form is not None and isinstance(form.unit, int)
    return is_decimal or isinstance(type, BigInt | Bit | Signed | Float)


@cache
def number_form(decimal: str, thousands: str) -> re.Pattern[str]:
    """The form of numbers with a sign before their fraction, and a sign between groups of three digits."""
    groups = rf"\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|" if thousands else ""
    return re.compile(rf"\s*[+-]?(?:{groups}\d+)(?:{re.escape(decimal)}\d+)?(?:[eE][+-]?\d+)?\s*\Z", re.ASCII)


def usual_number(text: str, decimal: str, thousands: str) -> str:
    """The usual text of a number in such a form."""
    return (text.replace(thousands, "") if thousands else text).replace(decimal, ".").strip()


def _read_number(read: Callable[[str], Any], dialect: Dialect, text: str) -> Any:
    decimal, thousands = dialect.decimal, dialect.thousands
    if number_form(decimal, thousands).match(text):
        return read(usual_number(text, decimal, thousands))
    if any(map(str.isdigit, text)):
        raise ValueError(f"expected a number such as 1{thousands}234{decimal}5, found {text!r}")
    return read(text)


def _read_date(read: Callable[[str], Any], format: str, part: str, text: str) -> Any:
    if not text:
        return read(text)
    try:
        given = datetime.strptime(text, format)
    except ValueError:
        raise ValueError(f"expected a date as {format} writes it, found {text!r}") from None
    return read((given if part == "datetime" else getattr(given, part)()).isoformat())


def _read_nullable(read: Callable[[str], Any], nulls: frozenset[str], none: Any, text: str) -> Any:
    if text not in nulls:
        return read(text)
    if none is None:
        raise ValueError(f"the value is absent ({text!r}), and the column's type is no Option")
    return none
