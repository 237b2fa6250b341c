"""Errors in a module of SQL, and constructs of SQL that cannot be kept up."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class SqlSyntax(Diagnostic):
    """A text that is not SQL."""

    title: ClassVar[str] = "this is not SQL: {reason}"
    reason: str


@declared(kw_only=True)
class NotSupported(Diagnostic):
    """A construct of SQL that has no counterpart here."""

    title: ClassVar[str] = "{what} is not supported{reason}"
    what: str
    why: str = ""

    @property
    def reason(self) -> str:
        """The reason, after a colon."""
        return f": {self.why}" if self.why else ""


@declared(kw_only=True)
class UnknownInSql(Diagnostic):
    """A name that nothing declares."""

    title: ClassVar[str] = "unknown {what} `{name}`"
    what: str
    name: str
    near: str | None = None

    @property
    def hint(self) -> str:
        """The name that was perhaps meant."""
        return f"did you mean `{self.near}`?" if self.near else self.help


@declared(kw_only=True)
class Ambiguous(Diagnostic):
    """A column that several tables have."""

    title: ClassVar[str] = "column `{name}` is ambiguous: {tables} have it"
    suggestion: ClassVar[str] = "write the table before it: `{first}.{name}`"
    name: str
    tables: str
    first: str


@declared(kw_only=True)
class TwiceInSql(Diagnostic):
    """A second declaration of a name."""

    title: ClassVar[str] = "{what} `{name}` is declared twice"
    what: str
    name: str


@declared(kw_only=True)
class WrongTypes(Diagnostic):
    """Values of types for which an operation is not defined."""

    title: ClassVar[str] = "{what} is not defined for {types}"
    what: str
    types: str


@declared(kw_only=True)
class WrongSql(Diagnostic):
    """A construct that means nothing where it stands."""

    title: ClassVar[str] = "{what}"
    what: str


@declared(kw_only=True)
class NoParser(Diagnostic):
    """SQL without the package that parses it."""

    title: ClassVar[str] = "SQL needs the package sqlglot"
    suggestion: ClassVar[str] = "install it: pip install 'ddlog[sql]'"
