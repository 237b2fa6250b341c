"""The bytes that an Arrow stream or file takes in memory, as its messages say before it is decompressed.

A few bytes can stand for as many rows as one likes: of nulls, or compressed. The messages are FlatBuffers;
`pyarrow` does not show these fields of them:

    Message: version, header_type, header          Footer: version, schema, dictionaries, batches
    DictionaryBatch: id, data                      Block: offset (8), length of the metadata (4), body (8)
    RecordBatch: length, nodes, buffers, compression          Buffer: offset (8), length (8)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from .decompression import check_size

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC: Final = b"ARROW1"
_ROW: Final = 16
"""The bytes that a row takes at least, once it is a row of a relation."""


def check_room(data: pa.Buffer) -> None:
    """Raises MemoryError if the rows of an Arrow stream or file would take more memory than there may be, and
    ValueError for what is none."""
    import pyarrow as pa

    try:
        size = sum(map(_inflated, _messages(data)))
    except (struct.error, pa.ArrowException, IndexError, OverflowError, EOFError, OSError) as error:
        raise ValueError(str(error)) from None
    check_size(size)


def check_rows(rows: int, columns: int) -> None:
    """Raises MemoryError if so many rows would take more memory than there may be."""
    check_size(_ROW * rows * max(1, columns))


def _messages(data: pa.Buffer) -> Iterator[pa.Message]:
    """The messages of a stream, or those that the footer of a file names."""
    from pyarrow import ipc

    if bytes(data[: len(_MAGIC)]) != _MAGIC:
        yield from ipc.MessageReader.open_stream(data)
        return
    end = data.size - len(_MAGIC) - 4
    footer = bytes(data.slice(0, end)[max(0, end - _number(bytes(data[end : end + 4]), 0)) :])
    table = _at(footer, 0)
    for field in (2, 3):
        for start in _vector(footer, _field(footer, table, field), 24):
            yield ipc.read_message(data.slice(_long(footer, start)))


def _inflated(message: pa.Message) -> int:
    """The bytes of a message's rows beyond those of its body."""
    if message.type not in ("record batch", "dictionary"):
        return 0
    head, body = message.metadata.to_pybytes(), message.body
    batch = _at(head, _field(head, _at(head, 0), 2))
    if message.type == "dictionary":
        batch = _at(head, _field(head, batch, 1))
    length, buffers = _field(head, batch, 0), _field(head, batch, 2)
    size = _ROW * _long(head, length) if length else 0
    if not _field(head, batch, 3):
        return size
    packed = ((_long(head, start), _long(head, start + 8)) for start in _vector(head, buffers, 16))
    return size + sum(max(0, _long(bytes(body[at : at + 8]), 0)) for at, length in packed if length >= 8)


def _field(data: bytes, table: int, field: int) -> int:
    """The place of a field of a table; 0: it is not there."""
    known = table - struct.unpack_from("<i", data, table)[0]
    end, place = struct.unpack_from("<H", data, known)[0], 4 + 2 * field
    offset: int = struct.unpack_from("<H", data, known + place)[0] if place < end else 0
    return offset and table + offset


def _at(data: bytes, place: int) -> int:
    """The place that an offset at a place leads to."""
    return place + _number(data, place)


def _vector(data: bytes, place: int, size: int) -> range:
    """The places of the elements of a vector, which has its offset at a place."""
    start = _at(data, place) if place else 0
    count = _number(data, start) if place else 0
    return range(start + 4, start + 4 + size * count, size)


def _number(data: bytes, place: int) -> int:
    found: int = struct.unpack_from("<I", data, place)[0]
    return found


def _long(data: bytes, place: int) -> int:
    found: int = struct.unpack_from("<q", data, place)[0]
    return found
