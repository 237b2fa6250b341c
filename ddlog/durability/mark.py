"""The mark of a state whose last commits may be in SQLite's log alone.

A state has it from the first write of a session until the session is closed. It is in the first page of the
file, above the version:

    user_version:   version + 256 · number of the schema

A copy that SQLite makes (`.backup`, `VACUUM INTO`) has all commits, and another number of its schema: there
the mark is of no account.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from .schema import VERSION

_MOST: Final = 0xFFFF


def version_of(base: sqlite3.Connection) -> int:
    """The version of the tables of a state. Raises sqlite3.Error."""
    return int(base.execute("PRAGMA user_version").fetchone()[0]) & 0xFF


def mark(base: sqlite3.Connection) -> None:
    """Marks a state, unless it is marked. To be called again when tables are made. Raises sqlite3.Error."""
    _set(base, VERSION | _number(base.execute("PRAGMA schema_version").fetchone()[0]))


def unmark(base: sqlite3.Connection) -> None:
    """Takes the mark away, before a connection is closed: SQLite brings its log into the file then, and syncs
    both. Raises sqlite3.Error."""
    base.execute("PRAGMA synchronous = NORMAL")
    _set(base, VERSION)


def is_marked(base: sqlite3.Connection) -> bool:
    """Whether a state has the mark, perhaps of another file. Raises sqlite3.Error."""
    return int(base.execute("PRAGMA user_version").fetchone()[0]) >> 8 != 0


def lacks_log(path: Path) -> bool:
    """Whether a state is marked, and has no log. Raises OSError."""
    return not _has_log(path) and _is_marked(path) and not _has_log(path)  # a session may begin meanwhile


def _set(base: sqlite3.Connection, value: int) -> None:
    if base.execute("PRAGMA user_version").fetchone()[0] != value:
        base.execute(f"PRAGMA user_version = {value}")


def _number(schema: int) -> int:
    return ((schema & _MOST) or 1) << 8


def _is_marked(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(100)
    schema, value = (int.from_bytes(head[at : at + 4], "big") for at in (40, 60))
    return value >> 8 != 0 and value & ~0xFF == _number(schema)


def _has_log(path: Path) -> bool:
    return Path(f"{path}-wal").exists()
