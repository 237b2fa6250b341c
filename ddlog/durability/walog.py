"""SQLite's write-ahead log, looked at before SQLite reads it.

SQLite takes a frame with a wrong checksum for the end of the log, as after a crash in the middle of a write.
But only the last transaction can have been in the middle of a write: those before it were on disk before it
began. If SQLite leaves out more than one, the log is damaged, and commits that were on disk would be lost.
So it is if SQLite leaves out what its index in shared memory has, which a process that is killed leaves
behind: a frame goes to the index when it is on disk.
"""

from __future__ import annotations

import struct
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_HEADER, _FRAME = struct.Struct(">8I"), struct.Struct(">6I")
PAGE = 4096
"""The bytes of a page of a state."""
LONG = 4 << 20
"""The bytes of the log from which on it is brought into the file."""
_MAGIC = (0x377F0682, 0x377F0683)
_AT_ONCE = 1024  # frames


@dataclass(frozen=True, slots=True)
class LogFrame:
    """A frame of a log, by its number from 1: the number of its page, and whether it ends a transaction."""

    number: int
    page: int
    ends: bool


@dataclass(frozen=True, slots=True)
class WriteAheadLog:
    """The frames of a log, without those that are left from before it was last begun anew, and how many
    SQLite takes."""

    frames: list[LogFrame]
    taken: int

    @property
    def left_out(self) -> int:
        """The least number of transactions that SQLite leaves out. The frames of a transaction, but for its
        last one, are of different pages, and each commit writes the page of the head."""
        left = [frame for frame in self.frames if frame.number > self.taken]
        pages = Counter(frame.page for frame in left if not frame.ends)
        return max(sum(frame.ends for frame in left), max(pages.values(), default=0))


def lost_commits(path: Path) -> int:
    """The number of commits that were on disk and that SQLite would leave out from the log of a database, at
    least."""
    indexed = _indexed(path)  # first: a writer goes on
    log = read_log(path)
    left = log.left_out
    return left if left > 1 else int(indexed > log.taken)


def read_log(path: Path) -> WriteAheadLog:
    """The log of a database; an empty one if there is none. The format: https://sqlite.org/walformat.html"""
    found = WriteAheadLog([], 0)
    try:
        with Path(f"{path}-wal").open("rb") as file:
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size or not any(header):
                return found
            magic, _, size, _, *salts, one, two = _HEADER.unpack(header)
            good = _is_whole(header)
            if not good:
                size, salts = PAGE, []  # the header lies: SQLite leaves out all
            sums, number, taken, frames = np.array([[one, two]], np.uint32), 0, 0, found.frames
            length = _FRAME.size + size
            while count := len(block := file.read(_AT_ONCE * length)) // length:
                rows = np.frombuffer(block, np.uint8, count * length).reshape(count, length)
                heads = rows[:, : _FRAME.size].copy().view(">u4").astype(np.uint32)
                salts = salts or heads[0, 2:4].tolist()
                same = heads[:, 2:4] == np.array(salts, np.uint32)
                if good:
                    before = np.concatenate([sums, heads[:-1, 4:]])
                    right = _sums(rows, before, ">u4" if magic & 1 else "<u4") == heads[:, 4:]
                    right &= same & (heads[:, :1] > 0)
                    until = count if right.all() else int(right.all(axis=1).argmin())
                    ends = np.flatnonzero(heads[:until, 1])
                    taken = number + int(ends[-1]) + 1 if len(ends) else taken
                    good, sums = until == count, heads[-1:, 4:]
                for place in np.flatnonzero(same.any(axis=1)).tolist():  # one salt may be damaged
                    frames.append(LogFrame(number + place + 1, int(heads[place, 0]), bool(heads[place, 1])))
                number += count
            return WriteAheadLog(frames, taken)
    except OSError:
        return found


def _sums(rows: Array, before: Array, order: str) -> Array:
    """The checksums of frames, each from that of the frame before it."""
    one, two = before[:, 0].copy(), before[:, 1].copy()
    words = np.concatenate([rows[:, :8], rows[:, _FRAME.size :]], axis=1).view(order).astype(np.uint32)
    for first, second in words.T.reshape(-1, 2, len(rows)):
        one += first + two
        two += second + one
    return np.stack([one, two], axis=1)


def _indexed(path: Path) -> int:
    """The number of frames of the log that were on disk when a process last wrote to its index, as far as the
    index is of this log."""
    try:
        with Path(f"{path}-wal").open("rb") as log, Path(f"{path}-shm").open("rb") as index:
            header, one, two = log.read(_HEADER.size), index.read(48), index.read(48)
    except OSError:
        return 0
    if len(two) < 48 or one != two or one[32:40] != header[16:24]:
        return 0
    return int.from_bytes(one[16:20], sys.byteorder)


def _is_whole(header: bytes) -> bool:
    """Whether the header of a log has the checksum that it says."""
    magic, *fields = _HEADER.unpack(header)
    if magic not in _MAGIC:
        return False
    words = np.frombuffer(header, np.uint8)[None, :24]
    order = ">u4" if magic & 1 else "<u4"
    one = two = 0
    for first, second in words.copy().view(order).reshape(-1, 2).tolist():
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return fields[-2:] == [one, two]
