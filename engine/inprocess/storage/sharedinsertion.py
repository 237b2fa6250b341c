"""The insertion of many words into a large hash set, and the numbering of its slots, shared among threads."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from ... import thresholds
from ...schema import Array
from ..kernels import hashing, parts
from . import threadpool


def pays(slots: Array, words: int) -> bool:
    """Whether threads are to share the insertion of so many words."""
    return (
        words >= thresholds.SHARED_WORDS
        and len(slots) >= thresholds.SHARED_SLOTS
        and threadpool.workers() > 1
    )


def insert_shared(slots: Array, bits: int, words: Array, new: Array) -> int:
    """As `hashing.insert_words`, where there is room for all words. Returns the number of new ones. Whatever
    this raises leaves the hash set in disorder."""
    part_bits = (threadpool.workers() - 1).bit_length()
    marks = np.empty((1 << part_bits, len(words)), np.int8)
    tasks = [
        partial(parts.insert_part, slots, bits, words, part_bits, part, marks[part])
        for part in range(1 << part_bits)
    ]
    threadpool.run_parts(tasks)
    found: int = parts.gather_new(slots, bits, words, part_bits, marks, new)
    return found


def number(slots: Array, ids: Array, bits: int, words: Array, count: int) -> None:
    """As `hashing.number_words`, from the first word on."""
    shares = threadpool.workers() if pays(slots, count) else 1
    cuts = [count * k // shares for k in range(shares + 1)]
    threadpool.run_parts(
        [partial(hashing.number_words, slots, ids, bits, words, *part) for part in pairwise(cuts)]
    )
