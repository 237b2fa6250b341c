"""The manifest of a state in a folder: the one file that says which files are the state.

    FOLDER/log/0000000017.json           the manifest: relations, spans of epochs, and the files of their rows
    FOLDER/data/0000000017-5f3a/Edge-0/  Parquet files with the rows of a relation in a span

A commit writes its rows, and then a manifest of the next number, by a rename. The highest number counts.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from ...durability.chains import gap
from ...durability.records import Stored
from ...errors.diagnostics import DDlogError
from ...errors.state import StateDamaged, StateOfOtherVersion
from ...io.filenames import lies_within

FORMAT: Final = "ddlog state"
VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file: its name below the folder, its bytes, and the CRC-32 of them."""

    name: str
    bytes: int
    checksum: int


@dataclass(frozen=True, slots=True)
class RowFiles:
    """Rows of one relation, by its id. `least` is the smallest weight."""

    relation: int
    rows: int
    least: int
    files: tuple[StoredFile, ...]


@dataclass(frozen=True, slots=True)
class FolderSpan:
    """The changes of some epochs. `kind` is "epochs", "added" or "migrated", as in `ddlog.durability.schema`;
    `ids` are those of the updates that were applied, and `id_files` have more of them. `folded`: it stands
    for others, without the elements of streams; `time` is when it was written."""

    first: int
    last: int
    kind: str
    parts: tuple[RowFiles, ...]
    ids: tuple[str, ...] = ()
    id_files: tuple[StoredFile, ...] = ()
    folded: bool = False
    time: int = 0

    def written(self, epoch: int) -> float:
        """When an epoch was written."""
        return self.time

    @property
    def rows(self) -> int:
        """The rows of all parts."""
        return sum(part.rows for part in self.parts)

    def files(self) -> Iterator[StoredFile]:
        """All files."""
        yield from self.id_files
        for part in self.parts:
            yield from part.files


@dataclass(frozen=True, slots=True)
class Manifest:
    """A state: `number` counts the manifests, `epoch` is that of the last commit. `past` is the file that
    names the history (see `past.py`), which has nothing of the epochs up to `migrated`."""

    number: int = 0
    epoch: int = 0
    program: Mapping[str, str] | None = None
    relations: tuple[Stored, ...] = ()
    spans: tuple[FolderSpan, ...] = ()
    past: StoredFile | None = None
    migrated: int = 0

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"log/{self.number:010d}.json"

    def files(self) -> Iterator[StoredFile]:
        """All files, but for those that the file of the past names."""
        for span in self.spans:
            yield from span.files()
        if self.past is not None:
            yield self.past

    def packed(self) -> bytes:
        """The contents of its file."""
        content = json.dumps(asdict(self), separators=(",", ":"))
        head = {"format": FORMAT, "version": VERSION, "checksum": zlib.crc32(content.encode())}
        return f"{json.dumps(head)}\n{content}\n".encode()


def number_of(name: str) -> int | None:
    """The number in the name of a manifest's file; None for another file."""
    stem, _, end = name.partition(".")
    return int(stem) if end == "json" and stem.isdigit() else None


def unpacked(root: str, name: str, data: bytes) -> Manifest:
    """The manifest in a file. Raises DDlogError if it is not what was written."""
    head, _, content = data.partition(b"\n")
    try:
        known = json.loads(head)
        if known["format"] != FORMAT or not isinstance(known["version"], int):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise _damaged(root, name) from None
    if known["version"] != VERSION:
        raise DDlogError([StateOfOtherVersion(root, known["version"], VERSION)])
    content = content.removesuffix(b"\n")
    if zlib.crc32(content) != known.get("checksum"):
        raise _damaged(root, name)
    try:
        return _manifest(json.loads(content))
    except (ValueError, KeyError, TypeError):
        raise _damaged(root, name) from None


def _damaged(root: str, name: str) -> DDlogError:
    return DDlogError([StateDamaged(root, f"{name} is not what was written", "")])


def _manifest(read: Mapping[str, Any]) -> Manifest:
    relations = tuple(
        Stored(**{**each, "columns": tuple(map(tuple, each["columns"])), "types": tuple(each["types"])})
        for each in read["relations"]
    )
    past, spans = read["past"] and _file(read["past"]), tuple(map(_span, read["spans"]))
    return Manifest(**{**read, "relations": relations, "spans": spans, "past": past})


def _span(read: Mapping[str, Any]) -> FolderSpan:
    found = {
        "parts": parts_of(read["parts"]),
        "ids": tuple(read["ids"]),
        "id_files": _files(read["id_files"]),
    }
    return FolderSpan(**{**read, **found})


def parts_of(read: Any) -> tuple[RowFiles, ...]:
    """Parts as JSON has them. Raises KeyError and TypeError."""
    return tuple(RowFiles(**{**each, "files": _files(each["files"])}) for each in read)


def _files(read: Any) -> tuple[StoredFile, ...]:
    return tuple(map(_file, read))


def _file(read: Mapping[str, Any]) -> StoredFile:
    found = StoredFile(**read)
    if not lies_within(found.name):
        raise TypeError(f"{found.name} is outside of the state")
    return found


def check_chain(root: str, manifest: Manifest) -> None:
    """Raises DDlogError if an epoch is missing."""
    missing = gap((span for span in manifest.spans if span.kind == "epochs"), manifest.epoch)
    if missing:
        raise DDlogError([StateDamaged(root, missing, "")])
