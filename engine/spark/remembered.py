"""Contents of nodes that are kept beyond the process, on Spark, because the inputs do not say them.

The rows of a window have their times as a last column. All these nodes are on the cluster: see `placement`.
See `engine.remembering`, and `engine.inprocess.remembered`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ..circuit import DeltaClock, DeltaLate, DeltaWindow, NodeId
from ..schema import Schema
from .change import Change, of_table
from .numbered import Numbered, netted
from .sqltext import As, Joined, Select, UnionAll, consolidated, equal, names, of_side
from .state import State
from .tables import WEIGHT, Table, Tables


def schema_of(state: State, at: NodeId) -> Schema:
    """The columns of what a node remembers."""
    return state.windows[at].schema if at in state.windows else state.circuit.nodes[at].schema


def once(tables: Tables, schema: Schema, parts: Sequence[Table]) -> Table:
    """The rows of some tables, each once; without a job if all are on the driver."""
    some = [part for part in parts if part.rows]
    if not some:
        return tables.nothing(schema)
    if schema and all(part.local is not None for part in some):
        rows = tables.concatenated(some).local
        assert rows is not None
        return tables.local(netted(tables.codec, schema, rows, False))
    columns = names(schema)
    every = UnionAll([Select([*columns, "w"], part.view) for part in some])
    return tables.settled(consolidated(columns, every), schema, small=all(part.small for part in some))


def negated(tables: Tables, schema: Schema, table: Table) -> Table:
    """A table with the opposite weights."""
    if table.local is not None:
        weights = pa.array(-np.asarray(table.local.column("w")))
        return tables.local(table.local.set_column(len(schema), WEIGHT, weights))
    opposite = Select([*names(schema), As("-w", "w")], table.view)
    return tables.selected(opposite, table, -table.total, -table.total)


def came(tables: Tables, schema: Schema, change: Table, gone: Table) -> Table:
    """The rows of a change that came, and are among those that are gone."""
    if change.local is not None and gone.local is not None:
        numbered = Numbered(tables.codec, schema)
        numbered.insert(gone.local)
        chosen = (numbered.find(change.local) >= 0) & (np.asarray(change.local.column("w")) > 0)
        return tables.local(change.local.filter(pa.array(chosen)))
    columns = names(schema)
    joined = Joined("LEFT SEMI JOIN", gone.view, "d", equal("s", "d", columns))
    query = Select(of_side("s", [*columns, "w"]), change.view, "s", [joined], "s.w > 0")
    return tables.settled(query, schema, small=change.small)


def contents_of(state: State, at: NodeId) -> Table:
    """The memory of a node, between epochs."""
    tables, schema = state.tables, schema_of(state, at)
    if at in state.clocks:
        now = state.clocks[at].now
        return tables.of_rows(schema, [] if now is None else [(now,)])
    if at not in state.windows:
        return once(tables, schema, state.spines[at].parts)
    window = state.windows[at]
    return once(tables, schema, [table for table in map(window.within, window.parts) if table.rows])


def changed(state: State, at: NodeId) -> Table | None:
    """The change of a node's memory in the epoch that is computed, None if nothing did; of late rows those of
    this epoch."""
    tables, schema = state.tables, schema_of(state, at)
    match state.circuit.nodes[at]:
        case DeltaClock():
            clock = state.clocks[at]
            if clock.now == clock.before:
                return None
            parts = [tables.of_rows(schema, [(clock.now,)])]
            if clock.before is not None:
                parts.append(negated(tables, schema, tables.of_rows(schema, [(clock.before,)])))
        case DeltaWindow():
            window = state.windows[at]
            parts = [*window.fresh, *(negated(tables, schema, table) for table in window.left)]
        case DeltaLate():
            parts = state.spines[at].seen()
        case _:
            parts = state.spines[at].fresh
    found = once(tables, schema, parts)
    return found if found.rows else None


def begin_with(state: State, at: NodeId, contents: Table) -> Mapping[NodeId, Change | None]:
    """Lets a node begin with contents, before the first epoch. Returns its change in that epoch, unless the
    node knows it itself. May be called again if the first epoch fails."""
    state.given[at] = contents
    if not isinstance(state.circuit.nodes[at], DeltaClock | DeltaWindow | DeltaLate):
        change = of_table(state.tables, schema_of(state, at), contents)
        return {at: change if contents.rows else None}
    if at in state.windows:
        state.windows[at].begin_with(contents)
    elif at in state.clocks and contents.rows:
        rows = state.tables.gathered(contents, schema_of(state, at)).local
        assert rows is not None
        state.clocks[at].begin_with(max(map(int, rows.column("c0").to_pylist())))
    return {}
