"""Whether standard input brings updates, though no option says so: `ddlog run PROG.dl < updates.dat`.

It does if it is a file from its start, or a pipe that holds something when the run begins. A terminal, a
device such as /dev/null, and an empty pipe, open or closed, bring nothing, and nobody waits for them. A file
that another process has begun to read, such as the list of a shell's loop, belongs to that process.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress


def brings_updates() -> bool:
    """Whether standard input holds something that is meant for this run."""
    stream = sys.stdin
    if stream is None or stream.closed:
        return False
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError, AttributeError):
        return _holds_text()
    with suppress(OSError):
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            return status.st_size > 0 and os.lseek(descriptor, 0, os.SEEK_CUR) == 0
        if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
            return _waiting_bytes(descriptor) > 0
    return False


def _holds_text() -> bool:
    """Whether a stream of Python's own has text from its start."""
    try:
        if not sys.stdin.seekable() or sys.stdin.tell() != 0:
            return False
        first = sys.stdin.read(1)
        sys.stdin.seek(0)
    except (OSError, ValueError, AttributeError):
        return False
    return first != ""


def _waiting_bytes(descriptor: int) -> int:
    """The number of bytes that can be read at once; 0 where the system does not tell."""
    try:
        from fcntl import ioctl
        from termios import FIONREAD
    except ImportError:
        return 0
    return int.from_bytes(ioctl(descriptor, FIONREAD, bytes(4)), sys.byteorder)
