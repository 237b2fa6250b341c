"""Arrays and tables of a state as bytes, and back.

An array of integers is written as its distances from the least one, in as few bytes as the greatest of them
takes, and read late. A table is its columns and its layout: the ids of rows are their places.

What is to be kept is first frozen, which takes little time, and then written, which may go on while the state
changes. The rows of a table stay as they are below its size, so that a frozen table refers to them; an array
whose items change is copied, as narrow as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from ...memory import reserve
from ...schema import Array
from .layout import WORD, PackedField, PackedLayout
from .table import RowTable

Kept: TypeAlias = Any
"""Values of JSON: numbers, texts, lists, and objects."""
Frozen: TypeAlias = Any
"""The same, with parts where arrays are that are not written yet."""
Bounds: TypeAlias = tuple[int, int]
"""The least and the greatest number."""
Still: TypeAlias = AbstractContextManager[Any]
"""While it is entered, a state does not change."""

_CHUNK = 1 << 17  # numbers that are narrowed at once
_IN_CACHE = 1 << 15  # numbers that stay in the processor's cache
_WORD = np.dtype(np.int64).str
_FORMS = ((8, "u1"), (16, "u2"), (32, "u4"))
_WIDTHS = {
    "": 0,
    **{kind: np.dtype(kind).itemsize for kind in ("b1", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8")},
}
_KINDS = frozenset(np.dtype(kind).str for kind in _WIDTHS if kind)
MOST_ROWS = 1 << 48
"""More rows than a table has."""


class Sink(Protocol):
    """Takes the bytes of a part of a state, one after another."""

    def expect(self, bytes: int) -> None:
        """Raises an error if there is no room for so many bytes more."""

    def put(self, data: bytes) -> None:
        """Takes bytes."""

    @property
    def size(self) -> int:
        """The number of bytes so far."""


class ByteSource(Protocol):
    """Gives the bytes of a part of a state."""

    @property
    def size(self) -> int:
        """The number of bytes."""

    def read(self, start: int, size: int) -> Iterable[bytes]:
        """The bytes from a place on, in pieces that come one after another."""

    def refused(self, what: str) -> Exception:
        """The error for what is kept, and can be no part of a state."""


@dataclass(frozen=True, slots=True)
class FrozenArray:
    """An array of integers, or of bytes, that is to be written: `read` gives the items from one place to
    another, inside `Still`. `bounds` are the least and the greatest, if they are known."""

    length: int
    kind: str
    read: Callable[[int, int], np.ndarray[Any, Any]]
    bounds: tuple[int, int] | None = None


def part_of(array: np.ndarray[Any, Any], copied: bool = False) -> FrozenArray:
    """An array as a part; `copied`: as it is now, whatever becomes of it."""
    if not copied or not len(array):
        return FrozenArray(len(array), array.dtype.str, lambda start, stop: array[start:stop])
    kind, least, most = array.dtype.str, int(array.min()), int(array.max())
    form, base = _form(kind, least, most)
    narrow = np.empty(len(array), form)
    for at in range(0, len(array), _CHUNK):
        some = array[at : at + _CHUNK]
        narrow[at : at + _CHUNK] = some - base if base else some

    def read(start: int, stop: int) -> np.ndarray[Any, Any]:
        wide = narrow[start:stop].astype(kind)
        return wide + base if base else wide

    return FrozenArray(len(array), kind, read, (least, most))


def _form(kind: str, least: int, most: int) -> tuple[str, int]:
    """The type of the items as they are written, and what is taken from each."""
    form = next((name for bits, name in _FORMS if (most - least) >> bits == 0), "")
    return form or kind.lstrip("<>|="), least if form else 0


def written(frozen: Frozen, sink: Sink, still: Still) -> Kept:
    """Writes the parts of what is frozen."""
    match frozen:
        case FrozenArray():
            return _written(frozen, sink, still)
        case dict():
            return {name: written(each, sink, still) for name, each in frozen.items()}
        case list():
            return [written(each, sink, still) for each in frozen]
    return frozen


def keep_array(array: np.ndarray[Any, Any], sink: Sink) -> Kept:
    """Writes an array that does not change. Returns where it is, and how."""
    return _written(part_of(array), sink, nullcontext())


def _written(part: FrozenArray, sink: Sink, still: Still) -> Kept:
    start, length, kind = sink.size, part.length, part.kind
    least, most = part.bounds or _bounds(part, still)
    if least == most:
        return [start, length, kind, "", least]
    form, base = _form(kind, least, most)
    for at in range(0, length, _CHUNK):
        with still:
            some = part.read(at, min(at + _CHUNK, length))
            data = (some - base if base else some).astype(f"<{form}").tobytes()
        sink.put(data)
    return [start, length, kind, form, base]


def _bounds(part: FrozenArray, still: Still) -> tuple[int, int]:
    """The least and the greatest item; 0 if there are none."""
    found: list[int] = []
    for at in range(0, part.length, _CHUNK):
        with still:
            some = part.read(at, min(at + _CHUNK, part.length))
            found += int(some.min()), int(some.max())
    return min(found, default=0), max(found, default=0)


def checked_array(kept: Kept, source: ByteSource, size: int | None = None) -> Kept:
    """Where an array of so many items is, and how. Raises what `source` refuses it by, if it cannot be."""
    match kept:
        case [int(start), int(length), str(kind), str(form), int(base)] if (
            start >= 0
            and length >= 0
            and kind in _KINDS
            and form in _WIDTHS
            and start + length * _WIDTHS[form] <= source.size
            and -(1 << 63) <= base < 1 << 63
            and size in (None, length)
        ):
            return kept
    raise source.refused("an array is not as long as it was")


def checked_number(kept: Kept, most: int, source: ByteSource) -> int:
    """A number that is not negative, up to another one. Raises what `source` refuses it by."""
    if isinstance(kept, int) and 0 <= kept <= most:
        return kept
    raise source.refused("a number is out of range")


def _check_range(items: np.ndarray[Any, Any], least: int, most: int, source: ByteSource) -> None:
    if len(items) and (int(items.min()) < least or int(items.max()) > most):
        raise source.refused("numbers are out of range")


def read_array(kept: Kept, source: ByteSource, bounds: Bounds | None = None) -> Array:
    """The array that was written. Raises what `source` refuses it by, if it cannot be that one, or an item
    is not within `bounds`."""
    start, length, kind, form, base = checked_array(kept, source)
    reserve(length * np.dtype(kind).itemsize)
    found = _read_array(start, length, kind, form, base, source)
    if bounds is not None:
        _check_range(found, *bounds, source)
    return found


def _read_array(start: int, length: int, kind: str, form: str, base: int, source: ByteSource) -> Array:
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
        raise source.refused("an array is not as long as it was")
    return found


def later_array(
    kept: Kept, source: ByteSource, size: int | None = None, bounds: Bounds | None = None
) -> Callable[[], Array]:
    """Reads an array when it is called. Raises now what `source` refuses it by, if none of so many items
    can be there."""
    return partial(read_array, checked_array(kept, source, size), source, bounds)


@dataclass(frozen=True, slots=True)
class LaterColumn:
    """A column of a table that was written, to be read. See `table.ReadColumn`."""

    kept: Kept
    source: ByteSource
    bounds: Bounds | None

    def read(self) -> Array:
        return read_array(self.kept, self.source, self.bounds)

    def add_to(self, words: Array, field: PackedField, is_first: bool) -> None:
        start, length, _, form, base = self.kept
        least, most = field.offset, field.offset + field.mask
        if self.bounds is not None:
            least, most = max(least, self.bounds[0]), min(most, self.bounds[1])
        least, most = least - base, most - base  # of the items as they are written
        base -= field.offset
        if not form:
            _check_range(np.zeros(1, np.int64), least, most, self.source)
            if is_first:
                words.fill(base << field.shift)
            else:
                words |= base << field.shift
            return
        width, at, rest = np.dtype(form).itemsize, 0, b""
        for piece in self.source.read(start, length * width):
            data = rest + piece if rest else piece
            count = len(data) // width
            part = np.frombuffer(data, f"<{form}", count)
            _check_range(part, least, most, self.source)
            for low in range(0, count, _IN_CACHE):
                some = part[low : low + _IN_CACHE].astype(np.int64)
                some += base
                some <<= field.shift
                into = words[at + low : at + low + len(some)]
                if is_first:
                    into[:] = some
                else:
                    into |= some
            at, rest = at + count, data[count * width :]
        if at != length or rest:
            raise self.source.refused("an array is not as long as it was")


def frozen_table(table: RowTable) -> Frozen:
    """The rows that a table has now."""
    layout, size = table.layout, table.size
    fields = None if layout is None else [[f.offset, f.width, f.shift] for f in layout.fields]
    columns = [FrozenArray(size, _WORD, partial(table.column, position)) for position in range(table.arity)]
    return {"size": size, "layout": fields, "columns": columns}


def restore_table(
    table: RowTable, kept: Mapping[str, Any], source: ByteSource, bounds: Sequence[Bounds]
) -> None:
    """Puts rows into an empty table. They are read when the table first needs them. `bounds` are those of the
    columns' numbers. Raises what `source` refuses them by, if they can be none."""
    if not kept["size"]:
        return
    size = checked_number(kept["size"], MOST_ROWS, source)
    layout = None if kept["layout"] is None else _layout(kept["layout"], source)
    columns = [
        LaterColumn(checked_array(each, source, size), source, of)
        for each, of in zip(kept["columns"], bounds, strict=True)
    ]
    if len(columns) != table.arity or not (layout is None or len(layout.fields) == len(columns)):
        raise source.refused("a table has other columns")
    table.restore(size, layout, columns)


def _layout(kept: Kept, source: ByteSource) -> PackedLayout:
    """A layout whose fields follow each other."""
    fields, end = [PackedField(*map(int, field)) for field in kept], 0
    for field in fields:
        if field.shift < end or field.width < 1 or field.shift + field.width > WORD:
            raise source.refused("the columns of a table overlap")
        end = field.shift + field.width
    return PackedLayout(tuple(fields))
