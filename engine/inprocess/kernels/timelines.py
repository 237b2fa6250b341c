"""Kernels of histories: distinct in a recursion (see `engine.births`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import kernel


@kernel
def record(
    head: Any,
    following: Any,
    when: Any,
    weight: Any,
    used: int,
    rows: Any,
    times: Any,
    changes: Any,
    log: Any,
) -> int:
    """Adds (row, time, change) triples to the rows' histories: chains of (time, weight).

    `log[i]` gets the entry that triple i went to. Returns the number of entries in use; the caller
    has made room for one more entry a triple.
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        at = head[row]
        while at >= 0 and when[at] != times[i]:
            at = following[at]
        if at < 0:
            at = used
            used += 1
            when[at] = times[i]
            weight[at] = 0
            following[at] = head[row]
            head[row] = at
        weight[at] += changes[i]
        log[i] = at
    return used


@kernel
def step_births(
    rows: Any,
    time: int,
    head: Any,
    following: Any,
    when: Any,
    weight: Any,
    birth: Any,
    stamp: Any,
    epoch: int,
) -> Any:
    """Distinct in a recursion, one iteration: the rows touched or scheduled at `time`.

    For each row, S(k) is 1 from the first k at which the sum of its weights up to k is positive;
    `birth` is 1 + that k before this epoch (0: never). Emits
    (S_new(time) - S_new(time-1)) - (S_old(time) - S_old(time-1)), and schedules the row at the next
    time at which this may be nonzero. `stamp` keeps a row from being treated twice.
    Returns (emitted rows, their weights, scheduled rows, their times).
    """
    out = np.empty(rows.shape[0], np.int64)
    change = np.empty(rows.shape[0], np.int64)
    later = np.empty(rows.shape[0], np.int64)
    later_time = np.empty(rows.shape[0], np.int64)
    found = 0
    scheduled = 0
    code = epoch * 4294967296 + time
    for i in range(rows.shape[0]):
        row = rows[i]
        if stamp[row] == code:
            continue
        stamp[row] = code
        upto_now = 0
        upto_before = 0
        next_time = -1
        at = head[row]
        while at >= 0:
            if when[at] <= time:
                upto_now += weight[at]
                if when[at] < time:
                    upto_before += weight[at]
            elif weight[at] > 0 and (next_time < 0 or when[at] < next_time):
                next_time = when[at]
            at = following[at]
        born = birth[row] - 1
        emit = 0
        if upto_now > 0 and upto_before <= 0:
            emit += 1
        elif upto_now <= 0 and upto_before > 0:
            emit -= 1
        if born == time:
            emit -= 1
        if emit != 0:
            out[found] = row
            change[found] = emit
            found += 1
        if upto_now > 0:
            next_time = -1
        if born > time and (next_time < 0 or born < next_time):
            next_time = born
        if next_time >= 0:
            later[scheduled] = row
            later_time[scheduled] = next_time
            scheduled += 1
    return out[:found], change[:found], later[:scheduled], later_time[:scheduled]


@kernel
def settle_births(rows: Any, head: Any, following: Any, when: Any, weight: Any, birth: Any, out: Any) -> None:
    """The births of touched rows when the epoch ends: the first time with a positive sum, else -1.

    After an epoch the sums over time never fall, so that is the least time of positive weight.
    `out[i]` gets the birth that row i had before; births are kept plus one, 0 for absent rows.
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        least = -1
        at = head[row]
        while at >= 0:
            if weight[at] > 0 and (least < 0 or when[at] < least):
                least = when[at]
            at = following[at]
        out[i] = birth[row]
        birth[row] = least + 1
