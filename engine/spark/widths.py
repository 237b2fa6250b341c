"""How wide rows are. The driver's limit is a number of ordinary rows: one of a long text, or of a collection,
counts as many."""

from __future__ import annotations

import numpy as np

from .. import thresholds
from ..circuit import Circuit, DeltaGroup, Input, NodeId
from ..inprocess.storage.batch import Batch
from ..inprocess.storage.interner import Values
from ..schema import Kind, Schema
from .codec import Codec
from .table import ORDINARY


class Widths:
    """The widths of the rows of nodes, as far as the driver has seen some: of those that bring values. What
    follows from them has mostly the same, and the driver has each value once."""

    def __init__(self, circuit: Circuit, values: Values, codec: Codec) -> None:
        self._nodes, self._values, self._codec = circuit.nodes, values, codec
        self._rows: dict[NodeId, int] = {}  # of a node when they were last looked at
        self._times: dict[NodeId, float] = {}  # how many ordinary rows one of them is

    def counted(self, at: NodeId, rows: int) -> int:
        """For how many ordinary rows so many rows of a node count."""
        return int(rows * self._times.get(at, 1.0))

    def look(self, at: NodeId, rows: int, some: Batch) -> None:
        """Looks at some rows of a node that has so many, if it has grown since."""
        if not isinstance(self._nodes[at], Input | DeltaGroup):
            return
        if rows < thresholds.SPARK_MEASURED or rows < 1.25 * self._rows.get(at, 0) or not some.length:
            return
        self._rows[at] = rows
        schema = self._nodes[at].schema
        if any(column.kind is Kind.OBJECT for column in schema):
            places = np.linspace(0, some.length - 1, min(thresholds.SPARK_WIDTHS, some.length)).astype(
                np.int64
            )
            self._times[at] = max(1.0, self._bytes(schema, some.take(places)) / ORDINARY)

    def _bytes(self, schema: Schema, some: Batch) -> float:
        """The bytes of a row. The driver has each value once, so one that comes often is next to nothing."""
        total = 8 * len(schema) * some.length
        for column, codes in zip(schema, some.columns, strict=True):
            if column.kind is Kind.OBJECT:
                values = self._values.decode_column(column, np.unique(codes))
                total += self._codec.encode(column, values).nbytes
        return total / some.length
