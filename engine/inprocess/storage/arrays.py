"""Arrays that grow.

Memory that a process uses for the first time costs more than most work on it: the system has to find and
clear it. So a large array is not copied to a longer one but lengthened where it lies, by moving its pages,
and by little at a time.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ... import thresholds
from ...memory import reserve
from ...schema import Array


def grown(array: Array, needed: int, fill: int | None = None) -> Array:
    """The array, or a longer copy of it with room for `needed` items; the rest is `fill`."""
    if needed <= array.shape[0]:
        return array
    return _copied(array, _roomier(array.shape[0], needed), fill)


def grow(owner: Any, name: str, needed: int, fill: int | None = None) -> None:
    """Makes room for `needed` items in an array, an attribute; the rest is `fill`."""
    held = getattr(owner, name).shape[0]
    if needed > held:
        lengthen(owner, name, _roomier(held, needed), fill)


def lengthen(owner: Any, name: str, size: int, fill: int | None = None) -> None:
    """Makes an array, an attribute, one of `size` items; the rest is `fill`. A large one that nothing else
    refers to, not even by a view of it, stays where it lies."""
    array: Array = getattr(owner, name)
    held = array.shape[0]
    if held < thresholds.LARGE_ARRAY or not array.flags.owndata or _references(owner, name) > _ALONE:
        setattr(owner, name, _copied(array, size, fill))
        return
    reserve((size - held) * array[:1].nbytes)
    array.resize((size, *array.shape[1:]), refcheck=False)
    if fill is not None:
        array[held:] = fill


def _roomier(held: int, needed: int) -> int:
    return max(
        needed, held + min(held >> (3 if held >= thresholds.LARGE_ARRAY else 1), thresholds.LARGE_ARRAY), 16
    )


def _copied(array: Array, size: int, fill: int | None) -> Array:
    reserve(size * array[:1].nbytes or size * array.itemsize)
    longer = np.empty((size, *array.shape[1:]), array.dtype)
    longer[: array.shape[0]] = array
    if fill is not None:
        longer[array.shape[0] :] = fill
    return longer


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
