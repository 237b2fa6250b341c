"""Where the log messages of programs go: those up to a level, which `log_level` sets, to standard output."""

from __future__ import annotations

OFF = 0
_level = OFF


def set_level(level: int) -> None:
    """Lets messages up to a level pass; 0, as in the beginning, lets none."""
    global _level
    _level = level


def log(level: int, message: str) -> None:
    """Prints a message of a level, if it is to be seen."""
    if level <= _level:
        print(f"LOG ({level}): {message}", flush=True)
