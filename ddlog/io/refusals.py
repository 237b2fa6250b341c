"""Wrong lines, each with its place and the reason: the first one ends the reading, or they are skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..errors.diagnostics import DDlogError

Refuse: TypeAlias = Callable[[DDlogError], None]
"""Takes the error of a line that is wrong. If it returns, the line is skipped."""


def stop(error: DDlogError) -> None:
    """Lets the first wrong line end the reading. Raises the error."""
    raise error from None
