"""Layouts: how the columns of a row are packed into one word of at most 62 bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from ... import thresholds
from ...schema import Array
from ..kernels import packing
from .lazycolumns import LazyColumns

PackOne: TypeAlias = Callable[[tuple[int, ...]], int]
UnpackOne: TypeAlias = Callable[[int], tuple[int, ...]]

WORD = 62  # bits of a packed word; words are never negative


@dataclass(frozen=True, slots=True)
class PackedField:
    """The bits of a column in the word: its values are offset .. offset + 2^width - 1."""

    offset: int
    width: int
    shift: int

    @property
    def mask(self) -> int:
        """The bits of the field, unshifted."""
        return (1 << self.width) - 1


@dataclass(frozen=True, slots=True)
class PackedLayout:
    """A field for each column of a row."""

    fields: tuple[PackedField, ...]

    @property
    def width(self) -> int:
        """The bits of a word. A layout that was kept in a file may have others between its fields."""
        return self.fields[-1].shift + self.fields[-1].width if self.fields else 0

    def pack(self, columns: Sequence[Array], length: int) -> tuple[Array, int]:
        """The words of the rows, -1 for a row that does not fit, and the number of values that do not fit."""
        if length == 1:
            return self._pack_one(columns)
        words = np.zeros(length, np.int64)
        misfits = 0
        for field, column in zip(self.fields, columns, strict=True):
            misfits += packing.pack(words, column, field.offset, field.width, field.shift)
        return words, misfits

    def _pack_one(self, columns: Sequence[Array]) -> tuple[Array, int]:
        """`pack` of one row, for which calling kernels would take longer."""
        word = misfits = 0
        for field, column in zip(self.fields, columns, strict=True):
            value = int(column[0]) - field.offset
            if misfits or value < 0 or value >> field.width:
                misfits += 1
            else:
                word |= value << field.shift
        return np.array([-1 if misfits else word], np.int64), misfits

    def column(self, words: Array, position: int) -> Array:
        """One column of packed words."""
        field = self.fields[position]
        return packing.unpack(words, field.offset, field.mask, field.shift)  # type: ignore[no-any-return]

    def column_at(self, words: Array, rows: Array, position: int) -> Array:
        """One column of the words at the given row ids."""
        field = self.fields[position]
        return packing.unpack_at(words, rows, field.offset, field.mask, field.shift)  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def of_one(layout: PackedLayout) -> tuple[PackOne, UnpackOne]:
    """The functions that pack the columns of one row to its word, -1 if it does not fit, and back."""
    parts, fits = [], []
    for k, each in enumerate(layout.fields):
        value = f"row[{k}] - {each.offset}" if each.offset else f"row[{k}]"
        parts.append(f"{value} << {each.shift}" if each.shift else value)
        fits.append(f"0 <= {value} <= {each.mask}")
    packed = f"lambda row: ({') | ('.join(parts) or 0}) if {' and '.join(fits) or True} else -1"
    return eval(packed), _unpacking(layout, range(len(layout.fields)), "")  # of numbers alone


@lru_cache(maxsize=256)
def picking_one(layout: PackedLayout, columns: tuple[int, ...]) -> UnpackOne:
    """The function that gives some columns of the row of a word, and a 1 after them."""
    return _unpacking(layout, columns, "1, ")


def _unpacking(layout: PackedLayout, columns: Iterable[int], last: str) -> UnpackOne:
    fields = [layout.fields[k] for k in columns]
    shifted = [f"word >> {each.shift}" if each.shift else "word" for each in fields]
    values = [f"({word} & {each.mask})" for word, each in zip(shifted, fields, strict=True)]
    offsets = [f" + {each.offset}" if each.offset else "" for each in fields]
    parts = [f"{value}{offset}, " for value, offset in zip(values, offsets, strict=True)]
    unpacked: UnpackOne = eval(f"lambda word: ({''.join(parts)}{last})")
    return unpacked


class PackedColumns(LazyColumns):
    """The columns of packed words."""

    def __init__(self, layout: PackedLayout, words: Array) -> None:
        super().__init__()
        self.layout, self.words = layout, words

    def __len__(self) -> int:
        return len(self.layout.fields)

    def unpack(self, position: int) -> Array:
        return self.layout.column(self.words, position)

    def part(self, start: int, stop: int) -> PackedColumns:
        """The columns of the rows start .. stop among these."""
        return PackedColumns(self.layout, self.words[start:stop])


def fit(ranges: Sequence[tuple[int, int]], width: int = WORD) -> PackedLayout | None:
    """A layout for columns with these least and greatest values; None where 62 bits are too few.

    Bits to spare, as far as words have so many, are shared out, so that values may outgrow the range without
    a repack.
    """
    return _fitted(tuple(ranges), width)


@lru_cache(maxsize=256)
def _fitted(ranges: tuple[tuple[int, int], ...], width: int) -> PackedLayout | None:
    needed = [max(1, (high - low).bit_length()) for low, high in ranges]
    if sum(needed) > WORD:
        return None
    spare = max(0, width - sum(needed))
    fields = []
    shift = 0
    for position, ((low, high), bits) in enumerate(zip(ranges, needed, strict=True)):
        share = spare // (len(ranges) - position)
        spare -= share
        width = bits + share
        if low >= 0 and high < (1 << width):
            offset = 0
        else:
            offset = max(low - (((1 << width) - 1 - (high - low)) // 2), -(1 << 63))
        fields.append(PackedField(offset, width, shift))
        shift += width
    return PackedLayout(tuple(fields))


def bounds(column: Array) -> tuple[int, int]:
    """The least and greatest value of a column that is not empty."""
    if len(column) <= thresholds.FEW_ROWS:
        values = column.tolist()
        return min(values), max(values)
    return int(column.min()), int(column.max())
