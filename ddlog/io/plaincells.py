"""Cells in the usual form of their type, which Arrow reads at once, as the readers of single cells do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import BigInt, Bit, Float, Signed, Type, User
from ..values.shapes import is_option, shape_of, some_maker
from ..values.textforms import text_form
from ..values.units import Units
from .arrow import numbers_in
from .columns import ColumnData, TypeDefs, integer_bounds
from .dialects import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

_DAY = "[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"


@dataclass(frozen=True, slots=True)
class PlainCells:
    """The usual form of a type's cells, a pattern, the Arrow type that they are read as, and the numbers that
    this gives: `make` makes a value of one. `is_units`: the values are numbers of a unit themselves."""

    pattern: str
    arrow: pa.DataType
    bounds: tuple[int, int] | None
    make: Callable[[Any], Any]
    is_units: bool = False


def plain_cells(type: Type, typedefs: TypeDefs, dialect: Dialect) -> PlainCells | None:
    """The usual form of the cells of a type in a dialect; None if none is read at once."""
    held = type.args[0] if is_option(type) else type
    some = some_maker(type, typedefs) if is_option(type) else None
    found = _form(held, typedefs, dialect)
    if found is None or any(re.fullmatch(found.pattern, text) for text in dialect.null):
        return None
    if some is None:
        return found
    make = found.make
    return PlainCells(found.pattern, found.arrow, found.bounds, lambda number: some(make(number)))


def _form(type: Type, typedefs: TypeDefs, dialect: Dialect) -> PlainCells | None:
    import pyarrow as pa

    usual = dialect.decimal == "." and not dialect.thousands
    match type:
        case BigInt() | Bit() | Signed() if usual:
            return PlainCells("-?[0-9]{1,18}", pa.int64(), integer_bounds(type), _same)
        case Float(64) if usual:
            return PlainCells(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", pa.float64(), None, _same)
    form = text_form(type, typedefs)
    if form is None or form.number is None or not isinstance(type, User):
        return None
    is_units = len(shape_of(type, typedefs).constructors[0].fields) == 1
    match form.unit:
        case int(places) if usual and places < 18:
            fraction = rf"(\.[0-9]{{1,{places}}})?" if places else ""
            pattern = f"-?[0-9]{{1,{18 - places}}}{fraction}"
            return PlainCells(pattern, pa.decimal128(18, places), None, form.number, is_units)
        case "days" if dialect.date is None:
            return PlainCells(_DAY, pa.date32(), None, form.number, is_units)
        case "micros" | "instants" if dialect.date is None:
            return PlainCells(f"{_DAY}[ T]{_CLOCK}", pa.timestamp("us"), None, form.number, is_units)
    return None


def _same(number: Any) -> Any:
    return number


def plain_column(column: pa.ChunkedArray, plain: PlainCells, read: Callable[[str], Any]) -> ColumnData:
    """A column of texts: those of the form at once, each of the others by `read`. Raises what that does."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], column.type)
    texts, places = whole.dictionary, numbers_in(whole.indices)
    fits = pc.match_substring_regex(texts, f"^({plain.pattern})$")
    try:
        numbers = _numbers(texts.filter(fits), plain)
    except pa.ArrowInvalid:
        numbers = None  # such as a 30th of February, of which `read` says what is wrong
    if numbers is None:
        return [read(text) for text in texts.to_pylist()], places
    if plain.is_units and len(numbers) == len(texts):
        return Units(numbers[places], plain.make)
    made = map(plain.make, numbers.tolist())
    if len(numbers) == len(texts):
        return list(made), places
    pairs = zip(fits.to_pylist(), texts.to_pylist(), strict=True)
    return [next(made) if fit else read(text) for fit, text in pairs], places


def _numbers(texts: pa.Array, plain: PlainCells) -> np.ndarray[Any, Any] | None:
    """The numbers of texts of the form; None if one is out of bounds."""
    import pyarrow as pa

    read = texts.cast(plain.arrow)
    if pa.types.is_decimal(plain.arrow):
        return np.frombuffer(read.buffers()[1], np.int64)[2 * read.offset :: 2][: len(read)]
    if pa.types.is_floating(plain.arrow):
        return numbers_in(read) + 0.0  # there is no -0.0
    numbers = numbers_in(read.view(pa.int32() if pa.types.is_date32(plain.arrow) else pa.int64()))
    numbers = numbers.astype(np.int64, copy=False)
    if plain.bounds is not None and len(numbers):
        least, most = plain.bounds
        if int(numbers.min()) < least or int(numbers.max()) > most:
            return None
    return numbers
