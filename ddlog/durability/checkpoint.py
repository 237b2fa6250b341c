"""Checkpoints in the file: what was derived, unit by unit, as of one epoch.

A checkpoint is written piece by piece, beside the one before it. The last transaction puts its records in the
place of the old ones, so that there is always one whole checkpoint, or none. All of it follows from the
spans: a checkpoint that is damaged, or of another version, is left out.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..errors.diagnostics import DDlogError
from .mark import mark
from .parts import checksum
from .schema import Tables, are_there, make, some_are_there
from .store import FileStore

PIECE: Final = 1 << 20
"""The bytes of a piece."""

_REMOVED = 16  # pieces that a transaction removes where no commit waits

TABLES: Final[Tables] = {
    "checkpoint": (
        "id INTEGER PRIMARY KEY, epoch INTEGER, spans INTEGER, made TEXT, units INTEGER, checksum INTEGER",
        "one row: the derived state that is in the file, so that it need not be derived; all of it follows "
        "from the spans, and can be deleted",
        {
            "epoch": "the epoch as of which it is",
            "spans": "the greatest id of a span at that time",
            "made": "the version of ddlog and the form of numbers that it is for",
            "units": "the number of rows of `unit`",
            "checksum": "CRC-32 of the other columns, as JSON",
        },
    ),
    "unit": (
        "id INTEGER PRIMARY KEY, name TEXT, title TEXT, rows INTEGER, seconds REAL, content TEXT, "
        "piece_from INTEGER, pieces INTEGER, bytes INTEGER, checksum INTEGER",
        "the parts of the checkpoint: relations, groups, and the values that their numbers stand for",
        {
            "name": "the fingerprint of the rules that derive it, or the type of the values",
            "title": "its relations or its rule, for people",
            "seconds": "what deriving it took",
            "content": "JSON: what it holds, and where in its bytes",
            "piece_from": "the id of its first piece",
            "pieces": "the number of its pieces, whose ids follow each other",
            "checksum": "CRC-32 of the other columns and the checksums of the pieces, as JSON",
        },
    ),
    "piece": (
        "id INTEGER PRIMARY KEY AUTOINCREMENT, checksum INTEGER, data BLOB",
        "the bytes of the units: arrays of numbers",
        {"checksum": "CRC-32 of the data"},
    ),
}


@dataclass(frozen=True, slots=True)
class SavedUnit:
    """A unit in the file. `sums` are the checksums of its pieces."""

    name: str
    title: str
    rows: int
    seconds: float
    content: Any
    first: int
    pieces: int
    bytes: int
    sums: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint in the file. `problem` says what is wrong with it; `units` are those that are whole."""

    epoch: int
    spans: int
    made: str
    units: Mapping[str, SavedUnit]
    problem: str = ""

    @property
    def bytes(self) -> int:
        """The bytes of all units."""
        return sum(unit.bytes for unit in self.units.values())

    @property
    def internal(self) -> int:
        """The bytes of what is no output relation, or more."""
        return sum(unit.content.get("internal", unit.bytes) for unit in self.units.values())


