"""A version of a recursion's relation: some of its tables."""

from __future__ import annotations

from dataclasses import dataclass

from .spine import Spine
from .tables import Table


@dataclass(frozen=True, slots=True)
class TablesView:
    """Tables of one shape, with iterations. See `joins.View`."""

    spine: Spine
    tables: tuple[Table, ...]
    timed: bool = True

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    def contents(self) -> str:
        return self.spine.of(self.tables)

    def arranged(self, positions: tuple[int, ...]) -> str:
        return self.spine.arranged_of(self.tables, positions)

    def present(self, aligned: bool = False) -> str:
        raise ValueError("a relation cannot be negated inside its own recursion")
