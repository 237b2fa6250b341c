"""Kernels by which several threads insert into one hash set of words: each into a part of its slots.

A word belongs to the part in which its search begins. A search that leaves the part waits until all parts are
done. So the set, and the order in which new words are told, are those of `hashing.insert_words`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import hashing
from .compiler import kernel

BLOCK = 1024  # words of which those of a part are gathered at once
THERE, NEW, WAITING = 0, 1, 2


@kernel
def insert_part(slots: Any, bits: int, words: Any, part_bits: int, part: int, marks: Any) -> None:
    """Inserts those of the words that belong to one of 2**part_bits parts. `marks` gets, for each of these in
    order, whether it is there, is new, or waits."""
    end = (part + 1) << (bits - part_bits)
    mine = np.empty(BLOCK + 1, np.int64)
    marked = 0
    for start in range(0, words.shape[0], BLOCK):
        count = 0
        for i in range(start, min(start + BLOCK, words.shape[0])):
            word = words[i]
            mine[count] = word
            count += hashing.home(word, part_bits) == part
        for j in range(count):
            word = mine[j]
            at = hashing.home(word, bits)
            mark = WAITING
            while at < end:
                held = slots[at]
                if held == word:
                    mark = THERE
                    break
                if held == hashing.EMPTY:
                    slots[at] = word
                    mark = NEW
                    break
                at += 1
            marks[marked] = mark
            marked += 1


@kernel
def gather_new(slots: Any, bits: int, words: Any, part_bits: int, marks: Any, new: Any) -> int:
    """Puts the words that all parts' marks say are new into `new`, in order, after inserting those that wait.
    Returns their number."""
    read = np.zeros(1 << part_bits, np.int64)
    found = 0
    for i in range(words.shape[0]):
        word = words[i]
        part = hashing.home(word, part_bits)
        mark = np.int64(marks[part, read[part]])
        read[part] += 1
        if mark == WAITING:
            mark = np.int64(THERE)
            at = hashing.slot_of(slots, bits, hashing.home(word, bits), word)
            if slots[at] == hashing.EMPTY:
                slots[at] = word
                mark = np.int64(NEW)
        new[found] = word
        found += int(mark)
    return found
