"""Contents of nodes that are kept beyond the process, because the inputs do not say them.

    kept contents ──▶ node          before the first epoch
    source ──▶ node ──▶ contents    the first epoch: what the node gives, whatever its source does

    kept contents ──▶ node ──▶ the difference to what it held      an epoch that stands for several

The rows of a window have their times as a last column. See `engine.windowmemory`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..circuit import DeltaClock, DeltaDistinct, DeltaGroup, DeltaLate, DeltaWindow, FixpointResult, NodeId
from ..schema import Schema
from .arrangements.windows import WindowStore
from .state import State
from .storage.batch import Batch, concat, consolidate, no_rows


def schema_of(state: State, at: NodeId) -> Schema:
    """The columns of what a node remembers."""
    node = state.circuit.nodes[at]
    if isinstance(node, DeltaDistinct | DeltaGroup | FixpointResult):
        raise TypeError("the contents of such a node follow from others")
    return state.circuit.nodes[node.source].schema if isinstance(node, DeltaWindow) else node.schema


def contents_of(state: State, at: NodeId) -> Batch:
    """The memory of a node, between epochs."""
    node = state.circuit.nodes[at]
    if isinstance(node, DeltaClock):
        now = state.clocks[at].now
        return no_rows(node.schema) if now is None else Batch((np.array([now], np.int64),), 1)
    batch = state.stores[at].batch()
    return _with_times(state, at, batch) if isinstance(node, DeltaWindow) else batch


def changed(state: State, at: NodeId, change: Batch) -> Batch:
    """The change of a node's memory, for its change in the epoch that is computed; of late rows those of this
    epoch."""
    match state.circuit.nodes[at]:
        case DeltaWindow():
            return _with_times(state, at, change)
        case DeltaLate():
            return state.stores[at].batch()
    return change


def _with_times(state: State, at: NodeId, batch: Batch) -> Batch:
    store = state.stores[at]
    assert isinstance(store, WindowStore)
    return Batch((*batch.columns, store.times_of(batch)), batch.length, batch.weights)


def catch_up(state: State, at: NodeId, contents: Batch) -> Batch:
    """Lets a node take these contents over in the next epoch. Returns its change in that epoch, which does
    not follow from those of its sources: they stand for the changes of several epochs."""
    node = state.circuit.nodes[at]
    change = consolidate(concat([contents, contents_of(state, at).negated()], len(contents.columns)))
    if isinstance(node, DeltaClock | DeltaWindow | DeltaLate):
        state.given[at] = change
    if isinstance(node, DeltaWindow):
        change = Batch(tuple(change.columns)[:-1], change.length, change.weights)
    return change


def begin_with(state: State, at: NodeId, contents: Batch) -> Mapping[NodeId, Batch | None]:
    """Lets a node begin with contents, before the first epoch. Returns its change in that epoch, unless the
    node knows it itself. May be called again if the first epoch fails."""
    node = state.circuit.nodes[at]
    if not isinstance(node, DeltaClock | DeltaWindow | DeltaLate):
        return {at: contents if contents.length else None}
    batch = contents
    if isinstance(node, DeltaClock) and batch.length:
        state.clocks[at].begin_with(int(batch.columns[0].max()))
    if at in state.given:
        return {}
    if isinstance(node, DeltaWindow):
        columns = tuple(contents.columns)
        batch = Batch(columns[:-1], contents.length, contents.weights)
        store = state.stores[at]
        assert isinstance(store, WindowStore)
        if batch.length:
            store.begin_with(batch, columns[-1])
    state.given[at] = batch
    return {}
