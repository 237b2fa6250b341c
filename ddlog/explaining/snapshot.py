"""The questions of explanations to a session: its program, and its relations as of the last commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from ..core import CheckedProgram, CheckedQuery, Relation, Stratum
from ..values.rows import Row

if TYPE_CHECKING:
    from .oneround import OneRound

T = TypeVar("T")

Fact: TypeAlias = tuple[str, Row]
"""A row of a relation."""


class _Any:
    """The type of ANY."""

    def __repr__(self) -> str:
        return "ANY"


ANY = _Any()
"""Stands in a pattern for a column that may have any value."""


class HeldRelations(Protocol):
    """The relations of a session. All methods raise DDlogError."""

    @property
    def program(self) -> CheckedProgram:
        """The program."""

    def valuations(
        self,
        program: CheckedProgram,
        query: CheckedQuery,
        given: Mapping[str, Sequence[Row]],
        most: int | None = None,
    ) -> Iterable[Row]:
        """The valuations of the variables of a query, at most so many. The program has the relations whose
        few rows are `given`, too."""

    def holds(self, relation: str, rows: Sequence[Row]) -> list[bool]:
        """For each row, whether the relation has it."""

    def weights(self, relation: str, rows: Sequence[Row]) -> list[int]:
        """The weight of each row in a relation."""

    def births(self, relation: str, rows: Sequence[Row]) -> tuple[Sequence[int], bool] | None:
        """The height of a proof of each row that a relation has, and whether the heights are the least; None
        if the engine keeps no heights."""

    def replay(self, stratum: Stratum) -> Replay | None:
        """The rounds of a stratum, run again; None if a rule of it has an effect, which would come again."""

    def attempt(
        self, insert: Sequence[Fact], delete: Sequence[Fact], look: Callable[[], T], otherwise: T
    ) -> T:
        """The result of `look` in the session with some facts inserted and others deleted. The change is
        taken back afterwards. If it is an error, the result is `otherwise`."""

    @property
    def first(self) -> bool:
        """Whether the last commit was the first, so that nothing held before it."""

    def before(self, look: Callable[[], T]) -> T:
        """The result of `look` in the session as it was before the last commit, which was not the first."""

    @property
    def can_attempt(self) -> bool:
        """Whether changes can be taken back without a trace."""


class Replay(Protocol):
    """The rounds of a stratum. All methods raise DDlogError."""

    @property
    def of(self) -> OneRound:
        """The program of a round."""

    @property
    def last(self) -> int:
        """The number of the last round."""

    def at(self, round: int) -> HeldRelations:
        """The relations of a round."""

    def since(self, relation: str, row: Row, round: int) -> int | None:
        """The round since which a row has been there in a round; None if it is not there then."""


def is_given(relation: Relation) -> bool:
    """Whether the rows of a relation are given, and not derived."""
    return relation.role in ("input", "delayed", "earlier") or relation.window is not None


def is_translated(program: CheckedProgram) -> bool:
    """Whether some of the rules were translated from SQL."""
    return any(each.span.source.origins is not None for each in program.relations.values())
