"""Files in the user's cache directory: whole or absent, and read only if nobody else can have written them.

A file is its digest, then its content. A file that cannot be read, for whatever reason, counts as absent. A
file that cannot be written stays unwritten: without its cache ddlog only starts slower.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
from pathlib import Path

_DIGEST = 32  # bytes
_SHARED = stat.S_IWGRP | stat.S_IWOTH
_ABANDONED = 3600.0  # seconds after which a file that was not finished is removed


def cache_directory() -> Path | None:
    """The directory of this user's caches; None if there is none."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "ddlog"
    except RuntimeError:  # no home directory
        return None


def read_cached(path: Path | None) -> bytes | None:
    """The content of a cached file; None unless it is whole, this user's, and writable by nobody else."""
    if path is None:
        return None
    try:
        with open(path, "rb", opener=_without_links) as file:
            if not _is_private(os.fstat(file.fileno())):
                return None
            digest, content = file.read(_DIGEST), file.read()
    except OSError:
        return None
    return content if _digest(path, content) == digest else None


def write_cached(path: Path | None, content: bytes) -> None:
    """Writes a file of the cache, if possible; readers see the old file or the whole new one."""
    if path is None:
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, scratch = tempfile.mkstemp(prefix=".", dir=path.parent)
        try:
            with open(descriptor, "wb") as file:
                file.write(_digest(path, content))
                file.write(content)
            os.replace(scratch, path)
        except BaseException:
            os.unlink(scratch)
            raise
    except OSError:
        return


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


def _digest(path: Path, content: bytes) -> bytes:
    """The digest of the name and the content, so that no other file can stand in the place of this one."""
    return hashlib.blake2b(path.name.encode() + b"\0" + content, digest_size=_DIGEST).digest()


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))


def _is_private(known: os.stat_result) -> bool:
    if not hasattr(os, "getuid"):  # on Windows the directories of users are private
        return True
    return known.st_uid == os.getuid() and not known.st_mode & _SHARED
