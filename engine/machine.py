"""The processors of the machine or the container, its memory, and the part of that a session may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath

from .memory import resident

UNLIMITED = 1 << 63
"""The limit of a session that has none."""

_GROUPS = {"": ("sys/fs/cgroup", "memory.max"), "memory": ("sys/fs/cgroup/memory", "memory.limit_in_bytes")}


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_limit() -> int | None:
    """The memory limit of a session that names none: three quarters of the memory, or half of what this
    process has not taken, if that reaches further. None if the sizes are unknown."""
    memory, taken = machine_memory(), resident()
    return None if memory is None or taken is None else max(memory * 3, (memory + taken) * 2) // 4


@cache
def machine_memory() -> int | None:
    """The memory of the machine, or of the container if that has less; None if neither is known."""
    sizes = list(_group_limits())
    with suppress(OSError, ValueError, AttributeError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(sizes, default=None)


def _group_limits(own: Path = Path("/proc/self/cgroup"), root: str = "/") -> Iterator[int]:
    """The limits of this process's control groups, of version 2 and 1, and of those around them."""
    lines = ["0::/", "0:memory:/"]  # what a container sees as its own
    with suppress(OSError):
        lines += own.read_text().splitlines()
    for line in lines:
        controllers, _, path = line.partition(":")[2].partition(":")
        for name in {"", "memory"}.intersection(controllers.split(",")):
            mount, file = _GROUPS[name]
            inner = PurePosixPath(path)
            for group in (inner, *inner.parents):
                with suppress(OSError, ValueError):
                    yield int(Path(root, f"{mount}{group}", file).read_text())
