"""`--follow` in this process: the folder is looked at when something in it changes.

A file is taken when two looks find it alike, so that a file which grows is not taken half. All files that one
look finds complete are one epoch, in the order of their times and names. A state has a row for each file that
it has read, from the epoch that applied the file, so that a run that goes on reads each file once. Not every
file system tells of changes, so there is a look every few seconds in any case.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from ..durability.positions import Positions
from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue
from ..sessions.results import Changes
from ..sessions.session import Session

STREAM = "follow:"
"""The beginning of the names of the positions of files."""

_MOMENT = 0.3  # seconds between two looks at a file
_TRUST = 5.0  # seconds without a look where nothing is told to have changed

_UNITS = {
    "ms": 0.001,
    "millisecond": 0.001,
    "s": 1,
    "second": 1,
    "m": 60,
    "minute": 60,
    "h": 3600,
    "hour": 3600,
}
_INTERVAL = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h|(?:millisecond|second|minute|hour)s?)\s*")


@dataclass(frozen=True, slots=True, order=True)
class FoundFile:
    """A file as a look finds it."""

    modified: int
    name: str
    size: int

    @property
    def text(self) -> str:
        """The text in a position, by which the file is known again."""
        return f"{self.modified} {self.size}"


def seconds_of(every: str) -> float:
    """The seconds of `--every`, such as `10 seconds`. Raises DDlogError."""
    found = _INTERVAL.fullmatch(every)
    if found is None:
        raise DDlogError([BadOptionValue("--every", every, "a time such as '10 seconds' or 500ms")])
    return float(found[1]) * _UNITS[found[2] if found[2] in _UNITS else found[2].removesuffix("s")]


class FolderWatch:
    """The files of a folder that were not read yet."""

    def __init__(self, session: Session, home: Path) -> None:
        durable = session.state.durable
        self._home, self._positions = home, durable.positions if durable is not None else None
        self._read = _read_before(self._positions)
        self._last: Mapping[str, FoundFile] = {}
        self._stirred, self._is_settled = True, False
        self._stirs = _stirs(home)

    @property
    def batches(self) -> int:
        """The number of batches that were read, from the first run on."""
        return max((batch for _, batch in self._read.values()), default=-1) + 1

    def take(self, at_once: bool = False) -> list[FoundFile]:
        """The complete files that are new since the last batch; `at_once`: all new ones."""
        if not self._stirred:
            return []
        present = {each.name: each for each in self._look()}
        last, self._last = self._last, present
        new = [each for name, each in present.items() if self._read.get(name, ("", 0))[0] != each.text]
        found = sorted(each for each in new if at_once or last.get(each.name) == each)
        self._is_settled = not new
        return found

    def wait(self) -> None:
        """Waits for a moment, or less if something changes meanwhile."""
        if self._is_settled:
            self._stirred = next(self._stirs)
        else:
            time.sleep(_MOMENT)

    def advance(self, files: Sequence[FoundFile], commit: Callable[[Iterable[Path]], Changes]) -> Changes:
        """Commits a batch by its paths; the state has the files with it. Returns the changes."""
        read = {each.name: (each.text, self.batches) for each in files}
        named = {f"{STREAM}{name}": at for name, at in read.items()}
        with nullcontext() if self._positions is None else self._positions.all_advanced(named):
            changes = commit(self._home / each.name for each in files)
        self._read |= read
        return changes

    def _look(self) -> Iterator[FoundFile]:
        """The files below the folder, without hidden ones and those that begin with `_`."""
        for folder, folders, names in os.walk(self._home):
            folders[:] = [each for each in folders if not each.startswith((".", "_"))]
            for name in names:
                path = Path(folder, name)
                try:
                    found = path.stat()
                except OSError:
                    continue  # it was moved away meanwhile
                if not name.startswith((".", "_")):
                    yield FoundFile(found.st_mtime_ns, str(path.relative_to(self._home)), found.st_size)


def _stirs(folder: Path) -> Iterator[bool]:
    """True when a look at the folder may find new files, and False after each moment in which none came."""
    from watchfiles import watch

    changes = watch(
        folder, watch_filter=None, debounce=300, rust_timeout=int(1000 * _MOMENT), yield_on_timeout=True
    )
    looked = float("-inf")
    try:
        for found in changes:
            stirs = bool(found) or time.monotonic() - looked > _TRUST
            looked = time.monotonic() if stirs else looked
            yield stirs
    except OSError:  # there are more folders than the system watches
        while True:
            time.sleep(_MOMENT)
            yield True


def _read_before(positions: Positions | None) -> dict[str, tuple[str, int]]:
    known = {} if positions is None else positions.below(STREAM)
    return {name: (each.query, each.batch) for name, each in known.items()}
