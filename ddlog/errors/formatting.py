"""Errors of `ddlog fmt`."""

from __future__ import annotations

from .diagnostics import Diagnostic


class WouldChange(Diagnostic):
    """A file of which the formatter would have changed more than spaces."""

    title = "{file} cannot be formatted without a change of its tokens, and stays as it is"
    suggestion = "this is a fault of ddlog: please report it with the file"
    file: str


class NotFormatted(Diagnostic):
    """A file that the formatter does not take."""

    title = "{file} is not formatted: {reason}"
    file: str
    reason: str
