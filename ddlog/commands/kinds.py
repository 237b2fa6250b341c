"""What commands ask for: an action each. `commands` reads them, `interpreter` carries them out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..values.rows import Row


@dataclass(frozen=True, slots=True)
class Start:
    """Begins a transaction."""


@dataclass(frozen=True, slots=True)
class Commit:
    """Ends a transaction; with `dump_changes`, prints what it changed."""

    dump_changes: bool = False


@dataclass(frozen=True, slots=True)
class Rollback:
    """Forgets a transaction."""


@dataclass(frozen=True, slots=True)
class Update:
    """A change of one row: `kind` is insert, insert_or_update, delete, delete_key or modify.

    `row` is the row, or the key of the last two. Updates are applied together up to the one that
    is `last` of its batch.
    """

    kind: str
    relation: str
    row: Any
    last: bool
    change: Callable[[Row], Row] | None = None


@dataclass(frozen=True, slots=True)
class Clear:
    """Removes every row of an input relation."""

    relation: str


@dataclass(frozen=True, slots=True)
class Dump:
    """Prints a relation, or all output relations."""

    relation: str | None


@dataclass(frozen=True, slots=True)
class QueryIndex:
    """Prints the records that a key finds in an index."""

    index: str
    key: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class DumpIndex:
    """Prints all records of an index."""

    index: str


@dataclass(frozen=True, slots=True)
class Echo:
    """Prints a text."""

    text: str


@dataclass(frozen=True, slots=True)
class Timestamp:
    """Prints the time."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Waits."""

    milliseconds: int


@dataclass(frozen=True, slots=True)
class Profile:
    """Prints what was measured; with `what`, cpu or change, begins or ends a measurement."""

    what: str | None = None
    on: bool = False


@dataclass(frozen=True, slots=True)
class LogLevel:
    """Lets the program's log messages up to a level be printed."""

    level: int


@dataclass(frozen=True, slots=True)
class Exit:
    """Ends the reading of commands."""


Action: TypeAlias = (
    Start | Commit | Rollback | Update | Clear | Dump | QueryIndex | DumpIndex | Echo | Timestamp | Sleep
    | Profile | LogLevel | Exit
)  # fmt: skip
