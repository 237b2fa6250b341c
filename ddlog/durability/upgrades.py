"""States of earlier versions become states of this one when they are opened for writing."""

from __future__ import annotations

import sqlite3
from typing import Final

from .records import Stored, applied_row, relation_row
from .schema import TABLES, VERSION, Tables, make

FIRST: Final[Tables] = {**TABLES, "applied": ("id TEXT PRIMARY KEY, epoch INTEGER", *TABLES["applied"][1:])}
"""The tables of version 1, in which the ids of updates had no checksums."""


def upgrade(base: sqlite3.Connection) -> None:
    """Makes a state of version 1 one of this version, or leaves it. Raises sqlite3.Error."""
    base.execute("BEGIN IMMEDIATE")
    try:
        applied = base.execute("SELECT id, epoch FROM applied").fetchall()
        make(base, {"applied": TABLES["applied"]})
        base.executemany("INSERT INTO applied VALUES (?, ?, ?)", [applied_row(*each) for each in applied])
        lost = "SELECT DISTINCT relation FROM part EXCEPT SELECT id FROM relation"
        for (id,) in base.execute(lost).fetchall():  # rows that --compact left of a relation that was dropped
            stored = Stored(id, f"dropped {id}", "relation", "input", False, (), (), True)
            base.execute("INSERT INTO relation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", relation_row(stored))
        base.execute(f"PRAGMA user_version = {VERSION}")
        base.execute("COMMIT")
    except BaseException:
        base.execute("ROLLBACK")
        raise
