"""Constructs of the language that are read but not yet carried out."""

from __future__ import annotations

from .diagnostics import Diagnostic


class Unsupported(Diagnostic):
    """A construct that is understood but not carried out."""

    title = "{what} not supported"
    what: str
