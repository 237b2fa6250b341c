"""The limit of a search: a number of steps, so that the answer is the same on a busy machine."""

from __future__ import annotations

from ..engine.clock import waited

TRIAL, QUERY = 50, 2
"""The steps of an epoch that is taken back, and of the queries of a look into one row."""

_STEPS = 10_000  # of a second, in small relations and on a machine without other work
_LONGEST = 3  # times as many seconds, for relations where a step takes longer


class Patience:
    """The steps that are left of a search, which so many seconds should suffice for."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds * _STEPS
        self._until = waited() + seconds * _LONGEST

    def is_over(self, steps: int = 1) -> bool:
        """Takes some steps, and tells whether there are no more, or the time for them is over."""
        self._left -= steps
        return self._left < 0 or waited() > self._until
