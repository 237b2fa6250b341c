"""Errors of `ddlog test` and `ddlog init`."""

from __future__ import annotations

from .diagnostics import Diagnostic


class NoTests(Diagnostic):
    """A search for tests in folders that have none."""

    title = "there is no test in {paths}"
    suggestion = (
        "a test is a folder `expected` beside a program; `ddlog test --update PROG.dl` makes one of what the "
        "program gives now"
    )

    paths: str


class NotOneProgram(Diagnostic):
    """Expected files beside several programs, or beside none."""

    title = "{folder} has {number} programs beside its expected files"
    suggestion = "name the one that is tested {name}"

    folder: str
    number: int
    name: str


class AlreadyThere(Diagnostic):
    """A new program in the place of a file or folder."""

    title = "{path} is already there"
    suggestion = "choose a name for which there is no file or folder yet"

    path: str


class NotAProjectName(Diagnostic):
    """A name for a new program that a relation could not have."""

    title = "{name!r} cannot name a program"
    suggestion = "letters, digits and _ can, with a letter first"

    name: str
