"""Kernels of open-addressing hash tables: of packed rows (words), and of wide rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiler import interpreted_as, kernel, of_one_kind, part

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
EMPTY = np.int64(-1)
BLOCK = 256


@part
@interpreted_as(lambda word, bits: (int(word) * int(GOLDEN) & (1 << 64) - 1) >> 64 - bits)
def home(word: int, bits: int) -> int:
    """The slot where the search for a word begins, of 2**bits slots."""
    return np.int64((np.uint64(word) * GOLDEN) >> np.uint64(64 - bits))  # type: ignore[return-value]


@part
def slot_of(slots: Any, bits: int, at: int, word: Any) -> int:
    """The slot that holds a word, or the empty one where the search for it ends, which begins at `at`."""
    mask = (1 << bits) - 1
    held = slots[at]
    while held != word and held != EMPTY:
        at = (at + 1) & mask
        held = slots[at]
    return at


def _homes_read(slots: Any, bits: int, words: Any, start: int, size: int, places: Any, seen: Any) -> None:
    places[:size] = (words[start : start + size].view(np.uint64) * GOLDEN) >> np.uint64(64 - bits)
    seen[:size] = slots[places[:size]]


@part
@interpreted_as(_homes_read)
def read_homes(slots: Any, bits: int, words: Any, start: int, size: int, places: Any, seen: Any) -> None:
    """The first slots of the words from `start` on, and what they hold: they are read at once, in a pass that
    waits for many of them at the same time."""
    for m in range(size):
        places[m] = home(words[start + m], bits)
    for m in range(size):
        seen[m] = slots[places[m]]


@kernel
def insert_words(slots: Any, bits: int, words: Any, new: Any, start: int, room: int) -> tuple[int, int]:
    """Inserts words[start:] in a hash set; the absent ones go to `new` in order.

    Stops when `room` words were new. Returns (position reached, number of new words).
    """
    length = words.shape[0]
    places = np.empty(BLOCK, np.int64)
    seen = np.empty(BLOCK, np.int64)
    found = 0
    for base in range(start, length, BLOCK):
        size = min(BLOCK, length - base)
        read_homes(slots, bits, words, base, size, places, seen)
        for m in range(size):
            word = words[base + m]
            if seen[m] == word:
                continue
            at = slot_of(slots, bits, places[m], word)
            if slots[at] == EMPTY:
                if found == room:
                    return base + m, found
                slots[at] = word
                new[found] = word
                found += 1
    return length, found


@kernel
@of_one_kind
def insert_word(slots: Any, bits: int, word: int, rows: Any, count: int) -> int:
    """Inserts one word, which is not negative, in a hash set; a new one goes to `rows` at `count`.
    Returns the new count."""
    at = slot_of(slots, bits, home(word, bits), word)
    if slots[at] == word:
        return count
    slots[at] = word
    rows[count] = word
    return count + 1


@kernel
def rehash_words(slots: Any, bits: int, words: Any, count: int) -> None:
    """Fills an empty hash set with distinct words."""
    for i in range(count):
        slots[slot_of(slots, bits, home(words[i], bits), EMPTY)] = words[i]


@kernel
def most_displaced(slots: Any, bits: int) -> int:
    """The greatest distance of a word from the slot where its search begins."""
    mask = (1 << bits) - 1
    most = 0
    for at in range(slots.shape[0]):
        word = slots[at]
        if word != EMPTY:
            most = max(most, int((at - home(word, bits)) & mask))
    return most


@kernel
def spread_words(slots: Any, ids: Any, before: int, bits: int, near: int) -> None:
    """Spreads the words in the first 2**before slots of a hash set over all 2**bits slots, with the ids at
    the slots, if these are numbered.

    A word moves up, from the last one to the first: its new home is at least twice its old one, so it does
    not meet a word that waits. That fails for the first `near` slots, where a word may lie far behind its
    home in proportion, or have come round from the end: they are set aside, and come last. `near` is more
    than twice the greatest displacement, so no more words come round to them than they have room for.
    """
    numbered = ids.shape[0] > 0
    aside = slots[:near].copy()
    numbers = ids[:near].copy()
    slots[:near] = EMPTY
    for place in range((1 << before) - 1, -1, -1):
        word = slots[place] if place >= near else aside[place]
        if word != EMPTY:
            if place >= near:
                slots[place] = EMPTY
            at = slot_of(slots, bits, home(word, bits), EMPTY)
            slots[at] = word
            if numbered:
                ids[at] = ids[place] if place >= near else numbers[place]


@kernel
def number_words(slots: Any, ids: Any, bits: int, words: Any, start: int, count: int) -> None:
    """Notes at each word's slot its position in `words`, for words[start:count]."""
    places = np.empty(BLOCK, np.int64)
    seen = np.empty(BLOCK, np.int64)
    for base in range(start, count, BLOCK):
        size = min(BLOCK, count - base)
        read_homes(slots, bits, words, base, size, places, seen)
        for m in range(size):
            word = words[base + m]
            at = places[m] if seen[m] == word else slot_of(slots, bits, places[m], word)
            ids[at] = base + m


