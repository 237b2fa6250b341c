"""The time of a run by phases, from the start of the process on: all of it, and each second once.

start ── checking ── preparing ── reading ─┬─ printing ─┬─ reading ── …
                                           └─ a phase inside another interrupts it
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..profiling.costs import PhaseTime

START = "start of the process"
CHECKING = "parsing and checking"
PREPARING = "circuit and session"
READING = "reading facts and updates"
COMMITS = "commits"
PRINTING = "printing and writing"
OTHERS = "the rest"


class Phases:
    """The seconds of each phase so far. `began` is on the clock of `time.perf_counter`."""

    def __init__(self, began: float) -> None:
        self._seconds: dict[str, float] = {}
        self._phase, self._since = START, began

    def switch(self, phase: str) -> str:
        """Begins a phase, and returns the one that ends."""
        before, now = self._phase, time.perf_counter()
        self._seconds[before] = self._seconds.get(before, 0.0) + now - self._since
        self._phase, self._since = phase, now
        return before

    @contextmanager
    def during(self, phase: str) -> Iterator[None]:
        """Counts the time inside as that of a phase."""
        before = self.switch(phase)
        try:
            yield
        finally:
            self.switch(before)

    def times(self, commits: float) -> tuple[PhaseTime, ...]:
        """The phases in the order of their beginning; the seconds of commits, which run while facts and
        updates are read, are a phase of their own."""
        self.switch(self._phase)
        found = {name: seconds for name, seconds in self._seconds.items() if name != OTHERS}
        found[READING] = max(0.0, found.get(READING, 0.0) - commits)
        found[COMMITS] = commits
        found[OTHERS] = self._seconds.get(OTHERS, 0.0)
        from ..profiling.costs import PhaseTime

        return tuple(PhaseTime(name, seconds) for name, seconds in found.items())


def _age() -> float:
    """The seconds since the process was started, as far as the system tells; else 0."""
    with suppress(OSError, ValueError, AttributeError, IndexError):
        ticks = int(Path("/proc/self/stat").read_text("utf-8").rpartition(")")[2].split()[19])
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
    return 0.0


def of_process() -> Phases:
    """Phases that begin with the process."""
    return Phases(time.perf_counter() - _age())
