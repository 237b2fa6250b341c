"""Folders and files of this user that nobody else can write, and the user's key.

A file is private if it, its folder and all folders above belong to the user or to root, and if nobody else
may write them. A folder that all may write counts where only the owner of a file may remove it, as in /tmp.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_KEY = 32  # bytes
_SHARED = stat.S_IWGRP | stat.S_IWOTH
READABLE = stat.S_IRWXG | stat.S_IRWXO
"""The rights of others on a file that is a secret."""


def user_directory(variable: str, below_home: str) -> Path | None:
    """ddlog's folder at a place of the user: that of a variable of the environment, if it is an absolute
    path, or else a folder below the home directory. None if there is none."""
    base = os.environ.get(variable, "")
    if os.path.isabs(base):
        return Path(base) / "ddlog"
    try:
        home = Path.home()
    except RuntimeError:  # no home directory
        return None
    return home / below_home / "ddlog" if home.is_absolute() else None


def state_directory() -> Path | None:
    """The folder of what ddlog remembers for this user."""
    return user_directory("XDG_STATE_HOME", ".local/state")


def read_private(path: Path, forbidden: int = _SHARED) -> bytes | None:
    """The content of a private file; None if it cannot be read, or if others have one of the forbidden
    rights on it."""
    try:
        with open(path, "rb", opener=_without_links) as file:
            return (
                file.read() if _is_private(os.fstat(file.fileno()), forbidden) and _lies_safe(path) else None
            )
    except OSError:
        return None


@contextmanager
def written_beside(path: Path, *parts: bytes) -> Iterator[str]:
    """Yields the name of a new file in the folder of a path, which is made if it is missing. The file holds
    these bytes, and is removed at the end if it is still there. Raises OSError."""
    import tempfile  # most runs write nothing

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, scratch = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.writelines(parts)
        yield scratch
    finally:
        with suppress(FileNotFoundError):
            os.unlink(scratch)


def user_key() -> bytes | None:
    """A secret of this user, made when it is first asked for; None if there is no place for it."""
    directory = state_directory()
    return None if directory is None else _key_in(directory / "key")


@cache
def _key_in(path: Path) -> bytes | None:
    if not os.path.lexists(path):
        import secrets

        with suppress(OSError), written_beside(path, secrets.token_bytes(_KEY)) as scratch:
            os.link(scratch, path)  # does nothing where another process was first
    found = read_private(path, READABLE)
    return found if found is not None and len(found) == _KEY else None


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))


def _is_private(known: os.stat_result, forbidden: int) -> bool:
    if not hasattr(os, "getuid"):  # on Windows the directories of users are private
        return True
    return known.st_uid == os.getuid() and not known.st_mode & forbidden


def _lies_safe(path: Path) -> bool:
    folder = Path(os.path.realpath(path.parent))
    return not hasattr(os, "getuid") or all(map(_is_safe, (folder, *folder.parents)))


def _is_safe(folder: Path) -> bool:
    """Whether nobody but the user and root can put another file in the place of one in the folder."""
    known = folder.stat()
    if known.st_uid not in (0, os.getuid()):
        return False
    if known.st_mode & stat.S_IWOTH:
        return bool(known.st_mode & stat.S_ISVTX)
    return not known.st_mode & stat.S_IWGRP or _is_own_group(known.st_gid)


@cache
def _is_own_group(number: int) -> bool:
    """Whether a group is that of the user alone, as many systems make one for each user."""
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
