"""The lines of rows, for people and for files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from .views import RelationView, Result

RowLines: TypeAlias = Callable[[Sequence[RelationView | Result], bool], Iterable[str]]
"""The lines of tables; of each under its name, if they are named."""


def record_lines(tables: Sequence[RelationView | Result], named: bool) -> Iterator[str]:
    """The records of tables; if they are `named`, of each its name, its records and an empty line."""
    for table in tables:
        if named:
            yield f"{table.relation.name}:"
        yield from table.records()
        if named:
            yield ""
