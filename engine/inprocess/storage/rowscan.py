"""A few rows of a large table, found by reading all of it, without numbers at its slots, or without an index.

A table finds ids by numbers at its slots, which are built when first asked for: in a table of a hundred
million rows that takes seconds and a gigabyte. Whether a row is there at all, the slots tell without numbers.
For a few rows that are there all rows are read, and some of them numbered, until all are. The rows of a few
keys are found so, too, until that has cost a good part of what an index of them does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import thresholds
from ...schema import Array
from ..kernels import scan
from .layout import PackedLayout


def ids_of(rows: Array, sought: Array) -> Array:
    """The ids of packed rows that are among all rows of a table."""
    words, places = np.unique(sought, return_inverse=True)
    ids = np.empty(len(words), np.int64)
    count = scan.agreeing(rows, len(rows), np.full(len(words), -1), words, ids)
    assert count == len(words), "the slots have said that these rows are there"
    return ids[np.argsort(rows[ids])][places]


def matching(
    rows: Array, layout: PackedLayout, positions: Sequence[int], keys: Sequence[Array], length: int
) -> Array | None:
    """The ids of the rows, of all packed rows of a table, that have one of some keys in these columns; None
    for too many rows."""
    mask, values, fits = 0, np.zeros(length, np.int64), np.ones(length, np.bool_)
    for position, key in zip(positions, keys, strict=True):
        field = layout.fields[position]
        value = key - field.offset
        fits &= (value >= 0) & (value <= field.mask)
        mask |= field.mask << field.shift
        values |= value << field.shift
    values = np.unique(values[fits])
    ids = np.empty(thresholds.SOUGHT_ROWS, np.int64)
    count = scan.agreeing(rows, len(rows), np.full(len(values), mask), values, ids)
    return None if count < 0 else ids[:count]
