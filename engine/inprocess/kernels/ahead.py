"""Compiles kernels in processes beside: those that are asked for, and then all whose types are known.

A process that misses machine code begins others, one for each core, whose program is `beside`. It asks them
for what it needs, and they go on with the known signatures, each taking what has no code yet and nobody
compiles. They end with it, after the kernel that they are at, or when all is done. Only one group of them is
at work in a folder of code, however many processes miss some.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from . import codefiles

MOST = 8  # processes beside
POLL = 0.004  # seconds between two looks for code that another process makes
_LOCK = "ahead.lock"
_beside: list[subprocess.Popen[bytes]] = []
_asked: set[str] = set()  # the names of files with code that were asked for

Signature = tuple[str, str, Sequence[str]]
"""A module of kernels, a kernel, and the types of its arguments, as numba names them."""


def begin() -> list[subprocess.Popen[bytes]]:
    """The processes beside, which begin now unless there are some, of this process or another."""
    folder = codefiles.writable()
    if folder is None or _alive() or not os.path.basename(sys.executable or "").startswith("python"):
        return [*_beside]
    with open(os.path.join(folder, _LOCK), "wb") as lock, suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for _ in range(min(len(os.sched_getaffinity(0)), MOST)):
            started = subprocess.Popen(
                [sys.executable, "-P", "-m", f"{__package__}.beside"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[lock.fileno()],  # held until the last of them ends
            )
            _beside.append(started)
            threading.Thread(target=started.wait, daemon=True).start()
    return [*_beside]


def _alive() -> list[subprocess.Popen[bytes]]:
    _beside[:] = [each for each in _beside if each.poll() is None]
    return _beside


def ask(name: str, signature: Signature) -> bool:
    """Asks for code, which comes into the file of that name, once. Whether somebody makes it."""
    if name not in _asked:
        _asked.add(name)
        begin()
        line = json.dumps(signature).encode() + b"\n"
        for each in _alive():
            with suppress(OSError):
                os.write(each.stdin.fileno(), line)  # type: ignore[union-attr]
    return bool(_alive())


def wait_for(name: str, signature: Signature) -> bool:
    """Waits for code that was asked for, as long as somebody makes it. Whether it is there."""
    while ask(name, signature):
        if codefiles.read(name):
            return True
        time.sleep(POLL)
    return codefiles.read(name) is not None
