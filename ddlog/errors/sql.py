"""Errors in a module of SQL, and constructs of SQL that cannot be kept up."""

from __future__ import annotations

from .diagnostics import Diagnostic


class SqlSyntax(Diagnostic):
    """A text that is not SQL."""

    title = "this is not SQL: {reason}"
    reason: str


class SqlTooDeep(Diagnostic):
    """A statement that is nested too deeply."""

    title = "this is nested too deeply: a statement has at most {limit} levels"
    suggestion = "make a part of it a view; a chain of operators has a level for each of them"
    limit: int


class NotSupported(Diagnostic):
    """A construct of SQL that has no counterpart here."""

    title = "{what} is not supported{why:: %}"
    what: str
    why: str = ""


class AmbiguousInSql(Diagnostic):
    """A column that several tables have."""

    title = "column `{name}` is ambiguous: {tables} have it"
    suggestion = "write the table before it: `{first}.{name}`"
    name: str
    tables: str
    first: str


class TwiceInSql(Diagnostic):
    """A second declaration of a name."""

    title = "{what} `{name}` is declared twice"
    what: str
    name: str


class WrongTypes(Diagnostic):
    """Values of types for which an operation is not defined."""

    title = "{what} is not defined for {types}"
    what: str
    types: str


class WrongSql(Diagnostic):
    """A construct that means nothing where it stands."""

    title = "{what}"
    what: str


class NoParser(Diagnostic):
    """SQL without the package that parses it."""

    title = "SQL needs the package sqlglot"
    suggestion = "install it: pip install 'ddlog[sql]'"


class OneStatement(Diagnostic):
    """A text of no statement, or of several, where one is carried out."""

    title = "there are {count} statements here, and one is carried out at a time"
    count: int


class NoParameter(Diagnostic):
    """A parameter of a statement without a value."""

    title = "the parameter {shown} has no value"
    shown: str


class BadSqlParameter(Diagnostic):
    """A value that SQL does not have, as a parameter."""

    title = "the parameter {shown} cannot be a value of Python's type {type}"
    shown: str
    type: str


class NullInColumn(Diagnostic):
    """A row with NULL in a column that is NOT NULL."""

    title = "column `{column}` of `{table}` must not be NULL, in the row ({row})"
    table: str
    column: str
    row: str


class MatchedTwice(Diagnostic):
    """A row of a table that several rows of a MERGE match."""

    title = "MERGE changes each row of `{table}` at most once, and several rows match the row ({row})"
    table: str
    row: str


class NoSavepoint(Diagnostic):
    """A return to a savepoint that there is not."""

    title = "this transaction has no savepoint `{name}`"
    name: str


class NotAView(Diagnostic):
    """DROP VIEW, or CREATE OR REPLACE VIEW, of a relation that is none."""

    title = "`{name}` is no view, but an {role} relation"
    name: str
    role: str


class NoRowToExplain(Diagnostic):
    """EXPLAIN WHY of a query without rows."""

    title = "the query has no row to explain"
    suggestion = "`why not` says what a row lacks"


class FactStays(Diagnostic):
    """A statement that deletes or changes a row that the program states."""

    title = "the row ({row}) of `{table}` is a fact of the program, which stays"
    suggestion = "insert it by an update, or by `execute`, instead of in the program"
    table: str
    row: str
