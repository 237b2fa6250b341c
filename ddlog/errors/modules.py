"""Errors about modules and imports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..diagnostics import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownModule(Diagnostic):
    """A name with a prefix that is no module here."""

    title: ClassVar[str] = "Unknown module {name}.  Did you forget to import it?"
    name: str
