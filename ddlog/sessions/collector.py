"""The garbage collector while much is made that stays: a checked program, its circuit, a session."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """No search for garbage inside, and afterwards what is there counts as old.

    The collector would look through a growing program again and again, as long as making it takes; then,
    as each of its generations grows old, through the whole of it once more.
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
