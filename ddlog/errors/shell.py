"""Errors about the commands that only the REPL has."""

from __future__ import annotations

from .diagnostics import Diagnostic


class FileIsThere(Diagnostic):
    """A file that `save` would overwrite."""

    title = "{path} is there already"
    suggestion = "give another name"
    path: str


class NoEditor(Diagnostic):
    """An editor that cannot be started, or that failed: nothing is taken from it."""

    title = "the editor `{editor}` gave no text: {reason}"
    suggestion = "EDITOR=… names another one"
    editor: str
    reason: str


class NoRule(Diagnostic):
    """A text that is neither a fact nor a rule, and would be a query."""

    title = "this is no rule and no fact: these end with `.`"
    suggestion = "`? {text}` asks"
    text: str


class NothingLoaded(Diagnostic):
    """A file of which `load` cannot tell what it is."""

    title = "`load` needs the name of a file"
    suggestion = "load Edge.csv; load Edge=data.csv; load rules.dl; load day2.dat;"
