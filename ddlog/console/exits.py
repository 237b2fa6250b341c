"""How Ctrl-C and SIGTERM end the process: one line, and 130 or 143 as the exit code.

    nothing is begun, or all is done    the process ends at once
    a command runs                      KeyboardInterrupt, at a safe point of an epoch; what is open is closed

A signal that some library swallows is raised again after a moment, and counts at the end in any case. A
signal that is ignored from outside, as in a job in the background, stays ignored. This file imports only what
every process has: a Ctrl-C before it has run ends Python in its own way, with a traceback.
"""

from __future__ import annotations

import os
import sys
import time
from _signal import (  # type: ignore[import-not-found]
    ITIMER_REAL,
    SIG_IGN,
    SIGALRM,
    SIGINT,
    SIGTERM,
    getsignal,
    setitimer,
    signal,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_WORDS = {SIGINT: "interrupted", SIGTERM: "terminated"}
_AT_ONCE = 0.5  # seconds in which a second Ctrl-C is the same one
_PATIENCE = 5.0  # seconds for the command to end
_SOON = 0.01  # seconds after which `_unraisable` has returned

_asked: int = 0  # the signal that asked for the end
_last = float("-inf")


def end_at_once() -> None:
    """From now on the signals end the process where it is."""
    _handle_by(_end, _end)


def end_now() -> None:
    """Ends the process, after a Ctrl-C that nothing else has heard."""
    _end(_asked or SIGINT, None)


def raise_at_signals() -> None:
    """From now on the signals raise KeyboardInterrupt."""
    sys.unraisablehook = _unraisable
    _handle_by(_interrupt, _terminate)


def _handle_by(interrupt: Any, terminate: Any) -> None:
    for number, handler in ((SIGINT, interrupt), (SIGTERM, terminate)):
        if getsignal(number) is not SIG_IGN:
            signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, f"{_WORDS[number]}\n".encode())
    os._exit(128 + number)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _asked, _last
    now, before = time.monotonic(), _last
    if now - before < _AT_ONCE:
        return
    _asked, _last = _asked or SIGINT, now
    _try_again_later()
    raise KeyboardInterrupt


def _terminate(number: int, frame: FrameType | None) -> None:
    """As Ctrl-C: who defers Ctrl-C defers this, too. A line editor would take Ctrl-C for a key."""
    global _asked, _last
    if _asked != SIGTERM:
        _asked, _last = SIGTERM, float("-inf")  # it is not the same as a Ctrl-C just before
    _try_again_later()  # a line editor that was about to return hears of nothing
    handler = getsignal(SIGINT)
    if callable(handler) and not getattr(handler, "__module__", "").startswith("asyncio"):
        handler(SIGINT, frame)
    else:
        raise KeyboardInterrupt


def _try_again_later(after: float = _PATIENCE) -> None:
    signal(SIGALRM, _again)
    setitimer(ITIMER_REAL, after, _PATIENCE)


def _again(number: int, frame: FrameType | None) -> None:
    handler = getsignal(SIGINT)
    if callable(handler):
        handler(SIGINT, frame)


def _unraisable(error: Any) -> None:
    """Raises an interrupt again that came where Python ignores exceptions, as in the end of an object. Python
    ignores those of this function, too, so a timer raises it."""
    global _last
    if error.exc_type is KeyboardInterrupt:
        _last = float("-inf")
        _try_again_later(_SOON)
    else:
        sys.__unraisablehook__(error)


for _handler in (_terminate, _again):
    vars(_handler)["by_interrupt"] = True  # see `engine.interrupt.deferred`


def is_asked() -> bool:
    """Whether a signal asked for the end."""
    return _asked != 0


def heard() -> None:
    """Ctrl-C has stopped what it was to stop, and the command goes on. Raises KeyboardInterrupt after
    SIGTERM, which ends the command in any case."""
    global _asked, _last
    if _asked == SIGTERM:
        raise KeyboardInterrupt
    if _asked:
        setitimer(ITIMER_REAL, 0)
        _asked, _last = 0, float("-inf")


def told() -> int:
    """Prints that the command was ended, and returns the exit code."""
    if _asked:
        setitimer(ITIMER_REAL, 0)
    number = _asked or SIGINT
    print(_WORDS[number], file=sys.stderr)
    return 128 + number
