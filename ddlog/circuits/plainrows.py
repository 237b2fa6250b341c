"""Rows that are values of their columns as they stand, found column by column: sooner than row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..types import BigInt, Bit, Bool, Signed, String
from ..values.numbers import integer_range
from .language import Columns


def are_plain(rows: Sequence[Any], columns: Columns) -> bool:
    """Whether the types of the values show that all rows are tuples of canonical values. If they do not, each
    row has to be checked."""
    if not columns or set(map(type, rows)) != {tuple} or set(map(len, rows)) != {len(columns)}:
        return False
    pairs = zip(zip(*rows, strict=True), columns, strict=True)
    return all(_is_plain(values, column.type) for values, column in pairs)


def _is_plain(values: Sequence[Any], of: object) -> bool:
    found = set(map(type, values))
    match of:
        case BigInt():
            return found == {int}
        case Bit() | Signed():
            least, greatest = integer_range(of)
            return found == {int} and least <= min(values) and max(values) <= greatest
        case Bool():
            return found == {bool}
        case String():
            return found == {str} and "".join(values).isascii()
        case _:
            return False
