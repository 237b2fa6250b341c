"""The work of this process, in seconds of its processors, without what is done only once.

The time of day tells little on a machine with other work to do. Machine code that is loaded at its first use,
and an arrangement that is built when first asked for, say nothing about the next epoch: they do not count.
A reading of the processors' clock takes as long as a part of a small epoch, so the time of day goes on from
it for a moment.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_once = 0.0  # seconds of processors
_waited_once = 0.0  # seconds of the day
_inside = threading.local()
_MOMENT = 0.0005  # seconds
_PATIENCE = 2.0  # seconds before a user is told why
_told = 0.0  # seconds that a user may be told of; negative: they were
told: Callable[[str], None] | None = None
"""Tells the user, where there is one."""
_read = 0.0, 0.0  # the time of day at the last reading, and what it gave


def work() -> float:
    """The seconds of work so far, from some point on, to half a millisecond."""
    global _read
    now = time.perf_counter()
    at, read = _read
    if now - at >= _MOMENT:
        _read = at, read = now, time.process_time()
    return read + (now - at) - _once


def waited() -> float:
    """The time of day in seconds, from some point on, less what is done only once: for limits of time."""
    return time.monotonic() - _waited_once


@contextmanager
def done_once() -> Iterator[None]:
    """A block in which the time of this thread does not count as work, nor as waiting."""
    global _once, _waited_once
    if getattr(_inside, "depth", 0):
        yield
        return
    _inside.depth = 1
    start, since = time.thread_time(), time.monotonic()
    try:
        yield
    finally:
        _inside.depth = 0
        _once += time.thread_time() - start
        _waited_once += time.monotonic() - since


def tell_once(why: str, seconds: float) -> None:
    """Tells the user why so many seconds went to what is done only once, when it has taken long in all."""
    global _told
    if told is not None and _told >= 0:
        _told += seconds
        if _told > _PATIENCE:
            _told = -1.0
            told(why)
