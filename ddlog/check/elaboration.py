"""A checked program that queries can be checked against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import CheckedProgram

if TYPE_CHECKING:
    from ..names.environment import Environment


@dataclass(frozen=True, slots=True)
class Elaborated(CheckedProgram):
    """A checked program. `declarations` gives the declarations that queries may name; `files` are the
    contents of the files in which imports were looked for, None for those that do not exist."""

    declarations: Callable[[], Environment] = field(compare=False, repr=False, kw_only=True)
    files: Mapping[Path, bytes | None] = field(compare=False, repr=False, kw_only=True)
