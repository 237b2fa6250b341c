"""Kernels that add weights and values up."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiler import kernel


@kernel
def add_weights(weight: Any, rows: Any, change: Any) -> Any:
    """Adds changes to the rows' weights. Returns the rows whose sign of presence may have changed,
    each once, with the weight that each had before: two arrays."""
    touched = np.empty(rows.shape[0], np.int64)
    before = np.empty(rows.shape[0], np.int64)
    found = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        old = weight[row]
        new = old + change[i]
        weight[row] = new
        if (old > 0) != (new > 0):
            touched[found] = row
            before[found] = old
            found += 1
    return touched[:found], before[:found]


@kernel
def net_presence(weight: Any, rows: Any, before: Any, mark: Any) -> Any:
    """Of rows that add_weights touched (some perhaps several times), the net changes of presence:
    (rows, +1 or -1). `mark` is scratch of zeros over all rows and is left so."""
    out = np.empty(rows.shape[0], np.int64)
    sign = np.empty(rows.shape[0], np.int64)
    found = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if mark[row]:
            continue
        mark[row] = 1
        was = before[i] > 0
        now = weight[row] > 0
        if was != now:
            out[found] = row
            sign[found] = 1 if now else -1
            found += 1
    for i in range(rows.shape[0]):
        mark[rows[i]] = 0
    return out[:found], sign[:found]


@kernel
def accumulate_limbs(low: Any, high: Any, groups: Any, values: Any, weights: Any) -> None:
    """Adds value * weight to the sums of the groups: by the lower 32 bits of the value and by the others."""
    for i in range(groups.shape[0]):
        low[groups[i]] += (values[i] & 0xFFFFFFFF) * weights[i]
        high[groups[i]] += (values[i] >> 32) * weights[i]


@kernel
def add(totals: Any, groups: Any, weights: Any) -> None:
    """totals[group] += weight."""
    for i in range(groups.shape[0]):
        totals[groups[i]] += weights[i]


@kernel
def improve(best: Any, known: Any, groups: Any, keys: Any, weights: Any) -> None:
    """Keeps the least key of each group up to date, for a change in which no row comes and goes. Where the
    least key goes and no less or equal one comes, it is not known any more."""
    for i in range(groups.shape[0]):
        group = groups[i]
        if weights[i] > 0 and known[group] and keys[i] <= best[group]:
            best[group] = keys[i]
            known[group] = 2
    for i in range(groups.shape[0]):
        group = groups[i]
        if weights[i] < 0 and known[group] == 1 and keys[i] == best[group]:
            known[group] = 0
    for i in range(groups.shape[0]):
        if known[groups[i]]:
            known[groups[i]] = 1


@kernel
def first_seen(groups: Any, mark: Any) -> Any:
    """The distinct groups in order of first occurrence. `mark` is scratch of zeros, left so."""
    out = np.empty(groups.shape[0], np.int64)
    found = 0
    for i in range(groups.shape[0]):
        if not mark[groups[i]]:
            mark[groups[i]] = 1
            out[found] = groups[i]
            found += 1
    for i in range(found):
        mark[out[i]] = 0
    return out[:found]
