"""Arrays and tables of a state as bytes, and back.

An array of integers is written as its distances from the least one, in as few bytes as the greatest of them
takes, and read late. A table is its columns and its layout: the ids of rows are their places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..memory import reserve
from ..schema import Array
from .layout import Layout, PackedField
from .table import RowTable

Kept: TypeAlias = Any
"""What JSON can hold: numbers, texts, lists, and objects."""

_CHUNK = 1 << 17
_FORMS = ((8, "u1"), (16, "u2"), (32, "u4"))


class Sink(Protocol):
    """Takes the bytes of a part of a state, one after another."""

    def put(self, data: bytes) -> None:
        """Takes bytes."""

    @property
    def size(self) -> int:
        """The number of bytes so far."""


class Source(Protocol):
    """Gives the bytes of a part of a state."""

    def read(self, start: int, size: int) -> Iterable[bytes]:
        """The bytes from a place on, in pieces that come one after another."""


def keep_array(array: np.ndarray[Any, Any], sink: Sink) -> Kept:
    """Writes an array of integers, or of bytes. Returns where it is, and how."""
    start, length, kind = sink.size, len(array), array.dtype.str
    least = int(array.min()) if length else 0
    most = int(array.max()) if length else 0
    if least == most:
        return [start, length, kind, "", least]
    form = next((name for bits, name in _FORMS if (most - least) >> bits == 0), "")
    base = least if form else 0
    form = form or array.dtype.str.lstrip("<>|=")
    for at in range(0, length, _CHUNK):
        part = array[at : at + _CHUNK]
        sink.put((part - base if base else part).astype(f"<{form}").tobytes())
    return [start, length, kind, form, base]


def read_array(kept: Kept, source: Source) -> Array:
    """The array that was written."""
    start, length, kind, form, base = kept
    reserve(length * np.dtype(kind).itemsize)
    if not form:
        return np.full(length, base, kind)
    found = np.empty(length, kind)
    width, at, rest = np.dtype(form).itemsize, 0, b""
    for piece in source.read(start, length * width):
        data = rest + piece if rest else piece
        count = len(data) // width
        part = np.frombuffer(data, f"<{form}", count)
        np.add(part, base, out=found[at : at + count], casting="unsafe", dtype=np.int64)
        at, rest = at + count, data[count * width :]
    if at != length or rest:
        raise ValueError("an array is not as long as it was")
    return found


def later_array(kept: Kept, source: Source) -> Callable[[], Array]:
    """Reads an array when it is called."""
    return partial(read_array, kept, source)


def keep_table(table: RowTable, sink: Sink) -> Kept:
    """Writes the rows of a table."""
    layout = table.layout
    fields = None if layout is None else [[f.offset, f.width, f.shift] for f in layout.fields]
    columns = [keep_array(table.column(position), sink) for position in range(table.arity)]
    return {"size": table.size, "layout": fields, "columns": columns}


def restore_table(table: RowTable, kept: Mapping[str, Any], source: Source) -> None:
    """Puts rows into an empty table. They are read when the table first needs them."""
    if not kept["size"]:
        return
    layout = None
    if kept["layout"] is not None:
        layout = Layout(tuple(PackedField(*field) for field in kept["layout"]))
    table.restore(kept["size"], layout, [later_array(each, source) for each in kept["columns"]])
