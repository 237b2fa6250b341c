"""What can be wrong in command files and change files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .diagnostics import Diagnostic


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
    known: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The command that was perhaps meant, or all of them."""
        return f"did you mean `{self.near}`?" if self.near else "the commands are " + ", ".join(self.known)


@dataclass(frozen=True, slots=True)
class NoTimely(Diagnostic):
    """A measurement of what is not there."""

    title: ClassVar[str] = "`profile timely` has nothing to measure: nothing here runs on timely dataflow"
    suggestion: ClassVar[str] = "`profile cpu on;` measures where the time of commits goes"


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
