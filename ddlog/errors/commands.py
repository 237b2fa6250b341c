"""Errors in command files and change files."""

from __future__ import annotations

from .diagnostics import Diagnostic
from .nearest import meant_of


class BadCommand(Diagnostic):
    """A command or a line with the wrong form."""

    title = "{problem}"
    problem: str


class UnfinishedCommand(Diagnostic):
    """A command that the end of its file interrupts."""

    title = "the text ends before this command does: {problem}"
    problem: str


class UnknownCommand(Diagnostic):
    """A word that begins no command."""

    title = "there is no command `{name}`"
    name: str
    known: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The command that was perhaps meant, or the names of all commands."""
        return meant_of(self.name, self.known, "the commands")


class NoTimely(Diagnostic):
    """`profile timely`."""

    title = "`profile timely` has nothing to measure: programs do not run on timely dataflow"
    suggestion = "`profile cpu on;` measures the time of commits"


class NoTransaction(Diagnostic):
    """A command outside a transaction that needs one."""

    title = "`{name}` outside a transaction"
    suggestion = "begin one with `start;`, in SQL with `BEGIN`"
    name: str


class TransactionOpen(Diagnostic):
    """A transaction inside a transaction."""

    title = "`start` inside a transaction: transactions do not nest"
    suggestion = "end the open transaction with `commit;` or `rollback;`"
