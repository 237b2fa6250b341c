"""The changes of each epoch as files, each epoch exactly once: DIR/changes/epoch=N/changes.jsonl.

The folder of an epoch has a hidden name until the epoch is recorded. A run that continues publishes the
hidden folders of recorded epochs and deletes the other ones: their epochs come again.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from ..engine.runtime import Sealed
from ..errors.diagnostics import DDlogError, system_errors
from ..errors.facts import CannotWrite
from ..errors.follow import OutputOfAnotherRun
from ..sessions.results import Changes
from ..sessions.session import Session
from ..sessions.transactions.durable_state import StateListener
from .sinks import json_changes, row_writers

_FOLDER = re.compile(r"(\.?)epoch=(\d+)\Z")


class EpochFiles:
    """Writes the changes of some relations of a session below a directory."""

    def __init__(self, session: Session, names: Sequence[str], directory: Path) -> None:
        self._writers = row_writers(session, "jsonl")
        self._names, self._home = frozenset(names), directory / "changes"

    def continue_after(self, last: int) -> None:
        """Begins after the last recorded epoch, -1 if there is none. Raises DDlogError if the directory has
        later epochs."""
        with system_errors(CannotWrite, self._home):
            _make(self._home)
            for path in sorted(self._home.iterdir()):
                found = _FOLDER.match(path.name)
                if found is None:
                    continue
                hidden, epoch = bool(found.group(1)), int(found.group(2))
                if hidden and epoch <= last:
                    self.publish(epoch)
                elif hidden:
                    shutil.rmtree(path)
                elif epoch > last:
                    raise DDlogError([OutputOfAnotherRun(str(self._home))])
            _sync(self._home)  # a folder that comes back after a crash would be taken for that of its epoch

    def write(self, changes: Changes, epoch: int) -> None:
        """Writes the changes of an epoch to its hidden folder. Raises DDlogError."""
        named = [name for name in changes if name in self._names]
        draft = self._draft(epoch)
        with system_errors(CannotWrite, self._home):
            if draft.exists():
                shutil.rmtree(draft)
                _sync(self._home)
            if not named:
                return
            draft.mkdir()
            with (draft / "changes.jsonl").open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in json_changes(changes, named, self._writers))
                file.flush()
                os.fsync(file.fileno())
            for folder in (draft, self._home):
                _sync(folder)

    def publish(self, epoch: int) -> None:
        """Publishes the changes of an epoch, if it has any. Raises DDlogError."""
        with system_errors(CannotWrite, self._home):
            if self._draft(epoch).is_dir():
                os.rename(self._draft(epoch), self._home / f"epoch={epoch}")
                _sync(self._home)

    def _draft(self, epoch: int) -> Path:
        return self._home / f".epoch={epoch}"


def _make(folder: Path) -> None:
    """Makes a folder and those above it, on disk."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync(folder.parent)


def _sync(folder: Path) -> None:
    """Puts the names in a folder on disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


class StateFiles(StateListener):
    """The changes of a session with a state, each epoch exactly once. The files of an epoch are drafted
    before the state has it, and published when it is on disk."""

    def __init__(self, session: Session, names: Sequence[str], directory: Path, first: int = 1) -> None:
        """Publishes and removes what an earlier run left; `first` is the number in the folder of the state's
        first epoch. Raises DDlogError."""
        durable = session.state.durable
        assert durable is not None
        self._session, self._files = session, EpochFiles(session, names, directory)
        self._before = 1 - first
        self._files.continue_after(durable.epoch - self._before)
        self._drafted: deque[int] = deque()
        self._failure: DDlogError | None = None
        durable.listen(self)

    def sealing(self, sealed: Sealed, epoch: int) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        deltas = self._session.state.host.offer.shown(sealed.deltas)
        self._files.write(self._session.state.told(deltas), epoch - self._before)
        self._drafted.append(epoch)

    def on_disk(self, epoch: int) -> None:
        try:
            while self._drafted and self._drafted[0] <= epoch:
                self._files.publish(self._drafted[0] - self._before)
                self._drafted.popleft()
        except DDlogError as failure:
            self._failure = failure
