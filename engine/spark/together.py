"""Small changes of several relations, computed by one job."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from .change import Change
from .sqltext import As, Query, Select, UnionAll, names
from .table import arrow_schema
from .tables import Tables


def settle_together(tables: Tables, changes: Sequence[Change]) -> None:
    """Computes some changes by one job, if they are few rows in all; otherwise they stay queries.

    The queries become one, with a column for each of them: the rows of the query of that number, as structs.
    """
    types = [_struct(tables, change) for change in changes]
    parts: list[Query] = []
    for number, change in enumerate(changes):
        fields = ", ".join(f"'{name}', {name}" for name in [*names(change.schema), "w"])
        row = f"named_struct({fields})"
        columns = [
            As(row if k == number else f"CAST(NULL AS {type})", f"r{k}") for k, type in enumerate(types)
        ]
        parts.append(Select([As(f"{number}", "q"), *columns], change.sql))
    found = tables.limited(UnionAll(parts), tables.most_small)
    if found is None:
        return
    numbers = found.column("q")
    for number, change in enumerate(changes):
        rows = found.filter(pc.equal(numbers, number)).column(f"r{number}").combine_chunks()
        change.take(tables.local(_flat(tables, change, rows)))


def _struct(tables: Tables, change: Change) -> str:
    """The SQL type of the rows of a change."""
    pairs = zip(names(change.schema), change.schema, strict=True)
    fields = [f"{name}: {tables.codec.sql_type(column)}" for name, column in pairs]
    return f"STRUCT<{', '.join([*fields, 'w: BIGINT'])}>"


def _flat(tables: Tables, change: Change, rows: pa.Array) -> pa.Table:
    schema = arrow_schema(tables.codec, change.schema)
    if isinstance(rows, pa.ChunkedArray):
        rows = rows.combine_chunks() if rows.num_chunks else pa.array([], rows.type)
    columns = [
        array if array.type == field.type else array.cast(field.type)
        for array, field in zip(rows.flatten(), schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)
