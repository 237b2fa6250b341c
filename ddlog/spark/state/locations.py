"""States in folders by their places: a path of this machine, or a URL."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...durability.lock import StateLock
from ...errors.diagnostics import system_errors
from ...errors.state import CannotUseState
from .files import HadoopFiles, LocalFiles, local_folder
from .folder import StateFolder
from .lease import Lease

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_folder(place: str, spark: SparkSession | None, read_only: bool, create: bool = True) -> StateFolder:
    """The state at a path of this machine, for which no Spark is needed, or at a URL of a file system of
    Hadoop. Raises DDlogError."""
    files = files_at(place, spark)
    if isinstance(files, HadoopFiles):
        return StateFolder.open(files, None if read_only else partial(Lease, files), spark, create)
    return StateFolder.open(files, None if read_only else partial(held, files), spark, create)


def files_at(place: str, spark: SparkSession | None) -> HadoopFiles | LocalFiles:
    """The files of a state. Raises DDlogError."""
    path = local_folder(place)
    if path is not None:
        return LocalFiles(path)
    assert spark is not None
    with system_errors(CannotUseState, place):
        return HadoopFiles(spark, place)


class _Held(StateLock):
    """A lock of the operating system, which no other session can take over."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._path, self._number = path, os.stat(path).st_ino

    def check(self) -> None:
        """Raises OSError if the folder is not where it was: what is written would be lost."""
        if os.stat(self._path).st_ino != self._number:
            raise OSError(0, "another folder has taken its place")


def held(files: LocalFiles) -> _Held:
    """The lock on a state of this machine. Raises DDlogError if another session holds it."""
    return _Held(files.path)
