"""Rows of local tables by number, as the in-process engine numbers them: to sum their weights up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ..inprocess.storage.interner import Values
from ..inprocess.storage.table import RowTable
from ..schema import Array, Column, Schema
from .codec import Codec
from .exchange import from_arrow


class Numbered:
    """Different rows of some columns, numbered from 0 as they come."""

    def __init__(self, codec: Codec, schema: Schema) -> None:
        self._codec, self._schema = codec, schema
        self._values, self._table = Values(), RowTable(len(schema))

    def __len__(self) -> int:
        return self._table.size

    def insert(self, rows: pa.Table) -> Array:
        """The number of each row of a local table; new rows get the next ones."""
        batch = from_arrow(self._values, self._codec, self._schema, rows)
        return self._table.insert(batch.columns, batch.length)

    def find(self, rows: pa.Table) -> Array:
        """The number of each row of a local table; -1 of rows that have none."""
        batch = from_arrow(self._values, self._codec, self._schema, rows)
        return self._table.find(batch.columns, batch.length)

    def weights(self, counted: pa.Table) -> Array:
        """The sum of the weights of each of the rows so far in a table that may have others, too."""
        found, weights = self.find(counted), counted.column("w").to_numpy()
        sums = np.zeros(len(self), np.int64)
        np.add.at(sums, found[found >= 0], weights[found >= 0])
        return sums


def all_differ_by(codec: Codec, schema: Sequence[Column], rows: pa.Table) -> bool:
    """Whether no two rows of a local table of some columns are alike."""
    columns = rows.rename_columns([f"c{k}" for k in range(len(schema))])
    weights = pa.array(np.ones(rows.num_rows, np.int64))
    numbered = Numbered(codec, tuple(schema))
    numbered.insert(columns.append_column("w", weights))
    return bool(len(numbered) == rows.num_rows)


def firsts(numbers: Array, size: int) -> Array:
    """The first place of each number."""
    first = np.full(size, len(numbers), np.int64)
    np.minimum.at(first, numbers, np.arange(len(numbers)))
    return first


def weighted(rows: pa.Table, first: Array, weights: Array) -> pa.Table:
    """The rows at some places with new weights, without those of weight 0."""
    chosen = np.flatnonzero(weights)
    taken = rows.take(pa.array(first[chosen]))
    at = taken.schema.get_field_index("w")
    return taken.set_column(at, taken.schema.field(at), pa.array(weights[chosen].astype(np.int64)))


def netted(codec: Codec, schema: Schema, rows: pa.Table, timed: bool) -> pa.Table:
    """The rows of a local table, each once, with the sum of its weights, unless that is 0; of each iteration,
    if they are `timed`."""
    numbers = Numbered(codec, schema).insert(rows)
    if timed:
        times = RowTable(2)
        numbers = times.insert((numbers, rows.column("t").to_numpy().astype(np.int64)), len(numbers))
    size = int(numbers.max(initial=-1)) + 1
    sums = np.zeros(size, np.int64)
    np.add.at(sums, numbers, rows.column("w").to_numpy())
    return weighted(rows, firsts(numbers, size), sums)
