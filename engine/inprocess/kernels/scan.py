"""Kernels that look through all words of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiler import kernel

BLOCK = 128


@kernel
def agreeing(words: Any, size: int, masks: Any, values: Any, out: Any) -> int:
    """Puts the places of the words that have one of some values under its mask in `out`, in order. Gives
    their number; -1 if there is no room for them.

    Few words agree, so the words of a block that do are counted first: that loop has no branches, and the
    compiler makes it one of vectors.
    """
    found = 0
    for base in range(0, size, BLOCK):
        block = words[base : min(base + BLOCK, size)]
        hits = np.int64(0)
        for k in range(masks.shape[0]):
            mask, value = masks[k], values[k]
            for i in range(block.shape[0]):
                hits += np.int64((block[i] & mask) == value)
        if hits == 0:
            continue
        for i in range(block.shape[0]):
            for k in range(masks.shape[0]):
                if (block[i] & masks[k]) == values[k]:
                    if found == out.shape[0]:
                        return -1
                    out[found] = base + i
                    found += 1
                    break
    return found
