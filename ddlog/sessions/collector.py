"""Pausing the garbage collector while large long-lived objects are made: a checked program, its circuit, a
session."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Pauses the collector inside. Afterwards all objects count as old.

    Otherwise the collector would search a growing program again and again, and the whole of it once more as
    each of its generations grows old.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # into the oldest generation
            gc.enable()
