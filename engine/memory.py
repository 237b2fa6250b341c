"""A limit of memory: an epoch that would go over it is given up where that does no harm.

The measure is the memory of the process that lies in the machine (its *resident size*, as `top` shows it),
and not a sum over stores: only the former knows the temporary columns of a join, Python's own values, and
room that is allocated but not yet used. It is taken at the safe points of an epoch (`interrupt.check`), at
most once in a millisecond as long as half of the limit is free, and once in ten as long as a gigabyte is;
and before each large allocation, which is added to it. An epoch goes over the limit at most by what lies
between two of these points: the columns of one chunk of a join.

A limit is in force in one thread, for the time of `limited`; threads that share its work take it over.
Where none is in force, checks cost nothing.

With a limit may go a way to relieve memory: to move arrays to disk (`spilling`). It is tried from a part of
the limit on (`thresholds.RELIEVED`), again whenever the process has grown by an eighth of the limit, and
before an epoch is given up. From the first time on, pages that files have do not count.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from . import thresholds

Relieve: TypeAlias = Callable[[], bool]
"""Moves memory to disk; False: not here. Raises OSError."""

LEAST = 1 << 20  # bytes of an allocation that is worth a measurement
LONG = 0.5  # seconds of work after which the process may hold back much memory that was freed
_PAUSE = 0.001  # seconds between two measurements at safe points
_MUCH = 1 << 30  # bytes that are free while pauses are ten times as long: a process takes less in that time


limits: dict[int, limited] = {}
"""The limits that are in force, by thread."""
_relieved: int | None = None  # bytes, the least since memory was last relieved
_last = 0.0
_pause = _PAUSE
_seen: float = math.inf  # bytes, at the last measurement


class OverLimit(MemoryError):
    """An allocation would lead over the limit, or the process is over it."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of a relation in an epoch that ran out of memory, or of the intermediate rows of a rule."""

    name: str
    rows: int
    bytes: int
    rows_before: int


class Exhausted(Exception):
    """An epoch ran out of memory, and was rolled back. `phase` is the rule or relation that was being
    computed, `limit` the limit, None if the machine had no more to give; `resident` is the size that the
    process had; `grown` are the relations that grew, those that grew most first; `problem` says why nothing
    more goes to disk, where that was tried."""

    def __init__(
        self,
        phase: str,
        limit: int | None,
        resident: int | None,
        grown: Sequence[Growth],
        problem: str | None = None,
    ) -> None:
        super().__init__(phase, limit)
        self.phase, self.limit, self.resident, self.grown = phase, limit, resident, tuple(grown)
        self.problem = problem


def tell(error: MemoryError, phase: str) -> None:
    """Notes the rule or relation that was being computed; the outermost is the last to be told."""
    vars(error)["phase"] = phase or vars(error).get("phase", "")


def phase_of(error: MemoryError) -> str:
    """The words noted about an error."""
    phase: str = vars(error).get("phase", "")
    return phase


def problem_of(error: MemoryError) -> str | None:
    """Why memory could not be relieved, where that was tried."""
    problem: str | None = vars(error).get("problem")
    return problem


def resident() -> int | None:
    """The resident size of this process in bytes; None where the system does not tell (it is not Linux)."""
    file = _status(os.getpid())
    if file is None:
        return None
    _, pages, of_files, *_ = os.pread(file, 128, 0).split()
    return (int(pages) if _relieved is None else int(pages) - int(of_files)) * _page()


@functools.cache
def _status(_process: int) -> int | None:
    """The open file with the sizes of this process. It stays open, since small commits ask often; a process
    that is forked has one of its own."""
    try:
        return os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None


@functools.cache
def _page() -> int:
    return os.sysconf("SC_PAGE_SIZE")


class limited:
    """Puts a limit of so many bytes in force in this thread, in place of one that is; None: leaves all as it
    is. `relieve`: how to relieve memory near it, if there is a way. A class, as small epochs come here
    often."""

    __slots__ = ("_outer", "_thread", "relieve", "size")

    def __init__(self, size: int | None, relieve: Relieve | None = None) -> None:
        self.size, self.relieve = size or 0, relieve
        self._thread = 0 if size is None else threading.get_ident()

    def __enter__(self) -> None:
        global _last
        if thread := self._thread:
            self._outer = limits.get(thread)
            limits[thread] = self
            if 2 * _seen > self.size:
                _last = 0.0

    def __exit__(self, *_: object) -> None:
        if thread := self._thread:
            if self._outer is None:
                limits.pop(thread, None)
            else:
                limits[thread] = self._outer


def limit_here() -> int | None:
    """The bytes of the limit that is in force in this thread."""
    found = limits.get(threading.get_ident())
    return None if found is None else found.size


def check() -> None:
    """A safe point. Raises OverLimit."""
    global _last
    if limits and (now := time.monotonic()) - _last >= _pause:
        _last = now
        _measure(0)


def reserve(size: int) -> None:
    """An allocation of so many bytes follows. Raises OverLimit."""
    if limits and size >= LEAST:
        _measure(size)


def _measure(more: int) -> None:
    global _seen, _pause
    limit = limits.get(threading.get_ident())
    if limit is None:
        return
    problem = None
    _seen = (resident() or 0) + more
    if limit.relieve is not None and _is_high(limit.size):
        problem = _relieve(limit.relieve)
        _seen = (resident() or 0) + more
    _pause = _PAUSE if limit.size - _seen < _MUCH else 10 * _PAUSE
    if _seen > limit.size:
        give_back()
        if (held := resident() or 0) + more > limit.size:
            error = OverLimit(f"{held} + {more} bytes, of {limit.size}")
            vars(error)["problem"] = problem
            raise error


def _is_high(limit: int) -> bool:
    """Whether it is time to relieve memory."""
    global _relieved
    if _seen < thresholds.RELIEVED * limit:
        return False
    if _relieved is None:
        return True
    _relieved = min(_relieved, int(_seen))
    return _seen > min(_relieved + limit // 8, limit)


def _relieve(relieve: Relieve) -> str | None:
    """Relieves memory. Returns why it cannot be relieved wholly, if so."""
    global _relieved
    problem = None
    try:
        if not relieve():
            return None
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}"
    _relieved = 0
    _relieved = resident()
    return problem


def give_back() -> None:
    """Gives freed memory that the process holds back to the system, with that of Arrow's tables."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()


class given_back:
    """A context that gives freed memory back to the system at its end, if it took long. `took`: the seconds
    of that. It is a class, which costs a commit less than a generator."""

    __slots__ = ("_since", "took")

    def __enter__(self) -> given_back:
        self._since = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.took = time.perf_counter() - self._since
        if self.took > LONG:
            give_back()


@functools.cache
def _library() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(None)
        library.malloc_trim  # noqa: B018 (only glibc has it)
    except (OSError, AttributeError, TypeError):
        return None
    return library
