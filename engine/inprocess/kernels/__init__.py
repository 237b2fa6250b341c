"""Kernels: loops over arrays, compiled to machine code. See `compiler`."""

import os


def stamps() -> dict[str, tuple[int, int]]:
    """The time and size of each source of kernels."""
    with os.scandir(os.path.dirname(__file__)) as entries:
        sources = [(each.name, each.stat()) for each in entries if each.name.endswith(".py")]
    return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in sources}


IMPORTED = stamps()
"""The stamps of the sources from which this process has its kernels."""
