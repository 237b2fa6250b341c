"""Compiles kernels in processes beside: first the kernels that are asked for, then all with known types.

A process that misses machine code begins others, one for each core, whose program is `beside`. It asks them
for what it needs, and they go on with the known signatures, each taking what has no code yet and nobody
compiles. They end when all is done, or when it has ended and they have what it asked for. Only one group of
them is at work in a folder of code, however many processes miss some.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from ... import children
from ...machine import processors
from . import codefiles

MOST = 8  # processes beside
POLL = 0.004  # seconds between two looks for code that another process makes
_LOCK = "ahead.lock"
_PYTHON = re.compile(r"python[\d.]*t?")  # another program, in which Python is, would begin itself
_beside: list[subprocess.Popen[bytes]] = []
_asked: set[str] = set()  # the names of files with code that were asked for

Signature = tuple[str, str, Sequence[str]]
"""A module of kernels, a kernel, and the types of its arguments, as numba names them."""


def begin() -> list[subprocess.Popen[bytes]] | None:
    """The processes beside, which begin now unless there are some; None if those of another process are at
    work."""
    folder = codefiles.writable()
    if folder is None or _alive() or not _PYTHON.fullmatch(os.path.basename(sys.executable or "")):
        return [*_beside]
    with suppress(OSError), open(os.path.join(folder, _LOCK), "ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        for _ in range(min(processors(), MOST)):
            _beside.append(
                children.start(
                    f"{__package__}.beside",
                    codefiles.sources(),
                    stderr=subprocess.DEVNULL,
                    pass_fds=[lock.fileno()],  # held until the last of them ends
                )
            )
    return [*_beside]


def _alive() -> list[subprocess.Popen[bytes]]:
    _beside[:] = [each for each in _beside if each.poll() is None]
    return _beside


def _forget() -> None:
    """In the child of a fork: the processes are its parent's."""
    for each in _beside:
        each.stdin.close()  # type: ignore[union-attr]
        each.returncode = 0
    _beside.clear()
    _asked.clear()


os.register_at_fork(after_in_child=_forget)


def ask(name: str, signature: Signature) -> bool:
    """Asks for the code of a kernel, once; it comes into the file of that name. Returns whether a process
    beside is at work, also of another process, which hears no requests and is asked for nothing."""
    if name not in _asked:
        if begin() is None:
            return True
        _asked.add(name)
        line = json.dumps(signature).encode() + b"\n"
        for each in _alive():
            with suppress(OSError):
                os.write(each.stdin.fileno(), line)  # type: ignore[union-attr]
    return bool(_alive())


def wait_for(name: str, signature: Signature, most: float | None = None) -> bool:
    """Waits for the code of a kernel, as long as a process beside this one is at work; or at most so many
    seconds, also for those of another process. Returns whether it is there."""
    until = None if most is None else time.monotonic() + most
    while ask(name, signature) and (_beside if until is None else time.monotonic() < until):
        if codefiles.read(name):
            return True
        time.sleep(POLL)
    return codefiles.read(name) is not None
