"""Errors about options of the command line and of a session."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared()
class CannotBeCombined(Diagnostic):
    """Two options that exclude each other."""

    title: ClassVar[str] = "{option} cannot be combined with {other}{because}"
    option: str
    other: str
    reason: str = ""

    @property
    def because(self) -> str:
        """The reason, after a colon."""
        return f": {self.reason}" if self.reason else ""


@declared()
class OptionNeeded(Diagnostic):
    """An option that has a meaning only with another one."""

    title: ClassVar[str] = "{option} needs {needed}: {reason}"
    option: str
    needed: str
    reason: str


@declared()
class BadOptionValue(Diagnostic):
    """An option with a value of the wrong form."""

    title: ClassVar[str] = "{option} {value}: expected {expected}"
    option: str
    value: str
    expected: str


@declared()
class NoProfile(Diagnostic):
    """A file that should hold a profile, and does not."""

    title: ClassVar[str] = "{file} cannot be read as a profile: {reason}"
    suggestion: ClassVar[str] = "`ddlog run --profile FILE.json` writes one"
    file: str
    reason: str


@declared()
class EmptyInput(Diagnostic):
    """`--input` with an empty value."""

    title: ClassVar[str] = "--input needs a place: a directory, a pattern, a URL or REL=PLACE"


@declared()
class OutputIsProgram(Diagnostic):
    """A translation that would replace the program that is translated."""

    title: ClassVar[str] = "{path} is the program itself"
    suggestion: ClassVar[str] = "give the translation another name"
    path: str


@declared()
class NoSuchEngine(Diagnostic):
    """The name of an engine that does not exist."""

    title: ClassVar[str] = "there is no engine `{engine}`"
    suggestion: ClassVar[str] = "the engines are auto, in-process and spark"
    engine: str


@declared()
class WorkersAreSettled(Diagnostic):
    """A number of workers for a Spark whose place already settles the number."""

    title: ClassVar[str] = "--workers {workers}: the place of Spark settles the number of workers ({place})"
    suggestion: ClassVar[str] = "leave out --workers; on this machine, --master 'local[N]' has N of them"
    workers: int
    place: str
