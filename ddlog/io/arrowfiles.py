"""Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..core import Relation
from .arrow import columns_of_table, to_table
from .columns import Columns, TypeDefs
from .faults import CellFault
from .formats import TableFormat

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(path: Path, relation: Relation, typedefs: TypeDefs) -> Columns:
    """The rows of a Parquet file. Raises CellFault with the number of the row, OSError."""
    return columns_of_table(open_table(str(path), "parquet"), relation, typedefs)


def read_arrow(path: Path, relation: Relation, typedefs: TypeDefs) -> Columns:
    """The rows of an Arrow file or stream. Raises CellFault with the number of the row, OSError."""
    return columns_of_table(open_table(str(path), "arrow"), relation, typedefs)


def open_table(path: str, kind: str) -> pa.Table:
    """The table in a Parquet or an Arrow file. Raises CellFault, OSError."""
    import pyarrow as pa

    try:
        if kind == "parquet":
            from pyarrow import parquet

            return parquet.read_table(path)
        return _read_ipc(path)
    except pa.ArrowInvalid as error:
        raise CellFault(f"this is no {kind} file: {str(error).splitlines()[0]}", 0, 0, "") from None


def _read_ipc(path: str) -> pa.Table:
    import pyarrow as pa
    from pyarrow import ipc

    with pa.memory_map(path) as stored:
        try:
            return ipc.open_file(stored).read_all()
        except pa.ArrowInvalid:
            stored.seek(0)
            return ipc.open_stream(stored).read_all()


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
    table = to_table([(column.name, column.type) for column in relation.columns], columns, typedefs, weights)
    parquet.write_table(table, out)


PARQUET = TableFormat(read_parquet, write_parquet)
ARROW = TableFormat(read_arrow)
