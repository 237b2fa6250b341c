"""Windows on Spark: the rows of a window with their times, as a spine, and its clock, a number of the driver.

    W(v, θ) = {x ∈ v : ts(x) ≥ θ - range}

When the clock advances, the rows that leave are looked for in those tables alone that have older times. A
table whose times are all too old is dropped as a whole, and rows are never moved for leaving.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..circuit import DeltaClock, DeltaLate, DeltaWindow
from ..schema import INLINE_LIMIT, Array, RowFault, Schema
from .change import Change, of_table
from .operators import touched
from .spine import Spine
from .sqltext import As, Query, Select, UnionAll, consolidated, everything, names
from .tables import Table, Tables

TimedNode = DeltaClock | DeltaWindow | DeltaLate


class ClockState:
    """The greatest value that a clock has had, `now` and `before` this epoch; None: it has had none."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.now: int | None = None
        self.before: int | None = None
        self._begun: int | None = None  # with what the first epoch begins

    def begin_with(self, value: int) -> None:
        """Begins with a value that it has had. In its first epoch no row is late by it."""
        self.now = self._begun = value

    def change(self, node: DeltaClock, change: Change | None) -> Change | None:
        """The change of the clock's one row, for that of its source."""
        if change is None or not change.table.rows:
            return None
        greatest = _greatest(node, change)
        if greatest is None or (self.now is not None and greatest <= self.now):
            return None
        rows = self.tables.of_rows(
            node.schema, [(each,) for each in (greatest, self.now) if each is not None]
        )
        if self.now is not None:
            assert rows.local is not None
            rows = self.tables.local(_weighted(rows.local, np.array([1, -1])))
        self.now = greatest
        return of_table(self.tables, node.schema, rows)

    def commit(self) -> None:
        """Ends an epoch."""
        self.before = self._begun = self.now

    def rollback(self) -> None:
        """Takes the change of this epoch back."""
        self.now = self._begun


class WindowSpine(Spine):
    """The rows of a window, with their times in the last column. `limit` is the least time of a row of the
    window; the tables may hold rows from before it."""

    def __init__(self, tables: Tables, schema: Schema) -> None:
        super().__init__(tables, schema)
        self.limit: int | None = None
        self._limit_before: int | None = None
        self._bounds: dict[Table, tuple[int, int]] = {}
        self.gone: list[Table] = []  # the rows that left in this epoch, without times
        self.left: list[Table] = []  # the same rows, with times and positive weights
        self.whole = True  # whether all that came in this epoch is in the window

    def change(self, node: DeltaWindow, source: Change | None, clock: ClockState) -> Change | None:
        """The change of the window for a change of its source, and for its clock's."""
        self._forget_epoch()
        if clock.now is not None:
            self.limit = clock.now - node.range
        coming = None if source is None else self._coming(node, source, clock)
        self.gone = self._leaving()
        parts = list(self.gone)
        if coming is not None and coming.rows:
            self.add(coming)
            parts.append(self._without_times(coming))
        return _together(self.tables, node.schema, parts)

    def begin_with(self, rows: Table) -> None:
        """Begins with rows, before the first epoch."""
        self.replace([rows] if rows.rows else [])

    def first_change(self, node: DeltaWindow, clock: ClockState) -> Change | None:
        """The change of a window that began with rows, in the first epoch."""
        begun = [self._without_times(table) for table in self.parts]
        self.change(node, None, clock)
        return _together(self.tables, node.schema, [*begun, *self.gone])

    # ------------------------------------------------------------- rows that come

    def _coming(self, node: DeltaWindow, source: Change, clock: ClockState) -> Table | None:
        table = source.table
        if not table.rows:
            return None
        least, _ = self._bounds_of(table, node)
        late = None
        if node.lateness is not None and clock.before is not None:
            late = clock.before - node.lateness
        if node.lateness is not None and table.least < 0:
            self.whole = False
            return self._limited(table, late)
        limit = max((each for each in (self.limit, late) if each is not None), default=least)
        if least >= limit:
            return table
        self.whole = False
        return self._from(table, limit)

    def _limited(self, table: Table, late: int | None) -> Table:
        """The rows of a change that come on time, and deletions of no more than there is."""
        time = self.columns[-1]
        net = consolidated(self.columns, table.view)
        conditions = [] if late is None else [f"(w < 0 OR {time} >= {late})"]
        conditions += [] if self.limit is None else [f"{time} >= {self.limit}"]
        come = everything(net, where=" AND ".join(conditions))
        there = touched(self, come, self.columns, table.rows)
        both = UnionAll(
            [
                Select([*self.columns, As("w", "d"), As("0L", "o")], come),
                Select([*self.columns, As("0L", "d"), As("w", "o")], there),
            ]
        )
        weight = As("greatest(sum(d), -sum(o))", "w")
        summed = Select([*self.columns, weight], both, grouped=self.columns, having="sum(d) <> 0")
        return self.tables.settled(everything(summed, where="w <> 0"), self.schema, small=table.small)

    # ------------------------------------------------------------- rows that leave

    def _leaving(self) -> list[Table]:
        limit, before = self.limit, self._limit_before
        if limit is None or limit == before:
            return []
        parts = []
        for table in self.parts:
            least, greatest = self._bounds_of(table)
            if least < limit and (before is None or greatest >= before):
                found = self._from(table, before, limit)
                if found.rows:
                    self.left.append(found)
                    parts.append(self._without_times(found, negated=True))
        return parts

    def _from(self, table: Table, start: int | None, end: int | None = None) -> Table:
        """The rows of a table between two times, the second excluded."""
        if table.local is not None:
            times = _times(table.local)
            chosen = np.ones(len(times), np.bool_)
            if start is not None:
                chosen &= times >= start
            if end is not None:
                chosen &= times < end
            return self.tables.local(table.local.filter(pa.array(chosen)))
        time = self.columns[-1]
        conditions = [f"{time} >= {start}"] if start is not None else []
        conditions += [f"{time} < {end}"] if end is not None else []
        query = everything(table.view, where=" AND ".join(conditions))
        return self.tables.settled(query, self.schema, small=False, lies=table.by)

    def _without_times(self, table: Table, negated: bool = False) -> Table:
        columns = self.columns[:-1]
        if table.local is not None:
            rows = table.local.select([*columns, "w"])
            return self.tables.local(_weighted(rows, -_weights(rows)) if negated else rows)
        sign = -1 if negated else 1
        query = Select([*columns, As(f"{sign}L * w", "w")], table.view)
        return self.tables.selected(query, table, -1 if negated else table.least, sign * table.total)

    # ------------------------------------------------------------- epochs

    def prepare(self) -> None:
        live = [
            each for each in map(self._live, [*self.parts, *self.fresh]) if each is not None and each.rows
        ]
        self._next = self.compacted(live)

    def within(self, table: Table) -> Table:
        """The rows of a table that are in the window."""
        if self.limit is None or self._bounds_of(table)[0] >= self.limit:
            return table
        return self._from(table, self.limit)

    def _live(self, table: Table) -> Table | None:
        """A table without rows that have left, as far as that costs little."""
        least, greatest = self._bounds_of(table)
        if self.limit is None or least >= self.limit:
            return table
        if greatest < self.limit:
            return None
        return self._from(table, self.limit) if table.small else table

    def _merged(self, large: Sequence[Table]) -> Table:
        rows: Query = everything(self.aligned(large))
        if self.limit is not None:
            rows = everything(rows, where=f"{self.columns[-1]} >= {self.limit}")
        if any(table.least < 0 for table in large):
            rows = consolidated(self.columns, rows)
        return self.tables.stored(rows, lies=self.columns)

    def commit(self) -> None:
        self.parts, self.fresh = self._next, []
        self._limit_before = self.limit
        self._forget_epoch()
        self._bounds = {table: bounds for table, bounds in self._bounds.items() if table in self.parts}

    def rollback(self) -> None:
        super().rollback()
        self.limit = self._limit_before
        self._forget_epoch()

    def _forget_epoch(self) -> None:
        self.gone, self.left, self.whole = [], [], True

    def _bounds_of(self, table: Table, node: TimedNode | None = None) -> tuple[int, int]:
        found = self._bounds.get(table)
        if found is None:
            found = self._bounds[table] = bounds(self.tables, table, self.columns[-1])
            if node is not None:
                _check(node, *found)
        return found


