"""The changes of an epoch that is computed, for what keeps them before they become final."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..circuit import Input
from ..runtime import Coded, Delta
from ..schema import INLINE_LIMIT, Array, Column, Kind, Schema
from .batch import Batch, consolidate
from .interner import Values
from .rows import ArrayDelta
from .running import RunningEpoch

_FEW = 16  # rows for which no arrays are made


class SealedEpoch:
    """The changes of one epoch over a state. See `engine.runtime.Sealed`."""

    def __init__(self, running: RunningEpoch, deltas: Mapping[str, Delta]) -> None:
        self._running, self.deltas = running, deltas

    @property
    def length(self) -> int:
        """The number of rows that inputs changed by, or more."""
        return sum(batch.length for batch in self._running.taken.values())

    def inputs(self) -> dict[str, Callable[[], Coded]]:
        """The change of each input, or the elements of one that is a stream."""
        return dict(self._inputs())

    def outputs(self) -> dict[str, Callable[[], Coded]]:
        """The change of each output, or the elements of one that is a stream."""
        return {
            name: partial(coded, self._running.state.values, self._schema(name), delta.batch)
            for name, delta in self.deltas.items()
            if isinstance(delta, ArrayDelta) and len(delta)
        }

    def _schema(self, output: str) -> Schema:
        state = self._running.state
        return state.circuit.nodes[state.outputs[output]].schema

    def _inputs(self) -> Iterator[tuple[str, Callable[[], Coded]]]:
        running = self._running
        for at, change in running.taken.items():
            node = running.circuit.nodes[at]
            assert isinstance(node, Input)
            if node.stream or running.epoch.first:
                change = running.state.stores[at].batch()
            else:
                change = consolidate(change)
            if change.length:
                yield node.relation, partial(coded, running.state.values, node.schema, change)


def coded(values: Values, schema: Schema, batch: Batch) -> Coded:
    """The rows of a batch column by column, in forms that do not depend on the runtime."""
    pairs = zip(schema, batch.columns, strict=True)
    return Coded([_coded_column(values, *pair) for pair in pairs], batch.weights, batch.length)


def _coded_column(values: Values, column: Column, codes: Array) -> Any:
    if column.kind is Kind.FLOAT:
        return np.ascontiguousarray(codes).view(np.float64)
    if column.kind is Kind.OBJECT:
        return _dictionary(values.domain(column.domain).values, codes)
    if column.kind is Kind.INT and len(codes) and int(codes.max()) >= INLINE_LIMIT:
        return values.decode_column(column, codes)
    return codes


def _dictionary(values: list[Any], codes: Array) -> tuple[list[Any], Array]:
    """The values that occur, and the place of each among them."""
    if len(codes) <= _FEW:
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
