"""Connections to the database of a state. All of them begin here."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote


def connect(path: Path, read_only: bool = False) -> sqlite3.Connection:
    """A connection to a file, which is made if it is missing, without transactions of Python's own. Raises
    sqlite3.Error."""
    mode = "ro" if read_only else "rwc"
    return sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=30,
    )
