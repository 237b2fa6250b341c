"""Errors about changes of input relations: rows, tables, primary keys."""

from __future__ import annotations

from .diagnostics import Diagnostic, counted


class NotAnInput(Diagnostic):
    """A change of a relation that rules compute."""

    title = "{name} is not an input relation: only input relations can be changed"
    suggestion = "the input relations are {inputs:%|none}"
    name: str
    role: str
    inputs: tuple[str, ...]


class NothingToClear(Diagnostic):
    """`clear` of a stream."""

    title = "{name} is a stream and cannot be cleared: its elements are gone after each transaction"
    suggestion = "`rollback` drops the elements of this transaction"
    name: str


class BadValue(Diagnostic):
    """A value that does not have the type of its column."""

    title = "{relation}.{column}: {problem}"
    relation: str
    column: str
    problem: str


class BadTable(Diagnostic):
    """A table with other columns than the relation, or with a value of the wrong type."""

    title = "the table for {relation}{row:, row %}: {problem}"
    relation: str
    problem: str
    row: int = 0


class BadKey(Diagnostic):
    """A value that does not have the type of the primary key."""

    title = "the primary key of {relation}: {problem}"
    relation: str
    problem: str


class WrongWidth(Diagnostic):
    """A row with too few or too many values."""

    title = "a row of {relation} has {expected}, found {given}"
    relation: str
    given: int
    columns: tuple[str, ...]

    @property
    def expected(self) -> str:
        """The number of values, and the columns."""
        return f"{counted(len(self.columns), 'value')} ({', '.join(self.columns)})"


class WrongColumns(Diagnostic):
    """A row by column name with an unknown name, or without a column."""

    title = "a row of {relation} {difference}"
    suggestion = "the columns are {columns:%|none}"
    relation: str
    unknown: tuple[str, ...]
    missing: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def difference(self) -> str:
        """The first name that is wrong."""
        return (
            f"has no column {self.unknown[0]!r}" if self.unknown else f"lacks the column {self.missing[0]!r}"
        )


class NoRow(Diagnostic):
    """A value that is not a row at all."""

    title = "{shown} is not a row of {relation}"
    relation: str
    shown: str
    columns: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The forms of a row."""
        form = f"a row is a tuple, or a mapping by name, of {', '.join(self.columns) or 'none'}"
        return f"{form}; pass several rows as `*rows`, or as a table to `insert_table`"


class NoPrimaryKey(Diagnostic):
    """A change by key of a relation without a primary key."""

    title = "{relation} has no primary key"
    relation: str


class KeyExists(Diagnostic):
    """An insertion of a key that the relation already has."""

    title = "{relation} already has a row with the key {key}"
    relation: str
    key: str


class KeyMissing(Diagnostic):
    """A change of a key that the relation does not have."""

    title = "{relation} has no row with the key {key}"
    relation: str
    key: str


class DifferentValue(Diagnostic):
    """A deletion of a row, where the relation has another row with the same key."""

    title = "the row of {relation} with the key {key} differs from the row to delete"
    relation: str
    key: str


class CannotModify(Diagnostic):
    """A mutation that does not fit the present value."""

    title = "the row of {relation} cannot be modified: {problem}"
    relation: str
    problem: str
