"""Kernels of open-addressing hash tables: of packed rows (words), and of wide rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
EMPTY = np.int64(-1)
BLOCK = 256


@kernel
def insert_words(slots: Any, bits: int, words: Any, new: Any, start: int, room: int) -> tuple[int, int]:
    """Inserts words[start:] in a hash set; the absent ones go to `new` in order.

    Stops when `room` words were new. Returns (position reached, number of new words). The first slots of a
    block of words are read at once, in a pass that waits for many of them at the same time.
    """
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    length = words.shape[0]
    block = min(BLOCK, length - start)
    places = np.empty(block, np.int64)
    seen = np.empty(block, np.int64)
    found = 0
    for base in range(start, length, BLOCK):
        size = min(BLOCK, length - base)
        for m in range(size):
            places[m] = np.int64((np.uint64(words[base + m]) * GOLDEN) >> shift)
        for m in range(size):
            seen[m] = slots[places[m]]
        for m in range(size):
            word = words[base + m]
            if seen[m] == word:
                continue
            at = places[m]
            held = slots[at]
            while held != word and held != EMPTY:
                at = (at + 1) & mask
                held = slots[at]
            if held == EMPTY:
                if found == room:
                    return base + m, found
                slots[at] = word
                new[found] = word
                found += 1
    return length, found


@kernel
def insert_word(slots: Any, bits: int, word: int, rows: Any, count: int) -> int:
    """Inserts one word, which is not negative, in a hash set; a new one goes to `rows` at `count`.
    Returns the new count."""
    mask = (1 << bits) - 1
    at = np.int64((np.uint64(word) * GOLDEN) >> np.uint64(64 - bits))
    while True:
        held = slots[at]
        if held == word:
            return count
        if held == EMPTY:
            slots[at] = word
            rows[count] = word
            return count + 1
        at = (at + 1) & mask


@kernel
def rehash_words(slots: Any, bits: int, words: Any, count: int) -> None:
    """Fills an empty hash set with distinct words."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    for i in range(count):
        word = words[i]
        at = np.int64((np.uint64(word) * GOLDEN) >> shift)
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = word


@kernel
def most_displaced(slots: Any, bits: int) -> int:
    """The greatest distance of a word from the slot where its search begins."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    most = 0
    for at in range(slots.shape[0]):
        word = slots[at]
        if word != EMPTY:
            home = np.int64((np.uint64(word) * GOLDEN) >> shift)
            most = max(most, int((at - home) & mask))
    return most


@kernel
def spread_words(slots: Any, before: int, bits: int, near: int) -> None:
    """Spreads the words in the first 2**before slots of a hash set over all 2**bits slots.

    A word moves up, from the last one to the first: its new home is at least twice its old one, so it does
    not meet a word that waits. That fails for the first `near` slots, where a word may lie far behind its
    home in proportion, or have come round from the end: they are set aside, and come last. `near` is more
    than twice the greatest displacement, so no more words come round to them than they have room for.
    """
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    aside = slots[:near].copy()
    slots[:near] = EMPTY
    for place in range((1 << before) - 1, near - 1, -1):
        word = slots[place]
        if word != EMPTY:
            slots[place] = EMPTY
            to = np.int64((np.uint64(word) * GOLDEN) >> shift)
            while slots[to] != EMPTY:
                to = (to + 1) & mask
            slots[to] = word
    for i in range(near):
        word = aside[i]
        if word != EMPTY:
            to = np.int64((np.uint64(word) * GOLDEN) >> shift)
            while slots[to] != EMPTY:
                to = (to + 1) & mask
            slots[to] = word


@kernel
def number_words(slots: Any, ids: Any, bits: int, words: Any, start: int, count: int) -> None:
    """Notes at each word's slot its position in `words`, for words[start:count]. As in `insert_words`, the
    first slots of a block are read at once."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    places = np.empty(BLOCK, np.int64)
    seen = np.empty(BLOCK, np.int64)
    for base in range(start, count, BLOCK):
        size = min(BLOCK, count - base)
        for m in range(size):
            places[m] = np.int64((np.uint64(words[base + m]) * GOLDEN) >> shift)
        for m in range(size):
            seen[m] = slots[places[m]]
        for m in range(size):
            word = words[base + m]
            at = places[m]
            held = seen[m]
            while held != word:
                at = (at + 1) & mask
                held = slots[at]
            ids[at] = base + m


