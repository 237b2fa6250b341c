"""A relation of a recursion on the cluster with the history of its derivations, during one epoch.

As rules inside a recursion are monotone, no weight of a row's derivations is negative at any iteration: a
row is born at the first iteration with a weight, and an epoch changes it where its birth was and where it
is (see `engine.births`). While an epoch derives few rows, the driver finds the births (`driverbirths`); the
job that derives rows brings the history that these have. From then on the cluster finds them, by two
aggregations over the history.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ..schema import Schema
from .driverbirths import BEFORE, MOST_ROWS, DriverBirths
from .spine import Spine
from .sqltext import consolidated, equal, grouping, listed, union
from .tables import TIME, Table
from .tablesview import TablesView


class History:
    """`events`: the rows by birth, with the changes of births. `history`: the weights of the derivations by
    iteration. Both are of before the epoch; `derived` is what the epoch derives."""

    def __init__(self, schema: Schema, events: Spine, history: Spine) -> None:
        self.schema, self.events, self.history = schema, events, history
        self.tables, self._columns = events.tables, events.columns
        self.derived: list[Table] = []
        self.pending: set[int] = set()
        self.delta = self.tables.nothing(schema, (TIME,))
        self._due: dict[int, list[Table]] = {}  # rows to look at again, by iteration
        few = (table.local for table in history.parts if table.small)
        self._births: DriverBirths | None = DriverBirths(schema, self.tables.codec, few)

    def view(self, now: bool) -> TablesView:
        """The relation by birth, with the changes of this epoch; of this iteration, if `now`."""
        fresh = self.events.fresh if now or not self.delta.rows else self.events.fresh[:-1]
        return TablesView(self.events, (*self.events.parts, *fresh))

    def net(self) -> Table:
        """The net change of the relation in the epoch."""
        events = self.events.fresh
        if not events:
            return self.tables.nothing(self.schema)
        if self._births is not None:
            return self.tables.local(self._births.net())
        query = consolidated(self._columns, self.events.of(events))
        return self.tables.settled(query, self.schema, small=all(table.small for table in events))

    # ------------------------------------------------------------- derivations

    def derive(self, queries: Sequence[str], small: bool) -> None:
        """Adds the derivations that some SELECTs give, with weights and iterations."""
        if not queries:
            return
        table = self._learnt(queries) if small else None
        if table is None:
            self._leave_driver()
            table = self.tables.settled(
                summed(self._columns, f"({union(queries)})"), self.schema, small=small, extra=(TIME,)
            )
        if table.rows:
            self.derived = self.history.compacted([*self.derived, table])
            self.pending |= _iterations(table)

    def _learnt(self, queries: Sequence[str]) -> Table | None:
        """The derivations of some queries, with the births of their rows on the driver; None if these are
        too many."""
        births, columns = self._births, self._columns
        if births is None:
            return None
        large = [table for table in self.history.parts if not table.small]
        if large:
            # The derivations go to where the history of their rows lies.
            moved = f"SELECT {self.tables.moving(columns)}* FROM ({union(queries)})"
            derived = summed(columns, f"({moved})")
            items = listed((f"d.{c}" for c in columns), "d.w", "d.t", "s.w AS hw", "s.t AS ht")
            query = (
                f"SELECT /*+ SHUFFLE_HASH(d) */ {items} FROM ({derived}) d "
                f"LEFT JOIN {self.history.aligned(large)} s ON {equal('d', 's', columns)}"
            )
        else:
            derived = summed(columns, f"({union(queries)})")
            query = f"SELECT *, CAST(NULL AS BIGINT) AS hw, CAST(NULL AS INT) AS ht FROM ({derived})"
        found = self.tables.at_most(query, self.schema, self.tables.most_small, (TIME, *BEFORE))
        if found is None or len(births) + found.num_rows > MOST_ROWS:
            return None
        return self.tables.local(births.learn(found))

    def _leave_driver(self) -> None:
        """From now on the cluster finds the births, in this epoch."""
        if self._births is not None:
            for time, rows in self._births.appointments().items():
                self._due.setdefault(time, []).append(self.tables.local(rows))
                self.pending.add(time)
            self._births = None

    # ------------------------------------------------------------- an iteration

    def step(self, time: int) -> Table:
        """The changes at an iteration: -1 for rows born there before, +1 for rows born there now. Notes
        when rows must be looked at again."""
        if time not in self.pending:
            return self.tables.nothing(self.schema, (TIME,))
        self.pending.discard(time)
        if self._births is None:
            return self._step_on_cluster(time)
        changes = self.tables.local(self._births.step(time))
        self.pending |= set(self._births.times)
        return changes

    def take(self, delta: Table) -> None:
        """Makes the changes of an iteration the delta."""
        self.events.grow(delta)
        self.delta = delta

    def _step_on_cluster(self, time: int) -> Table:
        columns = self._columns
        rows, size = self._touched(time)
        hint = "BROADCAST" if size <= self.tables.most_sent else "SHUFFLE_HASH"
        on = equal("s", "d", columns)
        parts = []
        # Derivations at later iterations do not count yet.
        for tables, h, a in (
            (self.history.parts, "s.w", "s.w"),
            (self.derived, "0L", "IF(s.t <= n.t, s.w, 0L)"),
        ):
            sql = self.history.of(tables, () if hint == "BROADCAST" else columns)
            items = listed((f"s.{c}" for c in columns), "s.t", f"{h} AS h", f"{a} AS a", "n.t AS n")
            parts.append(
                f"SELECT /*+ {hint}(d), BROADCAST(n) */ {items} FROM {sql} s LEFT SEMI JOIN {rows} d ON {on} "
                f"CROSS JOIN {self._now(time).view} n"
            )
        sums = "sum(h) AS h, sum(a) AS a, max(n) AS n"
        each = f"SELECT {listed(columns, 't', sums)} FROM ({union(parts)}) {grouping(columns, 't')}"
        births = listed(
            columns,
            "min(IF(h > 0, t, NULL)) AS old",
            "min(IF(t <= n AND a > 0, t, NULL)) AS new",
            "min(IF(t > n AND h > 0, t, NULL)) AS later",
            "max(n) AS n",
        )
        weight = "CAST(IF(new <=> n, 1, 0) - IF(old <=> n, 1, 0) AS BIGINT) AS w"
        again = "CASE WHEN new IS NOT NULL AND old > n THEN old WHEN new IS NULL AND old <= n THEN later END"
        query = (
            f"SELECT {listed(columns, weight, 'n AS t', f'coalesce({again}, -1) AS again')} "
            f"FROM (SELECT {births} FROM ({each}) {grouping(columns)})"
        )
        query = f"SELECT * FROM ({query}) WHERE w <> 0 OR again >= 0"
        extra = (TIME, pa.field("again", pa.int32(), nullable=False))
        few = size <= self.tables.most_small
        return self._scheduled(self.tables.settled(query, self.schema, small=few, at_most=size, extra=extra))

    def _now(self, time: int) -> Table:
        """An iteration as a row: as a literal it would make every query a new one, to be compiled anew."""
        row = pa.table({"w": pa.array([1], pa.int64()), "t": pa.array([time], pa.int32())})
        return self.tables.local(row)

    def _touched(self, time: int) -> tuple[str, int]:
        """A table expression for the rows that are derived or due at an iteration, some perhaps twice, and
        at most how many they are."""
        columns = listed(self._columns) or "1 AS one"
        locals_, queries, size = [], [], 0
        for table in (*self.derived, *self._due.pop(time, ())):
            if table.local is not None:
                at = table.local.column("again" if "again" in table.local.column_names else "t")
                chosen = table.local.filter(pc.equal(at, time)).select([*self._columns, "w"])
                if chosen.num_rows:
                    locals_.append(chosen)
                    size += chosen.num_rows
            else:
                at_column = "again" if "again" in table.frame.columns else "t"
                queries.append(f"SELECT {columns} FROM {table.view} WHERE {at_column} = {time}")
                size += table.rows
        if locals_:
            chosen = self.tables.local(pa.concat_tables(locals_).combine_chunks())
            queries.append(f"SELECT {columns} FROM {chosen.view}")
        return f"({union(queries)})", size

    def _scheduled(self, found: Table) -> Table:
        """Notes when the rows of a step are due again. Returns the changes."""
        columns = [*self._columns, "w", "t"]
        if found.local is not None:
            rows = found.local
            for time in set(pc.unique(rows.column("again")).to_pylist()) - {-1}:
                self._appoint(time, found)
            return self.tables.local(rows.filter(pc.not_equal(rows.column("w"), 0)).select(columns))
        for (time,) in found.frame.select("again").where("again >= 0").distinct().collect():
            self._appoint(int(time), found)
        query = f"SELECT {listed(columns)} FROM {found.view} WHERE w <> 0"
        return self.tables.settled(query, self.schema, small=False, extra=(TIME,))

    def _appoint(self, time: int, rows: Table) -> None:
        self._due.setdefault(time, []).append(rows)
        self.pending.add(time)


def summed(columns: Sequence[str], source: str) -> str:
    """A SELECT of derivations with their weights, each row at each iteration once."""
    items = listed(columns, "sum(w) AS w", "t")
    return f"SELECT {items} FROM {source} {grouping(columns, 't')} HAVING sum(w) <> 0"


def _iterations(table: Table) -> set[int]:
    if table.local is not None:
        return set(pc.unique(table.local.column("t")).to_pylist())
    return {int(row[0]) for row in table.frame.select("t").distinct().collect()}
