"""Reads a damaged state as far as that is possible: its parts one by one, each by its id.

A question for all rows of a table ends at the first page that is gone, a question for one row only needs the
pages on the way to it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import connections
from .parts import is_part

_MANY = 1 << 20  # parts that no span has


@dataclass(frozen=True, slots=True)
class Salvage:
    """The number of rows of changes that can be read, by relation, and of the parts that cannot; None: how
    many there were is not known."""

    rows: dict[str, int]
    lost: int | None

    @property
    def told(self) -> str:
        """A sentence for users: how many rows can be read, and how many parts cannot."""
        rows = ", ".join(f"{count:,} rows of {name}" for name, count in sorted(self.rows.items()))
        if self.lost is None:
            return "the record of what it held is lost, and nothing can be read"
        return f"{self.lost:,} parts of its log are lost; of its changes can be read: {rows or 'nothing'}"


def salvage(path: str) -> Salvage:
    """The part of a state in a file that can be read. Nothing is raised, and nothing is changed."""
    rows, lost = Counter[str](), 0
    try:
        base = connections.connect(Path(path).resolve(), read_only=True)
    except sqlite3.Error:
        return Salvage({}, None)
    try:
        base.execute("PRAGMA writable_schema = ON")  # or nothing is read of a file that is cut short
        names = dict(_from_both_ends(base, "SELECT id, name FROM relation"))
        spans = _from_both_ends(base, "SELECT id, part_from, parts FROM span")
        wanted = {part for _, start, count in spans for part in _range(start, count)}
        for part in sorted(wanted):
            for relation, count, checksum, data in _one(base, _PARTS, part) or [(0, 0, 0, None)]:
                if is_part(data, relation, count, checksum):
                    rows[names.get(relation, f"relation {relation}")] += count
                else:
                    lost += 1
    except sqlite3.Error:
        return Salvage({}, None)
    finally:
        base.close()
    return Salvage(dict(rows), lost if wanted else None)


_PARTS = "SELECT relation, rows, checksum, data FROM part WHERE id = ?"


def _from_both_ends(base: sqlite3.Connection, query: str) -> list[Any]:
    """The rows of a table that can be read from its beginning and from its end on."""
    found = {}
    for order in ("ASC", "DESC"):
        with suppress(sqlite3.Error):
            for row in base.execute(f"{query} ORDER BY id {order}"):
                found[row[0]] = row
    return list(found.values())


def _one(base: sqlite3.Connection, query: str, id: int) -> list[Any]:
    with suppress(sqlite3.Error):
        return base.execute(query, (id,)).fetchall()
    return []


def _range(start: Any, count: Any) -> range:
    """The ids of a span's parts; none if they cannot be any."""
    whole = isinstance(start, int) and isinstance(count, int) and 0 <= count < _MANY
    return range(start, start + count) if whole else range(0)
