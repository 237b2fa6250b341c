"""Ctrl-C at safe points: an epoch is never interrupted in the middle of a change of state.

While `deferred` is in force the signal is only noted, `check` acts on it, and inside `immediate`
(user code runs, no state changes) it acts at once. Inside `held`, where an epoch is ended or taken back,
nothing acts on it.

What is asked for by `ask` happens at a safe point, too: it sees a state that can be taken back from there.
"""

from __future__ import annotations

import os
import signal
import threading
import time

# The functions of `signal` itself make enumerations of handlers, which takes longer than a small epoch.
from _signal import getsignal as _handler_of  # type: ignore[import-not-found]
from _signal import signal as _set_handler
from collections.abc import Callable
from types import FrameType
from typing import Any

from . import memory

_noted = False
_at_once = False
_holding: set[int] = set()  # the threads that are inside `held`
_previous: Callable[[int, FrameType | None], Any] | None = None
_asked: tuple[Callable[[], None], float] | None = None
_main = (
    threading.main_thread().ident
)  # which gets the signals: to ask for it takes as long as to set a handler


def _forked() -> None:
    """In the child of a fork: its main thread is the one that forked."""
    global _main
    _main = threading.get_ident()


os.register_at_fork(after_in_child=_forked)


def _handle(number: int, frame: FrameType | None) -> None:
    global _noted
    if _at_once and _previous is not None and not _holding:
        _previous(number, frame)
    else:
        _noted = True


class deferred:
    """Notes Ctrl-C instead of raising it. A Ctrl-C after the last `check` is raised at the end.

    Does nothing when nested, or in a thread that is not the main thread and so gets no signals. A class,
    since a generator would take longer than what a small epoch does inside.
    """

    __slots__ = ("_handler",)

    _handler: Callable[[int, FrameType | None], Any] | None

    def __enter__(self) -> None:
        global _noted, _at_once, _previous
        if _previous is not None:  # inside another, or in a thread beside one
            self._handler = None
            return
        handler = _handler_of(signal.SIGINT)
        if handler is _handle or threading.get_ident() != _main or not callable(handler):
            self._handler = None
            return
        self._handler = _previous = handler
        _noted = _at_once = False  # a Ctrl-C may have come just before the end of `immediate`
        _set_handler(signal.SIGINT, _handle)

    def __exit__(self, *_: object) -> None:
        global _noted, _previous
        if self._handler is None:
            return
        _set_handler(signal.SIGINT, self._handler)
        late, _noted, _previous = _noted, False, None
        if late:
            self._handler(signal.SIGINT, None)


def ask(call: Callable[[], None] | None, at: float = 0.0) -> None:
    """Calls a function at each safe point from a time of `time.monotonic` on, until something else is asked
    for. What it raises ends the epoch, as Ctrl-C does."""
    global _asked
    _asked = None if call is None else (call, at)


def noted() -> bool:
    """Whether there was a Ctrl-C on which nothing has acted yet."""
    return _noted


def note() -> None:
    """Notes a Ctrl-C that was acted on where nothing could end by it, for the end of `deferred`."""
    global _noted
    _noted = True


def check() -> None:
    """A safe point: acts on a Ctrl-C that was noted, and raises OverLimit if memory is short."""
    global _noted
    memory.check()
    if _asked is not None and not _holding and time.monotonic() >= _asked[1]:
        _asked[0]()
    if _noted and _previous is not None and not _holding:
        _noted = False
        _previous(signal.SIGINT, None)


class immediate:
    """Code that may be interrupted anywhere, unless it runs inside `held`. A class, as `deferred` is."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        global _at_once
        check()
        self._before, _at_once = _at_once, True

    def __exit__(self, *_: object) -> None:
        global _at_once
        _at_once = self._before


class held:
    """Code that must run to its end: a Ctrl-C is acted on after it, and no limit of memory is in force."""

    __slots__ = ("_entered", "_limit", "_thread")

    def __enter__(self) -> None:
        self._thread = thread = threading.get_ident()
        self._entered = thread not in _holding
        _holding.add(thread)
        self._limit = memory.limits.pop(thread, None)

    def __exit__(self, *_: object) -> None:
        if self._limit is not None:
            memory.limits[self._thread] = self._limit
        if self._entered:
            _holding.discard(self._thread)
