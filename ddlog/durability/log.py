"""The log of a state: the changes of each epoch on their way to the disk.

`commit`: an epoch is on disk before it becomes final in memory. `interval`: epochs wait for at most a second,
and go together. `exit`: they go when the state is closed, all or none.

    append ──▶ waiting ── flush, or many rows ──▶ written ── finish ──▶ on disk

With `exit` nothing that is written lasts before `finish`; otherwise both follow each other. Epochs that come
while another thread writes others do not wait for that, unless they have many rows.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

from ..errors.diagnostics import DDlogError
from ..errors.state import EarlierNotKept, NotKeptOnDisk

Durability = Literal["commit", "interval", "exit"]
INTERVAL: Final = 0.5
"""Seconds that an epoch waits for others. With the time to write them, that is to stay below a second."""

_MANY = 50_000  # rows that do not wait: they take memory, and to bring them together costs more than to write
_ROWS_OF_EPOCH = 10  # that take as much memory as an epoch without rows

E = TypeVar("E")
"""An epoch that is to be written."""


class EpochWriter(Protocol[E]):
    """Writes epochs to a file or a folder. All methods raise OSError, sqlite3.Error and DDlogError."""

    @property
    def place(self) -> str:
        """The file or folder."""

    def rows(self, changes: Any) -> int:
        """The number of rows in memory that the changes of an epoch have."""

    def taken(self, epoch: int, changes: Any, ids: Sequence[str], waits: bool) -> E:
        """An epoch to be written, with the ids of its updates; `waits`: what it was made of may change
        before."""

    def write(self, epochs: Sequence[E]) -> None:
        """Writes epochs after those that were written before, all or none."""

    def finish(self) -> None:
        """Lets all that was written last."""

    def drop(self, epoch: E) -> None:
        """Forgets the last epoch that was taken, whether it is written or not, as it does not last."""


class Log(Generic[E]):
    """Takes the changes of epochs, and lets a writer write them."""

    def __init__(
        self, writer: EpochWriter[E], durability: Durability, on_disk: Callable[[int], None]
    ) -> None:
        """`on_disk` is called when the epochs up to one are on disk; not with durability `commit`, where the
        last one is not final yet."""
        self._writer, self._durability, self._on_disk = writer, durability, on_disk
        self._waiting: list[tuple[int, E, int]] = []  # the number of an epoch, and its rows
        self._rows = 0
        self._held: list[int] = []  # epochs that are written, and do not last yet
        self._failed = False
        self._queue = threading.Lock()  # for the lists; held for a moment
        self._writing = threading.Lock()

    def append(self, epoch: int, changes: Any, ids: Sequence[str] = ()) -> None:
        """Takes the changes of an epoch, with the ids of its updates. Raises DDlogError if they, or earlier
        ones, cannot be written; then the epoch is not part of the log."""
        if self._failed:
            self.flush()
        rows = _ROWS_OF_EPOCH + self._writer.rows(changes)
        waits = self._durability != "commit" and self._rows + rows <= _MANY
        try:
            taken = self._writer.taken(epoch, changes, ids, waits)
        except BaseException as error:
            raise self._reported(error, 0) from None
        with self._queue:
            self._waiting.append((epoch, taken, rows))
            self._rows += rows
        if not waits:
            try:
                self.flush()
            except BaseException:
                self._take_back(epoch, taken, rows)
                raise

    def _take_back(self, epoch: int, taken: E, rows: int) -> None:
        with self._queue:
            if epoch in self._held:
                self._held.remove(epoch)
            else:
                self._waiting.pop()
                self._rows -= rows
        self._writer.drop(taken)

    def flush(self) -> None:
        """Writes the epochs that wait: with durability `exit`, so that they do not last yet. Raises
        DDlogError that counts the epochs."""
        self._write(self._durability != "exit")

    def flush_quietly(self) -> None:
        """Writes the epochs that wait. A write that fails is tried again, and its error raised, by the next
        `append` or `flush`."""
        try:
            self.flush()
        except Exception:
            self._failed = True

    def finish(self) -> None:
        """Writes all that waits, and puts it on disk. Raises DDlogError that counts the epochs."""
        self._write(True)

    def _write(self, lasting: bool) -> None:
        with self._writing:
            try:
                self._write_waiting()
                if lasting:
                    self._writer.finish()
            except BaseException as error:
                late = 0 if self._durability == "commit" else len(self._waiting) + len(self._held)
                raise self._reported(error, late) from None
            self._failed = False
            if lasting and self._held:
                with self._queue:
                    last, self._held = self._held[-1], []
                if self._durability != "commit":
                    self._on_disk(last)

    def _write_waiting(self) -> None:
        with self._queue:
            waiting = list(self._waiting)
        if waiting:
            self._writer.write([taken for _, taken, _ in waiting])
            with self._queue:
                del self._waiting[: len(waiting)]
                self._rows -= sum([rows for _, _, rows in waiting])
                self._held += [epoch for epoch, _, _ in waiting]

    def _reported(self, error: BaseException, late: int) -> BaseException:
        """The error of a write, with the number of the epochs that it concerns; 0: only the last one."""
        reason = ""
        if isinstance(error, OSError | sqlite3.Error):
            reason = getattr(error, "strerror", None) or str(error)
        elif late and isinstance(error, DDlogError) and isinstance(error.diagnostics[0], NotKeptOnDisk):
            reason = error.diagnostics[0].reason
        if not reason:
            return error
        place = self._writer.place
        return DDlogError([EarlierNotKept(place, late, reason) if late else NotKeptOnDisk(place, reason)])
