"""Rows as bytes between a server and its clients: a stream of Arrow, or JSON for values that Arrow lacks,
with the weights that are not all 1 in a last column. The columns have numbers for names, as two of an answer
may have the same one."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core import Column, Relation
from ..io.arrow import columns_of_table, to_table
from ..io.arrowfiles import tables_of_streams
from ..lowering.builder import column
from ..sessions.results.listedrows import ListedRows
from ..types import TypeDef
from ..values.fromjson import decode_json, from_json
from ..values.rows import Row
from ..values.tojson import json_text, to_json

TypeDefs = Mapping[str, TypeDef]


def packed(
    columns: Sequence[Column], rows: Sequence[Row], weights: Sequence[int] | None, typedefs: TypeDefs
) -> bytes:
    """Rows with their weights; None: all 1."""
    data = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    table = _table(columns, data, typedefs) if columns else None
    if table is None:
        listed = [[to_json(v, of.type, typedefs) for v, of in zip(r, columns, strict=True)] for r in rows]
        return json_text([listed, weights]).encode()
    if weights is not None:
        import pyarrow as pa

        table = table.append_column("weight", pa.array(weights, pa.int64()))
    return stream_of(table)


def unpacked(content: bytes, relation: Relation, typedefs: TypeDefs) -> ListedRows:
    """The rows of bytes, with the columns of a relation. Raises ValueError."""
    columns = relation.columns
    schema = tuple(column(each.name, each.type) for each in columns)
    if content[:1] == b"[":
        listed, weights = decode_json(content.decode())
        types = [each.type for each in columns]
        rows = [tuple(from_json(v, of, typedefs) for v, of in zip(r, types, strict=True)) for r in listed]
        return ListedRows(schema, rows, weights)
    table, numbered = next(tables_of_streams(content)), _numbered(columns)
    weights = table.column("weight").to_pylist() if "weight" in table.column_names else None
    table = table.select([each.name for each in numbered])
    found = columns_of_table(table, replace(relation, columns=numbered), typedefs)
    return ListedRows(schema, list(found.rows(relation)), weights)


def arrow_change(kind: str, relation: Relation, rows: Sequence[Row], typedefs: TypeDefs) -> bytes | None:
    """A change of a relation for `POST /transactions`, as a stream of Arrow; None if Arrow lacks a value."""
    if not relation.columns:
        return None
    import pyarrow as pa

    try:
        table = to_table(
            [(c.name, c.type) for c in relation.columns], list(zip(*rows, strict=True)), typedefs
        )
    except (ValueError, pa.ArrowException):
        return None
    return stream_of(table.replace_schema_metadata({"relation": relation.name, "kind": kind}))


def stream_of(table: Any) -> bytes:
    """A table of Arrow as a stream."""
    import pyarrow as pa

    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _table(columns: Sequence[Column], data: Sequence[Any], typedefs: TypeDefs) -> Any:
    import pyarrow as pa

    try:
        return to_table([(each.name, each.type) for each in _numbered(columns)], data, typedefs)
    except (ValueError, pa.ArrowException):
        return None


def _numbered(columns: Sequence[Column]) -> tuple[Column, ...]:
    return tuple(Column(f"c{at}", each.type) for at, each in enumerate(columns))
