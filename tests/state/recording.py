"""Records the writes and syncs of a run below a folder: those of SQLite by a VFS, those of files by a shim.

The VFS is apsw's: it brings its own library of SQLite, so a state's connections are opened by it meanwhile.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

import apsw

from .disk import Event

_numbers = count()


class Recorder:
    """The events of a run below a folder, in order."""

    def __init__(self, home: Path) -> None:
        self.home, self.events = home.resolve(), list[Event]()
        self._lock = threading.Lock()

    def mark(self, commit: int) -> None:
        """Notes that a commit has returned."""
        self.add(Event("mark", offset=commit))

    def add(self, *events: Event) -> None:
        """Adds events that are one step of a run."""
        with self._lock:
            self.events.extend(events)

    def below(self, path: str | os.PathLike[str]) -> str | None:
        """The path below the folder; `` for the folder itself, None for another place."""
        absolute = Path(os.path.abspath(path))
        if not absolute.is_relative_to(self.home):
            return None
        return "" if absolute == self.home else str(absolute.relative_to(self.home))


@contextmanager
def recorded(home: Path) -> Iterator[Recorder]:
    """Records all that is written below a folder by states and by outputs meanwhile."""
    recorder = Recorder(home)
    vfs = _Vfs(recorder)
    shim = _Shim(recorder)

    def connect(path: Path, read_only: bool = False) -> Any:
        return Connection(path, read_only, vfs.name)

    with (
        mock.patch("ddlog.durability.connections.connect", connect),
        mock.patch.object(os, "mkdir", shim.mkdir),
        mock.patch.object(os, "rename", shim.rename),
        mock.patch.object(os, "fsync", shim.fsync),
        mock.patch.object(shutil, "rmtree", shim.rmtree),
    ):
        yield recorder
    vfs.unregister()


class _Vfs(apsw.VFS):  # type: ignore[misc]
    def __init__(self, recorder: Recorder) -> None:
        self.name, self.recorder = f"recording{next(_numbers)}", recorder
        super().__init__(self.name, "")

    def xOpen(self, name: Any, flags: list[int]) -> Any:
        return _File(self.recorder, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        path = self.recorder.below(filename)
        if path is not None:
            self.recorder.add(Event("remove", path), *([Event("sync")] if syncdir else []))


class _File(apsw.VFSFile):  # type: ignore[misc]
    def __init__(self, recorder: Recorder, name: Any, flags: list[int]) -> None:
        place = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._recorder = recorder
        self._path = None if place is None else recorder.below(place)
        is_new = self._path is not None and not os.path.exists(place)
        super().__init__("", name, flags)
        # with its first sync SQLite puts the name of a journal, and so of all files, on disk
        self._named = not is_new or bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        if is_new and self._path is not None:
            recorder.add(Event("file", self._path))

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        if self._path is not None:
            self._recorder.add(Event("write", self._path, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        super().xTruncate(size)
        if self._path is not None:
            self._recorder.add(Event("cut", self._path, size))

    def xSync(self, flags: int) -> None:
        if self._path is not None:  # the file itself need not be synced: this machine keeps its power
            self._recorder.add(Event("sync", self._path), *([] if self._named else [Event("sync")]))
            self._named = True


class Connection:
    """A connection by apsw, with as much of the interface of `sqlite3` as a state uses."""

    def __init__(self, path: Path, read_only: bool, vfs: str) -> None:
        flags = apsw.SQLITE_OPEN_URI | (
            apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        )
        with _translated():
            self._base = apsw.Connection(f"file:{quote(str(path))}", flags=flags, vfs=vfs)
            self._base.set_busy_timeout(30_000)

    @property
    def in_transaction(self) -> bool:
        return bool(self._base.in_transaction)

    def execute(self, text: str, values: Sequence[Any] = ()) -> _Rows:
        with _translated():
            return _Rows(list(self._base.execute(text, values)))

    def executescript(self, text: str) -> None:
        self.execute(text)

    def executemany(self, text: str, values: Sequence[Sequence[Any]]) -> None:
        with _translated():
            self._base.executemany(text, values)

    def close(self) -> None:
        with _translated():
            self._base.close()


class _Rows:
    def __init__(self, rows: list[Any]) -> None:
        self._rows = iter(rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def fetchmany(self, size: int) -> list[Any]:
        return list(islice(self._rows, size))

    def fetchone(self) -> Any:
        return next(self._rows, None)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        kind = sqlite3.DatabaseError if "Corrupt" in type(error).__name__ else sqlite3.OperationalError
        raise kind(str(error)) from None


class _Shim:
    """Functions in the place of those that change and sync files. What a file holds is recorded when it is
    synced, as if it had been written just before."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._mkdir, self._rename, self._rmtree = os.mkdir, os.rename, shutil.rmtree

    def mkdir(self, path: Any, *rest: Any, **how: Any) -> None:
        self._mkdir(path, *rest, **how)
        self._add(path, lambda below: Event("folder", below))

    def rename(self, old: Any, new: Any) -> None:
        self._rename(old, new)
        self._add(old, lambda below: Event("rename", below, to=self._recorder.below(new) or ""))

    def rmtree(self, path: Any, *rest: Any, **how: Any) -> None:
        there = os.path.exists(path)
        self._rmtree(path, *rest, **how)
        if there:
            self._add(path, lambda below: Event("remove", below))

    def fsync(self, file: int) -> None:
        path = os.readlink(f"/proc/self/fd/{file}")
        below = self._recorder.below(path)
        if below is None:
            return
        if os.path.isdir(path):
            self._recorder.add(Event("sync", below))
            return
        self._recorder.add(Event("file", below))
        self._recorder.add(Event("write", below, 0, Path(path).read_bytes()))
        self._recorder.add(Event("sync", below))

    def _add(self, path: Any, event: Callable[[str], Event]) -> None:
        below = self._recorder.below(path)
        if below is not None:
            self._recorder.add(event(below))
