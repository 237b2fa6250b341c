"""The keeper of an open state: a thread for the work for which no commit waits.

It writes the epochs that wait, folds spans, and brings SQLite's write-ahead log into the file.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from . import connections
from .log import INTERVAL
from .walog import LONG


class Keeper:
    """A thread that works in the pauses of a state until `stop`."""

    def __init__(self, path: Path, flush: Callable[[], None] | None, fold: Callable[[], None] | None) -> None:
        """`flush` writes what waits, None if nothing ever waits; `fold` folds what is due, None if
        nothing ever is."""
        self._path, self._flush, self._fold = path, flush, fold
        self._woken, self._ended = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Lets the keeper look for work."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="ddlog state", daemon=True)
            self._thread.start()
        self._woken.set()

    def stop(self) -> None:
        """Ends the thread, when its work of the moment is done."""
        self._ended.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join()

    @property
    def ended(self) -> bool:
        """Whether the keeper is to stop: long work asks this from time to time."""
        return self._ended.is_set()

    def _run(self) -> None:
        beside: sqlite3.Connection | None = None
        while True:
            self._woken.wait()
            self._woken.clear()
            if self._ended.wait(INTERVAL):
                break
            if self._flush is not None:
                self._flush()
            if self._fold is not None:
                with suppress(Exception):  # the spans stand, and commits are written all the same
                    self._fold()
            with suppress(sqlite3.Error, OSError):
                if Path(f"{self._path}-wal").stat().st_size > LONG:
                    if beside is None:
                        beside = connections.connect(self._path)
                    beside.execute("PRAGMA wal_checkpoint(PASSIVE)")
        if beside is not None:
            beside.close()
