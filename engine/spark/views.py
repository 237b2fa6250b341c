"""The versions of a relation that a join reads, and the rows that it starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .spine import Spine
from .sqltext import consolidated, sourced


class View(Protocol):
    """One version of a relation's contents, as look-ups see it."""

    @property
    def rows(self) -> int:
        """An upper bound of the number of rows."""

    @property
    def timed(self) -> bool:
        """Whether rows have iterations."""

    def contents(self) -> str:
        """A table expression: columns, weight `w`, and `t` if timed."""

    def arranged(self, positions: tuple[int, ...]) -> str:
        """The contents, partitioned by the columns at these positions."""

    def present(self, aligned: bool = False) -> str:
        """A table expression for the rows present, each once; partitioned by the row if `aligned`."""


@dataclass(frozen=True, slots=True)
class SpineView:
    """A spine, with this epoch's change or without it."""

    spine: Spine
    now: bool

    @property
    def rows(self) -> int:
        return self.spine.rows(self.now)

    @property
    def timed(self) -> bool:
        return self.spine.timed

    def contents(self) -> str:
        return self.spine.contents(self.now)

    def arranged(self, positions: tuple[int, ...]) -> str:
        return self.spine.arranged(positions, self.now)

    def present(self, aligned: bool = False) -> str:
        seen = self.spine.seen(self.now)
        source = self.spine.aligned(seen) if aligned else self.spine.of(seen)
        once = self.spine.once(self.now)
        return source if once else sourced(consolidated(self.spine.columns, source))


@dataclass(frozen=True, slots=True)
class JoinStart:
    """The rows that a join starts from: a table expression, about how many rows, whether timed."""

    sql: str
    rows: int
    timed: bool = False
