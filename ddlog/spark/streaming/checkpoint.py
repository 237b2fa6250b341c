"""A checkpoint directory: which batches of which streams a session has applied, and what they changed.

    DIR/ddlog.json              the input relations that the log is about
    DIR/lock                    held by the session that uses the directory
    DIR/log/epoch-…0007.json    an applied batch: how far each stream has come, and what it changed
    DIR/log/base-…0006.json     the epochs up to 6 as one change
    DIR/data/epoch-…0007/0-Edge the change itself, in Parquet, part by part
    DIR/streams/NAME/           Spark's own checkpoint of a stream

An epoch has happened when its file is in `log`. It gets there by a rename, when all that it tells of is
complete. What a crash leaves besides is removed when the directory is opened again.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from ...errors.checkpoints import (
    CannotUseCheckpoint,
    CheckpointDamaged,
    CheckpointInUse,
    CheckpointMismatch,
    CheckpointNotLocal,
    CheckpointOfOtherInputs,
    NotACheckpoint,
)
from ...errors.diagnostics import DDlogError

_FORMAT = 1
_MANIFEST = re.compile(r"(epoch|base)-(\d+)\.json\Z")


@dataclass(frozen=True, slots=True)
class Position:
    """How far a stream has come: Spark's id of its query, and the last batch that was applied."""

    query: str
    batch: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An epoch of the log, or (`base`) all epochs up to one. `changed` has the relation of each part of the
    change, in order; `facts` tells the facts that the session began with."""

    epoch: int
    changed: tuple[str, ...]
    streams: Mapping[str, Position]
    program: str
    facts: str | None = None
    base: bool = False

    @property
    def name(self) -> str:
        """The name of its file and of its data's folder."""
        return f"{'base' if self.base else 'epoch'}-{self.epoch:010d}"


