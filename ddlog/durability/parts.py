"""Rows in the file: Arrow IPC streams and their checksums."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..io.arrowfiles import tables_of_streams

if TYPE_CHECKING:
    import pyarrow as pa

_FEW = 16  # rows for which a writer of streams takes longer than what it writes
_END = b"\xff\xff\xff\xff\0\0\0\0"  # of a stream
_SMALL = 1 << 15  # bytes that are not worth compressing
MOST_ROWS = 1 << 19
"""The most rows of one part: a blob of SQLite holds less than 1 GB, and commits wait while one is removed."""


def checksum(*fields: Any) -> int:
    """The CRC-32 of fields as JSON."""
    return zlib.crc32(json.dumps(fields, separators=(",", ":"), default=repr).encode())


def is_part(data: object, relation: int, rows: int, known: int) -> bool:
    """Whether the row of a part is what was written with a checksum."""
    return isinstance(data, bytes) and part_checksum(data, relation, rows) == known


def part_checksum(data: bytes, relation: int, rows: int) -> int:
    """The checksum of a part."""
    return zlib.crc32(f"{relation} {rows}".encode(), zlib.crc32(data))


def packed(batch: pa.RecordBatch) -> bytes:
    """A record batch as a stream of Arrow IPC."""
    import pyarrow as pa

    if batch.num_rows <= _FEW and not any(
        of.num_fields or pa.types.is_dictionary(of) for of in batch.schema.types
    ):
        return b"".join((batch.schema.serialize(), batch.serialize(), _END))
    sink = pa.BufferOutputStream()
    compression = "zstd" if batch.nbytes > _SMALL else None
    options = pa.ipc.IpcWriteOptions(compression=compression, emit_dictionary_deltas=False)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def unpacked(data: bytes, rows: int | None = None) -> pa.Table:
    """The table of a stream, of so many rows if that is known, with its values checked. Raises ValueError if
    it is none."""
    try:
        found = next(tables_of_streams(data))
    except MemoryError as error:
        raise ValueError(str(error)) from None
    if rows is not None and found.num_rows != rows:
        raise ValueError(f"there are {found.num_rows} rows, and {rows} were written")
    return found


def sliced(batch: pa.RecordBatch, most: int = MOST_ROWS, own: bool = False) -> Iterator[pa.RecordBatch]:
    """The batch in slices of so many rows, each with the dictionaries of its own rows. `own`: the batch is a
    slice itself."""
    for start in range(0, batch.num_rows, most):
        part = batch.slice(start, most)
        yield _own_dictionaries(part) if own or batch.num_rows > most else part


def _own_dictionaries(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    arrays = [
        array.cast(array.type.value_type).dictionary_encode() if pa.types.is_dictionary(array.type) else array
        for array in batch.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=batch.schema)
