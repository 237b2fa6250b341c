"""Kernels that expand the matches of a look-up and test them at once: only what passes is stored.

A match is tested by a packed word. Its left row gives a part of it (`base`, -1 for a left row that no match
can make a word of), and the right row's word gives fields. Field k takes the bits `fields[k, 1]`, a mask,
from bit `fields[k, 0]` on, adds `fields[k, 2]`, and puts the value, if it is under `fields[k, 3]`, at bit
`fields[k, 4]`.

Matches are taken in blocks, and a block in passes: memory is slow, and only a pass that does not branch by
what it has read waits for many places at once. A kernel stops where its output has no room for a block, or
after `work` matches, and says where: (left row, match of it).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import hashing
from .compiler import kernel, part

BLOCK = 512


@part
def fill_block(
    groups: Any, first: Any, count: Any, slab: Any, below: int, i: int, j: int, lefts: Any, rights: Any
) -> tuple[int, int, int]:
    """The next matches with row ids under `below`: positions of left rows, and row ids. Returns (left row,
    match of it, number of matches)."""
    room = lefts.shape[0]
    size = 0
    while i < groups.shape[0]:
        group = groups[i]
        if group >= 0:
            start = first[group]
            stop = start + count[group]
            for at in range(start + j, stop):
                if size == room:
                    return i, at - start, size
                row = slab[at]
                if row < below:
                    lefts[size] = i
                    rights[size] = row
                    size += 1
        i += 1
        j = 0
    return i, 0, size


@part
def block_words(size: int, lefts: Any, rights: Any, words: Any, base: Any, fields: Any, made: Any) -> bool:
    """Makes the words of a block, -1 where a value is too large. Returns whether all fit."""
    taken = np.empty(size, np.int64)
    excess = np.zeros(size, np.int64)  # negative where a value is too small or too large
    for m in range(size):
        taken[m] = words[rights[m]]
    for m in range(size):
        made[m] = base[lefts[m]]
    for k in range(fields.shape[0]):
        low, mask, add, last, to = fields[k, 0], fields[k, 1], fields[k, 2], fields[k, 3] - 1, fields[k, 4]
        for m in range(size):
            value = ((taken[m] >> low) & mask) + add
            excess[m] |= value | (last - value)
            made[m] |= value << to  # -1 stays -1
    bad = np.int64(0)
    for m in range(size):
        bad |= excess[m]
    if bad < 0:
        for m in range(size):
            if excess[m] < 0:
                made[m] = -1
    return bool(bad >= 0)


@part
def sieved(size: int, made: Any, marks: Any, sieve_bits: int, lefts: Any, rights: Any) -> int:
    """Keeps the matches of a block whose words a sieve lets through, in front and in order. Returns their
    number."""
    through = np.empty(size, np.int64)
    for m in range(size):
        bit = hashing.home(made[m], sieve_bits)
        through[m] = (marks[bit >> 6] >> (bit & 63)) & 1
    kept = 0
    for m in range(size):
        lefts[kept], rights[kept], made[kept] = lefts[m], rights[m], made[m]
        kept += through[m]
    return kept


@part
def absent(slots: Any, bits: int, size: int, made: Any, places: Any, seen: Any, new: Any, out: int) -> int:
    """Puts the words of a block that a hash set does not hold into `new` from `out` on. Returns their end.

    Most words are at their homes. The others go on in front, a slot further in each pass: a search that
    branches by what it finds takes a quarter longer. All three arrays of the block are used up."""
    mask = slots.shape[0] - 1
    hashing.read_homes(slots, bits, made, 0, size, places, seen)
    left = 0
    for m in range(size):
        word, place, held = made[m], places[m], seen[m]
        made[left], places[left], seen[left] = word, place, held
        left += held != hashing.mark(slots, bits, word, place)
    while left > 0:
        size, left = left, 0
        for m in range(size):
            word, place, held = made[m], places[m], seen[m]
            new[out] = word
            out += held == hashing.EMPTY
            made[left], places[left] = word, (place + 1) & mask
            left += (held != hashing.mark(slots, bits, word, place)) & (held != hashing.EMPTY)
        for m in range(left):
            seen[m] = slots[places[m]]
    return out


@kernel
def fill_sieve(words: Any, count: int, marks: Any, sieve_bits: int) -> None:
    """Sets the bit at the home of each word, of 2**sieve_bits."""
    for i in range(count):
        bit = hashing.home(words[i], sieve_bits)
        marks[bit >> 6] |= np.int64(1) << (bit & 63)


@kernel
def expand_found(
    groups: Any,
    first: Any,
    count: Any,
    slab: Any,
    below: int,
    words: Any,
    base: Any,
    fields: Any,
    slots: Any,
    ids: Any,
    bits: int,
    left: Any,
    rows: Any,
    found: Any,
    i: int,
    j: int,
    work: int,
    marks: Any,
    sieve_bits: int,
) -> tuple[int, int, int]:
    """The matches with row ids under `below` whose words a hash set holds: position of the left row, row id,
    and the word's id. Returns (left row, match of it, number found). `marks` has a bit for each word of the
    hash set among others, unless `sieve_bits` is 0."""
    lefts = np.empty(BLOCK, np.int64)
    rights = np.empty(BLOCK, np.int64)
    made = np.empty(BLOCK, np.int64)
    places = np.empty(BLOCK, np.int64)
    seen = np.empty(BLOCK, np.int64)
    out = 0
    while i < groups.shape[0] and work > 0 and out + BLOCK <= left.shape[0]:
        i, j, size = fill_block(groups, first, count, slab, below, i, j, lefts, rights)
        work -= BLOCK
        block_words(size, lefts, rights, words, base, fields, made)
        if sieve_bits > 0:
            size = sieved(size, made, marks, sieve_bits, lefts, rights)
        hashing.read_homes(slots, bits, made, 0, size, places, seen)
        for m in range(size):
            word = made[m]
            held = seen[m]
            if held == hashing.EMPTY or word < 0:
                continue
            place = places[m]
            if held != hashing.mark(slots, bits, word, place):
                place = hashing.slot_of(slots, bits, place, word)
                held = slots[place]
            if held != hashing.EMPTY:
                left[out] = lefts[m]
                rows[out] = rights[m]
                found[out] = ids[place]
                out += 1
    return i, j, out


@kernel
def expand_new(
    groups: Any,
    first: Any,
    count: Any,
    slab: Any,
    below: int,
    words: Any,
    base: Any,
    fields: Any,
    slots: Any,
    bits: int,
    new: Any,
    i: int,
    j: int,
    work: int,
) -> tuple[int, int, int]:
    """The words of the matches with row ids under `below` that a hash set does not hold, some perhaps several
    times. Returns (left row, match of it, number found); the number is -1 where a value is too large for its
    field: then `new` holds nothing of use."""
    lefts = np.empty(BLOCK, np.int64)
    rights = np.empty(BLOCK, np.int64)
    made = np.empty(BLOCK, np.int64)
    places = np.empty(BLOCK, np.int64)
    seen = np.empty(BLOCK, np.int64)
    out = 0
    while i < groups.shape[0] and work > 0 and out + BLOCK <= new.shape[0]:
        i, j, size = fill_block(groups, first, count, slab, below, i, j, lefts, rights)
        work -= BLOCK
        if not block_words(size, lefts, rights, words, base, fields, made):
            return i, j, -1
        out = absent(slots, bits, size, made, places, seen, new, out)
    return i, j, out
