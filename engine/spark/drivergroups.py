"""Groups whose members are on the cluster, on the driver: all of them if they are few, or those of the keys
that a small change touches. The in-process engine changes them; a job reads what it needs of their keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from ..circuit import DeltaGroup
from ..inprocess.accumulators import IntegerSum
from ..inprocess.batch import Batch, consolidate, no_rows
from ..inprocess.grouping import Best, GroupState
from ..inprocess.interner import Values
from ..inprocess.table import RowTable
from ..schema import Array, Schema
from .accumulating import Accumulators
from .change import Fetch
from .exchange import from_arrow, to_arrow
from .lookups import asked, keys_of, known, together
from .numbered import Numbered, firsts
from .operators import touched
from .pruning import within
from .spine import Spine
from .sqltext import As, Select, Source, consolidated, names, sourced
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
        self._width = accumulators.slots + len(accumulators.extremes)

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

    def changed(self, change: pa.Table) -> Fetch:
        """The change of the groups for few changed members, given the accumulators and groups of before."""
        accumulators, keys = self._accumulators.spine, self._source[: self._node.keys]
        wanted = keys_of(self._tables, change, keys)
        query = together(
            [asked(accumulators, wanted, self._keys), self._extremes(asked(self._groups, wanted, self._keys))]
        )

        def finish(found: pa.Table) -> pa.Table:
            values = Values()
            numbered = Numbered(self._tables.codec, keys)
            assert wanted.local is not None
            numbered.insert(wanted.local)
            sums = np.zeros((len(numbered), self._width), np.int64)
            for part in (found, *known(accumulators), *map(self._extremes_of, known(self._groups))):
                self._add(sums, numbered, part)
            state = GroupState(
                self._node, self._source, None, values, True, self.best(values, lambda: self._members)
            )
            self._fill(state, values, wanted.local, sums)
            batch = consolidate(from_arrow(values, self._tables.codec, self._source, change))
            schema = self._node.schema
            told = state.change(batch) if batch.length else no_rows(schema)
            return to_arrow(values, self._tables.codec, schema, told)

        return Fetch(query, keys, [TIME], finish)

    def _add(self, sums: Array, numbered: Numbered, part: pa.Table) -> None:
        """Adds accumulators to those of the keys by number."""
        numbers = numbered.find(part)
        there = numbers >= 0
        slots, weights = part.column("t").to_numpy(), part.column("w").to_numpy()
        np.add.at(sums, (numbers[there], slots[there]), weights[there])

    def _extremes(self, groups: Source | None) -> Select | None:
        """The least and greatest values in rows of groups, as accumulators: a version of a row that is gone
        takes its values back."""
        extremes, slots = self._accumulators.extremes, self._accumulators.slots
        if groups is None or not extremes:
            return None
        columns = ", ".join(f"CAST(c{self._node.keys + k} AS BIGINT)" for k in extremes)
        source = f"{sourced(groups)} LATERAL VIEW posexplode(array({columns})) AS slot, x"
        return Select([*self._keys, As("w * x", "w"), As(f"CAST(slot + {slots} AS INT)", "t")], source)

    def _extremes_of(self, groups: pa.Table) -> pa.Table:
        """The same of rows on the driver."""
        weights, parts = groups.column("w").to_numpy(), []
        fields = arrow_schema(self._tables.codec, self._source[: self._node.keys], [TIME])
        for slot, k in enumerate(self._accumulators.extremes, self._accumulators.slots):
            (values,) = _parts(groups.column(self._node.keys + k), 1)
            keys = [column.combine_chunks() for column in groups.select(self._keys).columns]
            slots = pa.array(np.full(len(weights), slot, np.int32))
            parts.append(pa.Table.from_arrays([*keys, pa.array(weights * values), slots], schema=fields))
        return pa.concat_tables(parts) if parts else fields.empty_table()

    # ------------------------------------------------------------- states

    def _fill(self, state: GroupState, values: Values, keys: pa.Table, sums: Array) -> None:
        """Gives a state without groups the groups of some keys, by their accumulators."""
        alive = np.flatnonzero(sums[:, 0] > 0)
        sums = sums[alive]
        kept: dict[int, Sequence[Array]] = {}
        for k, aggregate in enumerate(self._node.aggregates):
            if aggregate.function in ("sum", "avg"):
                high, *low = (sums[:, slot].copy() for slot in self._accumulators.slots_of(k))
                kept[k] = (low[0], high) if low else (high, np.zeros_like(high))
        for slot, k in enumerate(self._accumulators.extremes, self._accumulators.slots):
            column = self._source[self._node.aggregates[k].columns[0]]
            kept[k] = (values.encode_input(column, sums[:, slot].copy()),)
        chosen = keys.take(pa.array(alive))
        batch = from_arrow(values, self._tables.codec, self._source[: self._node.keys], chosen)
        state.fill(batch.columns, sums[:, 0].copy(), kept)

    def bring(self, values: Values, state: GroupState) -> None:
        """Gives a state on the driver, without groups, all groups as of the last commit."""
        spine, keys = self._accumulators.spine, self._source[: self._node.keys]
        tables = self._tables
        queries = [Select(("*",), spine.of(spine.parts))] if spine.parts else []
        extremes = self._extremes(self._groups.of(self._groups.parts)) if self._groups.parts else None
        every = together([*queries, extremes])
        if every is None:
            rows = arrow_schema(tables.codec, keys, [TIME]).empty_table()
        else:
            rows = tables.fetch(consolidated(self._keys, every, times=["t"]), keys, [TIME])
        numbers, first = self._numbered(rows)
        wanted = rows.select([*self._keys, "w"]).take(pa.array(first))
        sums = np.zeros((len(first), self._width), np.int64)
        np.add.at(sums, (numbers, rows.column("t").to_numpy()), rows.column("w").to_numpy())
        self._fill(state, values, wanted, sums)

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
            assert wanted.local is not None
            where = within(codec, self._source, self._keys, wanted.local, "s")
            seen = touched(members, wanted.view, self._keys, length, True, where)
            there = consolidated(names(self._source), seen, "> 0")
            extreme = As(f"{'max' if greatest else 'min'}(c{position})", f"c{len(schema)}")
            query = Select([*self._keys, extreme, As("1L", "w")], there, grouped=self._keys)
            found = from_arrow(values, codec, (*schema, column), tables.fetch(query, (*schema, column)))
            table = RowTable(len(schema))
            table.insert(found.columns[:-1], found.length)
            codes: Array = found.columns[-1][table.find(keys, length)]
            return codes

        return read


def _parts(column: pa.ChunkedArray, slots: int) -> list[Array]:
    """What the values of a column add to the slots of their sum: of 64 bits the high and the low halves."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if pa.types.is_decimal(column.type):
        given = [int(value) for value in column.to_pylist()]
        return [np.array([g >> 32 for g in given], np.int64), np.array([g & _LOW for g in given], np.int64)]
    values = column.to_numpy().astype(np.int64)
    return [values] if slots == 1 else [values >> 32, values & _LOW]
