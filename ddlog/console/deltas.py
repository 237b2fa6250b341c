"""`--delta`: which commits print and write their changes."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Delta: TypeAlias = Literal["all", "asked", "none"]
"""All commits, those of `commit dump_changes`, or none."""

DELTAS: tuple[Delta, ...] = get_args(Delta)


def shows(delta: Delta, asked: bool) -> bool:
    """Whether a commit shows its changes; `asked` says that it is `commit dump_changes`."""
    return delta == "all" or (delta == "asked" and asked)
