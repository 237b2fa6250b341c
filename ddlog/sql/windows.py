"""Window functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import Block


def attach_windows(block: Block, nodes: Sequence[Expression]) -> None:
    """Computes the window functions of expressions. Raises SqlError."""
    for node in nodes:
        for each in node.find_all(sql.Window):
            block.places.refuse("a window function", each)
