"""Errors about fact files and about the places of output."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared()
class BadFact(Diagnostic):
    """A fault in a fact file; `row` counts rows if the file has no lines."""

    title: ClassVar[str] = "{where}{problem}"
    path: str
    problem: str
    row: int = 0

    @property
    def where(self) -> str:
        """The place in words, for files without lines."""
        if self.span is not None:
            return ""
        return f"{self.path}: row {self.row}: " if self.row else f"{self.path}: "


@declared()
class NoSuchDirectory(Diagnostic):
    """An input directory that does not exist."""

    title: ClassVar[str] = "{path}: there is no such directory"
    path: str


@declared()
class NotADirectory(Diagnostic):
    """A file where a directory should be."""

    title: ClassVar[str] = "{path}: this is a file, not a directory"
    path: str


@declared()
class DirectoryForFile(Diagnostic):
    """A directory where a file should be."""

    title: ClassVar[str] = "{path}: this is a directory, not a file"
    suggestion: ClassVar[str] = "a folder of part files has the relation's name, without an ending"
    path: str


@declared()
class NotAPartFile(Diagnostic):
    """A file in a folder of part files that holds no facts."""

    title: ClassVar[str] = "{path}: this is not a file of facts"
    suggestion: ClassVar[str] = "part files end in {formats}; the text forms may also end in .gz"
    path: str
    formats: str


@declared()
class CannotRead(Diagnostic):
    """A file that the operating system does not let us read."""

    title: ClassVar[str] = "{path}: cannot be read: {reason}"
    path: str
    reason: str


@declared()
class CannotWrite(Diagnostic):
    """A file that the operating system does not let us write."""

    title: ClassVar[str] = "{path}: cannot be written: {reason}"
    path: str
    reason: str


@declared()
class NotAnInputRelation(Diagnostic):
    """A fact file for an internal or output relation."""

    title: ClassVar[str] = "{path}: {relation} is not an input relation"
    suggestion: ClassVar[str] = "declare it as `input relation {relation}(…)`, or remove the file"
    path: str
    relation: str


@declared()
class MisnamedFile(Diagnostic):
    """A fact file without a relation in the program."""

    title: ClassVar[str] = "{path}: the program has no input relation {relation}"
    path: str
    relation: str
    near: str | None

    @property
    def hint(self) -> str:
        """The relation that was perhaps meant."""
        return f"did you mean `{self.near}`?" if self.near else ""


@declared()
class SeveralFiles(Diagnostic):
    """Two files for one relation."""

    title: ClassVar[str] = "there are several files for the relation {relation}: {listed}"
    suggestion: ClassVar[str] = "to read them all, put them in a folder called {relation}"
    relation: str
    paths: tuple[str, ...]

    @property
    def listed(self) -> str:
        """The files."""
        return ", ".join(self.paths)


@declared()
class NotTabSeparable(Diagnostic):
    """A string with a tab or a line end, for a format without quotes."""

    title: ClassVar[str] = "relation {relation}: the value {value!r} cannot be written tab-separated"
    suggestion: ClassVar[str] = "use --format csv or jsonl"
    relation: str
    value: str
