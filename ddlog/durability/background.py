"""The background of an open state: a thread for the work for which no commit waits.

It writes the epochs that wait, and checkpoints, folds spans, and brings SQLite's write-ahead log into the
file, if the state is one.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from . import connections
from .log import INTERVAL
from .store import FileStore
from .walog import LONG, PAGE

_PASSES = 10  # over the log, in which what commits add to it becomes less
_LOGGED = 1 << 20  # bytes that are brought into the file together while commits wait for the disk
_FEW, _MANY = 32 * PAGE, 256 * PAGE  # bytes of SQLite's log, for which commits can wait


class Background:
    """A thread that works in the pauses of a state until `stop`."""

    def __init__(
        self, store: FileStore | None, flush: Callable[[], None] | None, others: Sequence[Callable[[], None]]
    ) -> None:
        """`store` is that of a state in a file; `flush` writes what waits, None if nothing ever waits;
        `others` do what is due of other work."""
        self._store, self._flush, self._others = store, flush, others
        self._woken, self._hurried, self._ended = threading.Event(), threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._beside: sqlite3.Connection | None = None

    def wake(self) -> None:
        """Lets the background thread look for work: in a moment, or at once if SQLite's log is long."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="ddlog state", daemon=True)
            self._thread.start()
        if not self._woken.is_set():
            self._woken.set()
        if self._is_long(LONG) and not self._hurried.is_set():
            self._hurried.set()

    def stop(self) -> None:
        """Ends the thread, when its work of the moment is done."""
        self._ended.set()
        self._hurried.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join()
        if self._beside is not None:
            self._beside.close()

    @property
    def ended(self) -> bool:
        """Whether the background thread is to stop."""
        return self._ended.is_set()

    def pause(self) -> bool:
        """Brings SQLite's log into the file if it is long, and returns whether the thread is to stop: long
        work asks this between its transactions."""
        if self._is_long(_LOGGED):
            self.shorten()
        return self.ended

    def _is_long(self, most: int) -> bool:
        return self._store is not None and self._store.logged > most

    def _run(self) -> None:
        due = time.monotonic() + INTERVAL
        while True:
            self._woken.wait()
            self._hurried.wait(max(0.0, due - time.monotonic()))
            if self.ended:
                break
            if self._hurried.is_set():
                self._hurried.clear()
                self.shorten()
            if time.monotonic() >= due:
                self._woken.clear()
                self._work()
                due = time.monotonic() + INTERVAL

    def _work(self) -> None:
        if self._flush is not None:
            self._flush()
        for work in self._others:
            with suppress(Exception):  # what is there stands, and commits are written all the same
                work()
        if self._is_long(LONG):
            self.shorten()

    def shorten(self) -> None:
        """Brings SQLite's log into the file, so that it is written from its beginning again: to make a file
        longer takes SQLite twice the time. What is written meanwhile is little, and commits wait for it."""
        store = self._store
        assert store is not None
        with suppress(sqlite3.Error, OSError):
            if self._beside is None:
                self._beside = connections.connect(store.path)
            left = 0
            for _ in range(_PASSES):
                store.give_way()
                store.logged = 0  # what commits add while this goes on
                left = _brought_in(self._beside)
                if left or store.logged <= _FEW:
                    break
            if not left and store.logged <= _MANY:
                store.give_way()
                with store.lock:
                    _limit(store)
                    _brought_in(self._beside)
                    store.logged = 0


def _limit(store: FileStore) -> None:
    """Lets the next commit, which writes the log from its beginning, give back a part of what makes it
    long: to give back all might take a long time."""
    size = os.path.getsize(f"{store.path}-wal")
    limit = max(2 * LONG, size - LONG)
    store.base.execute(f"PRAGMA journal_size_limit = {limit}").fetchall()


def _brought_in(base: sqlite3.Connection) -> int:
    """Brings what SQLite's log has now into the file, without waiting for anyone. Returns the frames that are
    left, because somebody reads what was before them."""
    _, frames, done = base.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return int(frames - done)
