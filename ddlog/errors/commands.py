"""What can be wrong in command files and change files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class BadCommand(Diagnostic):
    """A command that does not read as one."""

    title: ClassVar[str] = "{problem}"
    problem: str


@dataclass(frozen=True, slots=True)
class UnknownCommand(Diagnostic):
    """A word that begins no command."""

    title: ClassVar[str] = "there is no command `{name}`"
    name: str
    near: str | None

    @property
    def hint(self) -> str:
        """The command that was perhaps meant, or all of them."""
        if self.near:
            return f"did you mean `{self.near}`?"
        return "the commands are " + ", ".join(COMMANDS)


@dataclass(frozen=True, slots=True)
class NotSupported(Diagnostic):
    """A command of the language that this version does not have."""

    title: ClassVar[str] = "the command `{name}` is not supported yet"
    name: str


@dataclass(frozen=True, slots=True)
class NoTransaction(Diagnostic):
    """A command that goes only inside a transaction."""

    title: ClassVar[str] = "`{name}` outside a transaction"
    suggestion: ClassVar[str] = "begin one with `start;`"
    name: str


@dataclass(frozen=True, slots=True)
class TransactionOpen(Diagnostic):
    """A transaction inside a transaction."""

    title: ClassVar[str] = "`start` inside a transaction: they do not nest"
    suggestion: ClassVar[str] = "end the one before with `commit;` or `rollback;`"


COMMANDS = (
    "start", "commit", "rollback", "insert", "insert_or_update", "delete", "delete_key", "modify",
    "clear", "dump", "echo", "timestamp", "mssleep", "exit",
)  # fmt: skip
UNSUPPORTED = ("profile", "query_index", "dump_index", "log_level")
