"""Kernels of timelines by round (see `engine.nestedtime`): for each row a chain of (round, weight), the last
round first."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import kernel


@kernel
def enter(
    head: Any, following: Any, when: Any, weight: Any, used: int, rows: Any, time: int, changes: Any, log: Any
) -> int:
    """Adds changes of rows in one round. `log[i]` gets the entry that change i went to. Returns the number of
    entries in use; the caller has made room for one more entry a change."""
    for i in range(rows.shape[0]):
        row = rows[i]
        before = -1
        at = head[row]
        while at >= 0 and when[at] > time:
            before = at
            at = following[at]
        if at < 0 or when[at] != time:
            when[used] = time
            weight[used] = 0
            following[used] = at
            if before < 0:
                head[row] = used
            else:
                following[before] = used
            at = used
            used += 1
        weight[at] += changes[i]
        log[i] = at
    return used


@kernel
def weights_at(head: Any, following: Any, when: Any, weight: Any, rows: Any, time: int) -> Any:
    """The weight of each row in a round, and the next round in which it has an entry, -1 if there is none."""
    total = np.zeros(rows.shape[0], np.int64)
    later = np.full(rows.shape[0], -1, np.int64)
    for i in range(rows.shape[0]):
        at = head[rows[i]]
        while at >= 0:
            if when[at] <= time:
                total[i] += weight[at]
            elif weight[at] != 0:
                later[i] = when[at]
            at = following[at]
    return total, later


@kernel
def count_entries(head: Any, following: Any, when: Any, weight: Any, rows: Any, time: int) -> int:
    """The number of entries that `expand_entries` gives."""
    found = 0
    for i in range(rows.shape[0]):
        at = head[rows[i]] if rows[i] >= 0 else -1
        total = 0
        while at >= 0:
            if when[at] <= time:
                total += weight[at]
            elif weight[at] != 0:
                found += 1
            at = following[at]
        if total != 0:
            found += 1
    return found


@kernel
def expand_entries(
    head: Any, following: Any, when: Any, weight: Any, rows: Any, time: int, constant: int, count: int
) -> Any:
    """The timelines of the rows, with all that is not after round `time` as one entry in it, to which
    `constant` is added: (position in `rows`, round, weight) of each entry. A row -1 has the constant."""
    left = np.empty(count, np.int64)
    times = np.empty(count, np.int64)
    weights = np.empty(count, np.int64)
    found = 0
    for i in range(rows.shape[0]):
        at = head[rows[i]] if rows[i] >= 0 else -1
        total = constant
        while at >= 0:
            if when[at] <= time:
                total += weight[at]
            elif weight[at] != 0:
                left[found] = i
                times[found] = when[at]
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
def missing_presence(
    head: Any,
    following: Any,
    when: Any,
    weight: Any,
    told_head: Any,
    told_following: Any,
    told_when: Any,
    told_weight: Any,
    rows: Any,
    time: int,
    told_time: int,
) -> Any:
    """`nestedtime.missing` of *distinct*, row by row; what was told in the round is at `told_time`. Returns
    (rows, their changes, rows to visit later, the rounds in which)."""
    out = np.empty(rows.shape[0], np.int64)
    change = np.empty(rows.shape[0], np.int64)
    later = np.empty(rows.shape[0], np.int64)
    later_time = np.empty(rows.shape[0], np.int64)
    found = 0
    scheduled = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        total = 0
        following_time = -1
        at = head[row]
        while at >= 0:
            if when[at] <= time:
                total += weight[at]
            elif weight[at] != 0:
                following_time = when[at]
            at = following[at]
        told = 0
        at = told_head[row]
        while at >= 0:
            if told_when[at] <= told_time:
                told += told_weight[at]
            at = told_following[at]
        missing = (1 if total > 0 else 0) - told
        if missing != 0:
            out[found] = row
            change[found] = missing
            found += 1
        if following_time >= 0:
            later[scheduled] = row
            later_time[scheduled] = following_time
            scheduled += 1
    return out[:found], change[:found], later[:scheduled], later_time[:scheduled]


@kernel
def presence_of(
    head: Any,
    following: Any,
    when: Any,
    weight: Any,
    rows: int,
    shift: int,
    told_head: Any,
    told_following: Any,
    told_when: Any,
    told_weight: Any,
) -> int:
    """The timelines of *distinct* of the rows 0 .. rows - 1, `shift` rounds later. Returns the number of
    entries, not more than the rows have."""
    used = 0
    for row in range(rows):
        total = 0
        at = head[row]
        while at >= 0:
            total += weight[at]
            at = following[at]
        last = -1
        at = head[row]
        while at >= 0:
            before = total - weight[at]
            if (total > 0) != (before > 0):
                told_when[used] = when[at] + shift
                told_weight[used] = 1 if total > 0 else -1
                told_following[used] = -1
                if last < 0:
                    told_head[row] = used
                else:
                    told_following[last] = used
                last = used
                used += 1
            total = before
            at = following[at]
    return used
