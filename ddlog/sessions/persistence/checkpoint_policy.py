"""When the checkpoints of a session are made: at its end, and while it lives where a process that was killed
would have to derive much.

A long commit is followed by an image of what was derived, which the background thread writes. So is a commit
after which a restart would apply, or derive, much that came since the last checkpoint. Writing takes a
twentieth of the time at most.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...durability.folding import short_turns
from ...durability.store import FileStore
from ...errors.diagnostics import DDlogError
from .checkpoints import Checkpointing, FoundUnits, many_changes
from .image import Image

if TYPE_CHECKING:
    from ...durability.folding import FileFolding

LONG = 0.4
"""Seconds of a restart that are worth a checkpoint while the session lives."""

_PART = 0.2  # of the time to derive all, that a restart may take before there is a new checkpoint
_TIMES = 3  # bytes of a file, output relations apart, for each byte of the inputs
_PAUSES = 20  # times of writing a checkpoint, that pass before the next
_ROWS = 500  # that change before it is worth a look whether a checkpoint is due
_ALWAYS = 0.0003  # seconds of a commit that has nothing to do


class CheckpointGivenUp(Exception):
    """The session ends: its last checkpoint will be another."""


class CheckpointPolicy:
    """Makes the checkpoints of one session. `begun_with`: the checkpoint that it began with. `epoch` is that
    of the checkpoint in the file, if it is of use."""

    def __init__(
        self,
        checkpointing: Checkpointing,
        store: FileStore,
        folder: FileFolding,
        wake: Callable[[], None],
        pause: Callable[[], bool],
        lives: bool,
    ) -> None:
        """`wake` and `pause` are those of the background thread: `pause` lets commits go first, and says if
        the session ends. `lives`: whether checkpoints are made while the session lives."""
        self.checkpointing, self._store, self._folder = checkpointing, store, folder
        self._wake, self._yield, self._lives = wake, pause, lives
        self.begun_with: FoundUnits | None = None
        self.epoch = 0
        self.behind = 0
        """The changed rows between what the session began with and its beginning, until they are counted."""
        self._image: Image | None = None
        self._writing = threading.Lock()
        self._has_read_ahead = False
        self._since = 0, 0.0  # changed rows and seconds of commits, since the last image
        self._before = 0, 0.0  # the same of those before it
        self._next = _ROWS, LONG  # at which to look whether an image is due
        self._earliest = 0.0

    def begin_with(self, found: FoundUnits) -> None:
        """Notes what of a checkpoint the session begins with."""
        self.begun_with, self.epoch = found, found.epoch
        self._wake()

    def begin_anew(self) -> None:
        """Notes that the session does not go on from a checkpoint after all."""
        self.begun_with, self.epoch = None, 0

    # ------------------------------------------------------------- in between

    def committed(self, epoch: int, rows: int) -> None:
        """Notes an epoch in which so many rows changed, and makes an image if one is due."""
        if not self._lives:
            return
        took = max(0.0, self.checkpointing.took - _ALWAYS)
        self._since = self._since[0] + rows + self.behind, self._since[1] + took
        self.behind = 0
        is_due = self._since[0] >= self._next[0] or self._since[1] >= self._next[1]
        if is_due and self._image is None and time.monotonic() >= self._earliest:
            self._look(epoch)

    def _look(self, epoch: int) -> None:
        rows, seconds = self._since
        derived = sum(self.checkpointing.costs(self.begun_with).values())
        if not self.checkpointing.goes_on or self._restart(derived) < max(LONG, _PART * derived):
            self._next = max(_ROWS, 2 * rows), max(LONG, 2 * seconds)
            return
        self.take(epoch)
        self._wake()

    def _restart(self, derived: float) -> float:
        """The greatest number of seconds that a restart would take if the process were killed now. Without a
        checkpoint it takes `derived` seconds, those of deriving all relations."""
        rows, seconds = self._since
        joined = self.epoch < self._folder.joined
        if not self.epoch or joined or many_changes(2 * rows, self._folder.live()):
            return derived
        return min(derived, seconds)

    def take(self, epoch: int) -> None:
        """Makes an image of what there is after an epoch, for `write_waiting`."""
        self._image = self.checkpointing.image(epoch, self.begun_with, copied=True)
        self._before, self._since, self._next = self._since, (0, 0.0), (_ROWS, LONG)

    def write_waiting(self) -> None:
        """Writes the image that waits, if one does. Raises OSError, sqlite3.Error, DDlogError,
        CheckpointGivenUp; then the checkpoint before it stands, or none."""
        with self._writing:
            image, since = self._image, time.monotonic()
            if image is None:
                return
            is_written = False
            try:
                with short_turns():
                    is_written = self.checkpointing.put(image, self._room(), self._pause)
            finally:
                self._ended_writing(image, is_written)
                now = time.monotonic()
                self._earliest = now + _PAUSES * (now - since)

    def _ended_writing(self, image: Image, is_written: bool) -> None:
        if is_written:
            self.epoch = image.epoch
        else:
            self.epoch = 0  # perhaps the one before is gone
            self._since = self._since[0] + self._before[0], self._since[1] + self._before[1]
        self._image = None

    def _pause(self) -> None:
        if self._yield():
            raise CheckpointGivenUp

    def _room(self) -> int:
        """The bytes that there are for what is no output relation."""
        reading = FileStore.open(self._store.path, read_only=True)  # the lock of the other is for commits
        try:
            return room(reading)
        finally:
            reading.close()

    def read_ahead(self) -> None:
        """Reads what the session began with, once, before it is needed."""
        if self._lives and self.begun_with is not None and not self._has_read_ahead:
            self._has_read_ahead = True
            with short_turns():
                self.checkpointing.read_ahead(self._yield)

    # ------------------------------------------------------------- at the end

    def close(self, epoch: int) -> None:
        """Writes a checkpoint of what there is after the last epoch, which is on disk. Raises OSError,
        sqlite3.Error and DDlogError; then the one before stands."""
        before = self.begun_with
        is_there = self.epoch == epoch and (
            before is None or before.epoch < epoch or self.checkpointing.is_all(before)
        )
        if is_there or not self.checkpointing.goes_on or not self.checkpointing.is_settled:
            return
        image = self.checkpointing.image(epoch, before, copied=False)
        if image is None:
            self.checkpointing.forget()
        else:
            self.checkpointing.put(image, room(self._store))
        self._store.finish()


def room(store: FileStore) -> int:
    """The bytes of a file that there are for what is no output relation."""
    now, every = (sum(each.bytes for each in of) for of in (store.current(), store.spans()))
    return _TIMES * now - every


WRITING_ERRORS = (OSError, sqlite3.Error, DDlogError)
"""The errors of writing a checkpoint."""
