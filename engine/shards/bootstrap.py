"""The start of a worker's process. Needs nothing of the engine, so that a short task may do it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import NamedTuple, TypeAlias

from .. import children

Address: TypeAlias = tuple[str, int]


class WorkerStart(NamedTuple):
    """What a worker's process is told first: the address of the first worker and the key by which they know
    each other (in hexadecimal digits), a number of its own, and the process with which it is to end."""

    address: Address
    key: str
    number: int
    watched: int | None


def start(address: Address, key: bytes, number: int, watched: int | None = None) -> int:
    """Starts a process that goes to the first worker at an address and becomes another one. Returns its id.
    It finds the modules that this process finds, writes errors where this one does, and outlives it: it ends
    with its line to the first worker, or with the process `watched`."""
    process = children.start("ddlog.engine.shards.worker")
    assert process.stdin is not None
    with process.stdin as told:  # the key does not show in lists of processes
        told.write(json.dumps(WorkerStart(address, key.hex(), number, watched)).encode())
    return process.pid


def outer_process() -> int | None:
    """The process that this one belongs to: the nearest of those that started it that runs another program.
    None where the system does not tell."""
    process = os.getpid()
    try:
        own = os.readlink("/proc/self/exe")
        while os.readlink(f"/proc/{process}/exe") == own:
            after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
            process = int(after_name.split()[1])
    except OSError:  # of a process of another user, which is another program
        pass
    return None if process == os.getpid() else process


def told() -> WorkerStart:
    """What the process that started this one says on standard input."""
    (host, port), *others = json.loads(sys.stdin.buffer.read())
    return WorkerStart((host, port), *others)
