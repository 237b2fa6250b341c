"""Errors about the state of a session, about faults in rules, and about packages that are missing."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared()
class InTransaction(Diagnostic):
    """An operation that a session allows only between transactions."""

    title: ClassVar[str] = "there are changes that are neither committed nor rolled back"
    suggestion: ClassVar[str] = "commit or roll back first"


@declared()
class NoFurtherChanges(Diagnostic):
    """A change after a load with `static=True`."""

    title: ClassVar[str] = "this session was loaded as static: it takes no changes"


@declared()
class SessionClosed(Diagnostic):
    """A use of a session after its end."""

    title: ClassVar[str] = "the session is closed"


@declared()
class FaultInRule(Diagnostic):
    """An expression of a rule that failed on a row."""

    title: ClassVar[str] = "{problem}, in the rule `{shown}`{valuation}"
    problem: str
    rule: str
    row: str

    @property
    def shown(self) -> str:
        """The rule on one line."""
        return " ".join(self.rule.split())

    @property
    def valuation(self) -> str:
        """The row on which the rule failed."""
        return f", for {self.row}" if self.row else ""


@declared()
class FaultInView(Diagnostic):
    """An expression of a view of SQL that failed on a row."""

    title: ClassVar[str] = "{problem}, in this view"
    problem: str


@declared()
class NotInstalled(Diagnostic):
    """An optional package that is not installed."""

    title: ClassVar[str] = "{package} is not installed"
    suggestion: ClassVar[str] = "pip install {package}"
    package: str


@declared()
class NoTable(Diagnostic):
    """Values that a table of Arrow or pandas cannot hold."""

    title: ClassVar[str] = "{problem}"
    problem: str
