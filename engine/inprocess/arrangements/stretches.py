"""Lists of ids by key that grow: a stretch of one slab for each key."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import thresholds
from ...memory import reserve
from ...schema import Array
from ..kernels import postings
from ..storage.arrays import grow
from .bulkindex import Rows, Stretches, ids

_NOWHERE: Array = np.empty(0, np.int64)


class Stretched:
    """For each key a stretch of ids in one slab, with room to grow. Ids and keys have 32 bits.

    A full stretch moves to the end of the slab and doubles, which leaves a hole. A slab without room is
    packed, if holes are much of it or many ids come; otherwise it is lengthened. Packed stretches lie in the
    order of their keys, and while they do, they are packed where they are.
    """

    def __init__(self, stretches: Stretches) -> None:
        self._first, self._count, self._slab = stretches
        self._room: Any = self._count.copy()
        self._end = self._limit = len(self._slab)  # the end of the stretches, and that of the room for moves
        self._place = _NOWHERE  # of each id, once one is to be taken out of many

    def _reach(self, keys: int) -> None:
        """Gives so many keys their place."""
        if keys > len(self._count):
            grow(self, "_first", keys, 0)
            grow(self, "_count", keys, 0)
            grow(self, "_room", keys, 0)

    def _track(self, size: int) -> None:
        """Follows the places of so many ids, if they are known."""
        if len(self._place):
            grow(self, "_place", size, 0)

    def _enter(self, groups: Array, rows: Rows) -> None:
        """Adds ids to the stretches of these keys."""
        groups, at = groups.astype(np.int32, copy=False), 0
        while at < len(rows):
            some = ids(rows, at, at + thresholds.INDEX_CHUNK)
            done, self._end = postings.link(
                groups[at : at + len(some)],
                some,
                self._first,
                self._count,
                self._room,
                self._slab[: max(self._end, self._limit)],
                self._end,
                self._place,
            )
            at += done
            if done < len(some):
                self._make_room(groups[at:])

    def _make_room(self, coming: Array) -> None:
        """Makes room at the end of the slab, or for ids that come to these keys."""
        held = int(self._count.sum())
        if self._end + 8 * len(coming) <= max(1.25 * held, thresholds.PACKED_IDS):
            needed = self._end + max(1024, int(self._room.max()) * 2 + 8)
            grow(self, "_slab", needed)
            self._limit = min(max(needed, self._limit + (self._limit >> 1)), len(self._slab))
            return
        room, first = self._count.copy(), np.empty(len(self._count), np.int64)
        postings.count(coming, room)
        end = int(postings.lay_out(room, first))
        reserve(4 * max(0, end - self._end))
        if end > len(self._slab) or not postings.shift(self._first, self._count, self._slab, first):
            reserve(4 * end)
            spare = 2 * end if end >= thresholds.LARGE_ARRAY else 0  # which takes no memory before it is used
            slab: Any = np.empty(end + spare, np.int32)
            postings.move(self._first, self._count, self._slab, first, slab)
            self._slab = slab
        self._first, self._room, self._end, self._limit = first, room, end, end
        if len(self._place):
            self._locate()

    def _locate(self) -> None:
        postings.locate(self._first, self._count, len(self._count), self._slab, self._place)

    def _leave(self, groups: Array, rows: Array, size: int) -> None:
        """Takes ids, which are below `size`, out of the stretches of these keys."""
        groups = groups.astype(np.int32, copy=False)
        looked_at = 0 if len(self._place) else int(self._count[groups].sum())
        if looked_at > thresholds.IDS_LOOKED_AT * len(groups):
            self._place = np.zeros(max(16, size), np.int64)
            self._locate()
        self._track(size)
        postings.unlink(groups, rows, self._first, self._count, self._slab, self._place)
