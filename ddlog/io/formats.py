"""The table of file formats: the ending of the files' names, and where the format is implemented.

An implementation is a constant of a module in this folder, which is imported when a file of the format is
read or written. A new format is a row here, and a constant of that kind in a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from ..core import Relation
from ..values import TypeDefs
from .dialects import Dialect, Reading

if TYPE_CHECKING:
    import pyarrow as pa

    from .columns import Columns

TEXT_FORMATS: Final = {
    "facts": "delimitedfiles.TABS",
    "tsv": "delimitedfiles.TABS",
    "csv": "delimitedfiles.COMMAS",
    "jsonl": "jsonfiles.LINES",
    "ndjson": "jsonfiles.LINES",
    "json": "jsonfiles.DOCUMENT",
}
TABLE_FORMATS: Final = {
    "parquet": "arrowfiles.PARQUET",
    "arrow": "arrowfiles.ARROW",
    "xlsx": "excelfiles.XLSX",
}
FORMATS: Final = (*TEXT_FORMATS, *TABLE_FORMATS)

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A format of text, which may be compressed. `read` raises FaultyFile and CellFault.

    `line` returns a function that writes one row with its line end; it raises DDlogError for a row that the
    format cannot write. `lines` does the same for many rows where that is faster, or is None. `between` and
    `end` are the texts between two rows and after the last one.
    """

    read: Callable[[bytes, Relation, TypeDefs, Reading], Columns]
    line: Callable[[Relation, TypeDefs], Callable[[Row], str]]
    header: Callable[[Relation], str] = lambda _: ""
    lines: Callable[[Relation, TypeDefs], Callable[[list[Row]], str] | None] = lambda *_: None
    between: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A format of tables. `read` gives the table in a file, and raises CellFault, OSError and DDlogError;
    `write` raises ValueError for a table that the format cannot hold."""

    read: Callable[[str, Dialect], pa.Table]
    write: Callable[[BinaryIO, pa.Table], None]


def text_format(name: str) -> TextFormat:
    """The text format of a name."""
    found = _implementation(TEXT_FORMATS[name])
    assert isinstance(found, TextFormat)
    return found


def table_format(name: str) -> TableFormat:
    """The columnar format of a name."""
    found = _implementation(TABLE_FORMATS[name])
    assert isinstance(found, TableFormat)
    return found


def _implementation(place: str) -> Any:
    module, _, constant = place.rpartition(".")
    return getattr(import_module(f".{module}", __package__), constant)
