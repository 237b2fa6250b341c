"""Ctrl-C at safe points: an epoch is never interrupted in the middle of a change of state; nor is it by the
handlers of SIGTERM and SIGALRM, by which programs end in good order and limit the time of a call.

While `deferred` is in force a signal is only noted, `check` acts on it, and inside `immediate`
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
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, TypeAlias

from . import memory

Handler: TypeAlias = Callable[[int, FrameType | None], Any]

_DEFERRED = (*map(int, (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)),)  # whose handlers may raise
_NONE: dict[int, Handler] = {}
_noted: list[int] = []  # signals on which nothing has acted yet
_acted: int = signal.SIGINT  # the last signal on which something acted
_at_once = False
_holding: set[int] = set()  # the threads that are inside `held`
_previous: dict[int, Handler] = {}  # the handlers of the signals that are noted instead
_asked: tuple[Callable[[], None], float] | None = None
# The thread that gets the signals: to ask for it takes as long as to set a handler.
_main = threading.main_thread().ident


def _forked() -> None:
    """In the child of a fork: its main thread is the one that forked."""
    global _main
    _main = threading.get_ident()


os.register_at_fork(after_in_child=_forked)


def _handle(number: int, frame: FrameType | None) -> None:
    global _at_once
    if _at_once and number in _previous and not _holding:
        _at_once = False  # what it raises leaves the code that may be interrupted anywhere
        _act(number, frame)
        _at_once = True
    elif number not in _noted:
        _noted.append(number)


def _act(number: int, frame: FrameType | None = None) -> None:
    global _acted
    _acted = number
    _previous[number](number, frame)


class deferred:
    """Notes Ctrl-C instead of raising it, and other signals whose handlers may raise. One after the last
    `check` is acted on at the end.

    Does nothing when nested, or in a thread that is not the main thread and so gets no signals. A class,
    since a generator would take longer than what a small epoch does inside. A handler with the attribute
    `by_interrupt` only calls that of Ctrl-C, and needs no deferring.
    """

    __slots__ = ("_handlers",)

    _handlers: dict[int, Handler]

    def __enter__(self) -> None:
        global _previous, _at_once
        if _previous or threading.get_ident() != _main:  # inside another, or in a thread beside one
            self._handlers = _NONE
            return
        self._handlers = handlers = {}
        for number in _DEFERRED:
            handler = _handler_of(number)
            if callable(handler) and handler is not _handle and not hasattr(handler, "by_interrupt"):
                handlers[number] = handler
        _at_once = False
        _noted.clear()
        try:
            for number in handlers:
                _set_handler(number, _handle)  # acts on a signal just before
            _previous = handlers
        except BaseException:
            _give_back(handlers)
            raise

    def __exit__(self, *_: object) -> None:
        global _previous
        if handlers := self._handlers:
            _previous = {}
            _give_back(handlers)  # acts on a signal just after
            _act_late(handlers)


def _give_back(handlers: Mapping[int, Handler]) -> None:
    """Sets handlers, all of them even if one of them raises meanwhile."""
    left = [*handlers.items()]
    try:
        while left:
            _set_handler(*left[-1])
            left.pop()
    except BaseException:
        _give_back(dict(left))
        raise


def _act_late(handlers: Mapping[int, Handler]) -> None:
    """Acts on the signals that were noted, on all of them even if a handler raises."""
    if _noted:
        number = _noted.pop(0)
        try:
            handlers[number](number, None)
        finally:
            _act_late(handlers)


def ask(call: Callable[[], None] | None, at: float = 0.0) -> None:
    """Calls a function at each safe point from a time of `time.monotonic` on, until something else is asked
    for. What it raises ends the epoch, as Ctrl-C does."""
    global _asked
    _asked = None if call is None else (call, at)


def noted() -> bool:
    """Whether there was a signal on which nothing has acted yet."""
    return bool(_noted)


def note() -> None:
    """Notes a signal that was acted on where nothing could end by it, for the end of `deferred`."""
    _noted.append(_acted)


def check() -> None:
    """A safe point: acts on a signal that was noted, and raises OverLimit if memory is short."""
    memory.check()
    if _asked is not None and not _holding and time.monotonic() >= _asked[1]:
        _asked[0]()
    while _noted and _previous and not _holding:
        _act(_noted.pop(0))


class immediate:
    """Code that may be interrupted anywhere, unless it runs inside `held`."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        global _at_once
        self._before = _at_once
        if not _holding:
            check()
            _at_once = True

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
