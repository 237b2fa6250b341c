"""The changes of each epoch as files, each epoch exactly once: DIR/changes/epoch=N/changes.jsonl.

The folder of an epoch has a hidden name until the epoch is recorded. A run that continues publishes the
hidden folders of recorded epochs and deletes the other ones: their epochs come again.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..errors.diagnostics import DDlogError
from ..errors.facts import CannotWrite
from ..errors.following import OutputOfAnotherRun
from ..sessions.results import Changes
from ..sessions.session import Session
from .sinks import RowWriters, json_changes

_FOLDER = re.compile(r"(\.?)epoch=(\d+)\Z")


class EpochFiles:
    """Writes the changes of some relations of a session below a directory."""

    def __init__(self, session: Session, names: Sequence[str], directory: Path) -> None:
        self._writers = RowWriters(session, "jsonl")
        self._names, self._home = frozenset(names), directory / "changes"

    def continue_after(self, last: int) -> None:
        """Begins after the last recorded epoch, -1 if there is none. Raises DDlogError if the directory has
        later epochs."""
        with self._reported():
            self._home.mkdir(parents=True, exist_ok=True)
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

    def write(self, changes: Changes, epoch: int) -> None:
        """Writes the changes of an epoch to its hidden folder. Raises DDlogError."""
        named = [name for name in changes if name in self._names]
        draft = self._draft(epoch)
        with self._reported():
            shutil.rmtree(draft, ignore_errors=True)
            if not named:
                return
            draft.mkdir()
            with (draft / "changes.jsonl").open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in json_changes(changes, named, self._writers))
                file.flush()
                os.fsync(file.fileno())

    def publish(self, epoch: int) -> None:
        """Publishes the changes of an epoch, if it has any. Raises DDlogError."""
        with self._reported():
            if self._draft(epoch).is_dir():
                os.rename(self._draft(epoch), self._home / f"epoch={epoch}")

    def _draft(self, epoch: int) -> Path:
        return self._home / f".epoch={epoch}"

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DDlogError([CannotWrite(str(self._home), error.strerror or str(error))]) from None
