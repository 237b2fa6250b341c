"""One writer of a state: a lock of the operating system on a file beside it, which names its holder.

The lock is on a file of its own. SQLite's locks on the state itself would be lost if this process closed
another handle of that file.
"""

from __future__ import annotations

import errno
import fcntl
import os
from dataclasses import replace
from pathlib import Path

from ..errors.diagnostics import DDlogError
from ..errors.state import CannotUseState, StateInUse

_OWN = "that is this process: close the session that it has there, or open the state with read_only=True"


class StateLock:
    """The lock on a state, until `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        """Raises DDlogError if another session holds the state."""
        name = f"{path}-lock"
        try:
            self._file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            if not path.parent.exists():
                raise DDlogError([CannotUseState(str(path), f"there is no folder {path.parent}")]) from None
            wrong = "it is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
            raise DDlogError([CannotUseState(name, wrong)]) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._file, 32, 0).decode("ascii", "replace").strip() or "that is beginning"
            os.close(self._file)
            in_use = StateInUse(str(path), holder)
            raise DDlogError(
                [replace(in_use, instead=_OWN) if holder == str(os.getpid()) else in_use]
            ) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Gives the lock back. The file stays: to delete it would let two processes hold two files."""
        if self._file >= 0:
            os.ftruncate(self._file, 0)
            fcntl.flock(self._file, fcntl.LOCK_UN)  # also where a process that was forked has the file open
            os.close(self._file)
            self._file = -1


def is_locked(path: Path) -> bool:
    """Whether a session holds a state."""
    try:
        file = os.open(f"{path}-lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
