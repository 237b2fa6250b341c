"""Kernels of timelines in product time (see `engine.looptime`): for each row a chain of (time, weight), in no
order. `guard` are the guard bits of a packed time, and `bits` the bits of each of its components."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import kernel


@kernel
def enter(
    head: Any, following: Any, when: Any, weight: Any, used: int, rows: Any, time: int, changes: Any, log: Any
) -> int:
    """Adds changes of rows at one time. `log[i]` gets the entry that change i went to. Returns the number of
    entries in use; the caller has made room for one more entry a change."""
    for i in range(rows.shape[0]):
        row = rows[i]
        at = head[row]
        while at >= 0 and when[at] != time:
            at = following[at]
        if at < 0:
            when[used] = time
            weight[used] = 0
            following[used] = head[row]
            head[row] = used
            at = used
            used += 1
        weight[at] += changes[i]
        log[i] = at
    return used


@kernel
def weights_at(head: Any, following: Any, when: Any, weight: Any, rows: Any, time: int, guard: int) -> Any:
    """The weight of each row at a time."""
    total = np.zeros(rows.shape[0], np.int64)
    top = time | guard
    for i in range(rows.shape[0]):
        at = head[rows[i]]
        while at >= 0:
            if (top - when[at]) & guard == guard:
                total[i] += weight[at]
            at = following[at]
    return total


@kernel
def count_entries(head: Any, following: Any, when: Any, weight: Any, rows: Any, time: int, guard: int) -> int:
    """An upper bound of the number of entries that `expand_entries` gives, without constants."""
    found = 0
    top = time | guard
    for i in range(rows.shape[0]):
        at = head[rows[i]] if rows[i] >= 0 else -1
        total = 0
        while at >= 0:
            if (top - when[at]) & guard == guard:
                total += weight[at]
            elif weight[at] != 0:
                found += 1
            at = following[at]
        if total != 0:
            found += 1
    return found


@kernel
def expand_entries(
    head: Any,
    following: Any,
    when: Any,
    weight: Any,
    rows: Any,
    time: int,
    guard: int,
    bits: int,
    constant: int,
    count: int,
) -> Any:
    """The changes of the rows as seen from a time on: (position in `rows`, time, weight). What is not at or
    before the time is at the join with it; all else is one change, to which `constant` is added. A row -1 has
    the constant only."""
    left = np.empty(count, np.int64)
    times = np.empty(count, np.int64)
    weights = np.empty(count, np.int64)
    found = 0
    top = time | guard
    for i in range(rows.shape[0]):
        at = head[rows[i]] if rows[i] >= 0 else -1
        total = constant
        while at >= 0:
            less = (top - when[at]) & guard
            if less == guard:
                total += weight[at]
            elif weight[at] != 0:
                mask = less - (less >> bits)
                left[found] = i
                times[found] = when[at] ^ ((time ^ when[at]) & mask)
                weights[found] = weight[at]
                found += 1
            at = following[at]
        if total != 0:
            left[found] = i
            times[found] = time
            weights[found] = total
            found += 1
    return left[:found], times[:found], weights[:found]


@kernel
def count_later(head: Any, following: Any, when: Any, weight: Any, rows: Any, time: int, guard: int) -> int:
    """The number of entries that `later_times` gives."""
    found = 0
    top = time | guard
    for i in range(rows.shape[0]):
        at = head[rows[i]]
        while at >= 0:
            if weight[at] != 0 and (top - when[at]) & guard != guard:
                found += 1
            at = following[at]
    return found


@kernel
def later_times(
    head: Any,
    following: Any,
    when: Any,
    weight: Any,
    rows: Any,
    time: int,
    guard: int,
    bits: int,
    count: int,
) -> Any:
    """The joins of a time with those entries of the rows that are not at or before it: (position in `rows`,
    join) of each."""
    left = np.empty(count, np.int64)
    times = np.empty(count, np.int64)
    found = 0
    top = time | guard
    for i in range(rows.shape[0]):
        at = head[rows[i]]
        while at >= 0:
            less = (top - when[at]) & guard
            if weight[at] != 0 and less != guard:
                mask = less - (less >> bits)
                left[found] = i
                times[found] = when[at] ^ ((time ^ when[at]) & mask)
                found += 1
            at = following[at]
    return left, times


@kernel
def missing_presence(sums: Any, told: Any, out: Any, change: Any) -> int:
    """The rows at which presence by `sums` is not what was `told`: their positions, in `out`, and what is
    missing. Returns their number."""
    found = 0
    for i in range(sums.shape[0]):
        missing = (1 if sums[i] > 0 else 0) - told[i]
        if missing != 0:
            out[found] = i
            change[found] = missing
            found += 1
    return found
