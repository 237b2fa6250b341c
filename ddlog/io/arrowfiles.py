"""Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..core import Relation
from .arrow import columns_of_table, portable, to_table
from .columns import Columns, TypeDefs
from .dialects import Dialect
from .faults import CellFault
from .formats import TableFormat
from .header import column_places
from .reading import Reading

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(path: Path, relation: Relation, typedefs: TypeDefs, reading: Reading) -> Columns:
    """The rows of a Parquet file. Raises CellFault with the number of the row, OSError."""
    table = in_columns(open_table(str(path), "parquet"), relation, reading.dialect)
    return columns_of_table(table, relation, typedefs)


def read_arrow(path: Path, relation: Relation, typedefs: TypeDefs, reading: Reading) -> Columns:
    """The rows of an Arrow file or stream. Raises CellFault with the number of the row, OSError."""
    table = in_columns(open_table(str(path), "arrow"), relation, reading.dialect)
    return columns_of_table(table, relation, typedefs)


def in_columns(table: pa.Table, relation: Relation, dialect: Dialect) -> pa.Table:
    """A table with the names of the relation's columns where the dialect, or another case, names them. Other
    columns stay, to be errors, if the dialect does not ignore them."""
    places = column_places(table.column_names, dialect.names(relation))
    if None in places or (dialect.extra == "error" and len(places) < table.num_columns):
        return table
    return table.select(places).rename_columns([column.name for column in relation.columns])


def open_table(path: str, kind: str) -> pa.Table:
    """The table in a Parquet or an Arrow file. Raises CellFault, OSError."""
    try:
        return checked(lambda: _read_parquet(path) if kind == "parquet" else _read_ipc(path))
    except ValueError as error:
        raise CellFault(f"this is no {kind} file: {str(error).splitlines()[0]}", 0, 0, "") from None


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


def _read_parquet(path: str) -> pa.Table:
    from pyarrow import parquet

    return parquet.read_table(path)


def _read_ipc(path: str) -> pa.Table:
    """The table in an Arrow file or stream, in memory: a file that another process writes meanwhile would
    change what has been checked, or end this process."""
    import pyarrow as pa
    from pyarrow import ipc

    with pa.OSFile(path) as stored:
        data = stored.read_buffer()
    try:
        return ipc.open_file(data).read_all()
    except pa.ArrowInvalid:
        return ipc.open_stream(data).read_all()


def write_parquet(
    out: BinaryIO,
    relation: Relation,
    columns: Sequence[Any],
    weights: Sequence[int] | None,
    typedefs: TypeDefs,
) -> None:
    """Writes a relation as Parquet. Raises ValueError."""
    from pyarrow import parquet

    if not relation.columns:
        raise ValueError(f"Parquet has no rows without columns, and {relation.name} has none")
    parquet.write_table(_table(relation, columns, weights, typedefs), out)


def write_arrow(
    out: BinaryIO,
    relation: Relation,
    columns: Sequence[Any],
    weights: Sequence[int] | None,
    typedefs: TypeDefs,
) -> None:
    """Writes a relation as an Arrow file. Raises ValueError."""
    from pyarrow import ipc

    if not relation.columns:
        raise ValueError(f"Arrow has no rows without columns, and {relation.name} has none")
    table = _table(relation, columns, weights, typedefs)
    with ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


def _table(
    relation: Relation, columns: Sequence[Any], weights: Sequence[int] | None, typedefs: TypeDefs
) -> pa.Table:
    named = [(column.name, column.type) for column in relation.columns]
    return portable(to_table(named, columns, typedefs, weights))


PARQUET = TableFormat(read_parquet, write_parquet)
ARROW = TableFormat(read_arrow, write_arrow)
