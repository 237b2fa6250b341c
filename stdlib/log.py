"""The function that log.dl declares `extern`, and where its messages go."""

from __future__ import annotations

import sys
from collections.abc import Callable

Sink = Callable[[int, int, str], object]
"""A function that receives messages: the module that sends one, the level, the text."""


def print_message(module: int, level: int, msg: str) -> None:
    """Prints a message to standard output."""
    sys.stdout.write(f"LOG ({level}): {msg}\n")


_sink: Sink = print_message
_level: int | None = None


def set_level(level: int | None) -> None:
    """From now on messages up to this level are passed on; none at all for None."""
    global _level
    _level = level


def set_sink(sink: Sink | None) -> None:
    """From now on messages go to the sink; without one, to standard output."""
    global _sink
    _sink = print_message if sink is None else sink


def log(module: int, level: int, msg: str) -> tuple[()]:
    if _level is not None and level <= _level:
        _sink(module, level, msg)
    return ()
