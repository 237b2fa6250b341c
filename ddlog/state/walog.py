"""SQLite's write-ahead log, looked at before SQLite reads it.

SQLite takes a frame with a wrong checksum for the end of the log, as after a crash in the middle of a write.
But only the last transaction can have been in the middle of a write: those before it were on disk before it
began. If SQLite leaves out more than one, the log is damaged, and commits that were on disk would be lost.
"""

from __future__ import annotations

import struct
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_HEADER, _FRAME = struct.Struct(">8I"), struct.Struct(">6I")
PAGE = 4096
"""The bytes of a page of a state."""
LONG = 4 << 20
"""The bytes of the log from which on it is brought into the file."""
_MAGIC = (0x377F0682, 0x377F0683)


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a log, by its number from 1: the number of its page, and whether it ends a transaction."""

    number: int
    page: int
    ends: bool


def frames_in(path: Path) -> list[Frame]:
    """The frames in the log of a database, without those that are left from before it was last begun anew."""
    found: list[Frame] = []
    try:
        with Path(f"{path}-wal").open("rb") as file:
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size or not any(header):
                return found
            _, _, size, _, *salts, _, _ = _HEADER.unpack(header)
            whole, number = _is_whole(header), 0
            while len(frame := file.read(_FRAME.size)) == _FRAME.size:
                page, pages, *own, _, _ = _FRAME.unpack(frame)
                number += 1
                if not whole and number == 1:
                    size, salts = PAGE, own  # the header lies: SQLite would leave out all
                if own[0] == salts[0] or own[1] == salts[1]:  # one may be damaged: older frames have neither
                    found.append(Frame(number, page, pages > 0))
                file.seek(size, 1)
    except OSError:
        pass
    return found


def transactions_in(frames: Sequence[Frame]) -> int:
    """The number of transactions that frames are of, at least. None has a page twice, but perhaps at its end,
    and each commit writes the page of the head."""
    pages = Counter(frame.page for frame in frames if not frame.ends)
    return max(sum(frame.ends for frame in frames), max(pages.values(), default=0))


def frames_taken(path: Path) -> int | None:
    """The number of frames of the log that a reader of the database takes, as its index in shared memory
    says; None if there is no index."""
    try:
        with Path(f"{path}-shm").open("rb") as file:
            file.seek(16)
            return int.from_bytes(file.read(4), sys.byteorder)
    except OSError:
        return None


def _is_whole(header: bytes) -> bool:
    """Whether the header of a log has the checksum that it says."""
    magic, *fields = _HEADER.unpack(header)
    if magic not in _MAGIC:
        return False
    words = struct.unpack(">6I" if magic & 1 else "<6I", header[:24])
    one = two = 0
    for k in range(0, 6, 2):
        one = (one + words[k] + two) & 0xFFFFFFFF
        two = (two + words[k + 1] + one) & 0xFFFFFFFF
    return fields[-2:] == [one, two]
