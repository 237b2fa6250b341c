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
from ..values.textforms import text_form
from .columns import TypeDefs, cell_reader, is_value
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
    if is_plain and dialect.decimal == "." and not any(is_value(usual, text) for text in dialect.null):
        return None
    return dialect_reader(type, typedefs, dialect)


_NUMBERS = {(".", ","): "thousands=,", (",", ""): "decimal=,", (",", "."): "thousands=.&decimal=,",
            (".", " "): "thousands=space", (",", " "): "thousands=space&decimal=,"}  # fmt: skip
_ABSENT = {"null", "none", "nil", "na", "n/a", "nan", "\\n", "-"}
_DAYS = {r"\d\d/\d\d/\d{4}\Z": ("date=%d/%m/%Y", "date=%m/%d/%Y"), r"\d\d\.\d\d\.\d{4}\Z": ("date=%d.%m.%Y",),
         r"\d\d-\d\d-\d{4}\Z": ("date=%d-%m-%Y", "date=%m-%d-%Y"), r"\d{4}/\d\d/\d\d\Z": ("date=%Y/%m/%d",),
         r"\d{8}\Z": ("date=%Y%m%d",)}  # fmt: skip


def other_form(type: Type, typedefs: TypeDefs, text: str) -> str:
    """A help for a cell that is wrong as it stands: the option of the place with which it has a value."""
    held = type.args[0] if is_option(type) else type
    found: tuple[str, ...] = ()
    if is_option(type) and text.lower() in _ABSENT:
        found = (f"null={text}",)
    elif _is_number(held, typedefs):
        fit = (option for signs, option in _NUMBERS.items() if _reads(type, typedefs, text, *signs))
        found = (*fit,)[:1]
    elif str(held).rpartition("::")[2] == "Date":
        found = next((each for form, each in _DAYS.items() if re.match(form, text, re.ASCII)), ())
    options = " or ".join(f"`?{each}`" for each in found)
    return f"an option of the place tells how such cells are written: {options}" if found else ""


def _reads(type: Type, typedefs: TypeDefs, text: str, decimal: str, thousands: str) -> bool:
    """Whether a cell is a number of the type, written with these signs before its decimals and between its
    thousands."""
    if not number_form(decimal, thousands).match(text):
        return False
    try:
        cell_reader(type, typedefs)(usual_number(text, decimal, thousands))
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
