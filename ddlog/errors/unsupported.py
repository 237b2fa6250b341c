"""Constructs of the language that are read but not yet carried out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .diagnostics import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported(Diagnostic):
    """A construct that is understood but not carried out."""

    title: ClassVar[str] = "{what} not supported"
    what: str
