"""A relation of a recursion on the cluster with the history of its derivations, during one epoch.

The derivations of a row are a timeline: a weight for each iteration, summed over all epochs so far. The row
is present from its birth on, the first iteration at which the sum of its weights is positive. An epoch
changes the timeline, and must tell the readers of the relation at each iteration i how presence changed, in
both directions of time:

    iteration            0    1    2    3    4
    derivations before   .    .   +1    .   +1          born at 2
    presence before      0    0    1    1    1
    this epoch           .    .   -1   +1    .
    derivations now      .    .    0   +1   +1          born at 3
    presence now         0    0    0    1    1
    change               .    .   -1   +1    .          = (now(i) - now(i-1)) - (before(i) - before(i-1))

The change is `distinct`, incrementalized twice: by epoch and by iteration. It is nonzero only at the two
births, where the sums never fall from one iteration to the next: as rules inside a recursion are monotone,
that holds before the epoch and after it. The epoch's derivations come in order of iteration, each before
its iteration is looked at. So it is enough to look at a row

- at each iteration at which the epoch derives it or takes a derivation back; and then
- at the least later iteration at which the row was born before, or has a derivation, if presence may change
  there.

While an epoch derives few rows, the driver finds the births (`driverbirths`); the
job that derives rows brings the history that these have. From then on the cluster finds them, by two
aggregations over the history. Both must agree with the functions of `tests/engine/timelines.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from .. import thresholds
from ..schema import Schema
from .driverbirths import BEFORE, DriverBirths
from .spine import Spine
from .sqltext import (
    As,
    Joined,
    Query,
    Select,
    UnionAll,
    broadcast,
    consolidated,
    equal,
    everything,
    of_side,
    partitioned,
    shuffle_hash,
)
from .tables import TIME, Table
from .tablesview import TablesView


class DerivationHistory:
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

    def derive(self, queries: Sequence[Query], small: bool) -> None:
        """Adds the derivations that some queries give, with weights and iterations."""
        if not queries:
            return
        table = self._learnt(queries) if small else None
        if table is None:
            self._leave_driver()
            summed = consolidated(self._columns, UnionAll(queries), times=("t",))
            table = self.tables.settled(summed, self.schema, small=small, extra=(TIME,))
        if table.rows:
            self.derived = self.history.compacted([*self.derived, table])
            self.pending |= _iterations(table)

    def _learnt(self, queries: Sequence[Query]) -> Table | None:
        """The derivations of some queries, with the births of their rows on the driver; None if these are
        too many."""
        births = self._births
        if births is None:
            return None
        query = self._beside_history(UnionAll(queries))
        found = self.tables.at_most(query, self.schema, self.tables.most_small, (TIME, *BEFORE))
        if found is None or len(births) + found.num_rows > thresholds.SPARK_BIRTHS:
            return None
        return self.tables.local(births.learn(found))

    def _beside_history(self, every: Query) -> Select:
        """The derivations of a query, each with those of its row that lie on the cluster since before the
        epoch."""
        columns = self._columns
        large = [table for table in self.history.parts if not table.small]
        if not large:
            derived = consolidated(columns, every, times=("t",))
            return Select(["*", As("CAST(NULL AS BIGINT)", "hw"), As("CAST(NULL AS INT)", "ht")], derived)
        # The derivations go to where the history of their rows lies.
        derived = consolidated(columns, partitioned(every, self.tables.partitions, columns), times=("t",))
        items: list[str | As] = [*of_side("d", [*columns, "w", "t"]), As("s.w", "hw"), As("s.t", "ht")]
        joined = Joined("LEFT JOIN", self.history.aligned(large), "s", equal("d", "s", columns))
        return Select(items, derived, "d", [joined], hints=[shuffle_hash("d")])

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
        rows, size = self._touched(time)
        # Derivations at later iterations do not count yet.
        before = self._weights_of(self.history.parts, "s.w", "s.w", rows, size, time)
        derived = self._weights_of(self.derived, "0L", "IF(s.t <= n.t, s.w, 0L)", rows, size, time)
        query = _changes(self._columns, UnionAll([before, derived]))
        extra = (TIME, pa.field("again", pa.int32(), nullable=False))
        few = size <= self.tables.most_small
        return self._scheduled(self.tables.settled(query, self.schema, small=few, at_most=size, extra=extra))

    def _weights_of(
        self, tables: Sequence[Table], before: str, now: str, rows: Query, size: int, time: int
    ) -> Select:
        """The derivations in some tables of `rows`, of which there are `size`: their weights before the epoch
        as `h`, those that count at an iteration as `a`, and the iteration as `n`."""
        columns, few = self._columns, size <= self.tables.most_sent
        items: list[str | As] = [
            *of_side("s", [*columns, "t"]),
            As(before, "h"),
            As(now, "a"),
            As("n.t", "n"),
        ]
        source = self.history.of(tables, () if few else columns)
        chosen = Joined("LEFT SEMI JOIN", rows, "d", equal("s", "d", columns))
        iteration = Joined("CROSS JOIN", self._now(time).view, "n")
        hints = [broadcast("d") if few else shuffle_hash("d"), broadcast("n")]
        return Select(items, source, "s", [chosen, iteration], hints=hints)

    def _now(self, time: int) -> Table:
        """An iteration as a row: as a literal it would make every query a new one, to be compiled anew."""
        row = pa.table({"w": pa.array([1], pa.int64()), "t": pa.array([time], pa.int32())})
        return self.tables.local(row)

    def _touched(self, time: int) -> tuple[Query, int]:
        """The rows that are derived or due at an iteration, some perhaps twice, and at most how many they
        are."""
        columns: Sequence[str | As] = self._columns or [As("1", "one")]
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
                queries.append(Select(columns, table.view, where=f"{at_column} = {time}"))
                size += table.rows
        if locals_:
            chosen = self.tables.local(pa.concat_tables(locals_).combine_chunks())
            queries.append(Select(columns, chosen.view))
        return UnionAll(queries), size

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
        query = Select(columns, found.view, where="w <> 0")
        return self.tables.settled(query, self.schema, small=False, extra=(TIME,))

    def _appoint(self, time: int, rows: Table) -> None:
        self._due.setdefault(time, []).append(rows)
        self.pending.add(time)


def _changes(columns: Sequence[str], weights: Query) -> Select:
    """The changes at an iteration by the weights of derivations (see `DerivationHistory._weights_of`);
    `again` is the iteration at which a row must be looked at again, or -1."""
    sums = [As("sum(h)", "h"), As("sum(a)", "a"), As("max(n)", "n")]
    each = Select([*columns, "t", *sums], weights, grouped=[*columns, "t"])
    births = [
        As("min(IF(h > 0, t, NULL))", "old"),
        As("min(IF(t <= n AND a > 0, t, NULL))", "new"),
        As("min(IF(t > n AND h > 0, t, NULL))", "later"),
        As("max(n)", "n"),
    ]
    born = Select([*columns, *births], each, grouped=columns)
    weight = As("CAST(IF(new <=> n, 1, 0) - IF(old <=> n, 1, 0) AS BIGINT)", "w")
    again = "CASE WHEN new IS NOT NULL AND old > n THEN old WHEN new IS NULL AND old <= n THEN later END"
    items: list[str | As] = [*columns, weight, As("n", "t"), As(f"coalesce({again}, -1)", "again")]
    return everything(Select(items, born), where="w <> 0 OR again >= 0")


def _iterations(table: Table) -> set[int]:
    if table.local is not None:
        return set(pc.unique(table.local.column("t")).to_pylist())
    return {int(row[0]) for row in table.frame.select("t").distinct().collect()}
