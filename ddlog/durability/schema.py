"""The tables of a state, and what their columns mean. The file says the same in its table `description`."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

Tables = Mapping[str, tuple[str, str, dict[str, str]]]
"""The definition, the meaning, and the meanings of the columns of each table."""

APPLICATION: Final = 0x44446C67
"""SQLite's application_id of a state: `DDlg`."""

VERSION: Final = 2
"""SQLite's user_version of a state: the version of these tables."""

TABLES: Final[Tables] = {
    "description": (
        "table_name TEXT, column_name TEXT, meaning TEXT, PRIMARY KEY (table_name, column_name)",
        "this text",
        {},
    ),
    "head": (
        "id INTEGER PRIMARY KEY, epoch INTEGER, spans INTEGER, applied INTEGER, checksum INTEGER",
        "one row: how far the state is",
        {
            "epoch": "the number of the last epoch (commit); the first is 1",
            "spans": "the number of rows of `span`",
            "applied": "the number of rows of `applied`",
            "checksum": "CRC-32 of the text 'epoch spans applied'",
        },
    ),
    "program": (
        "name TEXT PRIMARY KEY, value TEXT, checksum INTEGER",
        "the program that last used the state",
        {"name": "what the value is: name, digest (SHA-256 of the text), text, depth (the longest delay)",
         "checksum": "CRC-32 of the value"},
    ),
    "relation": (
        "id INTEGER PRIMARY KEY, name TEXT, kind TEXT, role TEXT, keyed INTEGER, columns TEXT, types TEXT, "
        "dropped INTEGER, checksum INTEGER",
        "the relations whose rows the state holds",
        {
            "kind": "relation (a set), multiset, or stream (elements of one epoch)",
            "role": "input; past: a derived relation that a rule reads with a delay; window: what a window "
            "holds that the inputs do not say, with the times, or the value of a clock; late: the late rows "
            "of an epoch; passed: the rows of an input that came in an epoch and were forgotten in it; "
            "position: the last batch of each stream",
            "keyed": "1: it has a primary key",
            "columns": "JSON: a list of [name, type]",
            "types": "JSON: the definitions of the types that the columns are made of",
            "dropped": "1: no longer a relation of the program; `ddlog state --compact` removes its rows",
            "checksum": "CRC-32 of the other columns, as JSON",
        },
    ),
    "span": (
        "id INTEGER PRIMARY KEY, first INTEGER, last INTEGER, kind TEXT, folded INTEGER, time REAL, "
        "part_from INTEGER, parts INTEGER, bytes INTEGER, checksum INTEGER",
        "the changes of one epoch, or of several that follow each other",
        {
            "first": "the first epoch whose changes are here",
            "last": "the last one",
            "kind": "epochs; or added: the contents, as of `last`, of relations that are kept from then on; "
            "or migrated: of relations that had other columns before",
            "folded": "1: a later, wider span has these changes, too; kept for questions about the past",
            "time": "when it was written, in seconds since 1970",
            "part_from": "the first id of its rows in `part`, which follow each other",
            "parts": "the number of these rows",
            "bytes": "the bytes of these rows' data",
            "checksum": "CRC-32 of the other columns and of the checksums of its parts, as JSON",
        },
    ),
    "part": (
        "id INTEGER PRIMARY KEY, relation INTEGER, rows INTEGER, checksum INTEGER, data BLOB",
        "rows of one relation in one span",
        {
            "relation": "the relation's id",
            "rows": "the number of rows",
            "data": "a stream of Arrow IPC (pyarrow.ipc.open_stream). A relation holds the rows "
            "whose weights have a sum other than 0 over the spans with folded = 0. Column $weight: the "
            "change of the weight (absent: all 1); column $epoch: the epoch of the row (absent: that of the "
            "span, or the sum over all epochs of the span)",
            "checksum": "CRC-32 of the data, continued with the text 'relation rows'",
        },
    ),
    "applied": (
        "id TEXT PRIMARY KEY, epoch INTEGER, checksum INTEGER",
        "the ids of updates that are applied, so that they are skipped if they come again",
        {
            "id": "the `id` of a line of updates",
            "epoch": "the epoch of its commit",
            "checksum": "CRC-32 of the other columns, as JSON",
        },
    ),
}  # fmt: skip
"""The tables of every state."""


def are_there(base: sqlite3.Connection, tables: Tables) -> bool:
    """Whether a database has tables, as they are defined. Raises sqlite3.Error."""
    there = dict(base.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    return all(there.get(table) == _created(table, columns) for table, (columns, _, _) in tables.items())


def some_are_there(base: sqlite3.Connection, tables: Tables) -> bool:
    """Whether a database has tables of these names. Raises sqlite3.Error."""
    there = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return not there.isdisjoint(tables)


def make(base: sqlite3.Connection, tables: Tables) -> None:
    """Makes tables, with what they mean, in the place of others of their names. Raises sqlite3.Error."""
    for table, (columns, meaning, meanings) in tables.items():
        base.execute(f"DROP TABLE IF EXISTS {table}")
        base.execute(_created(table, columns))
        rows = [(table, name, text) for name, text in [("", meaning), *meanings.items()]]
        base.executemany("REPLACE INTO description VALUES (?, ?, ?)", rows)


def _created(table: str, columns: str) -> str:
    return f"CREATE TABLE {table} ({columns})"
