"""Kernels of chains in product time: for each row a chain of (time, amounts), in no order. See `engine.time`.

The first arguments are the `head` of each row's chain, and of each entry the one `following` it, its time
`when`, and its `amounts`. `guard` are the guard bits of a packed time, `bits` those of each component.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiler import kernel, part


@kernel
def enter(
    head: Any,
    following: Any,
    when: Any,
    amounts: Any,
    used: int,
    rows: Any,
    time: int,
    changes: Any,
    log: Any,
) -> int:
    """Adds changes of rows at one time, a column of `changes` for each amount. `log[i]` gets the entry that
    change i went to. Returns the number of entries in use; the caller has made room for one more entry a
    change."""
    width = changes.shape[1]
    for i in range(rows.shape[0]):
        row = rows[i]
        at = head[row]
        while at >= 0 and when[at] != time:
            at = following[at]
        if at < 0:
            when[used] = time
            amounts[used] = 0
            following[used] = head[row]
            head[row] = used
            at = used
            used += 1
        amounts[at, 0] += changes[i, 0]
        for k in range(1, width):
            amounts[at, k] += changes[i, k]
        log[i] = at
    return used


@kernel
def amounts_at(head: Any, following: Any, when: Any, amounts: Any, rows: Any, time: int, guard: int) -> Any:
    """The amounts of each row at a time."""
    width = amounts.shape[1]
    total = np.zeros((rows.shape[0], width), np.int64)
    top = time | guard
    for i in range(rows.shape[0]):
        at = head[rows[i]]
        first = 0
        while at >= 0:
            if (top - when[at]) & guard == guard:
                first += amounts[at, 0]
                for k in range(1, width):
                    total[i, k] += amounts[at, k]
            at = following[at]
        total[i, 0] = first
    return total


@kernel
def count_entries(
    head: Any, following: Any, when: Any, amounts: Any, rows: Any, time: int, guard: int
) -> int:
    """An upper bound of the number of entries that `expand_entries` gives, without constants."""
    found = 0
    top = time | guard
    for i in range(rows.shape[0]):
        at = head[rows[i]] if rows[i] >= 0 else -1
        total = 0
        while at >= 0:
            if (top - when[at]) & guard == guard:
                total += amounts[at, 0]
            elif amounts[at, 0] != 0:
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
    amounts: Any,
    rows: Any,
    time: int,
    guard: int,
    bits: int,
    constant: int,
    count: int,
) -> Any:
    """The changes of the first amount of rows as seen from a time on: (position in `rows`, time, change).
    What is not at or before the time is at the join with it; all else is one change, to which `constant` is
    added. A row -1 has the constant only."""
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
                total += amounts[at, 0]
            elif amounts[at, 0] != 0:
                mask = less - (less >> bits)
                left[found] = i
                times[found] = when[at] ^ ((time ^ when[at]) & mask)
                weights[found] = amounts[at, 0]
                found += 1
            at = following[at]
        if total != 0:
            left[found] = i
            times[found] = time
            weights[found] = total
            found += 1
    return left[:found], times[:found], weights[:found]


@kernel
def look(
    head: Any,
    following: Any,
    when: Any,
    amounts: Any,
    rows: Any,
    time: int,
    guard: int,
    bits: int,
    left: Any,
    times: Any,
) -> Any:
    """The amounts of each row at a time; and the joins of the time with those entries of the rows that are
    not at or before it: position in `rows`, and join, in `left` and `times`. Returns the amounts and the
    number of joins, of which no more are written than there is room for."""
    width = amounts.shape[1]
    total = np.zeros((rows.shape[0], width), np.int64)
    found = 0
    room = left.shape[0]
    top = time | guard
    for i in range(rows.shape[0]):
        at = head[rows[i]]
        first = 0
        while at >= 0:
            less = (top - when[at]) & guard
            if less == guard:
                first += amounts[at, 0]
                for k in range(1, width):
                    total[i, k] += amounts[at, k]
            else:
                changes = amounts[at, 0] != 0
                for k in range(1, width):
                    changes = changes or amounts[at, k] != 0
                if changes:
                    if found < room:
                        mask = less - (less >> bits)
                        left[found] = i
                        times[found] = when[at] ^ ((time ^ when[at]) & mask)
                    found += 1
            at = following[at]
        total[i, 0] = first
    return total, found


@kernel
def entries_upto(head: Any, following: Any, when: Any, rows: Any, time: int, guard: int, count: int) -> Any:
    """The entries of rows at or before a time, of which there are at most `count`: position in `rows` and
    entry of each."""
    left = np.empty(count, np.int64)
    entries = np.empty(count, np.int64)
    found = 0
    top = time | guard
    for i in range(rows.shape[0]):
        at = head[rows[i]]
        while at >= 0:
            if (top - when[at]) & guard == guard:
                left[found] = i
                entries[found] = at
                found += 1
            at = following[at]
    return left[:found], entries[:found]


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


@kernel
def alive_rows(head: Any, following: Any, amounts: Any, rows: int, out: Any) -> int:
    """The rows 0 .. rows - 1 with an entry that is not 0, in `out`. Returns their number."""
    found = 0
    for row in range(rows):
        at = head[row]
        alive = False
        while at >= 0 and not alive:
            for k in range(amounts.shape[1]):
                alive = alive or amounts[at, k] != 0
            at = following[at]
        if alive:
            out[found] = row
            found += 1
    return found


@part
def _is_zero(amounts: Any, at: int) -> bool:
    """Whether all amounts of an entry are 0. `np.any` takes longer to compile."""
    for k in range(amounts.shape[1]):  # noqa: SIM110 (all() is slower in a kernel)
        if amounts[at, k] != 0:
            return False
    return True


@kernel
def without_zeros(head: Any, following: Any, when: Any, amounts: Any, rows: int) -> Any:
    """The entries of the rows 0 .. rows - 1 that are not 0: (following, when, amounts, entries in use).
    `head` is rewritten."""
    live = 0
    for row in range(rows):
        at = head[row]
        while at >= 0:
            if not _is_zero(amounts, at):
                live += 1
            at = following[at]
    new_following = np.empty(live, np.int64)
    new_when = np.empty(live, np.int64)
    new_amounts = np.empty((live, amounts.shape[1]), np.int64)
    used = 0
    for row in range(rows):
        at = head[row]
        head[row] = -1
        while at >= 0:
            if not _is_zero(amounts, at):
                new_when[used] = when[at]
                for k in range(amounts.shape[1]):
                    new_amounts[used, k] = amounts[at, k]
                new_following[used] = head[row]
                head[row] = used
                used += 1
            at = following[at]
    return new_following, new_when, new_amounts, used
