"""Checkpoint directories: DIR/streams/NAME/ is Spark's own checkpoint of a stream. Beside it is the state: on
Spark the rest of DIR, in process the file DIR/state."""

from __future__ import annotations

import os
from pathlib import Path

from ...errors.checkpoints import CheckpointNotLocal
from ...errors.diagnostics import DDlogError, system_errors
from ...errors.state import CannotUseState, NotAState

_FILE = ("state", "state-lock", "state-shm", "state-wal")
_OWN = frozenset({*_FILE, "data", "lock", "log", "streams"})


def local_path(place: str | os.PathLike[str]) -> Path:
    """The directory that a path or a `file:` URL names. Raises DDlogError for another URL."""
    from ..state.files import local_folder

    found = local_folder(os.fspath(place))
    if found is None:
        raise DDlogError([CheckpointNotLocal(os.fspath(place))])
    return found


def state_place(directory: Path, on_spark: bool) -> Path:
    """The state of a checkpoint directory: the directory itself, or in process a file in it."""
    return directory if on_spark else directory / "state"


def prepare(directory: Path) -> None:
    """Makes a checkpoint directory, if it is missing. Raises DDlogError for one with other files."""
    with system_errors(CannotUseState, directory):
        directory.mkdir(parents=True, exist_ok=True)
        others = sorted(each for each in os.listdir(directory) if each.partition(".")[0] not in _OWN)
    if others:
        reason = f"it is a folder with other files, such as {others[0]}"
        raise DDlogError([NotAState(str(directory), reason, "give an empty or new directory")])
