"""Notes to the user: lines on standard error that are no errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeAlias

Note: TypeAlias = Callable[[str], None]
"""Tells the user something."""


def noting(quiet: bool) -> Note:
    """The function that prints notes; with `quiet`, one that prints nothing."""
    return _silent if quiet else _tell


def _tell(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def _silent(text: str) -> None:
    pass
