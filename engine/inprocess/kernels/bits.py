"""Kernels over bit matrices: row i of `words` has a bit for each column, the lowest of the first word first.

The rows of a matrix are whole words, and bits beyond its columns are never set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiler import kernel

ONE = np.uint64(1)
NONE = np.uint64(0)
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)  # of de Bruijn: each six bits of it are another number
_TOP = np.uint64(58)
_PLACES = np.zeros(64, np.int64)
with np.errstate(over="ignore"):
    for _bit in range(64):
        _PLACES[int((_SEQUENCE << np.uint64(_bit)) >> _TOP)] = _bit


@kernel
def set_bits(words: Any, left: Any, right: Any) -> None:
    """Sets the bits of pairs."""
    for k in range(left.shape[0]):
        words[left[k], right[k] >> 6] |= ONE << np.uint64(right[k] & 63)


@kernel
def keep_bits(words: Any, left: Any, right: Any, kept: Any) -> None:
    """Clears the bits of the pairs that are not kept."""
    for k in range(left.shape[0]):
        if not kept[k]:
            words[left[k], right[k] >> 6] &= ~(ONE << np.uint64(right[k] & 63))


@kernel
def count_bits(words: Any) -> int:
    """The number of bits that are set."""
    total: Any = 0
    for i in range(words.shape[0]):
        for w in range(words.shape[1]):
            word = words[i, w]
            word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
            two = np.uint64(0x3333333333333333)
            word = (word & two) + ((word >> np.uint64(2)) & two)
            word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
            total += np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
    return int(total)


@kernel
def list_bits(words: Any, start: int, left: Any, right: Any) -> tuple[int, int]:
    """The pairs of the bits of the rows from `start` on, row by row, while there is room for a whole row.
    Returns (row reached, number of pairs)."""
    found = 0
    row = start
    while row < words.shape[0] and found + 64 * words.shape[1] <= left.shape[0]:
        for w in range(words.shape[1]):
            word = words[row, w]
            while word != NONE:
                low = word & (~word + ONE)
                word ^= low
                left[found] = row
                right[found] = 64 * w + _PLACES[np.int64((low * _SEQUENCE) >> _TOP)]
                found += 1
        row += 1
    return row, found


@kernel
def transpose(words: Any, out: Any) -> None:
    """Makes `out` the transposed matrix: blocks of 64 rows and 64 columns, by swapping smaller and smaller
    squares."""
    block = np.empty(64, np.uint64)
    for up in range(out.shape[1]):
        height = min(64, words.shape[0] - 64 * up)
        for w in range(words.shape[1]):
            some = NONE
            for k in range(height):
                block[k] = words[64 * up + k, w]
                some |= block[k]
            width = min(64, out.shape[0] - 64 * w)
            if some == NONE:
                for k in range(width):
                    out[64 * w + k, up] = NONE
                continue
            for k in range(height, 64):
                block[k] = NONE
            step = 32
            mask = np.uint64(0x00000000FFFFFFFF)
            while step:
                by = np.uint64(step)
                for base in range(0, 64, 2 * step):
                    for k in range(base, base + step):
                        swapped = ((block[k] >> by) ^ block[k + step]) & mask
                        block[k] ^= swapped << by
                        block[k + step] ^= swapped
                step >>= 1
                mask ^= mask << np.uint64(step)
            for k in range(width):
                out[64 * w + k, up] = block[k]


@kernel
def or_rows(left: Any, right: Any, start: int, stop: int, rows: Any, out: Any) -> None:
    """For the pairs start .. stop, ors row `right` of a matrix into row `left` of another."""
    for k in range(start, stop):
        i, j = left[k], right[k]
        for w in range(rows.shape[1]):
            out[i, w] |= rows[j, w]


@kernel
def or_rows_of_bits(words: Any, start: int, stop: int, rows: Any, out: Any) -> None:
    """The same for the pairs of the bits of the rows start .. stop."""
    for i in range(start, stop):
        for v in range(words.shape[1]):
            word = words[i, v]
            while word != NONE:
                low = word & (~word + ONE)
                word ^= low
                j = 64 * v + _PLACES[np.int64((low * _SEQUENCE) >> _TOP)]
                for w in range(rows.shape[1]):
                    out[i, w] |= rows[j, w]


@kernel
def follow_bits(words: Any, start: int, stop: int, first: Any, targets: Any, out: Any) -> None:
    """For the bits (i, j) of the rows start .. stop, sets the bits (i, k) for the targets k of j, which are
    those from `first[j]` to `first[j + 1]`."""
    for i in range(start, stop):
        for v in range(words.shape[1]):
            word = words[i, v]
            while word != NONE:
                low = word & (~word + ONE)
                word ^= low
                j = 64 * v + _PLACES[np.int64((low * _SEQUENCE) >> _TOP)]
                for at in range(first[j], first[j + 1]):
                    out[i, targets[at] >> 6] |= ONE << np.uint64(targets[at] & 63)


@kernel
def follow_pairs(left: Any, right: Any, first: Any, targets: Any, to_left: Any, to_right: Any) -> None:
    """All pairs (i, k) for pairs (i, j) and targets k of j."""
    found = 0
    for p in range(left.shape[0]):
        for at in range(first[right[p]], first[right[p] + 1]):
            to_left[found] = left[p]
            to_right[found] = targets[at]
            found += 1


@kernel
def new_pairs(left: Any, right: Any, held: Any, fresh: Any) -> int:
    """Keeps the pairs whose bits are set in neither matrix, each once, and sets them in `fresh`. Returns
    their number."""
    found = 0
    for k in range(left.shape[0]):
        i, w, bit = left[k], right[k] >> 6, ONE << np.uint64(right[k] & 63)
        if (held[i, w] | fresh[i, w]) & bit == NONE:
            fresh[i, w] |= bit
            left[found] = i
            right[found] = right[k]
            found += 1
    return found


@kernel
def take_pairs(left: Any, right: Any, fresh: Any, held: Any, births: Any, birth: int) -> None:
    """Moves the bits of pairs from `fresh` to `held`, and notes their birth."""
    for k in range(left.shape[0]):
        i, w, bit = left[k], right[k] >> 6, ONE << np.uint64(right[k] & 63)
        fresh[i, w] &= ~bit
        held[i, w] |= bit
        births[i, right[k]] = birth


@kernel
def take_new(fresh: Any, held: Any, births: Any, birth: int) -> int:
    """Leaves in `fresh` what is not in `held`, adds it there, and notes its birth. Returns the number of
    bits."""
    found = 0
    for i in range(fresh.shape[0]):
        for w in range(fresh.shape[1]):
            word = fresh[i, w] & ~held[i, w]
            fresh[i, w] = word
            held[i, w] |= word
            while word != NONE:
                low = word & (~word + ONE)
                word ^= low
                births[i, 64 * w + _PLACES[np.int64((low * _SEQUENCE) >> _TOP)]] = birth
                found += 1
    return found


@kernel
def rows_in_order(births: Any, at: Any, left: Any, right: Any, words: Any) -> None:
    """The packed rows of the pairs that have a birth, `left[i] | right[j]`, in the order of their births;
    `at[b]` is the place of the first row of birth b."""
    for i in range(births.shape[0]):
        for j in range(births.shape[1]):
            birth = births[i, j]
            if birth:
                words[at[birth]] = left[i] | right[j]
                at[birth] += 1
