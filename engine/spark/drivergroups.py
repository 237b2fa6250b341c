"""Groups whose members are on the cluster, on the driver: all of them if they are few, or those of the keys
that a small change touches. The in-process engine changes them; a job reads what it needs of their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..circuit import DeltaGroup
from ..inprocess.groups.accumulators import IntegerSum
from ..inprocess.groups.extremes import Best
from ..inprocess.groups.grouping import GroupState
from ..inprocess.storage.batch import Batch, concat, consolidate, no_rows
from ..inprocess.storage.interner import Values
from ..inprocess.storage.table import RowTable
from ..schema import Array, Schema
from .accumulating import Accumulators
from .change import Fetch
from .exchange import from_arrow, to_arrow
from .lookups import agreeing, asked, keys_of, known, together
from .numbered import Numbered, firsts
from .spine import Spine
from .sqltext import As, Query, Select, Source, consolidated, names, sourced
from .table import TIME, Table, arrow_schema
from .tables import Tables

_LOW = (1 << 32) - 1


class DriverGroups:
    """One grouping with accumulators. `groups` is its integral, and `members` that of its source, if the
    grouping has least or greatest values."""

    def __init__(
        self,
        node: DeltaGroup,
        source: Schema,
        accumulators: Accumulators,
        groups: Spine,
        members: Spine | None,
    ) -> None:
        self._node, self._source, self._members = node, source, members
        self._accumulators, self._groups = accumulators, groups
        self._tables: Tables = groups.tables
        self._keys = names(source[: node.keys])
        self._width = accumulators.slots + len(accumulators.in_slots)
        # What is brought of a key: its accumulators, and the extremes in columns of the row of its group.
        extremes = tuple(source[node.aggregates[k].columns[0]] for k in accumulators.in_columns)
        self._brought: Schema = (*source[: node.keys], *extremes)

    # ------------------------------------------------------------- changes

    def added(self, change: pa.Table) -> Table:
        """The change of the accumulators that few changed members make."""
        accumulators = self._accumulators
        numbers, first = self._numbered(change)
        weights = change.column("w").to_numpy()
        sums = np.zeros((len(first), accumulators.slots), np.int64)
        np.add.at(sums[:, 0], numbers, weights)
        for k, aggregate in enumerate(self._node.aggregates):
            if aggregate.function in ("sum", "avg"):
                slots = accumulators.slots_of(k)
                sums[:, slots] = 0  # two aggregates may have the same slots
                parts = _parts(change.column(aggregate.columns[0]), len(slots))
                for slot, part in zip(slots, parts, strict=True):
                    np.add.at(sums[:, slot], numbers, weights * part)
        return self._slots_table(change.select(self._keys).take(pa.array(first)), sums)

    def _numbered(self, rows: pa.Table) -> tuple[Array, Array]:
        """The number of the key of each row, and where each key is first."""
        numbered = Numbered(self._tables.codec, self._source[: self._node.keys])
        numbers = numbered.insert(rows)
        return numbers, firsts(numbers, len(numbered))

    def _slots_table(self, keys: pa.Table, sums: Array) -> Table:
        """The accumulators of some keys as a table, without slots of 0."""
        rows, slots = np.nonzero(sums)
        schema = arrow_schema(self._tables.codec, self._source[: self._node.keys], [TIME])
        taken = [column.combine_chunks() for column in keys.take(pa.array(rows)).columns]
        arrays = [*taken, pa.array(sums[rows, slots]), pa.array(slots.astype(np.int32))]
        return self._tables.local(pa.Table.from_arrays(arrays, schema=schema))

    def wanted(self, change: pa.Table) -> Table:
        """The keys that few changed members touch, each once."""
        return keys_of(self._tables, change, self._source[: self._node.keys])

    def changed(self, change: pa.Table, wanted: Table) -> Fetch:
        """The change of the groups of the `wanted` keys for few changed members, given the accumulators and
        groups of before."""
        keys = self._source[: self._node.keys]
        query = together([*self._of_keys(lambda spine: asked(spine, wanted, self._keys))])

        def finish(found: pa.Table) -> pa.Table:
            values = Values()
            numbered = Numbered(self._tables.codec, keys)
            assert wanted.local is not None
            numbered.insert(wanted.local)
            sums = np.zeros((len(numbered), self._width), np.int64)
            local = map(self._extremes_of, known(self._groups))
            for part in (found.filter(pc.greater_equal(found.column("t"), 0)), *known(spine), *local):
                self._add(sums, numbered, part)
            state = GroupState(
                self._node, self._source, None, values, True, self.best(values, lambda: self._members)
            )
            rows = [found.filter(pc.less(found.column("t"), 0)), *map(self._rows_of, known(self._groups))]
            self._fill(state, values, wanted.local, sums, self._columns(values, wanted.local, rows))
            batch = consolidate(from_arrow(values, self._tables.codec, self._source, change))
            schema = self._node.schema
            told = state.change(batch) if batch.length else no_rows(schema)
            return to_arrow(values, self._tables.codec, schema, told)

        spine = self._accumulators.spine
        return Fetch(query, self._brought, [TIME], finish)

    def _of_keys(self, found: Callable[[Spine], Source | None]) -> Iterator[Query | None]:
        """The values brought for keys, as queries of columns alike: accumulators, extremes in slots as such,
        too, and extremes in columns, with the slot -1. `found`: what to read of a spine."""
        none, sums = self._no_extremes(), found(self._accumulators.spine)
        groups = found(self._groups) if self._accumulators.extremes else None
        yield None if sums is None else Select([*self._keys, *none, "w", "t"], sums)
        yield self._extremes(groups, none)
        if groups is not None and self._accumulators.in_columns:
            columns = [f"c{self._node.keys + k}" for k in self._accumulators.in_columns]
            items = [
                As(old, new)
                for old, new in zip(columns, names(self._brought)[len(self._keys) :], strict=True)
            ]
            yield Select([*self._keys, *items, "w", As("-1", "t")], groups)

    def _no_extremes(self) -> list[As]:
        """The columns of extremes, where a row is of a slot."""
        keys = len(self._keys)
        types = (self._tables.codec.sql_type(column) for column in self._brought[keys:])
        return [As(f"CAST(NULL AS {each})", f"c{k}") for k, each in enumerate(types, keys)]

    def _rows_of(self, groups: pa.Table) -> pa.Table:
        """The keys, extremes in columns and weights of rows of groups on the driver."""
        columns = [*self._keys, *(f"c{self._node.keys + k}" for k in self._accumulators.in_columns), "w"]
        return groups.select(columns).rename_columns([*names(self._brought), "w"])

    def _columns(self, values: Values, keys: pa.Table, rows: Sequence[pa.Table]) -> list[Array]:
        """The extremes in columns of some keys, of rows of their groups: a version of a row that is gone
        cancels out. Of a key without a group, they are of no account."""
        if not self._accumulators.in_columns:
            return []
        codec, schema, width = self._tables.codec, self._brought, len(self._keys)
        batches = [from_arrow(values, codec, schema, part) for part in rows]
        there = consolidate(concat(batches, len(schema)))
        there = there.take(np.flatnonzero(there.weight_array() > 0))
        table, wanted = RowTable(width), from_arrow(values, codec, schema[:width], keys)
        table.insert(wanted.columns, wanted.length)
        at = table.find(there.columns[:width], there.length)
        found = []
        for column in there.columns[width:]:
            codes = np.zeros(wanted.length, np.int64)
            codes[at[at >= 0]] = column[at >= 0]
            found.append(codes)
        return found

    def _add(self, sums: Array, numbered: Numbered, part: pa.Table) -> None:
        """Adds accumulators to those of the keys by number."""
        numbers = numbered.find(part)
        there = numbers >= 0
        slots, weights = part.column("t").to_numpy(), part.column("w").to_numpy()
        np.add.at(sums, (numbers[there], slots[there]), weights[there])

    def _extremes(self, groups: Source | None, others: Sequence[As]) -> Select | None:
        """The least and greatest values in rows of groups, as accumulators: a version of a row that is gone
        takes its values back. `others`: further columns."""
        extremes, slots = self._accumulators.in_slots, self._accumulators.slots
        if groups is None or not extremes:
            return None
        columns = ", ".join(f"CAST(c{self._node.keys + k} AS BIGINT)" for k in extremes)
        source = f"{sourced(groups)} LATERAL VIEW posexplode(array({columns})) AS slot, x"
        slot = As(f"CAST(slot + {slots} AS INT)", "t")
        return Select([*self._keys, *others, As("w * x", "w"), slot], source)

    def _extremes_of(self, groups: pa.Table) -> pa.Table:
        """The same of rows on the driver."""
        weights, parts = groups.column("w").to_numpy(), []
        fields = arrow_schema(self._tables.codec, self._source[: self._node.keys], [TIME])
        for slot, k in enumerate(self._accumulators.in_slots, self._accumulators.slots):
            (values,) = _parts(groups.column(self._node.keys + k), 1)
            keys = [column.combine_chunks() for column in groups.select(self._keys).columns]
            slots = pa.array(np.full(len(weights), slot, np.int32))
            parts.append(pa.Table.from_arrays([*keys, pa.array(weights * values), slots], schema=fields))
        return pa.concat_tables(parts) if parts else fields.empty_table()

    # ------------------------------------------------------------- states

    def _fill(
        self, state: GroupState, values: Values, keys: pa.Table, sums: Array, columns: Sequence[Array]
    ) -> None:
        """Gives a state without groups the groups of some keys, by their accumulators and the extremes in
        columns."""
        alive = np.flatnonzero(sums[:, 0] > 0)
        sums = sums[alive]
        kept: dict[int, Sequence[Array]] = {}
        for k, aggregate in enumerate(self._node.aggregates):
            if aggregate.function in ("sum", "avg"):
                high, *low = (sums[:, slot].copy() for slot in self._accumulators.slots_of(k))
                kept[k] = (low[0], high) if low else (high, np.zeros_like(high))
        for k, codes in zip(self._accumulators.in_columns, columns, strict=True):
            kept[k] = (codes[alive],)
        for slot, k in enumerate(self._accumulators.in_slots, self._accumulators.slots):
            column = self._source[self._node.aggregates[k].columns[0]]
            kept[k] = (values.encode_input(column, sums[:, slot].copy()),)
        chosen = keys.take(pa.array(alive))
        batch = from_arrow(values, self._tables.codec, self._source[: self._node.keys], chosen)
        state.fill(batch.columns, sums[:, 0].copy(), kept)

    def bring(self, values: Values, state: GroupState) -> None:
        """Gives a state on the driver, without groups, all groups as of the last commit."""
        tables, schema = self._tables, self._brought
        every = together([*self._of_keys(lambda spine: spine.of(spine.parts) if spine.parts else None)])
        if every is None:
            found = arrow_schema(tables.codec, schema, [TIME]).empty_table()
        else:
            found = tables.fetch(consolidated(names(schema), every, times=["t"]), schema, [TIME])
        rows = found.filter(pc.greater_equal(found.column("t"), 0))
        numbers, first = self._numbered(rows)
        wanted = rows.select([*self._keys, "w"]).take(pa.array(first))
        sums = np.zeros((len(first), self._width), np.int64)
        np.add.at(sums, (numbers, rows.column("t").to_numpy()), rows.column("w").to_numpy())
        columns = self._columns(values, wanted, [found.filter(pc.less(found.column("t"), 0))])
        self._fill(state, values, wanted, sums, columns)

    def sent(self, values: Values, state: GroupState) -> Table:
        """The accumulators of all groups of a state on the driver."""
        alive = np.flatnonzero(state.counts[: state.keys.size] > 0)
        sums = np.zeros((len(alive), self._accumulators.slots), np.int64)
        sums[:, 0] = state.counts[alive]
        for k, accumulator in enumerate(state.accumulators):
            if isinstance(accumulator, IntegerSum):
                totals, slots = accumulator.totals(alive), self._accumulators.slots_of(k)
                sums[:, slots[-1]] = totals if len(slots) == 1 else [total & _LOW for total in totals]
                if len(slots) == 2:
                    sums[:, slots[0]] = [total >> 32 for total in totals]
        batch = Batch(state.keys.columns_at(alive), len(alive))
        keys = to_arrow(values, self._tables.codec, self._source[: self._node.keys], batch)
        return self._slots_table(keys.select(self._keys), sums)

    # ------------------------------------------------------------- members

    def best(self, values: Values, of: Callable[[], Spine | None]) -> Best:
        """Reads least and greatest values of members on the cluster, in the spine that `of` gives."""

        def read(keys: Sequence[Array], length: int, position: int, greatest: bool) -> Array | None:
            members = of()
            if members is None:
                return None
            schema, column = self._source[: self._node.keys], self._source[position]
            codec, tables = self._tables.codec, self._tables
            wanted = tables.local(to_arrow(values, codec, schema, Batch(tuple(keys), length)))
            seen = agreeing(members, members.seen(), wanted, self._keys)
            there = consolidated(names(self._source), seen, "> 0")
            query = self._accumulators.extreme(there, position, greatest)
            found = from_arrow(values, codec, (*schema, column), tables.fetch(query, (*schema, column)))
            table = RowTable(len(schema))
            table.insert(found.columns[:-1], found.length)
            codes: Array = found.columns[-1][table.find(keys, length)]
            return codes

        return read


def _parts(column: pa.ChunkedArray, slots: int) -> list[Array]:
    """The amounts that the values of a column add to the slots of their sum: of 64 bits the high and the low
    halves."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if pa.types.is_decimal(column.type):
        given = [int(value) for value in column.to_pylist()]
        return [np.array([g >> 32 for g in given], np.int64), np.array([g & _LOW for g in given], np.int64)]
    values = column.to_numpy().astype(np.int64)
    return [values] if slots == 1 else [values >> 32, values & _LOW]
