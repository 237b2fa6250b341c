"""The rows of a window in the order of their times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...memory import reserve
from ...schema import Array


@dataclass(frozen=True, slots=True)
class TimeRun:
    """Times in ascending order, and the row of each."""

    times: Array
    rows: Array

    def __len__(self) -> int:
        return len(self.times)


class TimeIndex:
    """Sorted runs of (time, row), of falling sizes: a row is merged a logarithmic number of times, and those
    before a time are the first of each run. An index is immutable. It may hold rows that are gone."""

    __slots__ = ("runs",)

    def __init__(self, runs: tuple[TimeRun, ...] = ()) -> None:
        self.runs = runs

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def with_rows(self, times: Array, rows: Array) -> TimeIndex:
        """The index with these rows."""
        if not len(rows):
            return self
        runs, last = list(self.runs), _sorted(times, rows)
        while runs and len(runs[-1]) <= 2 * len(last):
            last = _merged(runs.pop(), last)
        return TimeIndex((*runs, last))

    def split(self, time: int) -> tuple[Array, TimeIndex]:
        """The rows before a time, and the index of the others."""
        before, after = [], []
        for run in self.runs:
            at = int(np.searchsorted(run.times, time))
            before.append(run.rows[:at])
            if at < len(run):
                after.append(_from(run, at))
        if not any(map(len, before)):
            return np.empty(0, np.int64), self
        return np.concatenate(before), TimeIndex(tuple(after))


def _sorted(times: Array, rows: Array) -> TimeRun:
    if len(times) < 2 or bool((times[1:] >= times[:-1]).all()):
        return TimeRun(times, rows)
    order = np.argsort(times, kind="stable")
    return TimeRun(times[order], rows[order])


def _merged(a: TimeRun, b: TimeRun) -> TimeRun:
    reserve(16 * (len(a) + len(b)))
    times, rows = np.concatenate([a.times, b.times]), np.concatenate([a.rows, b.rows])
    return TimeRun(times, rows) if a.times[-1] <= b.times[0] else _sorted(times, rows)


def _from(run: TimeRun, start: int) -> TimeRun:
    """The end of a run; its array is given up when most of it is not seen any more."""
    times, rows = run.times[start:], run.rows[start:]
    whole = run.times if run.times.base is None else run.times.base
    return TimeRun(times.copy(), rows.copy()) if 2 * len(times) < len(whole) else TimeRun(times, rows)
