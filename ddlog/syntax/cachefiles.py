"""Files in the user's cache directory: whole or absent, and read only if this user's ddlog wrote them.

A file is its digest, then its content. The digest is made with a key that only the user can read: cached
files hold pickles, which can run code. A file that cannot be read, for whatever reason, counts as absent. A
file that cannot be written stays unwritten: without its cache ddlog only starts slower.
"""

from __future__ import annotations

import contextlib
import os
import time
from _operator import _compare_digest as compare_digest
from pathlib import Path

from ..engine.digests import blake2b
from .privatefiles import read_private, user_directory, user_key, written_beside

_DIGEST = 32  # bytes
_ABANDONED = 3600.0  # seconds after which a file that was not finished is removed


def cache_directory() -> Path | None:
    """The directory of this user's caches; None if there is none."""
    return user_directory("XDG_CACHE_HOME", ".cache")


def read_cached(path: Path | None) -> bytes | None:
    """The content of a cached file; None unless it is whole, and this user's ddlog wrote it."""
    stored = None if path is None else read_private(path)
    if path is None or stored is None:
        return None
    content = stored[_DIGEST:]
    digest = _digest(path, content)
    return content if digest is not None and compare_digest(digest, stored[:_DIGEST]) else None


def write_cached(path: Path | None, content: bytes) -> None:
    """Writes a file of the cache, if possible; readers see the old file or the whole new one."""
    digest = None if path is None else _digest(path, content)
    if path is not None and digest is not None:
        with contextlib.suppress(OSError), written_beside(path, digest, content) as scratch:
            os.replace(scratch, path)


def keep_recent(directory: Path, files: int, size: int) -> None:
    """Removes the files that were used longest ago, until at most so many files and bytes are left."""
    found: list[tuple[float, int, str]] = []
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for each in entries:
            with contextlib.suppress(OSError):
                known = each.stat(follow_symlinks=False)
                if each.name.startswith(".") and known.st_mtime > time.time() - _ABANDONED:
                    continue  # being written
                found.append((0.0 if each.name.startswith(".") else known.st_mtime, known.st_size, each.path))
    total = 0
    for number, (used, length, path) in enumerate(sorted(found, reverse=True)):
        total += length
        if number >= files or total > size or not used:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _digest(path: Path, content: bytes) -> bytes | None:
    """The digest of the name and the content, so that no other file can stand in the place of this one; None
    if the user has no key."""
    key = user_key()
    if key is None:
        return None
    return blake2b(path.name.encode() + b"\0" + content, key=key, digest_size=_DIGEST).digest()
