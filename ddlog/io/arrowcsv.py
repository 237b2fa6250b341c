"""Large delimited texts, read by Arrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..types import Bit, Bool, Float, Type
from .arrow import column_of, dictionary_column
from .columns import ColumnData, Columns
from .plaincells import PlainCells, plain_column

if TYPE_CHECKING:
    import pyarrow as pa

# Cells that Arrow takes otherwise than ddlog.values.cells does: a hexadecimal number of 64 bits as a negative
# one, and a NaN with a payload.
_WRAPPED = re.compile(rb"0[xX]0*[89a-fA-F][0-9a-fA-F]{15}(?![0-9a-fA-F])")
_NAN_WITH_PAYLOAD = re.compile(rb"[nN][aA][nN]\(")


ReadCell: TypeAlias = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class TextLayout:
    """The form of a delimited text: its separator, of one character, whether cells may be quoted, whether an
    empty line is a cell, how many columns it has, and the place of each column of the relation in it."""

    separator: str
    quoted: bool
    keep_empty: bool
    width: int
    places: Sequence[int]


def read_delimited(
    data: bytes,
    start: int,
    layout: TextLayout,
    types: Sequence[Type],
    readers: Sequence[ReadCell | None],
    plain: Sequence[PlainCells | None] = (),
) -> Columns | None:
    """The columns of a text from byte `start` on, by the readers of their cells, each different text once, or
    those in a `plain` form at once; a column of numbers without a reader by Arrow. None when something in it
    is not plain: the line-by-line reader then finds what and where."""
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return None
    found = _columns(data, start, layout, types, readers, plain or [None] * len(types))
    if found is None:
        return None
    if any(map(_has_negative, found.data)) and _WRAPPED.search(data, start):
        return None
    if any(map(_has_nan, found.data)) and _NAN_WITH_PAYLOAD.search(data, start):
        return None
    return found


def _columns(
    data: bytes,
    start: int,
    layout: TextLayout,
    types: Sequence[Type],
    readers: Sequence[ReadCell | None],
    plain: Sequence[PlainCells | None],
) -> Columns | None:
    """The columns, of all cells that Arrow takes; None when a cell is wrong."""
    import pyarrow as pa
    from pyarrow import csv

    columns = list(zip(map(str, layout.places), types, readers, strict=True))
    quoted = layout.quoted and data.find(b'"', start) >= 0
    texts = pa.dictionary(pa.int32(), pa.string())
    kinds = {place: _number_type(type) if read is None else texts for place, type, read in columns}
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(data).slice(start)),
            read_options=csv.ReadOptions(column_names=list(map(str, range(layout.width)))),
            parse_options=csv.ParseOptions(
                delimiter=layout.separator,
                quote_char='"' if quoted else False,
                newlines_in_values=quoted,
                ignore_empty_lines=not layout.keep_empty,
            ),
            convert_options=csv.ConvertOptions(
                column_types=kinds,
                include_columns=list(kinds),
                null_values=[],
                strings_can_be_null=False,
                true_values=["true", "True", "TRUE"],
                false_values=["false", "False", "FALSE"],
            ),
        )
        made = [
            column_of(table.column(place), type, {}, as_text=True)
            if read is None
            else dictionary_column(table.column(place), read)
            if form is None
            else plain_column(table.column(place), form, read)
            for (place, type, read), form in zip(columns, plain, strict=True)
        ]
    except (pa.ArrowInvalid, ValueError):
        return None
    rows = table.num_rows
    del table
    pa.default_memory_pool().release_unused()  # as much as the columns take, which nothing else would use
    return Columns(tuple(made), rows)


def _has_negative(column: ColumnData) -> bool:
    return isinstance(column, np.ndarray) and column.dtype == np.int64 and bool((column < 0).any())


def _has_nan(column: ColumnData) -> bool:
    return isinstance(column, np.ndarray) and column.dtype == np.float64 and bool(np.isnan(column).any())


def _number_type(type: Type) -> pa.DataType:
    """The Arrow type that a column of numbers is read as."""
    import pyarrow as pa

    match type:
        case Bool():
            return pa.bool_()
        case Float():
            return pa.float64()
        case Bit(width) if width >= 64:
            return pa.uint64()
    return pa.int64()
