"""Columns on their way between the in-process engine's int64 arrays and Arrow tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..inprocess.storage.batch import Batch
from ..inprocess.storage.interner import Values
from ..inprocess.storage.layout import bounds, fit
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


def all_differ(rows: pa.Table | None) -> bool:
    """Whether a quick test shows that no row is there twice, whatever its weight; False for columns other
    than integers, and for rows that are not on the driver."""
    rows = None if rows is None else rows.drop_columns(["w"])
    if (
        rows is None
        or not rows.num_columns
        or not rows.num_rows
        or not all(map(pa.types.is_integer, rows.schema.types))
    ):
        return False
    if pa.uint64() in rows.schema.types:
        return False
    columns = [column.to_numpy().astype(np.int64) for column in rows.columns]
    layout = fit([bounds(column) for column in columns])
    if layout is None:
        return False
    words = np.sort(layout.pack(columns, rows.num_rows)[0])
    return bool((words[1:] != words[:-1]).all())


def distinct_rows(rows: pa.Table) -> pa.Table | None:
    """Each row of a local table once, with weight 1; None where Arrow cannot compare the columns."""
    columns = [name for name in rows.column_names if name != "w"]
    if all_differ(rows):
        return rows
    if not columns or any(pa.types.is_nested(rows.schema.field(name).type) for name in columns):
        return None
    once = rows.select(columns).group_by(columns).aggregate([]).combine_chunks()
    arrays = [column.chunk(0) if column.num_chunks else pa.array([], column.type) for column in once.columns]
    ones = pa.array(np.ones(once.num_rows, np.int64))
    return pa.Table.from_arrays(
        [*arrays, ones], schema=pa.schema([*(rows.schema.field(c) for c in columns), WEIGHT])
    )
