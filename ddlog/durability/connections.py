"""Connections to the database of a state. All of them begin here."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from .lock import is_locked


def connect(path: Path, read_only: bool = False) -> sqlite3.Connection:
    """A connection to a file, which is made if it is missing, without transactions of Python's own. Raises
    sqlite3.Error."""
    mode = ("ro&immutable=1" if _is_fixed(path) else "ro") if read_only else "rwc"
    return sqlite3.connect(
        f"file:{quote(os.fsencode(path))}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=30,
    )


def _is_fixed(path: Path) -> bool:
    """Whether a file is in a folder where SQLite can make no files beside it, and needs none: it has no log,
    and no session."""
    logs = (Path(f"{path}{end}") for end in ("-wal", "-shm"))
    return not os.access(path.parent, os.W_OK) and not any(map(Path.exists, logs)) and not is_locked(path)
