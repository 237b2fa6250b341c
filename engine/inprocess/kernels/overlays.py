"""Kernels of the changes that an epoch makes inside a recursion, chained by key."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import kernel


@kernel
def chain_overlay(groups: Any, head: Any, following: Any, start: int) -> None:
    """Prepends the overlay entries start, start+1, ... to their groups' chains; group -1 is none."""
    for i in range(groups.shape[0]):
        if groups[i] >= 0:
            following[start + i] = head[groups[i]]
            head[groups[i]] = start + i


@kernel
def total_overlay(groups: Any, head: Any, following: Any, mark: int) -> int:
    """The number of overlay entries below `mark` in the given groups' chains."""
    total = 0
    for i in range(groups.shape[0]):
        if groups[i] >= 0:
            at = head[groups[i]]
            while at >= 0:
                if at < mark:
                    total += 1
                at = following[at]
    return total


@kernel
def count_overlay(groups: Any, head: Any, following: Any) -> Any:
    """The number of overlay entries in each group's chain."""
    out = np.zeros(groups.shape[0], np.int64)
    for i in range(groups.shape[0]):
        if groups[i] >= 0:
            at = head[groups[i]]
            while at >= 0:
                out[i] += 1
                at = following[at]
    return out


@kernel
def expand_overlay(groups: Any, head: Any, following: Any, mark: int, total: int) -> Any:
    """Every (position in `groups`, overlay entry below `mark` of that group), `total` of them."""
    left = np.empty(total, np.int64)
    entry = np.empty(total, np.int64)
    found = 0
    for i in range(groups.shape[0]):
        if groups[i] >= 0:
            at = head[groups[i]]
            while at >= 0:
                if at < mark:
                    left[found] = i
                    entry[found] = at
                    found += 1
                at = following[at]
    return left, entry
