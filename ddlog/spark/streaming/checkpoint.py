"""A checkpoint directory: the batches that a session has applied, and the changes that they made.

    DIR/ddlog.json              the input relations that the log is about
    DIR/lock                    held by the session that uses the directory
    DIR/log/epoch-…0007.json    an applied batch: the progress of each stream, and the changed relations
    DIR/log/base-…0006.json     the epochs up to 6 as one change
    DIR/data/epoch-…0007/0-Edge the change itself, in Parquet, part by part
    DIR/streams/NAME/           Spark's own checkpoint of a stream

An epoch has happened when its file is in `log`. A rename puts it there, when its data is complete. Other
files that a crash leaves behind are removed when the directory is opened again.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

from ...errors.checkpoints import (
    CannotUseCheckpoint,
    CheckpointInUse,
    CheckpointMismatch,
    CheckpointNotLocal,
    NotACheckpoint,
)
from ...errors.diagnostics import DDlogError
from .durable import flush_folder, folder_size, write_json
from .log import Entry, Position, check_header, data_folder, read_entries


class Checkpoint:
    """An open checkpoint directory. One session holds it at a time, until `close`."""

    def __init__(self, path: Path, entries: list[Entry], lock: IO[str]) -> None:
        self.path, self.entries, self._lock = path, entries, lock

    @property
    def last(self) -> Entry | None:
        """The last epoch."""
        return self.entries[-1] if self.entries else None

    @property
    def next_epoch(self) -> int:
        """The number of the epoch to come; the first is 0."""
        return self.last.epoch + 1 if self.last else 0

    def position(self, stream: str) -> Position | None:
        """The progress of a stream; None if no batch was applied."""
        return self.last.streams.get(stream) if self.last else None

    def stream_folder(self, stream: str) -> Path:
        """The folder of Spark's own checkpoint of a stream."""
        return self.path / "streams" / stream

    def query(self, stream: str) -> str | None:
        """The id of the query in Spark's checkpoint of a stream, if there is one."""
        try:
            text = (self.stream_folder(stream) / "metadata").read_text("utf-8")
            return str(json.loads(text)["id"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def data_folder(self, entry: Entry, part: int) -> Path:
        """The folder for a part of an epoch's change."""
        return data_folder(self.path, entry, part)

    def data(self, relation: str, first: int = 0, last: int | None = None) -> list[Path]:
        """The changes of a relation in some epochs, oldest first."""
        return [
            self.data_folder(entry, part)
            for entry in self.entries
            if first <= entry.epoch and (last is None or entry.epoch <= last)
            for part, changed in enumerate(entry.changed)
            if changed == relation
        ]

    def changed(self, last: int | None = None) -> list[str]:
        """The relations that the log changes, up to an epoch."""
        entries = (each for each in self.entries if last is None or each.epoch <= last)
        return sorted({relation for entry in entries for relation in entry.changed})

    def is_done(self, stream: str, query: str, batch: int) -> bool:
        """Whether a batch was applied. Raises DDlogError if it is neither the last applied batch nor the
        next."""
        known = self.position(stream)
        if known is None:
            if batch != 0:
                raise self._mismatch(stream, f"Spark goes on with batch {batch}, the log knows none")
            return False
        if known.query != query:
            raise self._mismatch(stream, "Spark's part is missing or of another query")
        if batch not in (known.batch, known.batch + 1):
            raise self._mismatch(stream, f"Spark goes on with batch {batch}, the log with {known.batch + 1}")
        return batch == known.batch

    def check_stream(self, stream: str) -> None:
        """Raises DDlogError if Spark's checkpoint of a stream that is to start does not belong to the log."""
        known = self.position(stream)
        if known is not None and self.query(stream) != known.query:
            raise self._mismatch(stream, "Spark's part is missing or of another query")

    def first(self, program: str, facts: str | None) -> Entry:
        """The epoch before all batches, for a session that began with facts."""
        return Entry(0, (), {}, program, facts)

    def entry(self, changed: Iterable[str], program: str, advanced: Mapping[str, Position]) -> Entry:
        """The next epoch, after which streams are at `advanced`; `record` makes it happen."""
        streams = dict(self.last.streams) if self.last else {}
        facts = self.last.facts if self.last else None
        return Entry(self.next_epoch, tuple(changed), {**streams, **advanced}, program, facts)

    def record(self, entry: Entry) -> None:
        """Adds an epoch, whose data is complete, to the log: whole or not at all."""
        with reported(self.path):
            self._publish(entry)
        self.entries.append(entry)

    def amend(self, entry: Entry) -> None:
        """Replaces the last epoch by one with more data, which is complete."""
        with reported(self.path):
            self._publish(entry)
        self.entries[-1] = entry

    def replace_by(self, base: Entry) -> None:
        """Replaces the epochs that a base sums up by the base, whose data is complete."""
        with reported(self.path):
            self._publish(base)
            self.entries = [base, *(each for each in self.entries if each.epoch > base.epoch)]
            self.sweep()

    def base(self, apart: int, without: Collection[str]) -> Entry:
        """The base that would sum up the log but for the last epochs, of which so many stay `apart`, and for
        the relations of which only these count."""
        last = self.entries[-1 - apart]
        changed = tuple(each for each in self.changed(last.epoch) if each not in without)
        return replace(last, changed=changed, base=True)

    def compactable(self, least: int, apart: int) -> bool:
        """Whether at least `least` epochs, and enough data, came after the last base, not counting the ones
        that stay `apart`. Each row is then rewritten a few times only, however long the log grows."""
        beside = [entry for entry in self.entries[: len(self.entries) - apart] if not entry.base]
        if len(beside) < least or not self.changed():
            return False
        old = sum(folder_size(self.path / "data" / entry.name) for entry in self.entries if entry.base)
        return len(beside) >= 16 * least or 4 * sum(self._sizes(beside)) >= old

    def sweep(self) -> None:
        """Removes the files of no entry of the log: a crash left them, or a base sums them up."""
        names = {entry.name for entry in self.entries}
        for file in (self.path / "log").iterdir():
            if file.suffix != ".json" or file.stem not in names:
                file.unlink()
        for folder in (self.path / "data").iterdir():
            if folder.name not in names:
                shutil.rmtree(folder)

    def close(self) -> None:
        """Releases the directory to other sessions."""
        self._lock.close()

    def _sizes(self, entries: list[Entry]) -> Iterator[int]:
        return (folder_size(self.path / "data" / entry.name) for entry in entries)

    def _publish(self, entry: Entry) -> None:
        for part in range(len(entry.changed)):
            flush_folder(self.data_folder(entry, part))
        write_json(self.path / "log" / f"{entry.name}.json", asdict(entry))

    def _mismatch(self, stream: str, problem: str) -> DDlogError:
        return DDlogError([CheckpointMismatch(str(self.path), stream, problem)])


def open_checkpoint(place: str | os.PathLike[str], inputs: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint in a directory, which is made if it does not exist. `inputs` describes the input
    relations of the program. Raises DDlogError if the directory is in use, or of other inputs, or no
    checkpoint."""
    path = local_path(place)
    with reported(path):
        path.mkdir(parents=True, exist_ok=True)
        if not (path / "ddlog.json").exists() and any(_foreign(path)):
            raise DDlogError([NotACheckpoint(str(path))])
        for folder in ("log", "data", "streams"):
            (path / folder).mkdir(exist_ok=True)
        lock = _lock(path)
        try:
            check_header(path, inputs)
            found = Checkpoint(path, read_entries(path), lock)
            found.sweep()
        except BaseException:
            lock.close()
            raise
    return found


def local_path(place: str | os.PathLike[str]) -> Path:
    """The directory that a path or a `file:` URL names. Raises DDlogError for another URL."""
    text = os.fspath(place)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", text)
    if scheme is not None and scheme.group(1).lower() == "file":
        text = re.sub(r"\A//(?=/)", "", text[len("file:") :])
    elif scheme is not None and text.startswith("//", scheme.end()):
        raise DDlogError([CheckpointNotLocal(text)])
    return Path(text).absolute()


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turns errors of the file system inside into DDlogErrors."""
    try:
        yield
    except OSError as error:
        raise DDlogError([CannotUseCheckpoint(str(path), error.strerror or str(error))]) from None


def _foreign(path: Path) -> Iterator[str]:
    """The files of a directory that are no part of a checkpoint that was just begun."""
    return (each.name for each in path.iterdir() if each.name not in ("lock", "log", "data", "streams"))


def _lock(path: Path) -> IO[str]:
    lock = (path / "lock").open("a", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise DDlogError([CheckpointInUse(str(path))]) from None
    return lock
