"""A budget of work: an epoch that takes more is given up and rolled back, to be run in another way.

Work is counted in rows that a join starts from or looks up; what takes more counts as so many of them. So it
does not depend on the machine, and the same epoch is given up at the same place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

STEP = 1 << 13
"""Rows that the beginning of a join counts as: 0.1 ms, where a row takes 10 ns."""

MADE = 16
"""Rows that a row counts as which a join gives: 160 ns, with what becomes of it, and memory."""


class OverBudget(Exception):
    """An epoch took more work than it may."""


class Budget:
    """The rows that each epoch may take, and those that are left to this one; None: as many as it likes."""

    __slots__ = ("left", "rows")

    def __init__(self) -> None:
        self.rows: int | None = None
        self.left: int | None = None

    @contextmanager
    def of(self, rows: int | None) -> Iterator[None]:
        """Inside, epochs may take so many rows."""
        before, self.rows = self.rows, rows
        try:
            yield
        finally:
            self.rows, self.left = before, None

    def begin(self) -> None:
        """An epoch begins."""
        self.left = self.rows

    def spend(self, rows: int) -> None:
        """Takes so many rows. Raises OverBudget if they are more than are left."""
        if self.left is not None:
            self.left -= rows
            if self.left < 0:
                raise OverBudget
