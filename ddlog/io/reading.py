"""How a file is read: as what it is written, who is told of it, and what becomes of rows that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .dialects import PLAIN, Dialect
from .faults import RefuseFault


@dataclass(frozen=True, slots=True)
class Reading:
    """The dialect of a file, and who is told notes about it. Wrong rows are refused; without `refuse` they
    are errors."""

    dialect: Dialect = PLAIN
    note: Callable[[str], None] = lambda _: None
    refuse: RefuseFault | None = None


PLAINLY = Reading()
