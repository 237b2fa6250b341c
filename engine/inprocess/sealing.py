"""The changes of an epoch that is computed, for what keeps them before they become final."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from .. import thresholds
from ..circuit import Input, NodeId
from ..runtime import Coded, Delta
from ..schema import INLINE_LIMIT, Array, Column, Kind, Schema
from . import durablecontents as remembered
from .epoch import RunningEpoch
from .storage.batch import Batch, concat, consolidate
from .storage.interner import Values
from .storage.rows import ArrayDelta


class SealedEpoch:
    """The changes of one epoch over a state. See `engine.runtime.Sealed`."""

    def __init__(
        self, running: RunningEpoch, deltas: Mapping[str, Delta], remembered: Mapping[str, NodeId]
    ) -> None:
        self._running, self.deltas, self._remembered = running, deltas, remembered

    @property
    def length(self) -> int:
        """The number of rows that inputs changed by, or more."""
        return sum(batch.length for batch in self._running.taken.values())

    def inputs(self) -> dict[str, Callable[[], Coded]]:
        """The change of each input, or the elements of one that is a stream."""
        return {node.relation: self._coded(node, change) for node, change in input_changes(self._running)}

    def output(self, name: str) -> Callable[[], Coded] | None:
        """The change of an output, or the elements of one that is a stream; None if there are none."""
        state, delta = self._running.state, self.deltas.get(name)
        if not isinstance(delta, ArrayDelta) or not len(delta):
            return None
        return partial(coded, state.values, state.circuit.nodes[state.outputs[name]].schema, delta.batch)

    def passed(self) -> dict[str, Callable[[], Coded]]:
        """The rows of inputs that came in this epoch and were forgotten in it."""
        return {node.relation: self._coded(node, batch) for node, batch in passed(self._running)}

    def _coded(self, node: Input, batch: Batch) -> Callable[[], Coded]:
        return partial(coded, self._running.state.values, node.schema, batch)

    def remembered(self) -> dict[str, Callable[[], Coded]]:
        """The changes of what nodes of windows remember, by their names; of late rows those that came."""
        state, changes = self._running.state, remembered_changes(self._running)
        return {
            name: partial(coded, state.values, remembered.schema_of(state, at), changes[at])
            for name, at in self._remembered.items()
            if at in changes
        }


def input_changes(running: RunningEpoch) -> Iterator[tuple[Input, Batch]]:
    """The changes of the rows of inputs: those that they take, without those that they forget. Of a stream
    its elements."""
    for at in {**running.taken, **running.forgotten}:
        node = running.circuit.nodes[at]
        if not isinstance(node, Input):
            continue
        if node.stream or running.epoch.first:
            change = running.state.stores[at].batch()
        else:
            parts = [running.taken[at]] if at in running.taken else []
            if at in running.forgotten:
                parts.append(running.forgotten[at].negated())
            change = consolidate(concat(parts, len(node.schema)))
        if change.length:
            yield node, change


def passed(running: RunningEpoch) -> Iterator[tuple[Input, Batch]]:
    """The rows of inputs that came in an epoch and were forgotten in it."""
    for at in running.forgotten.keys() & running.taken.keys():
        node = running.circuit.nodes[at]
        assert isinstance(node, Input)
        came = consolidate(running.taken[at])
        here = running.state.stores[at].weight_of(came.columns, came.length)
        batch = came.take(np.flatnonzero((came.weight_array() > 0) & (here == 0)))
        if batch.length:
            yield node, batch


def remembered_changes(running: RunningEpoch) -> dict[NodeId, Batch]:
    """The changes of what nodes remember whose contents are kept; of late rows those that came."""
    found = {
        at: consolidate(remembered.changed(running.state, at, change))
        for at, change in running.remembered.items()
    }
    return {at: batch for at, batch in found.items() if batch.length}


def coded(values: Values, schema: Schema, batch: Batch) -> Coded:
    """The rows of a batch column by column, in forms that do not depend on the runtime."""
    pairs = zip(schema, batch.columns, strict=True)
    return Coded([coded_column(values, *pair) for pair in pairs], batch.weights, batch.length)


def coded_column(values: Values, column: Column, codes: Array) -> Any:
    """A column in a form that does not depend on the runtime: numbers, a list of values, or a pair
    (dictionary of values, array of positions in it)."""
    if column.kind is Kind.FLOAT:
        return np.ascontiguousarray(codes).view(np.float64)
    if column.kind is Kind.OBJECT:
        return _dictionary(values.domain(column.domain).values, codes)
    if column.kind is Kind.INT and len(codes) and int(codes.max()) >= INLINE_LIMIT:
        return values.decode_column(column, codes)
    return codes


def _dictionary(values: list[Any], codes: Array) -> tuple[list[Any], Array]:
    """The values that occur, and the place of each among them."""
    if len(codes) <= thresholds.FEW_ROWS:
        known: dict[int, int] = {}
        few = np.array([known.setdefault(code, len(known)) for code in codes.tolist()], np.int64)
        return [values[i] for i in known], few
    if len(values) <= 4 * len(codes):
        places = np.zeros(len(values), np.int64)
        places[codes] = 1
        used = np.flatnonzero(places)
        places[used] = np.arange(len(used))
        return [values[i] for i in used.tolist()], places[codes]
    used, inverse = np.unique(codes, return_inverse=True)
    return [values[i] for i in used.tolist()], inverse
