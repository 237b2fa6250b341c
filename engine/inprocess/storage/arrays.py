"""Arrays that grow.

Memory that a process uses for the first time costs more than most work on it: the system has to find and
clear it. So an array gets much room, which takes no memory before it is used. A large array is moved piece by
piece to a longer one, and the pages of each piece go back at once. Only an array that is allocated anew lies
in large pages, which halves the time of reads that come from anywhere in it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ... import thresholds
from ...memory import reserve
from ...schema import Array
from .allocator import give_back_pages


def grown(array: Array, needed: int, fill: int | None = None) -> Array:
    """The array, or a longer copy of it with room for `needed` items; the rest is `fill`."""
    if needed <= array.shape[0]:
        return array
    return _copied(array, _roomier(array.shape[0], needed), fill)


def grow(owner: Any, name: str, needed: int, fill: int | None = None) -> None:
    """Makes room for `needed` items in an array, an attribute; the rest is `fill`."""
    held = getattr(owner, name).shape[0]
    if needed > held:
        _move(owner, name, _roomier(held, needed), needed, fill)


def lengthen(owner: Any, name: str, size: int, fill: int | None = None) -> None:
    """Makes an array, an attribute, one of `size` items; the rest is `fill`."""
    _move(owner, name, size, size, fill)


def _move(owner: Any, name: str, size: int, used: int, fill: int | None) -> None:
    """Puts a longer copy in place of an array, of which so many items will soon be used. The pages of a large
    one that nothing else refers to, not even by a view of it, are given back on the way."""
    array: Array = getattr(owner, name)
    held = array.shape[0]
    if held < thresholds.LARGE_ARRAY or not array.flags.owndata or _references(owner, name) > _ALONE:
        setattr(owner, name, _copied(array, size, fill))
        return
    reserve((used - held) * array[:1].nbytes)
    longer = _empty(array, size, fill)
    for at in range(0, held, thresholds.LARGE_ARRAY):
        part = array[at : at + thresholds.LARGE_ARRAY]
        longer[at : at + len(part)] = part
        give_back_pages(part)
    if fill:
        longer[held:] = fill
    setattr(owner, name, longer)


def _roomier(held: int, needed: int) -> int:
    return max(needed, held + (held >> 1), 16)


def _copied(array: Array, size: int, fill: int | None) -> Array:
    reserve(size * array[:1].nbytes or size * array.itemsize)
    longer = _empty(array, size, fill)
    longer[: array.shape[0]] = array
    if fill:
        longer[array.shape[0] :] = fill
    return longer


def _empty(array: Array, size: int, fill: int | None) -> Array:
    """So many items for a longer copy: zeros, which take no memory before they are used, or anything."""
    return (np.zeros if fill == 0 else np.empty)((size, *array.shape[1:]), array.dtype)


def _references(owner: Any, name: str) -> int:
    """The number of references to an attribute that its owner and one variable of the caller refer to."""
    return sys.getrefcount(getattr(owner, name))


class _Probe:
    def __init__(self) -> None:
        self.array = np.empty(1, np.int64)

    def references(self) -> int:
        array = self.array
        return _references(self, "array") if array is not None else 0


_ALONE = _Probe().references()
