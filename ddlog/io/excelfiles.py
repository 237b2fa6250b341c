"""Sheets of Excel, read by fastexcel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..core import Relation
from ..errors.diagnostics import DDlogError
from ..errors.sessions import NotInstalled
from .arrow import columns_of_table
from .arrowfiles import in_columns
from .columns import Columns, TypeDefs
from .faults import CellFault
from .formats import TableFormat
from .reading import Reading

if TYPE_CHECKING:
    import pyarrow as pa


def read_sheet(path: Path, relation: Relation, typedefs: TypeDefs, reading: Reading) -> Columns:
    """The rows of a sheet, the first one or that of the option `sheet`, below the names of the columns.
    Raises CellFault with the number of the row, DDlogError."""
    table = sheet_of(str(path), reading.dialect.sheet)
    return columns_of_table(in_columns(table, relation, reading.dialect), relation, typedefs)


def sheet_of(path: str, sheet: str | None) -> pa.Table:
    """A sheet as an Arrow table. Raises CellFault, DDlogError."""
    import pyarrow as pa

    try:
        import fastexcel
    except ImportError:
        raise DDlogError([NotInstalled("fastexcel")]) from None
    try:
        found = fastexcel.read_excel(path).load_sheet(0 if sheet is None else sheet)
        return pa.Table.from_batches([found.to_arrow()])
    except fastexcel.FastExcelError as error:
        raise CellFault(
            f"this cannot be read as a sheet of Excel: {str(error).splitlines()[0]}", 0, 0, ""
        ) from None


def _never_written(*_: object) -> None:
    raise ValueError("Excel files are read only")


XLSX = TableFormat(read_sheet, _never_written)