@kernel
def contains_words(slots: Any, bits: int, words: Any) -> Any:
    """Whether a hash set holds each word."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    out = np.zeros(words.shape[0], np.bool_)
    for i in range(words.shape[0]):
        word = words[i]
        if word < 0:
            continue
        at = np.int64((np.uint64(word) * GOLDEN) >> shift)
        while slots[at] != EMPTY:
            if slots[at] == word:
                out[i] = True
                break
            at = (at + 1) & mask
    return out


@kernel
def find_words(slots: Any, ids: Any, bits: int, words: Any) -> Any:
    """The id of each word, -1 where there is none."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    out = np.empty(words.shape[0], np.int64)
    for i in range(words.shape[0]):
        word = words[i]
        out[i] = -1
        if word < 0:
            continue
        at = np.int64((np.uint64(word) * GOLDEN) >> shift)
        while True:
            held = slots[at]
            if held == word:
                out[i] = ids[at]
                break
            if held == EMPTY:
                break
            at = (at + 1) & mask
    return out


@kernel
def find_word(slots: Any, ids: Any, bits: int, word: int) -> int:
    """The id of one word, which is not negative; -1 where there is none."""
    mask = (1 << bits) - 1
    at = np.int64((np.uint64(word) * GOLDEN) >> np.uint64(64 - bits))
    while True:
        held = slots[at]
        if held == word:
            return ids[at]  # type: ignore[no-any-return]
        if held == EMPTY:
            return -1
        at = (at + 1) & mask


@kernel
def number_word(slots: Any, ids: Any, bits: int, word: int, rows: Any, count: int) -> int:
    """The id of one word, which is not negative. A new one gets the id `count`, and goes to `rows` there."""
    mask = (1 << bits) - 1
    at = np.int64((np.uint64(word) * GOLDEN) >> np.uint64(64 - bits))
    while True:
        held = slots[at]
        if held == word:
            return ids[at]  # type: ignore[no-any-return]
        if held == EMPTY:
            slots[at] = word
            ids[at] = count
            rows[count] = word
            return count
        at = (at + 1) & mask


@kernel
def number_new_words(
    slots: Any, ids: Any, bits: int, words: Any, rows: Any, count: int, out: Any, start: int, room: int
) -> tuple[int, int]:
    """Finds or inserts words[start:]; `out` gets their ids, `rows` the new words from `count` on.

    Stops when `room` words were new. Returns (position reached, new count).
    """
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    limit = count + room
    for i in range(start, words.shape[0]):
        word = words[i]
        at = np.int64((np.uint64(word) * GOLDEN) >> shift)
        while True:
            held = slots[at]
            if held == word:
                out[i] = ids[at]
                break
            if held == EMPTY:
                if count == limit:
                    return i, count
                slots[at] = word
                ids[at] = count
                rows[count] = word
                out[i] = count
                count += 1
                break
            at = (at + 1) & mask
    return words.shape[0], count


@kernel
def _hash_row(row: Any, shift: Any) -> int:
    mixed = np.uint64(0)
    for j in range(row.shape[0]):
        mixed = (mixed ^ np.uint64(row[j])) * GOLDEN
        mixed ^= mixed >> np.uint64(29)
    return np.int64((mixed * GOLDEN) >> shift)  # type: ignore[return-value]


@kernel
def _same_row(a: Any, b: Any) -> bool:
    for j in range(a.shape[0]):  # noqa: SIM110 (any() is slower in a kernel)
        if a[j] != b[j]:
            return False
    return True


@kernel
def number_new_rows(
    slots: Any, bits: int, wide: Any, rows: Any, count: int, out: Any, start: int, room: int
) -> tuple[int, int]:
    """As number_new_words, for the rows of a two-dimensional array; slots hold ids."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    limit = count + room
    for i in range(start, wide.shape[0]):
        at = _hash_row(wide[i], shift)
        while True:
            held = slots[at]
            if held == EMPTY:
                if count == limit:
                    return i, count
                slots[at] = count
                rows[count] = wide[i]
                out[i] = count
                count += 1
                break
            if _same_row(rows[held], wide[i]):
                out[i] = held
                break
            at = (at + 1) & mask
    return wide.shape[0], count


@kernel
def rehash_rows(slots: Any, bits: int, rows: Any, count: int) -> None:
    """Fills an empty table with distinct wide rows."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    for i in range(count):
        at = _hash_row(rows[i], shift)
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = i


@kernel
def find_rows(slots: Any, bits: int, rows: Any, wide: Any) -> Any:
    """The id of each wide row, -1 where there is none."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    out = np.empty(wide.shape[0], np.int64)
    for i in range(wide.shape[0]):
        out[i] = -1
        at = _hash_row(wide[i], shift)
        while slots[at] != EMPTY:
            if _same_row(rows[slots[at]], wide[i]):
                out[i] = slots[at]
                break
            at = (at + 1) & mask
    return out
