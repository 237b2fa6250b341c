"""Kernels of open-addressing hash tables: of packed rows (words), and of wide rows.

Slots of 64 bits hold the words. Slots of 32 bits hold what the place of a word does not tell of it, so that
they tell words apart as exactly (Knuth, The Art of Computer Programming, 6.4, exercise 13; Cleary, Compact
hash tables using bidirectional linear probing, 1984). A word has `width` bits, and so has its code, its
product with an odd number, from which the word follows. The first bits of the code are the word's home, and a
slot has the others, the rest, before its distance from the home:

    code of `width` bits:  │ home │ rest │          slot:  │ rest │ distance │  31 bits

`bits` is then the number of bits of a place, and 256 * `width`. A word that would lie too far away is not
entered. The caller then gives the table slots of 64 bits.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from .compiler import interpreted_as, kernel, of_one_kind, part

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
EMPTY = np.int64(-1)
FAR = np.int64(-1 << 40)
BLOCK = 256


@part
@interpreted_as(lambda slots: slots.itemsize == 8)
def has_words(slots: Any) -> bool:
    """Whether slots have 64 bits. A compiler knows that of `iinfo`, and not of the array's `itemsize`."""
    return bool(np.iinfo(slots.dtype).bits == 64)


@part
@interpreted_as(lambda word, bits: (int(word) * int(GOLDEN) & (1 << 64) - 1) >> 64 - bits)
def home(word: int, bits: int) -> int:
    """The slot where the search for a word begins, of 2**bits slots."""
    return np.int64((np.uint64(word) * GOLDEN) >> np.uint64(64 - bits))  # type: ignore[return-value]


def _code(bits: Any, word: Any) -> int:
    width = int(bits >> 8)
    return int(word) * (int(GOLDEN) >> 64 - width | 1) & (1 << width) - 1


@part
@interpreted_as(_code)
def code_of(bits: int, word: int) -> int:
    """The code of a word: the factor is the ratio of as many bits, so that numbers one after the other lie
    apart."""
    width = np.uint64(bits >> 8)
    code = np.uint64(word) * ((GOLDEN >> (np.uint64(64) - width)) | np.uint64(1))
    return np.int64(code & ((np.uint64(1) << width) - np.uint64(1)))  # type: ignore[return-value]


@part
def mark_of_code(bits: int, code: int, at: int) -> int:
    """What a slot of 32 bits holds where the word with a code lies in it; FAR if that is too far."""
    rest = (bits >> 8) - (bits & 255)
    distance = (at - (code >> rest)) & ((1 << (bits & 255)) - 1)
    if distance >> (31 - rest):
        return FAR  # type: ignore[return-value]
    return ((code & ((1 << rest) - 1)) << (31 - rest)) | distance


@part
def code_at(bits: int, held: Any, at: int) -> int:
    """The code of the word that a slot of 32 bits holds."""
    rest, noted = (bits >> 8) - (bits & 255), np.int64(held)
    first = (at - (noted & ((1 << (31 - rest)) - 1))) & ((1 << (bits & 255)) - 1)
    return (first << rest) | (noted >> (31 - rest))  # type: ignore[return-value]


@part
def first_slot(slots: Any, bits: int, word: int) -> int:
    """The slot where the search for a word begins."""
    if has_words(slots):
        return home(word, bits)
    return code_of(bits, word) >> ((bits >> 8) - (bits & 255))


@part
def mark(slots: Any, bits: int, word: int, at: int) -> int:
    """What a slot holds where a word lies in it; FAR if it cannot lie there."""
    if has_words(slots):
        return word
    return mark_of_code(bits, code_of(bits, word), at)


@part
def next_mark(slots: Any, bits: int, marked: int) -> int:
    """What the next slot holds where the word lies in it that has a mark; if it cannot, no slot's mark."""
    if has_words(slots):
        return marked
    most = (1 << (31 - (bits >> 8) + (bits & 255))) - 1
    return FAR if marked & most == most else marked + 1  # type: ignore[return-value]


