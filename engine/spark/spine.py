"""State: the integral of a change, as a short spine of tables.

Large tables are partitioned by the row, so that looking up a change moves the change alone; they are
merged when there are many. Small ones stay on the driver and are merged there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .. import thresholds
from ..schema import Schema
from .merging import start_of_merge
from .numbered import netted
from .pruning import leading
from .sqltext import As, Select, UnionAll, consolidated, everything, names, repartition, sourced
from .tables import Table, Tables

LARGE = 10_000_000
"""Rows of a table from which a join reads parts of it. To read a million takes some 0.05 s of processor time.
The conditions that leave out parts are other ones in each commit, and Spark takes 0.2 s to compile them."""


class Spine:
    """Rows with weights, and with iterations if `timed`, as tables whose weights add up.

    `fresh` are the tables that the running epoch has added; `commit` makes them part of the state,
    `rollback` forgets them.
    """

    def __init__(self, tables: Tables, schema: Schema, timed: bool = False) -> None:
        self.tables, self.schema, self.timed = tables, schema, timed
        self.columns = names(schema)
        self.time = ["t"] if timed else []
        self.parts: list[Table] = []  # large ones, then small ones
        self.fresh: list[Table] = []
        self._next: list[Table] = []
        self._arranged: dict[tuple[Table, tuple[str, ...]], Table] = {}
        self._ordered: dict[tuple[Table, str], Table] = {}
        self._asked: dict[str, int] = {}  # how often the order of a column was asked for

    # ------------------------------------------------------------- reading

    def seen(self, now: bool = True) -> list[Table]:
        """The tables of the contents, with this epoch's change or without it."""
        return [*self.parts, *self.fresh] if now else self.parts

    def rows(self, now: bool = True) -> int:
        """An upper bound of the number of rows."""
        return sum(table.rows for table in self.seen(now))

    def total(self, now: bool = True) -> int:
        """The sum of the weights: the number of rows of a set."""
        return sum(table.total for table in self.seen(now))

    def contents(self, now: bool = True) -> str:
        """A table expression for the rows; a row may be in it more than once, with weights that add up."""
        return self.of(self.seen(now))

    def of(self, seen: Sequence[Table], by: Sequence[str] = ()) -> str:
        """A table expression for some tables of this schema: as they lie, or all partitioned by columns."""
        if len(seen) == 1 and (not by or seen[0].by == tuple(by)):
            return seen[0].view
        if not seen:
            types = (self.tables.codec.sql_type(column) for column in self.schema)
            nothing = [As(f"CAST(NULL AS {type})", c) for type, c in zip(types, self.columns, strict=True)]
            times = [As("0", "t")] if self.timed else []
            return sourced(Select([*nothing, As("0L", "w"), *times], where="false"))
        return sourced(UnionAll([self._select(table, by) for table in seen]))

    def _select(self, table: Table, by: Sequence[str]) -> Select:
        """One part of a union, which is partitioned where all parts are alike."""
        view = table.view  # known first: making it may partition the rows
        moved = by and table.by != tuple(by)
        hints = [repartition(self.tables.partitions, by)] if moved else []
        return Select([*self.columns, "w", *self.time], view, hints=hints)

    def net(self, now: bool = True) -> str:
        """A table expression for the rows, each once, with its weight (of a timed spine: with the sum
        over all iterations)."""
        return sourced(consolidated(self.columns, self.contents(now)))

    def once(self, now: bool = True) -> bool:
        """Whether `contents` of a set has each row once, and none that is gone."""
        return all_positive(self.seen(now))

    def arranged(self, positions: tuple[int, ...], now: bool = True) -> str:
        """A table expression for the contents, partitioned by some columns."""
        return self.arranged_of(self.seen(now), positions)

    def arranged_of(self, seen: Sequence[Table], positions: tuple[int, ...]) -> str:
        """A table expression for some tables, partitioned by some columns: copies of the large ones are
        made when first asked for, so that joins of large changes do not move them each time."""
        by = tuple(self.columns[k] for k in positions)
        return self.of([table if table.small else self._copy(table, by) for table in seen], by)

    def aligned(self, seen: Sequence[Table]) -> str:
        """A table expression for some tables, partitioned by the row."""
        return self.of(seen, self.columns)

    def _copy(self, table: Table, by: tuple[str, ...]) -> Table:
        table.view  # noqa: B018 (the rows of the driver go to the executors, partitioned by the row)
        if table.by == by:
            return table
        held = self._arranged.get((table, by))
        if held is None:
            held = self._arranged[table, by] = self.tables.stored(everything(table.view), by)
        return held

    def ordered_by(self, seen: Sequence[Table], column: str) -> list[Table]:
        """Some tables, of which the large ones lie sorted by a column: copies of them, which are made when
        they are asked for again and again. A copy takes as much room as the table."""
        self._asked[column] = self._asked.get(column, 0) + 1
        if self._asked[column] < thresholds.SPARK_ASKED:
            return list(seen)
        return [self._sorted(table, column) if is_long(table) else table for table in seen]

    def _sorted(self, table: Table, column: str) -> Table:
        held = self._ordered.get((table, column))
        if held is None:
            made = self.tables.stored(everything(table.view), lies=table.by, ordered=[column])
            held = self._ordered[table, column] = made
        return held

    # ------------------------------------------------------------- changing

    def add(self, table: Table) -> None:
        """Takes in a change."""
        if table.rows:
            self.fresh.append(table)

    def grow(self, table: Table) -> None:
        """Takes in a change that stays the last of `fresh`; those before it are merged when they are
        many."""
        if table.rows:
            self.fresh = [*self.compacted(self.fresh), table]

    def prepare(self) -> None:
        """Computes the state that `commit` will adopt: after it, nothing can fail."""
        self._next = self.compacted([*self.parts, *self.fresh]) if self.fresh else self.parts

    def commit(self) -> None:
        """Makes this epoch's change part of the state."""
        if self.fresh:
            self.parts, self.fresh = self._next, []
            self._arranged = {key: copy for key, copy in self._arranged.items() if key[0] in self.parts}
            self._ordered = {key: copy for key, copy in self._ordered.items() if key[0] in self.parts}

    def compacted(self, tables: Sequence[Table]) -> list[Table]:
        """The tables, merged where they are many. See `merging`."""
        small: list[Table] = []
        large = sorted((table for table in tables if not table.small), key=lambda table: -table.rows)
        for table in tables:
            if table.small:
                small.append(table)
                while len(small) > 1 and small[-2].rows <= thresholds.SPARK_SMALL_GROWTH * small[-1].rows:
                    small[-2:] = [self._joined(small[-2:])]
        large += [table for table in small if not table.small]
        small = [table for table in small if table.small and table.rows]
        sizes = [table.rows for table in large]
        start = start_of_merge(sizes)
        if start is not None and self.tables.merging.allows(sizes, start):
            large[start:] = [self._merged(large[start:])]
            large.sort(key=lambda table: -table.rows)
        return large + small

    def _joined(self, small: Sequence[Table]) -> Table:
        """Small tables as one, without rows that came and went."""
        whole = self.tables.concatenated(small)
        if whole.least >= 0 or not self.columns or whole.local is None:
            return whole
        return self.tables.local(netted(self.tables.codec, self.schema, whole.local, self.timed))

    def rollback(self) -> None:
        """Forgets this epoch's change."""
        self.fresh = []

    def _merged(self, large: Sequence[Table]) -> Table:
        query = everything(self.aligned(large))
        if not all_positive(large):
            query = consolidated(self.columns, self.aligned(large), times=self.time)
        return self.tables.stored(query, lies=self.columns, ordered=leading(self.tables.codec, self.schema))

    def replace(self, tables: Sequence[Table]) -> None:
        """Makes these tables the state."""
        self.parts, self.fresh, self._arranged, self._ordered = list(tables), [], {}, {}

    def forget_copies(self, gone: Collection[Table]) -> None:
        """Leaves copies by other columns to be made again."""
        self._arranged = {key: copy for key, copy in self._arranged.items() if copy not in gone}
        self._ordered = {key: copy for key, copy in self._ordered.items() if copy not in gone}

    def lacks(self, gone: Collection[Table]) -> bool:
        """Whether tables are among those of the contents."""
        return any(table in gone for table in self.seen())

    def held(self) -> list[Table]:
        """All tables that it needs."""
        return [*self.parts, *self.fresh, *self._arranged.values(), *self._ordered.values()]


def is_long(table: Table) -> bool:
    """Whether a join of few rows is to read parts of a table only."""
    return table.rows >= LARGE


def all_positive(tables: Sequence[Table]) -> bool:
    """Whether no weight is negative."""
    return all(table.least >= 0 for table in tables)
