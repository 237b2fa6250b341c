"""Kernels that follow packed rows through one look-up, and find what they lead to.

A word is made of fields of others, as in `kernels.expansion`: field k takes the bits `fields[k, 1]`, a mask,
from bit `fields[k, 0]` on, adds `fields[k, 2]`, and puts the value, if it is under `fields[k, 3]`, at bit
`fields[k, 4]`. A word is -1 where a value does not fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import hashing
from .compiler import kernel, part
from .ranks import CAME


@part
def with_fields(word: Any, fields: Any, made: Any) -> Any:
    """`made` with fields of a word; -1 where one does not fit, or if it was -1."""
    excess = np.int64(0)
    for k in range(fields.shape[0]):
        value = ((word >> fields[k, 0]) & fields[k, 1]) + fields[k, 2]
        excess |= value | (fields[k, 3] - 1 - value)
        made |= value << fields[k, 4]
    return made if excess >= 0 else -1


@part
def _held(word: Any, slots: Any, ids: Any, bits: int) -> int:
    """The id of a word in a hash set, -1 if it is not there or -1."""
    if word < 0:
        return np.int64(-1)  # type: ignore[return-value]
    at = hashing.slot_of(slots, bits, hashing.home(word, bits), word)
    return np.int64(ids[at]) if slots[at] == word else np.int64(-1)  # type: ignore[return-value]


@part
def _find_groups(
    words: Any, keyed: Any, slots: Any, ids: Any, bits: int, whole: bool, count: Any, groups: Any
) -> int:
    """Notes the ids of the keys that words lead to, -1 for a key that is not there, and gives the number of
    the rows with these keys; for the arguments see `follow`."""
    total = np.int64(0)
    for i in range(words.shape[0]):
        group = _held(with_fields(words[i], keyed, np.int64(0)), slots, ids, bits)
        groups[i] = group
        if group >= 0:
            total += np.int64(1 if whole else count[group])
    return total  # type: ignore[return-value]


@part
def _stretch(group: int, whole: bool, first: Any, count: Any) -> tuple[int, int]:
    """Where the rows with a key begin and end, given its id: as rows, or in a slab."""
    start = group if whole else np.int64(first[group])
    return start, start + (1 if whole else np.int64(count[group]))  # type: ignore[return-value]


@part
def follow(
    words: Any,
    most: int,
    keyed: Any,
    slots: Any,
    ids: Any,
    bits: int,
    whole: bool,
    first: Any,
    count: Any,
    slab: Any,
    weights: Any,
    counted: bool,
    rights: Any,
    of_left: Any,
    of_right: Any,
) -> tuple[Any, Any, Any, bool]:
    """The matches of rows: positions in `words`, words made of the row and the match, and the weights of the
    matches if they are `counted`, else 1. False as the last result, and nothing else, if there are more than
    `most`.

    `keyed` makes the word of a key, whose id in a hash set says which rows match: it is the only one itself
    (`whole`), or those of a stretch of `slab`. Rows of weight 0 do not match; without `weights` all do.
    `of_left` and `of_right` make words, of the row's word and of the match's in `rights`.
    """
    groups = np.empty(words.shape[0], np.int64)
    total = _find_groups(words, keyed, slots, ids, bits, whole, count, groups)
    if total > most:
        return groups[:0], groups[:0], groups[:0], False
    left = np.empty(total, np.int64)
    made = np.empty(total, np.int64)
    factors = np.ones(total, np.int64)
    found = 0
    for i in range(words.shape[0]):
        if groups[i] < 0:
            continue
        begun = with_fields(words[i], of_left, np.int64(0))
        start, stop = _stretch(groups[i], whole, first, count)
        for at in range(start, stop):
            row = at if whole else np.int64(slab[at])
            if weights.shape[0] and weights[row] == 0:
                continue
            left[found] = i
            made[found] = with_fields(rights[row], of_right, begun)
            if counted:
                factors[found] = weights[row]
            found += 1
    return left[:found], made[:found], factors[:found], True


@part
def _is_excluded(left: Any, right: Any, excluding: Any) -> bool:
    """Whether an excluded term holds the word that a row and its match make in it."""
    for of_left, of_right, slots, ids, bits, weights in excluding:
        word = with_fields(right, of_right, with_fields(left, of_left, np.int64(0)))
        at = _held(word, slots, ids, bits)
        if at >= 0 and (not weights.shape[0] or weights[at] > 0):
            return True
    return False


@kernel
def follow_rounds(
    words: Any,
    slots: Any,
    ids: Any,
    bits: int,
    limit: int,
    high: int,
    size: int,
    keyed: Any,
    key_slots: Any,
    key_ids: Any,
    key_bits: int,
    whole: bool,
    first: Any,
    count: Any,
    slab: Any,
    weights: Any,
    counted: bool,
    rights: Any,
    of_left: Any,
    of_right: Any,
    excluding: Any,
    reached: Any,
    most: int,
    work: int,
) -> tuple[int, int, bool]:
    """Rounds of a recursion: words[high:size] lead to others, as in `follow`, of which those that the hash
    set of all words does not hold are the next ones. `ids` are at its slots, if there are any. `excluding`
    has for each term that excludes matches the fields of its words, its hash set, and the weights there.

    Ends before a round from more than `most` words, or one that might need room beyond `limit`, or after so
    much `work`. `reached` gets the size up to which each round starts. Returns the number of words, that of
    rounds, and whether all words of the last round fit.
    """
    groups = np.empty(min(most, limit - high), np.int64)
    rounds = 0
    while rounds < reached.shape[0] and 0 < size - high <= most and work > 0:
        total = _find_groups(words[high:size], keyed, key_slots, key_ids, key_bits, whole, count, groups)
        if size + total > limit:
            break
        low, high = high, size
        work -= high - low + int(total)
        reached[rounds] = high
        rounds += 1
        for i in range(low, high):
            if groups[i - low] < 0:
                continue
            left = words[i]
            begun = with_fields(left, of_left, np.int64(0))
            start, stop = _stretch(groups[i - low], whole, first, count)
            for at in range(start, stop):
                row = at if whole else np.int64(slab[at])
                if weights.shape[0] and weights[row] == 0:
                    continue
                right = rights[row]
                if _is_excluded(left, right, excluding):
                    continue
                word = with_fields(right, of_right, begun)
                if word < 0:
                    return size, rounds, False
                place = hashing.slot_of(slots, bits, hashing.home(word, bits), word)
                if slots[place] == hashing.EMPTY:
                    slots[place] = word
                    if ids.shape[0]:
                        ids[place] = size
                    words[size] = word
                    size += 1
    return size, rounds, True


@part
def least_ranks(best: Any, places: Any, words: Any, slots: Any, ids: Any, bits: int, ranks: Any) -> None:
    """Lowers `best` at some places to the iterations of derivations from one row each, given by its word, as
    far as these rows are present. See `kernels.ranks`."""
    block = min(hashing.BLOCK, words.shape[0])
    slot = np.empty(block, np.int64)
    seen = np.empty(block, np.int64)
    for base in range(0, words.shape[0], hashing.BLOCK):
        size = min(hashing.BLOCK, words.shape[0] - base)
        hashing.read_homes(slots, bits, words, base, size, slot, seen)
        for m in range(size):
            word = words[base + m]
            if seen[m] != hashing.mark(slots, bits, word, slot[m]):
                slot[m] = hashing.slot_of(slots, bits, slot[m], word)
                seen[m] = slots[slot[m]]
        for m in range(size):
            slot[m] = ids[slot[m]]
        for m in range(size):
            if words[base + m] >= 0 and seen[m] != hashing.EMPTY:
                number = np.int64(ranks[slot[m]])
                number -= CAME if number >= CAME else 0
                place = places[base + m]
                if 0 < number < best[place]:
                    best[place] = number
