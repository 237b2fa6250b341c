"""Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from ..core import Relation
from .arrowsizes import check_room, check_rows
from .dialects import Dialect
from .faults import CellFault
from .formats import TableFormat
from .header import places_in

if TYPE_CHECKING:
    import pyarrow as pa


def in_columns(table: pa.Table, relation: Relation, dialect: Dialect) -> pa.Table:
    """A table with the names of the relation's columns where the dialect, or another case, names them. Other
    columns stay, to be errors, if the dialect does not ignore them."""
    places = places_in(table.column_names, relation, dialect)
    if None in places or (dialect.extra == "error" and len(places) < table.num_columns):
        return table
    return table.select(places).rename_columns([column.name for column in relation.columns])


def _opened(kind: str, read: Callable[[str], pa.Table], path: str) -> pa.Table:
    """The table that `read` finds in a file, checked. Raises CellFault, OSError."""
    try:
        return checked(partial(read, path))
    except MemoryError as error:
        raise CellFault(str(error), 0, 0, "") from None
    except ValueError as error:
        raise CellFault(f"this cannot be read as {kind}: {str(error).splitlines()[0]}", 0, 0, "") from None


def checked(read: Callable[[], pa.Table]) -> pa.Table:
    """The table that `read` returns, all of whose values are what its types say: numbers of bytes, orders of
    offsets, and UTF-8. Arrow would read beyond its memory for another. Raises ValueError, OSError."""
    import pyarrow as pa

    try:
        table = read()
        table.validate(full=True)
        str(table.schema)  # its names are decoded only here
    except (pa.ArrowException, EOFError) as error:
        raise ValueError(str(error) or type(error).__name__) from None
    return table


def tables_of_streams(data: bytes) -> Iterator[pa.Table]:
    """The tables of streams of Arrow, one at least, one behind the other, checked. Raises ValueError, and
    MemoryError if they have too many rows."""
    import pyarrow as pa

    stored = pa.py_buffer(data)
    source = pa.BufferReader(stored)

    def read() -> pa.Table:
        check_room(stored.slice(source.tell()))
        return pa.ipc.open_stream(source).read_all()

    more = True
    while more:
        try:
            yield checked(read)
        except OSError as error:
            raise ValueError(str(error)) from None
        more = source.tell() < len(data)


def _read_parquet(path: str) -> pa.Table:
    with open(path, "rb") as stored:
        return rows_of_parquet(stored)


def rows_of_parquet(file: BinaryIO) -> pa.Table:
    """The rows of a Parquet file, to be checked. Raises ValueError, and MemoryError if they are too many."""
    from pyarrow import parquet

    found = parquet.ParquetFile(file)
    check_rows(found.metadata.num_rows, found.metadata.num_columns)
    return found.read()


def _read_ipc(path: str) -> pa.Table:
    """The table in an Arrow file or stream, in memory: a file that another process writes meanwhile would
    change what has been checked, or end this process."""
    import pyarrow as pa
    from pyarrow import ipc

    with pa.OSFile(path) as stored:
        data = stored.read_buffer()
    check_room(data)
    try:
        return ipc.open_file(data).read_all()
    except pa.ArrowInvalid:
        return ipc.open_stream(data).read_all()


def _write_parquet(out: BinaryIO, table: pa.Table) -> None:
    from pyarrow import parquet

    parquet.write_table(table, out)


def _write_ipc(out: BinaryIO, table: pa.Table) -> None:
    from pyarrow import ipc

    with ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


PARQUET = TableFormat(lambda path, _: _opened("parquet", _read_parquet, path), _write_parquet)
ARROW = TableFormat(lambda path, _: _opened("arrow", _read_ipc, path), _write_ipc)
