"""Notes to the user: lines on standard error that are no errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TextIO, TypeAlias

from ..errors.diagnostics import Diagnostic, render
from ..errors.visible import visible

Note: TypeAlias = Callable[[str], None]
"""Tells the user something."""


def in_color(stream: TextIO) -> bool:
    """True if a stream is a terminal and NO_COLOR is not set: text on it then has colors."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def noting(quiet: bool) -> Note:
    """The function that prints notes; with `quiet`, one that prints nothing."""
    return _silent if quiet else _tell


def warning(quiet: bool) -> Callable[[Sequence[Diagnostic]], None]:
    """The function that prints warnings; with `quiet`, one that prints nothing."""
    return (lambda _: None) if quiet else _warn


def _warn(warnings: Sequence[Diagnostic]) -> None:
    if warnings:
        print(render(warnings, color=in_color(sys.stderr)), file=sys.stderr)


def _tell(text: str) -> None:
    print(f"note: {visible(text)}", file=sys.stderr)


def _silent(text: str) -> None:
    pass
