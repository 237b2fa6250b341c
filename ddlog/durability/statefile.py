"""The file of a state is opened: it is made, or known for what it is, before anything is read.

SQLite takes a log that is not whole for one that was never written. What it leaves out is told here.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from ..errors.diagnostics import DDlogError, counted, system_errors
from ..errors.state import CannotUseState, NotAState, StateDamaged, StateOfOtherVersion
from . import connections
from .lock import is_locked
from .mark import lacks_log, version_of
from .parts import checksum
from .schema import APPLICATION, TABLES, VERSION, are_there, make
from .walog import PAGE, lost_commits, read_log


def reachable(path: Path) -> bool:
    """True, unless it cannot be told whether a file is there, or it is a device or a pipe: raises
    DDlogError."""
    with system_errors(CannotUseState, path):
        special = path.exists() and not (path.is_file() or path.is_dir())
    if special:
        raise DDlogError([NotAState(str(path), "it is no file that keeps what is written")])
    return True


def connected(path: Path, read_only: bool, present: bool) -> sqlite3.Connection:
    """A connection to the state in a file, `present` or made now, whose kind and log are checked. One
    for reading is in a transaction. Raises DDlogError and sqlite3.Error."""
    _check_links(path)
    if not (read_only and is_locked(path)):  # a writer is not after a crash
        _check_log(path, read_only, present)
    if not read_only:
        _check_writable(path)
    base = connections.connect(path, read_only)
    try:
        if present:
            _check_kind(path, base)
        if read_only:
            base.execute("BEGIN")  # one snapshot, whatever a writer does meanwhile
        else:
            _prepare(base, present)
        return base
    except BaseException:
        base.close()
        raise


def _check_links(path: Path) -> None:
    """Raises DDlogError if a link beside a state would let SQLite write to another place."""
    for end in ("-wal", "-shm", "-journal"):
        if os.path.islink(f"{path}{end}"):
            raise DDlogError([CannotUseState(f"{path}{end}", "it is a link")])


def _check_writable(path: Path) -> None:
    """Raises DDlogError for a state that can only be read: SQLite would open it, and refuse each commit."""
    for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        if file.exists() and not os.access(file, os.W_OK):
            raise DDlogError([CannotUseState(str(file), "Permission denied for writing")])


def check_header(path: Path) -> None:
    """Raises DDlogError for a file that is surely no state. A new state may have one page without a mark, and
    what is in SQLite's log or journal is not in it yet."""
    with system_errors(CannotUseState, path), path.open("rb") as file:
        head = file.read(100)
    if len(head) < 100 or any(Path(f"{path}{end}").exists() for end in ("-wal", "-journal")):
        return
    if not head.startswith(b"SQLite format 3\0"):
        raise DDlogError([NotAState(str(path), "it is no database of SQLite")])
    pages, application = (int.from_bytes(head[at : at + 4], "big") for at in (28, 68))
    if application != APPLICATION and (application or pages > 1):
        raise DDlogError([NotAState(str(path), "it is a database of another program")])


def _check_log(path: Path, read_only: bool, present: bool) -> None:
    """Raises DDlogError if SQLite would leave out commits of its log that were on disk. It writes to a log
    that it has read, and what was there is not seen again."""
    if not present and any(frame.ends for frame in read_log(path).frames):
        raise DDlogError([StateDamaged(str(path), "it is empty, and SQLite's log is not", "")])
    lost = lost_commits(path) if present else 0
    if lost and not (read_only and is_locked(path)):
        problem = f"{counted(lost, 'commit')} in {path.name}-wal: not what was written"
        left = (
            f"with an empty file {path.name}-wal, and without {path.name}-shm, the commits before it are "
            f"left; if a copy of {path.name} was put back with its log, remove {path.name}-shm alone"
        )
        raise DDlogError([StateDamaged(str(path), problem, left)])
    if present and lacks_log(path):
        problem = f"{path.name}-wal is missing, which has the last commits: the session was not closed"
        left = (
            f"put {path.name}-wal back beside it; an empty file {path.name}-wal lets go of these commits, "
            "and the earlier ones are left"
        )
        raise DDlogError([StateDamaged(str(path), problem, left)])


def _prepare(base: sqlite3.Connection, present: bool) -> None:
    if not present:
        base.execute(f"PRAGMA page_size = {PAGE}")
        base.execute("PRAGMA auto_vacuum = INCREMENTAL")
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA synchronous = FULL")
    base.execute("PRAGMA wal_autocheckpoint = 0")  # the background thread does it, where no commit waits
    if present and base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        base.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return
    base.execute("BEGIN IMMEDIATE")
    base.execute(f"PRAGMA application_id = {APPLICATION}")
    base.execute(f"PRAGMA user_version = {VERSION}")
    make(base, TABLES)
    base.execute("INSERT INTO head VALUES (1, 0, 0, 0, ?)", (checksum(0, 0, 0),))
    base.execute("COMMIT")


def _check_kind(path: Path, base: sqlite3.Connection) -> None:
    """Raises DDlogError for another file than a state of this version."""
    try:
        application = base.execute("PRAGMA application_id").fetchone()[0]
        version = version_of(base)
        tables = base.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'").fetchone()[0]
        whole = are_there(base, TABLES)
    except sqlite3.DatabaseError as error:
        raise diagnosed(path, error) from None
    if not tables and not application:
        if 0 < path.stat().st_size < PAGE:
            raise DDlogError([NotAState(str(path), "it is no database of SQLite, or cut short")])
        return
    if application != APPLICATION:
        raise DDlogError([NotAState(str(path), "it is a database of another program")])
    if version not in (0, VERSION):
        raise DDlogError([StateOfOtherVersion(str(path), version, VERSION)])
    if not (version and whole):
        raise DDlogError([StateDamaged(str(path), "its tables are not as they were made", "")])


def diagnosed(path: Path, error: sqlite3.Error) -> DDlogError:
    """The error for SQLite's words about a file."""
    if "not a database" in str(error):
        return DDlogError([NotAState(str(path), "it is no database of SQLite")])
    if "malformed" in str(error) or "corrupt" in str(error):
        return DDlogError([StateDamaged(str(path), str(error), "")])
    return DDlogError([CannotUseState(str(path), str(error))])
