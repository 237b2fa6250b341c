"""What explanations ask of a session: its program, and its relations as of the last commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from ..core import CheckedProgram, CheckedQuery, Relation
from ..errors.source import Span
from ..values.rows import Row

Fact: TypeAlias = tuple[str, Row]
"""A row of a relation."""


class Held(Protocol):
    """The relations of a session. All methods raise DDlogError."""

    @property
    def program(self) -> CheckedProgram:
        """The program."""

    def valuations(
        self, program: CheckedProgram, query: CheckedQuery, given: Mapping[str, Sequence[Row]]
    ) -> Iterable[Row]:
        """The valuations of the variables of a query. The program has the relations whose few rows are
        `given`, too."""

    def holds(self, relation: str, rows: Sequence[Row]) -> list[bool]:
        """Which rows a relation has."""

    def births(self, relation: str, rows: Sequence[Row]) -> Sequence[int] | None:
        """For each row that a relation has, the height of its least proof; None if that is not at hand."""

    def place(self, span: Span) -> Span:
        """The place that the user knows for a place in the program's rules."""


def is_given(relation: Relation) -> bool:
    """Whether the rows of a relation are given, and not derived."""
    return relation.role in ("input", "delayed", "earlier") or relation.window is not None