@kernel
@of_one_kind
def find_word(slots: Any, ids: Any, bits: int, word: int) -> int:
    """The id of one word, which is not negative; -1 where there is none."""
    at = slot_of(slots, bits, home(word, bits), word)
    return ids[at] if slots[at] == word else -1


@kernel
def find_words(slots: Any, ids: Any, bits: int, words: Any) -> Any:
    """The id of each word, -1 where there is none."""
    mask = (1 << bits) - 1
    out = np.empty(words.shape[0], np.int64)
    for i in range(words.shape[0]):
        word = words[i]
        out[i] = -1
        if word < 0:
            continue
        at = home(word, bits)
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
@of_one_kind
def number_word(slots: Any, ids: Any, bits: int, word: int, rows: Any, count: int) -> int:
    """The id of one word, which is not negative. A new one gets the id `count`, and goes to `rows` there."""
    at = slot_of(slots, bits, home(word, bits), word)
    if slots[at] == EMPTY:
        slots[at] = word
        ids[at] = count
        rows[count] = word
    return ids[at]  # type: ignore[no-any-return]


@kernel
def number_new_words(
    slots: Any, ids: Any, bits: int, words: Any, rows: Any, count: int, out: Any, start: int, room: int
) -> tuple[int, int]:
    """Finds or inserts words[start:]; `out` gets their ids, `rows` the new words from `count` on.

    Stops when `room` words were new. Returns (position reached, new count).
    """
    limit = count + room
    block = min(BLOCK, words.shape[0] - start)
    places = np.empty(block, np.int64)
    seen = np.empty(block, np.int64)
    known = np.empty(block, np.int64)
    for base in range(start, words.shape[0], BLOCK):
        size = min(BLOCK, words.shape[0] - base)
        read_homes(slots, bits, words, base, size, places, seen)
        for m in range(size):
            known[m] = ids[places[m]]
        for m in range(size):
            word = words[base + m]
            if seen[m] == word:
                out[base + m] = known[m]
                continue
            at = slot_of(slots, bits, places[m], word)
            if slots[at] == EMPTY:
                if count == limit:
                    return base + m, count
                slots[at] = word
                ids[at] = count
                rows[count] = word
                count += 1
            out[base + m] = ids[at]
    return words.shape[0], count


@part
def home_of_row(row: Any, bits: int) -> int:
    """As home, for a wide row."""
    mixed = np.uint64(0)
    for j in range(row.shape[0]):
        mixed = (mixed ^ np.uint64(row[j])) * GOLDEN
        mixed ^= mixed >> np.uint64(29)
    return np.int64((mixed * GOLDEN) >> np.uint64(64 - bits))  # type: ignore[return-value]


@part
def _same_row(a: Any, b: Any) -> bool:
    for j in range(a.shape[0]):  # noqa: SIM110 (any() is slower in a kernel)
        if a[j] != b[j]:
            return False
    return True


@part
def slot_of_row(slots: Any, bits: int, rows: Any, row: Any) -> int:
    """The slot that holds the id of a wide row in `rows`, or the empty one where the search for it ends."""
    mask = (1 << bits) - 1
    at = home_of_row(row, bits)
    while slots[at] != EMPTY and not _same_row(rows[slots[at]], row):
        at = (at + 1) & mask
    return at


@kernel
def number_new_rows(
    slots: Any, bits: int, wide: Any, rows: Any, count: int, out: Any, start: int, room: int
) -> tuple[int, int]:
    """As number_new_words, for the rows of a two-dimensional array; slots hold ids."""
    limit = count + room
    for i in range(start, wide.shape[0]):
        at = slot_of_row(slots, bits, rows, wide[i])
        if slots[at] == EMPTY:
            if count == limit:
                return i, count
            slots[at] = count
            for j in range(wide.shape[1]):  # numba takes ten times as long to compile it as slices
                rows[count, j] = wide[i, j]
            count += 1
        out[i] = slots[at]
    return wide.shape[0], count


@kernel
def rehash_rows(slots: Any, bits: int, rows: Any, count: int) -> None:
    """Fills an empty table with distinct wide rows."""
    for i in range(count):
        slots[slot_of(slots, bits, home_of_row(rows[i], bits), EMPTY)] = i


@kernel
def find_rows(slots: Any, bits: int, rows: Any, wide: Any) -> Any:
    """The id of each wide row, -1 where there is none."""
    out = np.empty(wide.shape[0], np.int64)
    for i in range(wide.shape[0]):
        out[i] = slots[slot_of_row(slots, bits, rows, wide[i])]
    return out