def late(tables: Tables, node: DeltaLate, source: Change | None, clock: ClockState) -> Table | None:
    """The rows of a change that come late."""
    if source is None or clock.before is None or not source.table.rows:
        return None
    columns, table, limit = names(node.schema), source.table, clock.before - node.lateness
    time = f"c{len(columns)}"
    least, _ = bounds(tables, table, time)
    if least >= limit:
        return None
    if table.local is not None and table.least > 0:
        rows = table.local.filter(pa.array(_times(table.local) < limit))
        return tables.local(rows.select([*columns, "w"]))
    net = consolidated([*columns, time], everything(table.view, where=f"{time} < {limit}"), "> 0")
    return tables.settled(Select([*columns, "w"], net), node.schema, small=table.small)


def bounds(tables: Tables, table: Table, time: str) -> tuple[int, int]:
    """The least and the greatest time in a table that has rows."""
    if table.local is not None:
        found = pc.min_max(table.local.column(time)).as_py()
        return int(found["min"]), int(found["max"])
    row = tables.spark.sql(f"SELECT min({time}), max({time}) FROM {table.view}").collect()[0]
    return int(row[0]), int(row[1])


def _together(tables: Tables, schema: Schema, parts: Sequence[Table]) -> Change | None:
    """The rows of some tables as one change."""
    if len(parts) < 2:
        return of_table(tables, schema, parts[0]) if parts else None
    if all(table.small for table in parts):
        return of_table(tables, schema, tables.concatenated(parts))
    return of_table(tables, schema, tables.lazy(parts, names(schema)))


def _greatest(node: DeltaClock, change: Change) -> int | None:
    """The greatest time in a change of a clock's source."""
    if change.table.local is not None:
        sums = change.table.local.group_by("c0").aggregate([("w", "sum")])
        found = pc.min_max(sums.filter(pc.greater(sums.column("w_sum"), 0)).column("c0")).as_py()
        least, greatest = found["min"], found["max"]
    else:
        net = consolidated(["c0"], change.table.view, "> 0")
        query = Select([As("min(c0)", "least"), As("max(c0)", "greatest")], net)
        least, greatest = change.tables.spark.sql(str(query)).collect()[0]
    if least is None:
        return None
    _check(node, int(least), int(greatest))
    return int(greatest)


def _check(node: TimedNode, least: int, greatest: int) -> None:
    """Raises RowFault for a time out of range."""
    if least < -INLINE_LIMIT or greatest >= INLINE_LIMIT:
        raise RowFault(
            "a time is out of range: it must lie between -2^62 and 2^62", node.text, node.origin, {}
        )


def _times(rows: pa.Table) -> Array:
    times: Array = pc.cast(rows.column(rows.num_columns - 2), pa.int64()).to_numpy()
    return times


def _weights(rows: pa.Table) -> Array:
    weights: Array = rows.column("w").to_numpy()
    return weights


def _weighted(rows: pa.Table, weights: Array) -> pa.Table:
    """The rows with other weights."""
    column = pa.array(weights.astype(np.int64))
    return rows.set_column(rows.num_columns - 1, rows.schema.field(rows.num_columns - 1), column)
