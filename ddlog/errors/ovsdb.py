"""Errors about schemas of OVSDB."""

from __future__ import annotations

from .diagnostics import Diagnostic


class NotJson(Diagnostic):
    """A text that is not JSON."""

    title = "this is not JSON: {reason}"
    reason: str


class MemberTwice(Diagnostic):
    """An object of JSON with two members of one name."""

    title = "the object has two members `{name}`"
    name: str


class WrongForm(Diagnostic):
    """A value of JSON of another form than the schema needs."""

    title = "{what} must be {wanted}"
    what: str
    wanted: str


class NoMember(Diagnostic):
    """An object without a member that it must have."""

    title = "{what} has no member `{name}`"
    what: str
    name: str


class UnknownMember(Diagnostic):
    """A member that an object of a schema cannot have."""

    title = "{what} cannot have a member `{name}`"
    what: str
    name: str


class UnknownAtom(Diagnostic):
    """A type that OVSDB does not have."""

    title = "there is no type `{name}`"
    suggestion = "the types are integer, real, boolean, string and uuid"
    name: str


class BadBounds(Diagnostic):
    """A number of elements that no column can have."""

    title = "a column has from {least} to {most} elements: expected {expected}"
    least: str
    most: str
    expected: str


class UnknownTable(Diagnostic):
    """A reference or an option that names a table that the schema does not have."""

    title = "{where}: there is no table `{name}`"
    where: str
    name: str


class NoSuchColumn(Diagnostic):
    """An option that names a column that its table does not have."""

    title = "{option}: table `{table}` has no column `{name}`"
    option: str
    table: str
    name: str


class NotAColumn(Diagnostic):
    """An option whose value should name a column."""

    title = "{option} {value}: expected TABLE.COLUMN"
    option: str
    value: str


class NotOutput(Diagnostic):
    """An option for a table that is no output."""

    title = "{option}: table `{table}` is not an output"
    suggestion = "add {needed} {table}"
    option: str
    table: str
    needed: str = "--output-table"


class ReadOnlyKey(Diagnostic):
    """A key of an output table among columns that the program does not write."""

    title = "--key {table}.{name}: the program does not write this column"
    table: str
    name: str


class KeyOfReferences(Diagnostic):
    """A key of an output table whose values are collections of references."""

    title = "--key {table}.{name}: a collection of references cannot be a key"
    table: str
    name: str


class ReferenceInKey(Diagnostic):
    """A map whose keys refer to rows of an output table."""

    title = "column `{name}`: the keys of a map cannot refer to the output table `{table}`"
    name: str
    table: str


class NameTaken(Diagnostic):
    """Two relations, or two columns of one, that would have the same name."""

    title = "`{first}` and `{second}` would both be `{name}` in the module"
    suggestion = "give one another name: --rename {second}=NAME"
    first: str
    second: str
    name: str


class NotAName(Diagnostic):
    """A new name that the language does not take."""

    title = "--rename {old}={new}: {what} begins with {letter}, and has letters, digits and _"
    old: str
    new: str
    what: str
    letter: str
