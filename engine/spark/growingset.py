"""A relation of a recursion on the cluster as a growing set, by birth."""

from __future__ import annotations

from collections.abc import Sequence

from ..schema import Schema
from .spine import Spine
from .sqltext import equal, grouping, listed, union
from .tables import TIME, Table
from .tablesview import TablesView


class GrowingSet:
    """Rows with the iteration of their birth, in the epoch that fills the relation. The last table of
    `events.fresh` is the delta."""

    def __init__(self, schema: Schema, events: Spine) -> None:
        self.schema, self.events, self.tables = schema, events, events.tables
        self.delta: Table = self.tables.nothing(schema)

    def view(self, now: bool) -> TablesView:
        """The rows so far, with the delta or without it."""
        tables = tuple(self.events.fresh)
        return TablesView(self.events, tables if now or not self.delta.rows else tables[:-1])

    def grown(self, derived: Sequence[str], seeded: bool, small: bool) -> Table:
        """The rows that are new among those of some SELECTs. They are born one iteration after the latest
        rows that they are derived from; those `seeded` by the imports, at iteration 0."""
        if not derived:
            return self.tables.nothing(self.schema, (TIME,))
        columns = self.events.columns
        time = "-1 AS t" if seeded else "t"
        # The weight is read, so that a fault that it carries is raised.
        every = union([f"SELECT {listed(columns, 'w', time)} FROM ({query})" for query in derived])
        born = "max(w) AS w, CAST(max(t) + 1 AS INT) AS t"
        distinct = f"SELECT {listed(columns, born)} FROM ({every}) {grouping(columns)}"
        query = self._unknown(distinct)
        return self.tables.settled(query, self.schema, small=small, extra=(TIME,), lies=columns)

    def _unknown(self, distinct: str) -> str:
        """A SELECT of the rows of another that the set lacks."""
        columns, known = self.events.columns, self.events.fresh
        new = listed((f"c.{c}" for c in columns), "1L AS w", "c.t")
        if not known:
            return f"SELECT {new} FROM ({distinct}) c WHERE c.w > 0"
        if sum(table.rows for table in known) <= self.tables.most_sent:
            return (
                f"SELECT /*+ BROADCAST(s) */ {new} FROM ({distinct}) c LEFT ANTI JOIN "
                f"{self.events.of(known)} s ON {equal('c', 's', columns)} WHERE c.w > 0"
            )
        # The large side is probed, not built: it lies partitioned by its row already.
        there = f"(SELECT {listed(columns, 'true AS there')} FROM {self.events.aligned(known)})"
        return (
            f"SELECT /*+ SHUFFLE_HASH(c) */ {new} FROM ({distinct}) c "
            f"LEFT JOIN {there} s ON {equal('c', 's', columns)} WHERE c.w > 0 AND s.there IS NULL"
        )

    def grow(self, new: Table) -> None:
        """Takes in new rows: they are the delta."""
        self.events.grow(new)
        self.delta = new

    def net(self) -> Table:
        """The rows of the epoch, without their births."""
        fresh = self.events.fresh
        if not fresh:
            return self.tables.nothing(self.schema)
        if all(table.local is not None for table in fresh):
            return self.tables.concatenated(fresh, without=("t",))
        return self.tables.lazy(fresh, self.events.columns)
