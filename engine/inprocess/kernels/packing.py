"""Kernels that pack columns into words, and unpack them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiler import interpreted_as, kernel


def _packed(out: Any, column: Any, offset: int, width: int, shift: int) -> int:
    values = column - np.int64(offset)
    misfits = (out < 0) | (column < offset) | (values.view(np.uint64) >> np.uint64(width) != 0)
    out |= values << shift
    out[misfits] = -1
    return int(np.count_nonzero(misfits))


@kernel
@interpreted_as(_packed)
def pack(out: Any, column: Any, offset: int, width: int, shift: int) -> int:
    """Adds a column to words under construction; a value that does not fit makes the word -1.

    Returns the number of words that do not fit.
    """
    misfits = 0
    limit = np.uint64(1) << np.uint64(width)
    for i in range(column.shape[0]):
        value = np.uint64(column[i]) - np.uint64(np.int64(offset))
        if out[i] < 0 or column[i] < offset or value >= limit:
            out[i] = -1
            misfits += 1
        else:
            out[i] |= np.int64(value) << shift
    return misfits


@kernel
@interpreted_as(lambda words, offset, mask, shift: ((words >> shift) & mask) + offset)
def unpack(words: Any, offset: int, mask: int, shift: int) -> Any:
    """A column of packed words."""
    out = np.empty(words.shape[0], np.int64)
    for i in range(words.shape[0]):
        out[i] = ((words[i] >> shift) & mask) + offset
    return out


@kernel
def unpack_at(words: Any, rows: Any, offset: int, mask: int, shift: int) -> Any:
    """A column of the packed words at the given row ids."""
    out = np.empty(rows.shape[0], np.int64)
    for i in range(rows.shape[0]):
        out[i] = ((words[rows[i]] >> shift) & mask) + offset
    return out
