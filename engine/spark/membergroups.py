"""Groups without accumulators whose members are on the cluster: a job brings the members of the keys that a
small change touches, and the in-process engine makes their groups, as they were and as they are.

    change         k: +"fig"                       minus k: f("pear", "kiwi")
    members of k   "pear", "kiwi"          ──►     plus  k: f("fig", "pear", "kiwi")
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .. import thresholds
from ..circuit import DeltaGroup
from ..inprocess.arrangements.store import store_of
from ..inprocess.groups.grouping import GroupState
from ..inprocess.storage.batch import Batch, concat, no_rows
from ..inprocess.storage.interner import Values
from ..inprocess.storage.table import RowTable
from ..schema import Array, Schema
from .change import Fetch
from .exchange import from_arrow, to_arrow
from .lookups import asked, keys_of, known
from .spine import Spine
from .table import Table
from .tables import Tables


class MemberGroups:
    """One grouping."""

    def __init__(self, node: DeltaGroup, source: Schema, tables: Tables) -> None:
        self._node, self._source, self._tables = node, source, tables
        self._patience = 0

    def wanted(self, change: Table) -> Table:
        """The keys that a change on the driver touches, each once."""
        assert change.local is not None
        return keys_of(self._tables, change.local, self._source[: self._node.keys])

    def changed(self, members: Spine, change: Table, wanted: Table) -> Fetch | None:
        """The change of the groups of the `wanted` keys for few changed members. `members`: their integral as
        of before the epoch. None: the cluster makes it, since there were too many members."""
        if self._patience:
            self._patience -= 1
            return None
        if not self._node.keys and members.rows(False) > self._tables.most_fetched:
            return None

        def finish(found: pa.Table) -> pa.Table:
            values = Values()
            told = self._told(values, [found, *known(members)], change)
            return to_arrow(values, self._tables.codec, self._node.schema, told)

        query = asked(members, wanted, members.columns[: self._node.keys])
        return Fetch(query, self._source, (), finish, too_many=self._wait)

    def _wait(self) -> None:
        self._patience = thresholds.SPARK_PATIENCE

    def _told(self, values: Values, before: list[pa.Table], change: Table) -> Batch:
        source, keys = self._source, self._node.keys
        assert change.local is not None
        come = from_arrow(values, self._tables.codec, source, change.local)
        touched, rows = RowTable(keys), RowTable(len(source))
        touched.insert(come.columns[:keys], come.length)
        parts = [from_arrow(values, self._tables.codec, source, part) for part in before]
        there = concat(parts, len(source))
        there = there.take(np.flatnonzero(touched.find(there.columns[:keys], there.length) >= 0))
        numbers = rows.insert(there.columns, there.length), rows.insert(come.columns, come.length)
        weights = np.zeros(rows.size, np.int64)
        np.add.at(weights, numbers[0], there.weight_array())
        old = self._counted(weights)
        np.add.at(weights, numbers[1], come.weight_array())
        return self._difference(values, rows, old, self._counted(weights) - old)

    def _counted(self, weights: Array) -> Array:
        """How often rows are members, by their weights."""
        return np.maximum(weights, 0) if self._node.bag else (weights > 0).astype(np.int64)

    def _difference(self, values: Values, rows: RowTable, old: Array, change: Array) -> Batch:
        """The change of the groups of these rows by a change of their weights."""
        before, come = (
            Batch(rows.columns_at(chosen), len(chosen), weights[chosen])
            for weights in (old, change)
            for chosen in (np.flatnonzero(weights),)
        )
        store = store_of(self._source, before)
        groups = GroupState(self._node, self._source, store, values, net=True)
        if before.length:
            groups.change(before)
            groups.commit()
        if not come.length:
            return no_rows(self._node.schema)
        store.add_counted(come, as_set=False)
        return groups.change(come)
