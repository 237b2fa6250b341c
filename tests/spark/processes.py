"""The processes of workers that the sessions of this process have on executors."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from .conftest import OWN


def workers() -> set[int]:
    """The processes that work for sessions of this one, whatever else runs on the machine."""
    own, found = f"{OWN}={os.getpid()}".encode(), set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_worker = b"ddlog.engine.shards.worker" in (entry / "cmdline").read_bytes()
            if is_worker and own in (entry / "environ").read_bytes().split(b"\0"):
                found.add(int(entry.name))
    return found


def kill(*processes: int) -> None:
    """Ends processes as a failing machine does."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
