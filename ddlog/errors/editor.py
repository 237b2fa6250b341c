"""Errors of the editor's server."""

from __future__ import annotations

from .diagnostics import Diagnostic


class CannotRename(Diagnostic):
    """A renaming of a word that is no name of the program's own, or to such a word."""

    title = "{name} cannot be the old or new name in a renaming"
    suggestion = (
        "a name of the program can be renamed: relations, types and constructors begin with a capital "
        "letter, functions and variables with a small one"
    )

    name: str


class NameIsTaken(Diagnostic):
    """A renaming after which the name would stand for something else."""

    title = "{name} has another meaning already where it would stand"

    name: str


class BreaksProgram(Diagnostic):
    """A renaming after which the program has an error that it did not have before."""

    title = "with the name {name} the program would have an error: {error}"

    name: str
    error: str
