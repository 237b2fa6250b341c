"""Tab- and comma-separated files.

A large file of integers is read by a compiled loop, any other large file by Arrow. Small files, and files in
which these two find something unexpected, are read line by line, which finds the errors and their places.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core import Relation
from ..errors import facts as errors
from ..errors.diagnostics import DDlogError
from ..types import BigInt, Bit, Float, Signed, String, Type
from ..values.shapes import is_option, some_maker
from .columns import Columns, TypeDefs, cell_reader, cell_writer, integer_bounds, whole_cell_writer
from .delimited import Record, comma_records, header_order, tab_records
from .faults import MOST_FAULTS, CellFault, gathered_faults
from .formats import Row, TextFormat
from .plainform import is_optional_string
from .utf8 import decode

_QUOTE = '"'
_SPECIAL = re.compile('[,"\r\n]')
LARGE = 1 << 16  # bytes from which a file is worth the import of a fast reader


def read_text(data: bytes, separator: str, relation: Relation, typedefs: TypeDefs) -> Columns:
    """The rows of a delimited text. Raises FaultyFile."""
    start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    if len(data) >= LARGE:
        quick = _read_large(data, start, separator, relation, typedefs)
        if quick is not None:
            return quick
    return _read_lines(decode(data[start:]), separator, relation, typedefs)


def _read_large(
    data: bytes, start: int, separator: str, relation: Relation, typedefs: TypeDefs
) -> Columns | None:
    order: list[int] | None = None
    if separator == ",":
        end = data.find(b"\n", start) + 1 or len(data)
        if data.count(b'"', start) % 2:
            return None  # a quote that does not end, which Arrow takes for one that ends with the file
        try:
            first = next(comma_records(decode(data[start:end])), None)
            order = header_order(first, relation) if first is not None else None
        except CellFault:
            if data.count(b'"', start, end) % 2 == 0:
                return None
            order = None  # a cell goes on in the next line: these are no names of columns
        start = end if order is not None else start
    bounds = [integer_bounds(column.type) for column in relation.columns]
    narrow = all(isinstance(column.type, Bit | Signed) for column in relation.columns)
    if bounds and narrow:
        from .integers import read_integers

        places = order or list(range(len(bounds)))
        in_file = [bounds[places.index(place)] for place in range(len(bounds))]
        columns = read_integers(data, start, separator, [bound for bound in in_file if bound is not None])
        if columns is not None:
            return Columns(tuple(columns[place] for place in places), len(columns[0]))
    from .arrowcsv import Layout, read_delimited

    if separator == "," and b'""' in data and any(is_optional_string(c.type) for c in relation.columns):
        return None
    width, commas = len(relation.columns), separator == ","
    keep_empty = not commas and width == 1 and isinstance(relation.columns[0].type, String)
    layout = Layout(separator, commas, keep_empty, width, order or range(width))
    return read_delimited(data, start, layout, relation, typedefs)


def _read_lines(text: str, separator: str, relation: Relation, typedefs: TypeDefs) -> Columns:
    width = len(relation.columns)
    keep_empty = width == 1 and isinstance(relation.columns[0].type, String)
    readers = [cell_reader(column.type, typedefs) for column in relation.columns]
    empties = [_empty_text(column.type, typedefs) if width > 1 else None for column in relation.columns]
    columns: list[list[object]] = [[] for _ in readers]
    with gathered_faults() as faults:
        records: Iterator[Record]
        if not width:
            return Columns((), _count_empty(text, separator, relation))
        if separator == "\t":
            records, order = tab_records(text, keep_empty), list(range(width))
        else:
            records, order = _after_header(comma_records(text), relation)
        for record in records:
            if len(record.cells) != width:
                faults.append(_wrong_count(record, relation))
            else:
                for place, read, empty, column in zip(order, readers, empties, columns, strict=True):
                    try:
                        if place in record.empty and empty is not None:
                            column.append(empty)
                            continue
                        column.append(read(record.cells[place]))
                    except ValueError as error:
                        cell = record.cells[place]
                        at = record.column(place)
                        faults.append(CellFault(str(error), record.line, at, record.text, max(1, len(cell))))
            if len(faults) >= MOST_FAULTS:
                break
    return Columns(tuple(columns), len(columns[0]))


def _empty_text(type: Type, typedefs: TypeDefs) -> Any:
    """What `""` stands for in a column of optional strings, whose empty cells are absent ones; None for other
    columns."""
    return some_maker(type, typedefs)("") if is_optional_string(type) else None


def _after_header(records: Iterator[Record], relation: Relation) -> tuple[Iterator[Record], list[int]]:
    first = next(records, None)
    if first is None:
        return iter(()), list(range(len(relation.columns)))
    order = header_order(first, relation)
    if order is not None:
        return records, order
    return itertools.chain([first], records), list(range(len(relation.columns)))


def _wrong_count(record: Record, relation: Relation) -> CellFault:
    expected, given = len(relation.columns), len(record.cells)
    names = ", ".join(column.name for column in relation.columns)
    noun = "column" if expected == 1 else "columns"
    message = f"expected {expected} {noun} ({names}), found {given}" if names else "expected an empty line"
    at = record.column(expected) if given > expected else len(record.text) + 1
    return CellFault(message, record.line, at, record.text)


def _count_empty(text: str, separator: str, relation: Relation) -> int:
    """The number of rows of a relation without columns: empty lines, after the header's if it has one.
    Raises CellFault."""
    lines = list(tab_records(text, keep_empty=True))
    for line in lines:
        if line.text:
            raise _wrong_count(line, relation)
    return max(0, len(lines) - (separator == ","))


def _csv_cell(text: str | None) -> str:
    """A cell as RFC 4180 has it. An empty text is quoted, an absent one is not."""
    if text is None:
        return ""
    return text if text and _SPECIAL.search(text) is None else f'"{text.replace(_QUOTE, _QUOTE * 2)}"'


def csv_line(cells: Sequence[str | None]) -> str:
    """A line of a comma-separated file, after RFC 4180 but with a bare line feed."""
    line = ",".join(map(_csv_cell, cells))
    return f"{line if line or not cells else _QUOTE * 2}\n"


def csv_header(relation: Relation, first: Sequence[str] = ()) -> str:
    """The line that names the columns."""
    return csv_line([*first, *(column.name for column in relation.columns)])


def _cell_writers(relation: Relation, typedefs: TypeDefs) -> list[Callable[[Any], str | None]]:
    """The writers of the cells of a comma-separated line. A single empty cell is an absent value."""
    single = len(relation.columns) == 1 and is_option(relation.columns[0].type)
    return [(whole_cell_writer if single else cell_writer)(c.type, typedefs) for c in relation.columns]


def comma_line(relation: Relation, typedefs: TypeDefs) -> Callable[[Row], str]:
    """A function that writes a row as a line of comma-separated cells."""
    cells = _cell_writers(relation, typedefs)
    return lambda row: csv_line([write(value) for write, value in zip(cells, row, strict=True)])


def tab_line(relation: Relation, typedefs: TypeDefs) -> Callable[[Row], str]:
    """A function that writes a row as a line of tab-separated cells. It raises DDlogError for a cell with a
    tab or the end of a line in it."""
    cells = [whole_cell_writer(column.type, typedefs) for column in relation.columns]

    def write_line(row: Row) -> str:
        texts = [write(value) for write, value in zip(cells, row, strict=True)]
        for text in texts:
            if "\t" in text or "\n" in text or "\r" in text:
                raise DDlogError([errors.NotTabSeparable(relation=relation.name, value=text)])
        return "\t".join(texts) + "\n"

    return write_line


def comma_lines(relation: Relation, typedefs: TypeDefs) -> Callable[[list[Row]], str] | None:
    """A function that writes many rows at once, for numbers and strings: the csv module writes these as
    `comma_line` does, unless a string is empty or has a carriage return. None for other types."""
    if not all(isinstance(c.type, BigInt | Bit | Signed | String | Float) for c in relation.columns):
        return None
    floats = [p for p, c in enumerate(relation.columns) if isinstance(c.type, Float)]
    texts = any(isinstance(c.type, String) for c in relation.columns)
    cells, line = _cell_writers(relation, typedefs), comma_line(relation, typedefs)

    def write(rows: list[Row]) -> str:
        if texts and any("" in row for row in rows):
            return "".join(map(line, rows))
        out = io.StringIO()
        written = (
            [w(v) if p in floats else v for p, (w, v) in enumerate(zip(cells, row, strict=True))]
            for row in rows
        )
        try:
            csv.writer(out, lineterminator="\n").writerows(written if floats else rows)
        except ValueError:  # an integer of more digits than Python writes at once
            return "".join(map(line, rows))
        found = out.getvalue()
        return "".join(map(line, rows)) if "\r" in found else found

    return write


def _read_tabs(data: bytes, relation: Relation, typedefs: TypeDefs) -> Columns:
    return read_text(data, "\t", relation, typedefs)


def _read_commas(data: bytes, relation: Relation, typedefs: TypeDefs) -> Columns:
    return read_text(data, ",", relation, typedefs)


TABS = TextFormat(_read_tabs, tab_line)
COMMAS = TextFormat(_read_commas, comma_line, csv_header, comma_lines)