class PieceSource:
    """Gives the bytes of a unit. See `engine.inprocess.storage.serialization.ByteSource`."""

    def __init__(self, store: FileStore, unit: SavedUnit) -> None:
        self._store, self._unit = store, unit

    def read(self, start: int, size: int) -> Iterator[bytes]:
        """The bytes from a place on. Raises DDlogError if they are not what was written."""
        end = start + size
        for number in range(start // PIECE, -(-end // PIECE)):
            data = self._piece(number)
            low, high = number * PIECE, number * PIECE + len(data)
            yield data if start <= low and high <= end else data[max(0, start - low) : end - low]

    @property
    def size(self) -> int:
        """The bytes of the unit."""
        return self._unit.bytes

    def refused(self, what: str) -> DDlogError:
        """The error for a unit whose numbers are impossible."""
        return self._store.doubted(f"{self._unit.title} is not what was written: {what}")

    def _piece(self, number: int) -> bytes:
        data = piece(self._store, self._unit.first + number)
        if data is None or zlib.crc32(data) != self._unit.sums[number]:
            raise self._store.doubted(f"{self._unit.title} is not what was written")
        return data


class PieceSink:
    """Takes the bytes of a unit, and gives them on in pieces. See the `Sink` of
    `engine.inprocess.storage.serialization`."""

    def __init__(self, write: Callable[[bytes], None], most: int) -> None:
        """Raises UnitTooLarge when there are more than `most` bytes."""
        self._write, self._most = write, most
        self._waiting = bytearray()
        self.size = 0

    def expect(self, bytes: int) -> None:
        """Raises UnitTooLarge if there is no room for so many bytes more."""
        if self.size + bytes > self._most:
            raise UnitTooLarge

    def put(self, data: bytes) -> None:
        """Takes bytes. Raises UnitTooLarge."""
        self.expect(len(data))
        self.size += len(data)
        self._waiting += data
        while len(self._waiting) >= PIECE:
            self._write(bytes(self._waiting[:PIECE]))
            del self._waiting[:PIECE]

    def finish(self) -> None:
        """Gives on the bytes that are left."""
        if self._waiting:
            self._write(bytes(self._waiting))
            self._waiting.clear()


class UnitTooLarge(Exception):
    """A unit has more bytes than it may have."""


def piece(store: FileStore, id: int) -> bytes | None:
    """The bytes of a piece; None if it is not there."""
    with store.reading():
        found = store.base.execute("SELECT data FROM piece WHERE id = ?", (id,)).fetchone()
    return found[0] if found is not None and isinstance(found[0], bytes) else None


# ----------------------------------------------------------------- reading


def checkpoint(store: FileStore) -> Checkpoint | None:
    """The checkpoint of a state, with the units whose records are whole; None: there is none."""
    try:
        with store.reading():
            if not are_there(store.base, TABLES):
                problem = "its tables are not as they were made"
                return Checkpoint(0, 0, "", {}, problem) if some_are_there(store.base, TABLES) else None
            heads = store.base.execute(
                "SELECT epoch, spans, made, units, checksum FROM checkpoint"
            ).fetchall()
            rows = store.base.execute("SELECT * FROM unit ORDER BY id").fetchall()
            sums = dict(store.base.execute("SELECT id, checksum FROM piece"))
    except DDlogError as error:
        return Checkpoint(0, 0, "", {}, error.diagnostics[0].message)
    if not heads and not rows:
        return None
    if len(heads) != 1 or checksum(*heads[0][:4]) != heads[0][4]:
        return Checkpoint(0, 0, "", {}, "the head of the checkpoint is not what was written")
    epoch, spans, made, count, _ = heads[0]
    units = [unit for row in rows if (unit := _unit(row, sums)) is not None]
    problem = "" if len(units) == count else "a record of the checkpoint is not what was written"
    return Checkpoint(epoch, spans, made, {unit.name: unit for unit in units}, problem)


def is_intact(store: FileStore, unit: SavedUnit) -> bool:
    """Whether all pieces of a unit are what was written."""
    ids = range(unit.first, unit.first + unit.pieces)
    try:
        return all(
            (data := piece(store, id)) is not None and zlib.crc32(data) == known
            for id, known in zip(ids, unit.sums, strict=True)
        )
    except DDlogError:
        return False


def _unit(row: Sequence[Any], sums: Mapping[int, int]) -> SavedUnit | None:
    _, name, title, rows, seconds, content, first, pieces, size, known = row
    try:
        own = tuple(sums.get(id, -1) for id in range(first, first + min(pieces, len(sums))))
        if _unit_row(row[1:-1], own)[-1] != known:
            return None
        return SavedUnit(name, title, rows, seconds, json.loads(content), first, pieces, size, own)
    except (TypeError, ValueError):
        return None


def _unit_row(fields: Sequence[Any], sums: Sequence[int]) -> tuple[Any, ...]:
    return *fields, checksum(*fields, *sums)


# ----------------------------------------------------------------- writing


def make_tables(store: FileStore) -> None:
    """Makes the tables of checkpoints, if they are not there. Raises OSError and sqlite3.Error."""
    with store.reading():
        there = are_there(store.base, TABLES)
    if there:
        return
    with store.writing() as base:
        make(base, TABLES)
        mark(base)


class PieceWriter:
    """Writes pieces of which no checkpoint knows yet, in small transactions."""

    def __init__(self, store: FileStore, together: int, pause: Callable[[], None] | None = None) -> None:
        """`together` pieces go into one transaction. `pause`: commits go first, and it is called between the
        transactions."""
        self._store, self._together, self._pause = store, together, pause
        self._waiting: list[bytes] = []
        with store.reading():
            last = store.base.execute("SELECT seq FROM sqlite_sequence WHERE name = 'piece'").fetchone()
        self._next = (0 if last is None else last[0]) + 1
        self.sums: list[int] = []

    @property
    def next(self) -> int:
        """The id of the next piece."""
        return self._next + len(self._waiting)

    def write(self, data: bytes) -> None:
        """Writes a piece. Raises OSError and sqlite3.Error."""
        self._waiting.append(data)
        self.sums.append(zlib.crc32(data))
        if len(self._waiting) >= self._together:
            self.finish()

    def finish(self) -> None:
        """Writes the pieces that are left. Raises OSError and sqlite3.Error."""
        if not self._waiting:
            return
        rows = [(self._next + at, zlib.crc32(data), data) for at, data in enumerate(self._waiting)]
        with self._store.writing(self._pause is not None) as base:
            base.executemany("INSERT INTO piece VALUES (?, ?, ?)", rows)
        self._store.logged += sum(map(len, self._waiting))
        self._next += len(rows)
        self._waiting.clear()
        if self._pause is not None:
            self._pause()


def install(
    store: FileStore, epoch: int, spans: int, made: str, units: Sequence[SavedUnit], aside: bool = False
) -> None:
    """Lets units whose pieces are written be the checkpoint, in place of the one before. `aside`: commits go
    first. Raises OSError and sqlite3.Error."""
    head = epoch, spans, made, len(units)
    with store.writing(aside) as base:
        _forget(base)
        base.execute("INSERT INTO checkpoint VALUES (1, ?, ?, ?, ?, ?)", (*head, checksum(*head)))
        for unit in units:
            fields = (
                unit.name, unit.title, unit.rows, unit.seconds, json.dumps(unit.content), unit.first,
                unit.pieces, unit.bytes,
            )  # fmt: skip
            base.execute(
                "INSERT INTO unit VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _unit_row(fields, unit.sums)
            )


def last_span(store: FileStore) -> int:
    """The greatest id of a span."""
    with store.reading():
        return int(store.base.execute("SELECT max(id) FROM span").fetchone()[0] or 0)


def forget(store: FileStore, kept: Sequence[SavedUnit] = (), pause: Callable[[], None] | None = None) -> None:
    """Removes the checkpoint, if there is one, but for the pieces of units that are kept for another. `pause`
    is called between transactions. Raises OSError and sqlite3.Error."""
    with store.reading():
        there = are_there(store.base, TABLES)
    if there:
        with store.writing(pause is not None) as base:
            _forget(base)
        remove_loose(store, kept, pause)


def _forget(base: sqlite3.Connection) -> None:
    base.execute("DELETE FROM checkpoint")
    base.execute("DELETE FROM unit")


def remove_loose(
    store: FileStore, kept: Sequence[SavedUnit] = (), pause: Callable[[], None] | None = None
) -> None:
    """Removes the pieces that no unit has, neither in the file nor among those `kept`, some in each
    transaction. Raises OSError and sqlite3.Error."""
    with store.reading():
        if not are_there(store.base, TABLES):
            return
        known = store.base.execute("SELECT piece_from, pieces FROM unit").fetchall()
        there = store.base.execute("SELECT id FROM piece ORDER BY id").fetchall()
    known += [(unit.first, unit.pieces) for unit in kept]
    used = {id for first, count in known for id in range(first, first + count)}
    loose = [(id,) for (id,) in there if id not in used]
    together = _REMOVED if pause is None else 1
    for at in range(0, len(loose), together):
        with store.writing(pause is not None) as base:
            base.executemany("DELETE FROM piece WHERE id = ?", loose[at : at + together])
        if pause is not None:
            pause()
