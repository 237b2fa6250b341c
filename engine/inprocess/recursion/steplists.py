"""The steps of a recursion over paths, listed by the key that they lead from, or into."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...memory import reserve
from ...schema import Array
from ..kernels import postings
from ..storage.arrays import grow

_NOWHERE: Array = np.empty(0, np.int64)


class StepStretches(NamedTuple):
    """Where the ids of each key's steps are, as kernels read it."""

    first: Array
    count: Any
    slab: Any


class StepLists:
    """For each key a list of ids of steps, as a stretch of one slab, with room to grow."""

    def __init__(self, keys: Array, size: int) -> None:
        """`keys` are the keys of the steps 0, 1, ...; `size` is the number of keys that there are."""
        reserve(16 * size + 4 * len(keys))
        counts = np.bincount(keys, minlength=size)
        self._first: Array = np.cumsum(counts) - counts
        self._count: Any = counts.astype(np.int32)
        self._room: Any = self._count.copy()
        self._slab: Any = np.empty(len(keys), np.int32)
        self._place = _NOWHERE
        self._end = len(keys)
        postings.scatter(keys, np.arange(len(keys), dtype=np.int64), self._first.copy(), self._slab)

    def stretches(self, size: int) -> StepStretches:
        """The stretches of so many keys."""
        for name in ("_first", "_count", "_room"):
            grow(self, name, size, 0)
        return StepStretches(self._first, self._count, self._slab)

    def insert(self, keys: Array, steps: Array, size: int) -> None:
        """Adds steps, which have new ids."""
        self.stretches(size)
        if len(self._place):
            grow(self, "_place", int(steps.max()) + 1, 0)
        at = 0
        while True:
            at, self._end = postings.link(
                keys, steps, self._first, self._count, self._room, self._slab, self._end, self._place, at
            )
            if at == len(steps):
                break
            grow(self, "_slab", self._end + max(1024, int(self._room.max()) * 2 + 8))

    def remove(self, keys: Array, steps: Array, most: int) -> None:
        """Takes steps out. `most`: more than any id."""
        if not len(self._place):
            self._place = np.zeros(max(16, most), np.int64)
            postings.locate(self._first, self._count, len(self._count), self._slab, self._place)
        postings.unlink(keys, steps, self._first, self._count, self._slab, self._place)
