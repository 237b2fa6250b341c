"""A JVM without the lines on its outputs that mean nothing to a user."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_NOISE = re.compile(
    r"WARNING: Using incubator modules|WARNING: package sun\.security\.action not in java\.base"
)


@contextmanager
def quiet() -> Iterator[None]:
    """Gives a JVM that starts inside a pipe for its outputs. For as long as the JVM lives, known noise is
    dropped and the other lines go to our stderr."""
    sys.stdout.flush()
    sys.stderr.flush()
    read, write = os.pipe()
    kept = [os.dup(1), os.dup(2)]
    threading.Thread(target=_relay, args=(read, os.dup(kept[1])), daemon=True).start()
    try:
        os.dup2(write, 1)
        os.dup2(write, 2)
        yield
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for descriptor in (*kept, write):
            os.close(descriptor)


def _relay(read: int, target: int) -> None:
    with os.fdopen(read, "rb") as lines, suppress(OSError):
        for line in lines:
            if not _NOISE.match(line.decode("utf-8", "replace")):
                os.write(target, line)
