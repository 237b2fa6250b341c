"""A relation of a recursion on the cluster as a growing set, by birth."""

from __future__ import annotations

from collections.abc import Sequence

from ..schema import Schema
from .spine import Spine
from .sqltext import As, Joined, Query, Select, UnionAll, broadcast, equal, of_side, shuffle_hash
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

    def grown(self, derived: Sequence[Query], seeded: bool, small: bool) -> Table:
        """The rows that are new among those of some queries. They are born one iteration after the latest
        rows that they are derived from; those `seeded` by the imports, at iteration 0."""
        if not derived:
            return self.tables.nothing(self.schema, (TIME,))
        columns = self.events.columns
        time: str | As = As("-1", "t") if seeded else "t"
        # The weight is read, so that a fault that it carries is raised.
        every = UnionAll([Select([*columns, "w", time], query) for query in derived])
        born = As("CAST(max(t) + 1 AS INT)", "t")
        distinct = Select([*columns, As("max(w)", "w"), born], every, grouped=columns)
        query = self._unknown(distinct)
        return self.tables.settled(query, self.schema, small=small, extra=(TIME,), lies=columns)

    def _unknown(self, distinct: Select) -> Select:
        """The rows of a query that the set lacks."""
        columns, known = self.events.columns, self.events.fresh
        new: list[str | As] = [*of_side("c", columns), As("1L", "w"), "c.t"]
        if not known:
            return Select(new, distinct, "c", where="c.w > 0")
        on = equal("c", "s", columns)
        if sum(table.rows for table in known) <= self.tables.most_sent:
            joined = Joined("LEFT ANTI JOIN", self.events.of(known), "s", on)
            return Select(new, distinct, "c", [joined], "c.w > 0", hints=[broadcast("s")])
        # The large side is probed, not built: it lies partitioned by its row already.
        there = Select([*columns, As("true", "there")], self.events.aligned(known))
        joined = Joined("LEFT JOIN", there, "s", on)
        lacks = "c.w > 0 AND s.there IS NULL"
        return Select(new, distinct, "c", [joined], lacks, hints=[shuffle_hash("c")])

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
