"""Cells in the usual form of their type, which Arrow reads at once, as the readers of single cells do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..types import BigInt, Bit, Float, Signed, Type
from ..values.shapes import is_option, some_maker
from ..values.textforms import text_form
from ..values.units import Units
from .arrow import column_of, encoded
from .columns import ColumnData, TypeDefs, values_of
from .dialects import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

_DAY = "[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"


@dataclass(frozen=True, slots=True)
class PlainCells:
    """The usual form of the cells of a type, a pattern, and the Arrow type that such texts are read as."""

    type: Type
    typedefs: TypeDefs
    pattern: str
    arrow: pa.DataType


def plain_cells(type: Type, typedefs: TypeDefs, dialect: Dialect) -> PlainCells | None:
    """The usual form of the cells of a type in a dialect; None if none is read at once."""
    found = _form(type.args[0] if is_option(type) else type, typedefs, dialect)
    if found is None or any(re.fullmatch(found[0], text) for text in dialect.null):
        return None
    return PlainCells(type, typedefs, *found)


def _form(type: Type, typedefs: TypeDefs, dialect: Dialect) -> tuple[str, pa.DataType] | None:
    import pyarrow as pa

    usual = dialect.decimal == "." and not dialect.thousands
    match type:
        case BigInt() | Bit() | Signed() if usual:
            return "-?[0-9]{1,18}", pa.int64()
        case Float(64) if usual:
            return r"-?[0-9]{1,15}(\.[0-9]{1,15})?", pa.float64()
    form = text_form(type, typedefs)
    if form is None or form.number is None:
        return None
    match form.unit:
        case int(places) if usual and places < 18:
            fraction = rf"(\.[0-9]{{1,{places}}})?" if places else ""
            return f"-?[0-9]{{1,{18 - places}}}{fraction}", pa.decimal128(18, places)
        case "days" if dialect.date is None:
            return _DAY, pa.date32()
        case "micros" | "instants" if dialect.date is None:
            return f"{_DAY}[ T]{_CLOCK}", pa.timestamp("us")
    return None


def plain_column(column: pa.ChunkedArray, plain: PlainCells, read: Callable[[str], Any]) -> ColumnData:
    """A column of texts: those of the form at once, each of the others by `read`. Raises what that does."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, places = encoded(column)
    fits = pc.match_substring_regex(texts, f"^({plain.pattern})$")
    fitting = texts.filter(fits)
    some = some_maker(plain.type, plain.typedefs) if is_option(plain.type) else None
    held = plain.type.args[0] if is_option(plain.type) else plain.type
    try:
        cast = pa.chunked_array([fitting.cast(plain.arrow)])
        of_held = column_of(cast, held, plain.typedefs, as_text=False)
    except (pa.ArrowInvalid, ValueError):  # such as a 30th of February, of which `read` says what is wrong
        return [read(text) for text in texts.to_pylist()], places
    all_fit = len(fitting) == len(texts)
    if all_fit and isinstance(of_held, Units) and some is None:
        return Units(of_held.numbers[places], of_held.make)
    plain_values = values_of(of_held, held)
    made = iter(plain_values) if some is None else map(some, plain_values)
    if all_fit:
        return list(made), places
    pairs = zip(fits.to_pylist(), texts.to_pylist(), strict=True)
    return [next(made) if fit else read(text) for fit, text in pairs], places