class Checkpoint:
    """An open checkpoint directory. One process has it at a time; `close` gives it free."""

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
        """How far a stream has come."""
        return self.last.streams.get(stream) if self.last else None

    def stream_folder(self, stream: str) -> Path:
        """Where Spark keeps its own checkpoint of a stream."""
        return self.path / "streams" / stream

    def query(self, stream: str) -> str | None:
        """The id of the query that Spark's checkpoint of a stream belongs to, if there is one."""
        try:
            text = (self.stream_folder(stream) / "metadata").read_text("utf-8")
            return str(json.loads(text)["id"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def data_folder(self, entry: Entry, part: int) -> Path:
        """Where a part of an epoch's change is, or is to be written."""
        return _data_folder(self.path, entry, part)

    def data(self, relation: str) -> list[Path]:
        """The changes of a relation, oldest first."""
        return [
            self.data_folder(entry, part)
            for entry in self.entries
            for part, changed in enumerate(entry.changed)
            if changed == relation
        ]

    def size(self, relation: str) -> int:
        """The bytes of the changes of a relation."""
        return sum(map(folder_size, self.data(relation)))

    def changed(self) -> list[str]:
        """The relations that the log changes."""
        return sorted({relation for entry in self.entries for relation in entry.changed})

    def is_done(self, stream: str, query: str, batch: int) -> bool:
        """Whether a batch was applied. Raises DDlogError when it is neither the last one nor the next."""
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
        """Sees, before a stream starts, that Spark's part belongs to the log. Raises DDlogError."""
        known = self.position(stream)
        if known is not None and self.query(stream) != known.query:
            raise self._mismatch(stream, "Spark's part is missing or of another query")

    def first(self, program: str, facts: str | None) -> Entry:
        """The epoch before all batches, of a session that began with some facts."""
        return Entry(0, (), {}, program, facts)

    def entry(self, changed: Iterable[str], program: str, advanced: Mapping[str, Position]) -> Entry:
        """The next epoch, in which streams come as far as `advanced`; `record` makes it happen."""
        streams = dict(self.last.streams) if self.last else {}
        facts = self.last.facts if self.last else None
        return Entry(self.next_epoch, tuple(changed), {**streams, **advanced}, program, facts)

    def record(self, entry: Entry) -> None:
        """Makes an epoch part of the log, at once or not at all. Its data is complete."""
        with reported(self.path):
            self._publish(entry)
        self.entries.append(entry)

    def replace_by(self, base: Entry) -> None:
        """Lets a base, whose data is complete, take the place of the epochs that it sums up."""
        with reported(self.path):
            self._publish(base)
            self.entries = [base, *(each for each in self.entries if each.epoch > base.epoch)]
            self.sweep()

    def base(self) -> Entry:
        """The base that would sum up the whole log."""
        assert self.last is not None
        return replace(self.last, changed=tuple(self.changed()), base=True)

    def compactable(self, least: int) -> bool:
        """Whether so many epochs stand beside the base, and so much, that a new base is worth its while:
        each row is then rewritten a few times only, however long the log grows."""
        beside = [entry for entry in self.entries if not entry.base]
        if len(beside) < least or not self.changed():
            return False
        old = sum(folder_size(self.path / "data" / entry.name) for entry in self.entries if entry.base)
        return len(beside) >= 16 * least or 4 * sum(self._sizes(beside)) >= old

    def sweep(self) -> None:
        """Removes what no entry of the log speaks of: left by a crash, or summed up by a base."""
        names = {entry.name for entry in self.entries}
        for file in (self.path / "log").iterdir():
            if file.suffix != ".json" or file.stem not in names:
                file.unlink()
        for folder in (self.path / "data").iterdir():
            if folder.name not in names:
                shutil.rmtree(folder)

    def close(self) -> None:
        """Lets other sessions use the directory."""
        self._lock.close()

    def _sizes(self, entries: list[Entry]) -> Iterator[int]:
        return (folder_size(self.path / "data" / entry.name) for entry in entries)

    def _publish(self, entry: Entry) -> None:
        for part in range(len(entry.changed)):
            _flush(self.data_folder(entry, part))
        _write_whole(self.path / "log" / f"{entry.name}.json", asdict(entry))

    def _mismatch(self, stream: str, problem: str) -> DDlogError:
        return DDlogError([CheckpointMismatch(str(self.path), stream, problem)])


def open_checkpoint(place: str | os.PathLike[str], inputs: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint in a directory, which is made if it is not there. `inputs` describes the input
    relations, of which a log is kept. Raises DDlogError when it is another's or in use."""
    path = local_path(place)
    with reported(path):
        path.mkdir(parents=True, exist_ok=True)
        if not (path / "ddlog.json").exists() and any(_foreign(path)):
            raise DDlogError([NotACheckpoint(str(path))])
        for folder in ("log", "data", "streams"):
            (path / folder).mkdir(exist_ok=True)
        lock = _lock(path)
        try:
            _check_header(path, inputs)
            found = Checkpoint(path, _entries(path), lock)
            found.sweep()
        except BaseException:
            lock.close()
            raise
    return found


def _data_folder(path: Path, entry: Entry, part: int) -> Path:
    return path / "data" / entry.name / f"{part}-{quote(entry.changed[part], safe='')}"


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
    """Makes diagnostics of what the file system refuses."""
    try:
        yield
    except OSError as error:
        raise DDlogError([CannotUseCheckpoint(str(path), error.strerror or str(error))]) from None


def _foreign(path: Path) -> Iterator[str]:
    """What is in a directory and no part of a checkpoint that was just begun."""
    return (each.name for each in path.iterdir() if each.name not in ("lock", "log", "data", "streams"))


def _lock(path: Path) -> IO[str]:
    lock = (path / "lock").open("a", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise DDlogError([CheckpointInUse(str(path))]) from None
    return lock


def _check_header(path: Path, inputs: Mapping[str, Any]) -> None:
    file = path / "ddlog.json"
    if not file.exists():
        _write_whole(file, {"format": _FORMAT, "inputs": inputs})
        return
    header = _json(file, path)
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise _damaged(path, "ddlog.json is of another version")
    difference = _difference(header["inputs"], json.loads(json.dumps(inputs)))
    if difference:
        raise DDlogError([CheckpointOfOtherInputs(str(path), difference)])


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The first input relation that is not what it was; empty when there is none."""
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            return f"{name} is no input relation of this one"
        if name not in before:
            return f"it has no {name}"
        for what in before[name]:
            if before[name][what] != now[name].get(what):
                return f"{name} differs in its {what}"
    return ""


def _entries(path: Path) -> list[Entry]:
    """The log: the last base, and the epochs that follow it. Raises DDlogError when one is missing."""
    found: dict[str, dict[int, Path]] = {"base": {}, "epoch": {}}
    for file in (path / "log").iterdir():
        named = _MANIFEST.match(file.name)
        if named is not None:
            found[named.group(1)][int(named.group(2))] = file
    start = max(found["base"], default=-1)
    epochs = sorted(number for number in found["epoch"] if number > start)
    for expected, number in enumerate(epochs, start + 1):
        if number != expected:
            raise _damaged(path, f"epoch {expected} is missing")
    files = [found["base"][start]] if start >= 0 else []
    entries = [_entry(file, path) for file in (*files, *(found["epoch"][number] for number in epochs))]
    for entry in entries:
        for part in range(len(entry.changed)):
            folder = _data_folder(path, entry, part)
            if not folder.is_dir():
                raise _damaged(path, f"{folder.relative_to(path)} is missing")
    return entries


def _entry(file: Path, path: Path) -> Entry:
    try:
        content = _json(file, path)
        streams = {name: Position(**each) for name, each in content.pop("streams").items()}
        return Entry(**{**content, "changed": tuple(content["changed"])}, streams=streams)
    except (TypeError, KeyError, AttributeError):
        raise _damaged(path, f"{file.name} is not what was written") from None


def _json(file: Path, path: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except ValueError:
        raise _damaged(path, f"{file.name} is not what was written") from None


def _damaged(path: Path, problem: str) -> DDlogError:
    return DDlogError([CheckpointDamaged(str(path), problem)])


def _write_whole(file: Path, content: Any) -> None:
    """Writes a file of JSON so that it is there whole or not at all, also after a loss of power."""
    draft = file.with_name(f".{file.name}.new")
    with draft.open("w", encoding="utf-8") as out:
        json.dump(content, out)
        out.flush()
        os.fsync(out.fileno())
    os.replace(draft, file)
    _sync(file.parent)


def _flush(folder: Path) -> None:
    """Sees that what is in a folder outlives a loss of power."""
    for path in (*folder.iterdir(), folder, folder.parent, folder.parent.parent):
        _sync(path)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def folder_size(folder: Path) -> int:
    """The bytes of the Parquet files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*.parquet")) if folder.is_dir() else 0
