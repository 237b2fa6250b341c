"""Errors in command files and change files."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared()
class BadCommand(Diagnostic):
    """A command or a line with the wrong form."""

    title: ClassVar[str] = "{problem}"
    problem: str


@declared()
class UnknownCommand(Diagnostic):
    """A word that begins no command."""

    title: ClassVar[str] = "there is no command `{name}`"
    name: str
    near: str | None
    known: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The command that was perhaps meant, or the names of all commands."""
        return f"did you mean `{self.near}`?" if self.near else "the commands are " + ", ".join(self.known)


@declared()
class NoTimely(Diagnostic):
    """`profile timely`."""

    title: ClassVar[str] = "`profile timely` has nothing to measure: programs do not run on timely dataflow"
    suggestion: ClassVar[str] = "`profile cpu on;` measures the time of commits"


@declared()
class NoTransaction(Diagnostic):
    """A command outside a transaction that needs one."""

    title: ClassVar[str] = "`{name}` outside a transaction"
    suggestion: ClassVar[str] = "begin one with `start;`"
    name: str


@declared()
class TransactionOpen(Diagnostic):
    """A transaction inside a transaction."""

    title: ClassVar[str] = "`start` inside a transaction: transactions do not nest"
    suggestion: ClassVar[str] = "end the open transaction with `commit;` or `rollback;`"
