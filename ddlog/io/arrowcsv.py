"""Large delimited texts, read by Arrow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core import Relation
from ..types import BigInt, Bit, Bool, Float, Signed, Type
from .arrow import column_of
from .columns import ColumnData, Columns, TypeDefs

if TYPE_CHECKING:
    import pyarrow as pa

# Cells that Arrow takes otherwise than ddlog.values.cells does: a hexadecimal number of 64 bits as a negative
# one, and a NaN with a payload.
_WRAPPED = re.compile(rb"0[xX]0*[89a-fA-F][0-9a-fA-F]{15}(?![0-9a-fA-F])")
_NAN_WITH_PAYLOAD = re.compile(rb"[nN][aA][nN]\(")


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
    data: bytes, start: int, layout: TextLayout, relation: Relation, typedefs: TypeDefs
) -> Columns | None:
    """The columns of a text from byte `start` on, or None when something in it is not plain: the
    line-by-line reader then finds what and where."""
    import pyarrow as pa
    from pyarrow import csv

    places = layout.places
    kinds = {
        str(place): _text_type(column.type) for place, column in zip(places, relation.columns, strict=True)
    }
    if data.count(b"\r") != data.count(b"\r\n"):
        return None
    quoted = layout.quoted and data.find(b'"', start) >= 0
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
        columns = [
            column_of(table.column(str(place)), column.type, typedefs, as_text=True)
            for place, column in zip(places, relation.columns, strict=True)
        ]
    except (pa.ArrowInvalid, ValueError):
        return None
    if any(map(_has_negative, columns)) and _WRAPPED.search(data, start):
        return None
    if any(map(_has_nan, columns)) and _NAN_WITH_PAYLOAD.search(data, start):
        return None
    return Columns(tuple(columns), table.num_rows)


def _has_negative(column: ColumnData) -> bool:
    return isinstance(column, np.ndarray) and column.dtype == np.int64 and bool((column < 0).any())


def _has_nan(column: ColumnData) -> bool:
    return isinstance(column, np.ndarray) and column.dtype == np.float64 and bool(np.isnan(column).any())


def _text_type(type: Type) -> pa.DataType:
    """The Arrow type that a text column is read as. Composite values are read as texts."""
    import pyarrow as pa

    match type:
        case Bool():
            return pa.bool_()
        case Float():
            return pa.float64()
        case Bit(width) if width >= 64:
            return pa.uint64()
        case BigInt() | Bit() | Signed():
            return pa.int64()
    return pa.dictionary(pa.int32(), pa.string())
