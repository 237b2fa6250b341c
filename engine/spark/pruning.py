"""Reading only a part of a large table: its rows lie sorted in each partition, and Spark knows the least and
the greatest value of each column of each ten thousand cached rows. A condition on the leading columns of what
is looked up leaves out those in which it cannot be.

A look-up of ten rows by their leading columns reads some ten of these parts, however many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import thresholds
from ..schema import Column, Schema
from .codec import Codec
from .sqltext import names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TYPES = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL(20,0)", "DECIMAL(38,0)", "STRING")
_SORTED_HERE = (pa.types.is_signed_integer, pa.types.is_decimal, pa.types.is_string)
_PLAIN = (*_TYPES, "BOOLEAN")


def leading(codec: Codec, schema: Schema) -> list[str]:
    """The columns by which the rows of a large table are sorted: some of the first, if they are numbers or
    texts."""
    found = []
    for name, column in zip(names(schema), schema[: thresholds.SPARK_SORTED_COLUMNS], strict=False):
        if not sorts(codec, column):
            break
        found.append(name)
    return found


def in_order(frame: DataFrame, columns: Sequence[str]) -> DataFrame:
    """A frame, each partition sorted by some columns. Spark is not to know that: a checkpoint that remembers
    its order cannot be united with itself. What `explode` gives has no order, but its partitions."""
    if not columns:
        return frame
    kept = frame.columns
    each = frame.sortWithinPartitions(*columns).selectExpr(*kept, "explode(array(true)) AS each")
    return each.select(*kept)


def leading_here(schema: pa.Schema) -> list[str]:
    """The same of a local table."""
    found = []
    for field in list(schema)[: thresholds.SPARK_SORTED_COLUMNS]:
        plain = any(test(field.type) for test in _SORTED_HERE)
        if not plain or not field.name.startswith("c"):
            break
        found.append(field.name)
    return found


def sorts(codec: Codec, column: Column) -> bool:
    """Whether a table that lies sorted by a column can be read in part."""
    return codec.sql_type(column) in _TYPES


def within(
    codec: Codec,
    schema: Schema,
    columns: Collection[str],
    wanted: pa.Table,
    alias: str,
    order: Sequence[str] | None = None,
) -> str:
    """A condition that holds for the rows of a table which agree with one of a few rows on some columns, and
    for few others; empty if there is none. `order`: the columns by which the table lies sorted, if these are
    not the leading ones."""
    conditions = []
    for column in leading(codec, schema) if order is None else order:
        if column not in columns:
            break
        sql_type = codec.sql_type(schema[int(column[1:])])
        pairs = _ranges(pc.unique(wanted.column(column)))
        some = (
            f"{alias}.{column} BETWEEN {_literal(low, sql_type)} AND {_literal(high, sql_type)}"
            for low, high in pairs
        )
        conditions.append(f"({' OR '.join(some) or 'FALSE'})")
    return " AND ".join(conditions)


def exactly(codec: Codec, schema: Schema, columns: Collection[str], wanted: pa.Table, alias: str) -> str:
    """A condition that holds for the rows that agree with one of a few rows on some columns; empty if these
    are too many for one, or not of plain types."""
    types = {column: codec.sql_type(schema[int(column[1:])]) for column in columns}
    if not types or not 0 < wanted.num_rows <= thresholds.SPARK_RANGES or not {*types.values()} <= {*_PLAIN}:
        return ""
    rows = zip(*(wanted.column(column).to_pylist() for column in columns), strict=True)
    some = (
        " AND ".join(
            f"{alias}.{column} = {_literal(value, types[column])}"
            for column, value in zip(columns, row, strict=True)
        )
        for row in rows
    )
    return f"({' OR '.join(f'({each})' for each in some)})"


def _ranges(values: pa.Array) -> Sequence[tuple[int | str, int | str]]:
    """Some ranges with all of the values, the widest gaps between them."""
    listed = sorted(values.to_pylist(), key=lambda v: v.encode() if isinstance(v, str) else v)
    if len(listed) <= thresholds.SPARK_RANGES:
        return [(value, value) for value in listed]
    if isinstance(listed[0], str):
        cuts = np.linspace(0, len(listed), thresholds.SPARK_RANGES + 1).astype(int)[1:-1]
    else:
        gaps = [float(b - a) for a, b in pairwise(listed)]
        cuts = np.sort(np.argsort([-gap for gap in gaps], kind="stable")[: thresholds.SPARK_RANGES - 1] + 1)
    starts, ends = [0, *cuts.tolist()], [*cuts.tolist(), len(listed)]
    return [(listed[a], listed[b - 1]) for a, b in zip(starts, ends, strict=True)]


def _literal(value: Any, sql_type: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"CAST(X'{value.encode().hex()}' AS STRING)"
    return f"CAST({value} AS {sql_type})" if value > -(1 << 63) else "(-9223372036854775807L - 1L)"
