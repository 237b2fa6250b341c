"""The columns of tables for types that are whole numbers of a unit: the dates, times and decimals of SQL."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ..types import Type
from ..values.written import text_form
from .columns import TypeDefs

if TYPE_CHECKING:
    import pyarrow as pa

_EPOCH = datetime.datetime(1970, 1, 1)


def sql_column(type: Type, typedefs: TypeDefs) -> pa.DataType | None:
    """The Arrow type of such values; None for other types."""
    import pyarrow as pa

    match _unit(type, typedefs):
        case "days":
            return pa.date32()
        case "time":
            return pa.time64("us")
        case "micros":
            return pa.timestamp("us")
        case int(places):
            return pa.decimal128(38, places)
    return None


def sql_plain(type: Type, typedefs: TypeDefs) -> Callable[[Any], Any] | None:
    """A function that makes of such a value the one that Arrow takes; None for other types."""
    match _unit(type, typedefs):
        case "days":
            return lambda value: _after(days=value[0]).date()
        case "time":
            return lambda value: _after(microseconds=value[0]).time()
        case "micros":
            return lambda value: _after(microseconds=value[0])
        case int(places):
            return lambda value: Decimal(f"{value[0]}E-{places}")  # a product would be rounded to 28 digits
    return None


def _unit(type: Type, typedefs: TypeDefs) -> str | int:
    form = text_form(type, typedefs)
    return "" if form is None else form.unit


def _after(**passed: int) -> datetime.datetime:
    try:
        return _EPOCH + datetime.timedelta(**passed)
    except OverflowError:
        raise ValueError("a date is not in the years 1 to 9999") from None
