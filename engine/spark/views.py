"""The versions of a relation that a join reads, and the rows that it starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from .pruning import sorts, within
from .spine import Spine, is_long
from .sqltext import Select, consolidated, sourced


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

    @property
    def is_long(self) -> bool:
        """Whether it pays to read only parts of it."""
        return any(map(is_long, self.spine.seen(self.now)))

    def contents(self) -> str:
        return self.spine.contents(self.now)

    def arranged(self, positions: tuple[int, ...]) -> str:
        return self.spine.arranged(positions, self.now)

    def narrowed(self, wanted: pa.Table) -> str:
        """The contents, without parts of long tables in which no row agrees with one of a few rows on the
        columns of these."""
        spine, seen = self.spine, self.spine.seen(self.now)
        if not self.is_long:
            return spine.of(seen)
        codec, columns = spine.tables.codec, wanted.column_names
        where = within(codec, spine.schema, columns, wanted, "s")
        if not where:
            order = next((c for c in columns if sorts(codec, spine.schema[int(c[1:])])), None)
            if order is None:
                return spine.of(seen)
            where = within(codec, spine.schema, columns, wanted, "s", [order])
            seen = spine.ordered_by(seen, order)
        return sourced(Select(("*",), spine.of(seen), "s", where=where))

    def present(self, aligned: bool = False, wanted: pa.Table | None = None) -> str:
        """`wanted`: see `narrowed`."""
        seen = self.spine.seen(self.now)
        source = self.spine.aligned(seen) if aligned else self.spine.of(seen)
        if wanted is not None and self.is_long:
            source = self.narrowed(wanted)
        once = self.spine.once(self.now)
        return source if once else sourced(consolidated(self.spine.columns, source))


@dataclass(frozen=True, slots=True)
class JoinStart:
    """The rows that a join starts from: a table expression, about how many rows, whether timed; and the rows,
    if the driver has them."""

    sql: str
    rows: int
    timed: bool = False
    local: pa.Table | None = None