@part
def slot_of(slots: Any, bits: int, at: int, word: Any) -> int:
    """The slot that holds a word, or the empty one where the search for it ends, which begins at `at`."""
    mask = slots.shape[0] - 1
    wanted = mark(slots, bits, word, at)
    held = slots[at]
    while held != wanted and held != EMPTY:
        at = (at + 1) & mask
        wanted = next_mark(slots, bits, wanted)
        held = slots[at]
    return at


@part
def empty_slot(slots: Any, at: int) -> int:
    """The first empty slot from `at` on."""
    while slots[at] != EMPTY:
        at = (at + 1) & (slots.shape[0] - 1)
    return at


def _homes_read(slots: Any, bits: int, words: Any, start: int, size: int, places: Any, seen: Any) -> None:
    factor, unused = GOLDEN, np.uint64(0)
    if slots.itemsize == 4:
        unused = np.uint64(64 - (bits >> 8))
        factor = GOLDEN >> unused | np.uint64(1)
    codes = words[start : start + size].view(np.uint64) * factor << unused
    places[:size] = codes >> np.uint64(64 - (bits & 255))
    seen[:size] = slots[places[:size]]


@part
@interpreted_as(_homes_read)
def read_homes(slots: Any, bits: int, words: Any, start: int, size: int, places: Any, seen: Any) -> None:
    """The first slots of the words from `start` on, and what they hold: they are read at once, in a pass that
    waits for many of them at the same time."""
    for m in range(size):
        places[m] = first_slot(slots, bits, words[start + m])
    for m in range(size):
        seen[m] = slots[places[m]]


