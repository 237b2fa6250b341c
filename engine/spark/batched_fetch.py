"""Small changes of several relations, computed by one job."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from .change import Change, Fetch
from .sqltext import As, Query, Select, UnionAll, names, sourced
from .table import arrow_schema
from .tables import Tables


def settle_together(tables: Tables, changes: Sequence[Change]) -> None:
    """Computes some changes by one job, if they need few rows in all; otherwise they stay queries.

    The queries become one, with a column for each of them: the rows of the query of that number, as structs.
    """
    fetches = [change.fetch or _itself(change) for change in changes]
    types = [_struct(tables, fetch) for fetch in fetches]
    parts: list[Query] = []
    for number, fetch in enumerate(fetches):
        assert fetch.query is not None
        fields = ", ".join(f"'{name}', {name}" for name in _fields(fetch))
        row = f"named_struct({fields})"
        columns = [
            As(row if k == number else f"CAST(NULL AS {type})", f"r{k}") for k, type in enumerate(types)
        ]
        parts.append(Select([As(f"{number}", "q"), *columns], sourced(fetch.query)))
    found = tables.limited(UnionAll(parts), tables.most_fetched)
    if found is None:
        return
    numbers = found.column("q")
    for number, (change, fetch) in enumerate(zip(changes, fetches, strict=True)):
        rows = found.filter(pc.equal(numbers, number)).column(f"r{number}").combine_chunks()
        change.take(tables.local(fetch.finish(_flat(tables, fetch, rows))))


def _itself(change: Change) -> Fetch:
    """A change that is the rows of its query."""
    return Fetch(change.query, change.schema, (), lambda rows: rows)


def _fields(fetch: Fetch) -> list[str]:
    return [*names(fetch.schema), "w", *(field.name for field in fetch.extra)]


def _struct(tables: Tables, fetch: Fetch) -> str:
    """The SQL type of the rows of a fetch."""
    pairs = zip(names(fetch.schema), fetch.schema, strict=True)
    fields = [f"{name}: {tables.codec.sql_type(column)}" for name, column in pairs]
    times = [f"{field.name}: INT" for field in fetch.extra]
    return f"STRUCT<{', '.join([*fields, 'w: BIGINT', *times])}>"


def _flat(tables: Tables, fetch: Fetch, rows: pa.Array) -> pa.Table:
    schema = arrow_schema(tables.codec, fetch.schema, fetch.extra)
    if isinstance(rows, pa.ChunkedArray):
        rows = rows.combine_chunks() if rows.num_chunks else pa.array([], rows.type)
    columns = [
        array if array.type == field.type else array.cast(field.type)
        for array, field in zip(rows.flatten(), schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)
