"""Columns on their way between the in-process engine's int64 arrays and Arrow tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..inprocess.storage.batch import Batch
from ..inprocess.storage.interner import Values
from ..inprocess.storage.table import RowTable
from ..schema import INLINE_LIMIT, Array, Column, Kind, Schema
from .codec import Codec
from .tables import WEIGHT


def to_arrow(values: Values, codec: Codec, schema: Schema, batch: Batch) -> pa.Table:
    """A batch as the rows of a local table."""
    columns = [_column(values, codec, c, a) for c, a in zip(schema, batch.columns, strict=True)]
    weights = np.ones(batch.length, np.int64) if batch.weights is None else batch.weights
    fields = [pa.field(f"c{k}", array.type, nullable=False) for k, array in enumerate(columns)]
    return pa.Table.from_arrays([*columns, pa.array(weights)], schema=pa.schema([*fields, WEIGHT]))


def _column(values: Values, codec: Codec, column: Column, codes: Array) -> pa.Array:
    match column.kind:
        case Kind.FLOAT:
            return codec.encode(column, codes.view(np.float64))
        case Kind.INT if not len(codes) or int(codes.max()) < INLINE_LIMIT:
            return codec.encode(column, codes)
        case Kind.BOOL:
            return pa.array(codes.astype(bool))
        case Kind.OBJECT:
            # Each distinct value is encoded once.
            used, positions = np.unique(codes, return_inverse=True)
            distinct = codec.encode(column, values.decode_column(column, used))
            return distinct.take(pa.array(positions))
    return codec.encode(column, values.decode_column(column, codes))


def from_arrow(values: Values, codec: Codec, schema: Schema, rows: pa.Table) -> Batch:
    """The rows of a local table as a batch."""
    columns = tuple(
        values.encode_input(column, _input(codec, column, rows.column(k))) for k, column in enumerate(schema)
    )
    weights = rows.column("w").to_numpy()
    return Batch(columns, rows.num_rows, None if (weights == 1).all() else weights.astype(np.int64))


def _input(codec: Codec, column: Column, data: pa.ChunkedArray) -> Any:
    if column.kind is Kind.BOOL:
        return data.cast(pa.int8()).to_numpy().astype(np.int64)
    if column.kind is Kind.FLOAT or pa.types.is_integer(data.type):
        return data.to_numpy()
    if pa.types.is_string(data.type) or pa.types.is_binary(data.type):
        coded = pc.dictionary_encode(data).combine_chunks()
        if isinstance(coded, pa.ChunkedArray):
            coded = (
                coded.chunk(0)
                if coded.num_chunks
                else pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), pa.array([], data.type))
            )
        return codec.decode(column, coded.dictionary), coded.indices.to_numpy()
    return codec.decode(column, data)


def netted(codec: Codec, schema: Schema, rows: pa.Table) -> pa.Table:
    """The rows of a local table, each once, with the sum of its weights, unless that is 0."""
    batch, table = from_arrow(Values(), codec, schema, rows), RowTable(len(schema))
    numbers = table.insert(batch.columns, batch.length)
    sums, first = np.zeros(table.size, np.int64), np.full(table.size, len(numbers), np.int64)
    np.add.at(sums, numbers, rows.column("w").to_numpy())
    np.minimum.at(first, numbers, np.arange(len(numbers)))
    kept = np.flatnonzero(sums)
    taken = rows.take(pa.array(first[kept]))
    at = taken.schema.get_field_index("w")
    return taken.set_column(at, taken.schema.field(at), pa.array(sums[kept]))
