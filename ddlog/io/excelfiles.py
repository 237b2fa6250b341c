"""Sheets of Excel, read by fastexcel."""

from __future__ import annotations

import logging
import zipfile
from typing import TYPE_CHECKING

from ..errors.diagnostics import DDlogError
from ..errors.sessions import NotInstalled
from .decompression import check_size
from .dialects import Dialect
from .faults import CellFault
from .formats import TableFormat

if TYPE_CHECKING:
    import pyarrow as pa


def read_sheet(path: str, dialect: Dialect) -> pa.Table:
    """A sheet as an Arrow table: the first one or that of the option `sheet`, below the names of the columns.
    Raises CellFault, DDlogError, MemoryError."""
    import pyarrow as pa

    try:
        import fastexcel
    except ImportError:
        raise DDlogError([NotInstalled("ddlog[excel]")]) from None
    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # columns without values are texts, as should be
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            check_size(sum(member.file_size for member in archive.infolist()))
    try:
        found = fastexcel.read_excel(path).load_sheet(0 if dialect.sheet is None else dialect.sheet)
        return pa.Table.from_batches([found.to_arrow()])
    except fastexcel.FastExcelError as error:
        raise CellFault(
            f"this cannot be read as a sheet of Excel: {str(error).splitlines()[0]}", 0, 0, ""
        ) from None


def _never_written(*_: object) -> None:
    raise ValueError("Excel files are read only")


XLSX = TableFormat(read_sheet, _never_written)
