"""Turns of threads: a thread that works in the background lets others go on soon."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TURN = 0.0005  # seconds that a thread may go on while others wait


@contextmanager
def short_turns() -> Iterator[None]:
    """Lets threads take turns more often inside. A commit gives its turn up at each call of SQLite, and would
    wait as often for the whole turn of a thread that folds. The collector rests: it would look at all objects
    of the process for the sake of the records of spans, which are no cycles."""
    before, collects = sys.getswitchinterval(), gc.isenabled()
    sys.setswitchinterval(min(before, _TURN))
    gc.disable()
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        if collects:
            gc.enable()
