"""SQLite's write-ahead log, looked at before SQLite reads it.

SQLite takes a frame with a wrong checksum for the end of the log, as after a crash in the middle of a write.
But only the last transaction can have been in the middle of a write: those before it were on disk before it
began. If SQLite leaves out more than one, the log is damaged, and commits that were on disk would be lost.
"""

from __future__ import annotations

import struct
from pathlib import Path

_HEADER, _FRAME = struct.Struct(">8I"), struct.Struct(">6I")
_MAGIC = (0x377F0682, 0x377F0683)


def commits_in(path: Path) -> list[int]:
    """The numbers of the frames, from 1, that end transactions in the log of a database."""
    found: list[int] = []
    try:
        with Path(f"{path}-wal").open("rb") as file:
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                return found
            magic, _, page, _, *salts, _, _ = _HEADER.unpack(header)
            number = 0
            while magic in _MAGIC:
                frame = file.read(_FRAME.size)
                if len(frame) < _FRAME.size:
                    break
                _, pages, *own, _, _ = _FRAME.unpack(frame)
                number += 1
                if own == salts and pages:
                    found.append(number)
                file.seek(page, 1)
    except OSError:
        pass
    return found
