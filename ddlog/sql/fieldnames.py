"""The names of fields of this language for those of columns and fields of SQL."""

from __future__ import annotations

from functools import cache

from ..syntax.lexer import RESERVED
from ..syntax.tables import tables


@cache
def _reserved() -> frozenset[str]:
    """The words that cannot name columns of relations, and those of the grammar that could be taken amiss."""
    words = {word for word in tables().words if word.isidentifier()} - {"initial"}
    return RESERVED | words | {"aggregate", "group_all_by", "group_by", "key", "primary"}


def field_name(name: str) -> str:
    """The name of a relation's column for that of a table's."""
    kept = "".join(e if e.isascii() and (e.isalnum() or e == "_") else "_" for e in name) or "col"
    if not (kept[0].islower() or kept[0] == "_"):
        kept = f"c{kept}"
    return f"{kept}_" if kept in _reserved() or kept == "_" else kept
