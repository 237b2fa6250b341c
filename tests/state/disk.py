"""A disk that loses power: what a run wrote below a folder, and the folders that a crash can leave of it.

    Write ── Write ── Sync ── Write ── Rename ── ✗
    └───── there ─────────┘   └─ each sector, each name: there or not ─┘

What was synced is there. Of the rest, each sector of a write and each change of a folder's names is there or
not. A file's data has an order with its own syncs only; names are in the folder's order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

SECTOR: Final = 512

Loss = Literal["nothing", "all", "tail", "some"]
LOSSES: Final[tuple[Loss, ...]] = ("nothing", "all", "tail", "some")
"""Of what was not synced, a crash loses: nothing (the process was killed), all, the last part, any part."""


@dataclass(frozen=True, slots=True)
class Event:
    """A change of what is on the disk, or a sync. `path` is below the folder.

    write: `data` at `offset`; cut: the file is `offset` bytes; sync: of a file or folder; file, folder: made;
    rename: to `to`; remove; mark: the commit `offset` has returned."""

    kind: Literal["write", "cut", "sync", "file", "folder", "rename", "remove", "mark"]
    path: str = ""
    offset: int = 0
    data: bytes = b""
    to: str = ""


@dataclass(slots=True)
class _File:
    synced: bytearray = field(default_factory=bytearray)
    waiting: list[Event] = field(default_factory=list)


@dataclass(slots=True)
class _Folder:
    synced: dict[str, _Node] = field(default_factory=dict)
    now: dict[str, _Node] = field(default_factory=dict)
    waiting: list[tuple[str, _Node | None, str]] = field(default_factory=list)  # name, node, name before

    def change(self, name: str, node: _Node | None, before: str = "") -> None:
        self.waiting.append((name, node, before))
        _rename(self.now, name, node, before)

    def sync(self) -> None:
        self.synced, self.waiting = dict(self.now), []


_Node = _File | _Folder


def _rename(names: dict[str, _Node], name: str, node: _Node | None, before: str) -> None:
    if before:
        names.pop(before, None)
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


class Disk:
    """The disk as far as its events have come. It begins with what a folder holds, on disk."""

    def __init__(self, begin: Path) -> None:
        self._top = _read(begin)
        self.returned = 0
        """The last commit that returned."""

    def apply(self, event: Event) -> None:
        """Takes the next event."""
        if event.kind == "mark":
            self.returned = event.offset
            return
        folder, name = self._at(event.path)
        node = folder.now.get(name) if name else folder
        match event.kind:
            case "write" | "cut" if isinstance(node, _File):
                node.waiting.append(event)
            case "sync" if isinstance(node, _File):
                node.synced = _changed(node, len(node.waiting), random.Random(0), 1.0)
                node.waiting = []
            case "sync" if isinstance(node, _Folder):
                node.sync()
            case "file":
                folder.change(name, _File())
            case "folder":
                folder.change(name, _Folder())
            case "rename":
                assert node is not None
                folder.change(self._at(event.to)[1], node, name)
            case "remove":
                folder.change(name, None)
            case _:
                raise AssertionError(f"{event.kind} of {event.path or 'the folder'}")

    def crash(self, into: Path, loss: Loss, chance: random.Random) -> None:
        """Writes a folder as a crash now can leave it."""
        into.mkdir()
        _write(self._top, into, loss, chance)

    def _at(self, path: str) -> tuple[_Folder, str]:
        folder, (*above, name) = self._top, path.split("/")
        for each in above:
            inner = folder.now[each]
            assert isinstance(inner, _Folder)
            folder = inner
        return folder, name


def _read(place: Path) -> _Folder:
    folder = _Folder()
    for path in place.iterdir():
        folder.now[path.name] = _read(path) if path.is_dir() else _File(bytearray(path.read_bytes()))
    folder.sync()
    return folder


def _write(folder: _Folder, into: Path, loss: Loss, chance: random.Random) -> None:
    names = dict(folder.synced)
    keep = {"nothing": len(folder.waiting), "all": 0}.get(loss, chance.randint(0, len(folder.waiting)))
    for change in folder.waiting[:keep]:
        _rename(names, *change)
    for name, node in names.items():
        if isinstance(node, _Folder):
            (into / name).mkdir()
            _write(node, into / name, loss, chance)
        else:
            (into / name).write_bytes(_after(node, loss, chance))


def _after(file: _File, loss: Loss, chance: random.Random) -> bytearray:
    match loss:
        case "nothing":
            return _changed(file, len(file.waiting), chance, 1.0)
        case "all":
            return file.synced
        case "tail":
            count = chance.randint(0, len(file.waiting))
            return _changed(file, count, chance, 1.0, torn=True)
        case "some":
            return _changed(file, len(file.waiting), chance, chance.choice((0.2, 0.5, 0.9, 0.98)))


def _changed(file: _File, count: int, chance: random.Random, share: float, torn: bool = False) -> bytearray:
    """The file with a share of the first waiting changes; `torn`: with only a part of the last one."""
    data = bytearray(file.synced)
    for number, event in enumerate(file.waiting[:count]):
        if event.kind == "cut":
            if chance.random() < share:
                del data[event.offset :]
                data.extend(bytes(event.offset - len(data)))
            continue
        pieces = list(_sectors(event))
        if torn and number == count - 1:
            pieces = pieces[: chance.randint(0, len(pieces))]
        for offset, piece in pieces:
            if share == 1.0 or chance.random() < share:
                data.extend(bytes(max(0, offset - len(data))))
                data[offset : offset + len(piece)] = piece
    return data


def _sectors(event: Event) -> Iterable[tuple[int, bytes]]:
    """A write as the parts that reach the disk each as a whole."""
    offset, end = event.offset, event.offset + len(event.data)
    while offset < end:
        border = min(end, (offset // SECTOR + 1) * SECTOR)
        yield offset, event.data[offset - event.offset : border - event.offset]
        offset = border


def is_change(event: Event) -> bool:
    """Whether an event is a write or a sync, and no mark."""
    return event.kind != "mark"


def disks(begin: Path, events: Sequence[Event]) -> Iterable[tuple[int, Disk]]:
    """The disk after each number of events, 0 to all. It is one disk that goes on."""
    disk = Disk(begin)
    yield 0, disk
    for number, event in enumerate(events, 1):
        disk.apply(event)
        yield number, disk
