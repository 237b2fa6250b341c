"""WITH RECURSIVE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .queries import Names, Query, Source, Translator
from .scopes import Capture

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def recursive(
    translator: Translator,
    node: Expression,
    name: str,
    columns: Sequence[str],
    names: Names,
    capture: Capture | None,
) -> Source | Query:
    """A query of WITH RECURSIVE that reads itself. Raises SqlError."""
    translator.places.refuse("WITH RECURSIVE", node)
