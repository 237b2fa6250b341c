"""Pausing the garbage collector while large long-lived objects are made: a checked program, its circuit, a
session."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 100_000
"""So many objects are dear to search: they take about 10 ms."""
_MOST = 2_000_000
"""After so many objects that counted as old at once, the collector searches all."""

_aged = 0


@contextmanager
def paused() -> Iterator[None]:
    """Pauses the collector inside. Afterwards the objects count as old if they are many.

    Otherwise the collector would search a growing program again and again, and the whole of it once more as
    each of its generations grows old. It does not count what becomes old like this, so garbage of many large
    sessions is searched for here.
    """
    global _aged
    if not gc.isenabled():
        yield
        return
    if _aged > _MOST:
        _aged = 0
        gc.collect()
    before = gc.get_count()[0]
    try:
        gc.disable()
        yield
        made = gc.get_count()[0] - before
        if made > _MANY and not gc.get_freeze_count():
            _aged += made
            gc.freeze()
            gc.unfreeze()  # into the oldest generation
    finally:
        gc.enable()
