"""Errors about fact files and about the places of output."""

from __future__ import annotations

from .diagnostics import Diagnostic


class BadFact(Diagnostic):
    """A fault in a fact file; without a span, of the whole file."""

    title = "{where}{problem}"
    path: str
    problem: str

    @property
    def where(self) -> str:
        """The file, if no span says it."""
        return f"{self.path}: " if self.span is None else ""


class NoSuchDirectory(Diagnostic):
    """An input directory that does not exist."""

    title = "{path}: there is no such directory"
    path: str


class NotADirectory(Diagnostic):
    """A file where a directory should be."""

    title = "{path}: this is a file, not a directory"
    path: str


class DirectoryForFile(Diagnostic):
    """A directory where a file should be."""

    title = "{path}: this is a directory, not a file"
    suggestion = "a folder of part files has the relation's name, without an ending"
    path: str


class NotAPartFile(Diagnostic):
    """A file in a folder of part files that holds no facts."""

    title = "{path}: this is not a file of facts"
    suggestion = "part files end in {formats}; the text forms may also end in .gz"
    path: str
    formats: str


class CannotRead(Diagnostic):
    """A file that the operating system does not let us read."""

    title = "{path}: cannot be read: {reason}"
    path: str
    reason: str


class CannotWrite(Diagnostic):
    """A file that the operating system does not let us write."""

    title = "{path}: cannot be written: {reason}"
    path: str
    reason: str


class NotAnInputRelation(Diagnostic):
    """A fact file for an internal or output relation."""

    title = "{path}: {relation} is not an input relation"
    suggestion = "declare it as `input relation {relation}(…)`, or remove the file"
    path: str
    relation: str


class MisnamedFile(Diagnostic):
    """A fact file without a relation in the program."""

    title = "{path}: the program has no input relation {relation}"
    suggestion = "{near:did you mean `%`?}"
    path: str
    relation: str
    near: str | None


class SeveralFiles(Diagnostic):
    """Two files for one relation."""

    title = "there are several files for the relation {relation}: {paths}"
    suggestion = "to read them all, put them in a folder called {relation}"
    relation: str
    paths: tuple[str, ...]


class NotTabSeparable(Diagnostic):
    """A string with a tab or a line end, for a format without quotes."""

    title = "relation {relation}: the value {value!r} cannot be written tab-separated"
    suggestion = "use --format csv or jsonl"
    relation: str
    value: str
