"""Files with the machine code of kernels, one for each kernel and the types of its arguments.

The name of a file tells all that its code depends on: the sources of all kernels, since parts of one module
are compiled into kernels of another, numba and its settings, Python, the processor, and the types. So no code
is ever taken for other code, and files of several versions and machines lie beside each other.

Whoever compiles holds a lock on the file, so two processes never compile the same. Code stands behind its
digest: where a process was killed, or the disk was full, there is no code yet.
"""

from __future__ import annotations

import fcntl
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from ...digests import blake2b
from . import IMPORTED, stamps

SETTING = "NUMBA_CACHE_DIR"  # the folder to use in place of those of `folders`
OLD = 30 * 86400.0  # seconds after which the code of other sources goes
_HERE = os.path.dirname(__file__)
_DIGEST = 32  # bytes


def folders() -> list[str]:
    """The folders where code may be, in the order in which they are tried: beside the modules, as far as the
    user may write there, and the user's own. There are none if the sources are no longer those here."""
    if not are_imported():
        return []
    if given := os.environ.get(SETTING):
        return [given]
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    found = os.path.join(_HERE, "__pycache__"), os.path.join(caches, "ddlog", "kernels")
    return [folder for folder in found if os.path.isabs(folder)]  # a user may have no home


@functools.cache
def sources() -> str:
    """A digest of the sources of all kernels, and of what compiles them."""
    found = blake2b()
    for name in sorted(os.listdir(_HERE)):
        if name.endswith(".py"):
            found.update(blake2b(read_whole(os.path.join(_HERE, name))).digest())
    return found.hexdigest()[:12]


@functools.cache
def are_imported() -> bool:
    """Whether the sources are those from which this process has its kernels."""
    sources()
    return stamps() == IMPORTED


def settings() -> list[str]:
    """The settings of numba in the environment that may change the code it makes."""
    return sorted(
        f"{name}={os.environ[name]}" for name in os.environ if name.startswith("NUMBA_") and name != SETTING
    )


def file_name(function: Callable[..., Any], types: Sequence[str], made_by: Sequence[str]) -> str:
    """The name of the file with the code of a kernel for arguments of some types, as numba names them.
    `made_by` are the version of numba, and the system, the processor and its features."""
    parts = (*made_by, sys.implementation.cache_tag, *settings(), *types)
    digest = blake2b("\0".join(map(str, parts)).encode(), digest_size=12).hexdigest()
    return f"{_kernel(function)}-{sources()}-{digest}.code"


def _kernel(function: Callable[..., Any]) -> str:
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def read(name: str) -> bytes | None:
    """The code in the file of that name, if it is in one of the folders and whole."""
    for folder in folders():
        with suppress(OSError):
            if code := _behind_digest(read_whole(os.path.join(folder, name))):
                return code
    return None


def _behind_digest(content: bytes) -> bytes | None:
    code = content[_DIGEST:]
    return code if code and _digest(code) == content[:_DIGEST] else None


def _digest(code: bytes) -> bytes:
    return blake2b(code, digest_size=_DIGEST).digest()


def read_whole(path: str) -> bytes:
    """All bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


@dataclass
class Locked:
    """A file for code, that this process alone writes now."""

    file: BinaryIO

    def read(self) -> bytes | None:
        """The code that another process has written meanwhile."""
        self.file.seek(0)
        return _behind_digest(self.file.read())

    def write(self, code: bytes) -> str | None:
        """Keeps code. Returns the fault if that is not possible, such as on a full disk."""
        try:
            self.file.truncate(0)
            content = _digest(code) + code
            while content:
                content = content[self.file.write(content) :]
        except OSError as fault:
            with suppress(OSError):
                self.file.truncate(0)
            return fault.strerror
        with suppress(OSError):
            _remove_old(self.file.name)
        return None


@contextmanager
def locked(name: str, wait: bool = True) -> Iterator[Locked | None]:
    """The file of that name, after other processes have written it, if they do. None if it cannot be written;
    and if others write it and `wait` is not set."""
    file: BinaryIO | None = None
    with suppress(OSError):  # where it is of another user
        if folder := writable():
            file = cast(BinaryIO, open(os.path.join(folder, name), "a+b", buffering=0))  # noqa: SIM115
    if file is None:
        yield None
        return
    with file:
        held = True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            held = False
        except OSError:
            pass  # a file system without locks: then two processes may compile the same
        yield Locked(file) if held else None


def writable() -> str | None:
    """The folder where code is kept: the first that can be written to."""
    for folder in folders():
        with suppress(OSError):
            from tempfile import TemporaryFile

            os.makedirs(folder, exist_ok=True)
            TemporaryFile(dir=folder).close()
            return folder
    return None


def _remove_old(path: str) -> None:
    """Removes the code of the same kernel that is of other sources, and was made long ago."""
    folder, name = os.path.split(path)
    kernel, sources, _ = name.rsplit("-", 2)
    for entry in os.scandir(folder):
        others = entry.name.startswith(f"{kernel}-") and f"-{sources}-" not in entry.name
        if others and entry.stat().st_mtime < time.time() - OLD:
            os.unlink(entry.path)
