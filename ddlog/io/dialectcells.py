"""Cells as a dialect writes them: texts for what is absent, and formats of dates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from ..types import String, Type
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
    if not dialect.null:
        return read
    none = default_value(type, typedefs) if is_option(type) else None
    return partial(_read_nullable, read, frozenset(dialect.null), none)


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
