"""Many rows into an index at once: chunk by chunk, so that little is held beside the index, and by threads.

The keys of the first chunk are inserted. If they are few, most keys of the others are known, so threads find
them, and only the rows with a new key are left to insert.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ... import thresholds
from ...memory import reserve
from ...schema import Array
from ..kernels import postings
from ..storage import threadpool
from ..storage.table import RowTable

Rows: TypeAlias = Array | range
"""Row ids."""


class Stretches(NamedTuple):
    """The row ids of each key, `count` of them from `first` on in `slab`."""

    first: Array
    count: Any
    slab: Any


def ids(rows: Rows, start: int = 0, stop: int | None = None) -> Array:
    """Some of the row ids, as an array."""
    some = rows[start:stop]
    if isinstance(some, range):
        return np.arange(some.start, some.stop, dtype=np.int64)
    return some


def groups_of(keys: RowTable, keys_at: Callable[[Array], Sequence[Array]], rows: Rows) -> Array:
    """The ids of the rows' keys, new ones for keys not seen before."""
    reserve(4 * len(rows))
    groups: Any = np.empty(len(rows), np.int32)
    parts = [
        slice(at, min(at + thresholds.INDEX_CHUNK, len(rows)))
        for at in range(0, len(rows), thresholds.INDEX_CHUNK)
    ]

    def find(part: slice) -> None:
        some = ids(rows, part.start, part.stop)
        groups[part] = keys.find(keys_at(some), len(some))

    while parts:
        if threadpool.workers() == 1 or keys.size * thresholds.INDEX_ROWS_PER_KEY > parts[0].start:
            some = ids(rows, parts[0].start, parts[0].stop)
            groups[parts[0]] = keys.insert(keys_at(some), len(some))
            del parts[0]
            continue
        if keys.layout is not None:
            keys.numbered_slots()  # threads that help wait for `building`, which this one may hold
        threadpool.run_parts([partial(find, part) for part in parts[: thresholds.INDEX_WAVE]])
        for part in parts[: thresholds.INDEX_WAVE]:
            new = np.flatnonzero(groups[part] < 0)
            if len(new):
                some = ids(rows, part.start, part.stop)[new]
                groups[part.start + new] = keys.insert(keys_at(some), len(some))
        del parts[: thresholds.INDEX_WAVE]
    found: Array = groups
    return found


def stretches(groups: Array, rows: Rows, size: int) -> Stretches:
    """The stretches of so many keys, of rows with these."""
    length = len(rows)
    shares = (
        threadpool.workers()
        if length >= 2 * thresholds.INDEX_CHUNK and size * thresholds.INDEX_ROWS_PER_KEY < length
        else 1
    )
    parts = [slice(length * k // shares, length * (k + 1) // shares) for k in range(shares)]
    counts = np.zeros((shares, size), np.int64)
    threadpool.run_parts([partial(postings.count, groups[part], counts[k]) for k, part in enumerate(parts)])
    cursors = np.cumsum(counts, axis=0) - counts
    count = counts.sum(axis=0)
    first = np.cumsum(count) - count
    cursors += first
    reserve(4 * length)
    slab: Any = np.empty(length, np.int32)

    def scatter(cursor: Array, part: slice) -> None:
        for start in range(part.start, part.stop, thresholds.INDEX_CHUNK):
            stop = min(start + thresholds.INDEX_CHUNK, part.stop)
            postings.scatter(groups[start:stop], ids(rows, start, stop), cursor, slab)

    threadpool.run_parts([partial(scatter, cursors[k], part) for k, part in enumerate(parts)])
    return Stretches(first, count.astype(np.int32), slab)
