"""Errors about the options of places."""

from __future__ import annotations

from .diagnostics import Diagnostic
from .nearest import meant_of


class NoPlaceOption(Diagnostic):
    """A name that no option of places has."""

    title = "{place}: a place has no option `{name}`"
    name: str
    place: str
    known: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The option that was perhaps meant, or all of them."""
        return meant_of(self.name, self.known, "the options")


class BadPlaceOption(Diagnostic):
    """An option of a place with a value of the wrong form."""

    title = "`{name}={value}`: expected {expected}"
    name: str
    value: str
    expected: str


class OptionOfOtherFormat(Diagnostic):
    """An option that the format of a file does not have."""

    title = "{path}: the option `{name}` is for files that end in {formats}"
    path: str
    name: str
    formats: str


class UnknownColumn(Diagnostic):
    """A mapped column that the relation does not have."""

    title = "{relation} has no column {column}"
    relation: str
    column: str
    columns: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The column that was perhaps meant, or all of them."""
        return meant_of(self.column, self.columns, "the columns")
