"""`--follow` in this process: the folder is looked at again and again.

A file is taken when two looks find it alike, so that a file which grows is not taken half. All files that one
look finds complete are one epoch, in the order of their times and names. A state has a row for each file that
it has read, from the epoch that applied the file, so that a run that goes on reads each file once.
"""

from __future__ import annotations

import os
import re
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


def seconds_of(every: str | None, default: float) -> float:
    """The seconds of `--every`, such as `10 seconds`. Raises DDlogError."""
    if every is None:
        return default
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

    @property
    def batches(self) -> int:
        """The number of batches that were read, from the first run on."""
        return max((batch for _, batch in self._read.values()), default=-1) + 1

    def take(self, at_once: bool = False) -> list[FoundFile]:
        """The complete files that are new since the last batch; `at_once`: all new ones."""
        present = {each.name: each for each in self._look()}
        last, self._last = self._last, present
        new = [each for name, each in present.items() if self._read.get(name, ("", 0))[0] != each.text]
        return sorted(each for each in new if at_once or last.get(each.name) == each)

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


def _read_before(positions: Positions | None) -> dict[str, tuple[str, int]]:
    known = {} if positions is None else positions.below(STREAM)
    return {name: (each.query, each.batch) for name, each in known.items()}