@kernel
def insert_words(slots: Any, bits: int, words: Any, new: Any, start: int, room: int) -> tuple[int, int]:
    """Inserts words[start:] in a hash set; the absent ones go to `new` in order.

    Stops when `room` words were new, or before one that would lie too far. Returns (position reached, number
    of new words).
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
            if seen[m] == mark(slots, bits, word, places[m]):
                continue
            at = slot_of(slots, bits, places[m], word)
            if slots[at] == EMPTY:
                noted = mark(slots, bits, word, at)
                if found == room or noted == FAR:
                    return base + m, found
                slots[at] = noted
                new[found] = word
                found += 1
    return length, found


@kernel
@of_one_kind
def insert_word(slots: Any, bits: int, word: int, rows: Any, count: int) -> int:
    """Inserts one word, which is not negative, in a hash set; a new one goes to `rows` at `count`.
    Returns the new count, -1 if the word would lie too far."""
    at = slot_of(slots, bits, first_slot(slots, bits, word), word)
    if slots[at] != EMPTY:
        return count
    noted = mark(slots, bits, word, at)
    if noted == FAR:
        return -1
    slots[at] = noted
    rows[count] = word
    return count + 1


@kernel
def rehash_words(slots: Any, bits: int, words: Any, count: int) -> bool:
    """Fills an empty hash set with distinct words. Returns whether none would lie too far."""
    for i in range(count):
        at = empty_slot(slots, first_slot(slots, bits, words[i]))
        noted = mark(slots, bits, words[i], at)
        if noted == FAR:
            return False
        slots[at] = noted
    return True


@kernel
def most_displaced(slots: Any, bits: int) -> int:
    """The greatest distance of a word from the slot where its search begins."""
    mask = slots.shape[0] - 1
    most = 0
    for at in range(slots.shape[0]):
        held = slots[at]
        if held != EMPTY:
            if has_words(slots):
                most = max(most, int((at - home(held, bits)) & mask))
            else:
                most = max(most, int(held & ((1 << (31 - (bits >> 8) + (bits & 255))) - 1)))
    return most


@kernel
def spread_words(slots: Any, ids: Any, before: int, bits: int, near: int) -> None:
    """Spreads the words in the first slots of a hash set, whose places had as many bits as `before` says,
    over all of them, with the ids at the slots, if these are numbered.

    A word moves up, from the last one to the first: its new home is at least twice its old one, so it does
    not meet a word that waits. That fails for the first `near` slots, where a word may lie far behind its
    home in proportion, or have come round from the end: they are set aside, and come last. `near` is more
    than twice the greatest displacement, so no more words come round to them than they have room for. No
    word lies more than twice as far away as the one farthest before, and slots of 32 bits tell distances of
    that many.
    """
    numbered = ids.shape[0] > 0
    aside = slots[:near].copy()
    numbers = ids[:near].copy()
    slots[:near] = EMPTY
    for place in range((1 << (before & 255)) - 1, -1, -1):
        held = slots[place] if place >= near else aside[place]
        if held != EMPTY:
            if place >= near:
                slots[place] = EMPTY
            if has_words(slots):
                at = empty_slot(slots, home(held, bits))
                slots[at] = held
            else:
                code = code_at(before, held, place)
                at = empty_slot(slots, code >> ((bits >> 8) - (bits & 255)))
                slots[at] = mark_of_code(bits, code, at)
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
            at = places[m]
            if seen[m] != mark(slots, bits, word, at):
                at = slot_of(slots, bits, at, word)
            ids[at] = base + m


@kernel
@of_one_kind
def find_word(slots: Any, ids: Any, bits: int, word: int) -> int:
    """The id of one word, which is not negative; -1 where there is none."""
    at = slot_of(slots, bits, first_slot(slots, bits, word), word)
    return ids[at] if slots[at] != EMPTY else -1


@kernel
def find_words(slots: Any, ids: Any, bits: int, words: Any) -> Any:
    """The id of each word, -1 where there is none."""
    mask = slots.shape[0] - 1
    out = np.empty(words.shape[0], np.int64)
    for i in range(words.shape[0]):
        word = words[i]
        out[i] = -1
        if word < 0:
            continue
        at = first_slot(slots, bits, word)
        wanted = mark(slots, bits, word, at)
        while True:
            held = slots[at]
            if held == wanted:
                out[i] = ids[at]
                break
            if held == EMPTY:
                break
            at = (at + 1) & mask
            wanted = next_mark(slots, bits, wanted)
    return out


@kernel
@of_one_kind
def number_word(slots: Any, ids: Any, bits: int, word: int, rows: Any, count: int) -> int:
    """The id of one word, which is not negative. A new one gets the id `count`, and goes to `rows` there; if
    it would lie too far, the id is -1."""
    at = slot_of(slots, bits, first_slot(slots, bits, word), word)
    if slots[at] == EMPTY:
        noted = mark(slots, bits, word, at)
        if noted == FAR:
            return -1
        slots[at] = noted
        ids[at] = count
        rows[count] = word
    return ids[at]  # type: ignore[no-any-return]


def _narrow(function: Any) -> Any:
    """A kernel that enters or finds one row, for slots of 32 bits: another one, as all calls of such a kernel
    give it arguments of the same types."""
    written = function.__wrapped__
    name = written.__name__.replace("word", "narrow_word")
    return kernel(of_one_kind(FunctionType(written.__code__, globals(), name)))


insert_narrow_word, find_narrow_word, number_narrow_word = map(_narrow, (insert_word, find_word, number_word))


@kernel
def number_new_words(
    slots: Any, ids: Any, bits: int, words: Any, rows: Any, count: int, out: Any, start: int, room: int
) -> tuple[int, int]:
    """Finds or inserts words[start:]; `out` gets their ids, `rows` the new words from `count` on.

    Stops as `insert_words` does. Returns (position reached, new count).
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
            if seen[m] == mark(slots, bits, word, places[m]):
                out[base + m] = known[m]
                continue
            at = slot_of(slots, bits, places[m], word)
            if slots[at] == EMPTY:
                noted = mark(slots, bits, word, at)
                if count == limit or noted == FAR:
                    return base + m, count
                slots[at] = noted
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
