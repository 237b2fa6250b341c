"""What can be wrong with fact files and with the places that output goes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class BadFact(Diagnostic):
    """Something in a fact file; `row` counts rows where a file has no lines."""

    title: ClassVar[str] = "{where}{problem}"
    path: str
    problem: str
    row: int = 0

    @property
    def where(self) -> str:
        """The place in words, for files that have no lines."""
        if self.span is not None:
            return ""
        return f"{self.path}: row {self.row}: " if self.row else f"{self.path}: "


@dataclass(frozen=True, slots=True)
class NoSuchDirectory(Diagnostic):
    """The input directory is not there."""

    title: ClassVar[str] = "{path}: there is no such directory"
    path: str


@dataclass(frozen=True, slots=True)
class NotADirectory(Diagnostic):
    """A file where a directory should be."""

    title: ClassVar[str] = "{path}: this is a file, not a directory"
    path: str


@dataclass(frozen=True, slots=True)
class DirectoryForFile(Diagnostic):
    """A directory where a file should be."""

    title: ClassVar[str] = "{path}: this is a directory, not a file"
    suggestion: ClassVar[str] = "a folder of part files has the relation's name, without an ending"
    path: str


@dataclass(frozen=True, slots=True)
class NotAPartFile(Diagnostic):
    """A folder of part files has something else in it."""

    title: ClassVar[str] = "{path}: this is no file of facts"
    suggestion: ClassVar[str] = "part files end in {formats}; the text forms also in .gz"
    path: str
    formats: str


@dataclass(frozen=True, slots=True)
class CannotRead(Diagnostic):
    """The operating system refuses to read."""

    title: ClassVar[str] = "{path}: cannot be read: {reason}"
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class CannotWrite(Diagnostic):
    """The operating system refuses to write."""

    title: ClassVar[str] = "{path}: cannot be written: {reason}"
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class NotAnInputRelation(Diagnostic):
    """A fact file for an internal or output relation."""

    title: ClassVar[str] = "{path}: {relation} is not an input relation"
    suggestion: ClassVar[str] = "declare it as `input relation {relation}(…)`, or remove the file"
    path: str
    relation: str


@dataclass(frozen=True, slots=True)
class MisnamedFile(Diagnostic):
    """A fact file for a relation that the program does not have."""

    title: ClassVar[str] = "{path}: the program has no input relation {relation}"
    path: str
    relation: str
    near: str | None

    @property
    def hint(self) -> str:
        """The relation that was perhaps meant."""
        return f"did you mean `{self.near}`?" if self.near else ""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class NotTabSeparable(Diagnostic):
    """A string with a tab or a line end, for a format that has no quotes."""

    title: ClassVar[str] = "relation {relation}: the value {value!r} cannot be written tab-separated"
    suggestion: ClassVar[str] = "use --format csv or jsonl"
    relation: str
    value: str
