"""Constructs of the language that are read but not yet carried out."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class Unsupported(Diagnostic):
    """A construct that is understood but not carried out."""

    title: ClassVar[str] = "{what} not supported"
    what: str
