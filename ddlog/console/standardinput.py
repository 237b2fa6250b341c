"""Whether standard input holds something that the run does not read, as only `--updates -` reads it.

It does if it is a file from its start, or a pipe in which something waits. A file that another process has
begun to read, such as the list of a shell's loop, belongs to that process.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress


def waits_unread() -> bool:
    """Whether standard input holds something that was perhaps meant for this run."""
    if sys.stdin is None or sys.stdin.closed:
        return False
    with suppress(OSError, ValueError, AttributeError):
        descriptor = sys.stdin.fileno()
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            return status.st_size > 0 and os.lseek(descriptor, 0, os.SEEK_CUR) == 0
        if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
            return _waiting_bytes(descriptor) > 0
    return False


def _waiting_bytes(descriptor: int) -> int:
    """The number of bytes that can be read at once; 0 where the system does not tell."""
    try:
        from fcntl import ioctl
        from termios import FIONREAD
    except ImportError:
        return 0
    return int.from_bytes(ioctl(descriptor, FIONREAD, bytes(4)), sys.byteorder)
