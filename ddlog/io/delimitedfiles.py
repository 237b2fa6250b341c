"""Tab- and comma-separated files.

A large file is read by Arrow. Small files, and files in which Arrow finds something unexpected, are read line
by line, which finds the errors and their places.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..core import Relation
from ..engine import memory
from ..errors import facts as errors
from ..errors.diagnostics import DDlogError
from ..types import BigInt, Bit, Float, Signed, String, Type
from ..values.shapes import is_option, some_maker
from . import delimited
from .columns import Columns, TypeDefs, cell_reader, cell_writer, transpose, whole_cell_writer
from .delimited import Record, RowShape, records
from .dialectcells import dialect_reader, large_reader, other_form
from .dialects import PLAIN, PLAINLY, Dialect, Reading
from .faults import CellFault, Faults, FaultyFile, gathered_faults
from .formats import Row, TextFormat
from .header import SAMPLE, check_no_header, find_header
from .plainform import is_optional_string
from .utf8 import decode

_QUOTE = '"'
_SPECIAL = re.compile('[,"\r\n]')
LARGE = 1 << 16  # bytes from which a file is worth the import of a fast reader
_WIDE = 1 << 4000  # integers for whose digits Python takes the square of their number
_MARK = b"\xef\xbb\xbf"  # of the order of bytes
_HEAD = 1 << 16  # bytes of a large file in which its header is looked for
_DELIMITERS = {";": ";", "\t": "tab", "|": "|", ",": ","}  # usual signs between cells, as options name them
_HEADED = frozenset({"header", "map", "delimiter"})  # options of files that may have a header


def read_text(
    data: bytes, shape: RowShape, relation: Relation, typedefs: TypeDefs, reading: Reading = PLAINLY
) -> Columns:
    """The rows of a delimited text, usually of this shape. Raises FaultyFile."""
    dialect = reading.dialect
    shape = shaped(shape, dialect, relation)
    if dialect.encoding != "utf-8":
        data = decode(data, dialect.encoding).encode()
    start = len(_MARK) if data.startswith(_MARK) else 0
    if len(data) >= LARGE and shape.quote in ('"', ""):
        quick = _read_large(data, start, shape, relation, typedefs, reading)
        if quick is not None:
            return quick
    return _read_lines(decode(data[start:]), shape, relation, typedefs, reading)


def shaped(shape: RowShape, dialect: Dialect, relation: Relation) -> RowShape:
    """The shape of the rows of a relation, where they are usually of a shape."""
    only_string = len(relation.columns) == 1 and isinstance(relation.columns[0].type, String)
    return RowShape(
        dialect.delimiter or shape.separator,
        shape.quote if dialect.quote is None else dialect.quote,
        dialect.skip,
        only_string and dialect.header != "yes",
    )


def _read_large(
    data: bytes, start: int, shape: RowShape, relation: Relation, typedefs: TypeDefs, reading: Reading
) -> Columns | None:
    from .arrowcsv import TextLayout, read_delimited
    from .plaincells import plain_cells

    if shape.quote and data.count(b'"', start) % 2:
        return None  # a quote that does not end, which Arrow takes for one that ends with the file
    for _ in range(shape.skip):
        start = data.find(b"\n", start) + 1 or len(data)
    end = data.find(b"\n", start, start + _HEAD) + 1
    if not end or (shape.quote and data.count(b'"', start, end) % 2):
        return None  # a first line that is long, or whose last cell goes on
    try:
        order = _header_of(data[start : start + _HEAD], shape, relation, typedefs, reading)
    except (CellFault, FaultyFile):
        return None
    start = start if order is None else end
    if data.startswith(_MARK, start):
        return None  # Arrow leaves it out, wherever it begins to read
    if shape.quote and b'""' in data and any(is_optional_string(c.type) for c in relation.columns):
        return None
    width = len(relation.columns)
    places = order or list(range(width))
    if reading.dialect.extra == "ignore" and order is not None:
        width = data.count(shape.separator.encode(), start, data.find(b"\n", start) + 1 or len(data)) + 1
    layout = TextLayout(shape.separator, bool(shape.quote), shape.keep_empty, width, places)
    types = [column.type for column in relation.columns]
    readers = [large_reader(type, typedefs, reading.dialect) for type in types]
    plain = [
        None if read is None else plain_cells(type, typedefs, reading.dialect)
        for type, read in zip(types, readers, strict=True)
    ]
    found = read_delimited(data, start, layout, types, readers, plain)
    if found is None and data.find(b".0", start) >= 0:  # perhaps in integers
        careful = [
            cell_reader(type, typedefs) if read is None and isinstance(type, BigInt | Bit | Signed) else read
            for type, read in zip(types, readers, strict=True)
        ]
        found = read_delimited(data, start, layout, types, careful, plain)
    return found


def _header_of(
    data: bytes, shape: RowShape, relation: Relation, typedefs: TypeDefs, reading: Reading
) -> list[int] | None:
    """The place of each column by the header at the beginning of a large text. Raises CellFault, FaultyFile
    where a reader of lines has to look."""
    text = decode(data[: data.rfind(b"\n") + 1])
    readers = cell_readers(relation, typedefs, reading.dialect)
    rest = records(text, replace(shape, skip=0))
    _, order = after_header(rest, relation, readers, shape, reading)
    return order


def _read_lines(
    text: str, shape: RowShape, relation: Relation, typedefs: TypeDefs, reading: Reading
) -> Columns:
    width = len(relation.columns)
    with gathered_faults(reading.refuse) as faults:
        if not width:
            return Columns((), _count_empty(text, shape, relation, reading.dialect))
        rows = [row for row, _ in rows_of(text, shape, relation, typedefs, reading, faults)]
    return transpose(rows, width)


def rows_of(
    text: str, shape: RowShape, relation: Relation, typedefs: TypeDefs, reading: Reading, faults: Faults
) -> Iterator[tuple[tuple[Any, ...], Record]]:
    """The rows of a text, each with its record; the faults take wrong ones. Raises CellFault."""
    readers = cell_readers(relation, typedefs, reading.dialect)
    width = len(readers)
    empties = [_empty_text(column.type, typedefs) for column in relation.columns] if width > 1 else ()
    found, order = after_header(records(text, shape), relation, readers, shape, reading)
    places = order or list(range(width))
    wide = max(places) + 1 if reading.dialect.extra == "ignore" and order is not None else 0
    for record in found:
        memory.check()
        if len(record.cells) != width if not wide else len(record.cells) < wide:
            faults.add(_wrong_count(record, relation))
            continue
        try:
            yield read_cells(record, readers, places, empties), record
        except CellFault:
            wrong = _cell_faults(record, readers, places, relation, typedefs)
            for fault in itertools.islice(wrong, None if reading.refuse is None else 1):
                faults.add(fault)


def cell_readers(
    relation: Relation, typedefs: TypeDefs, dialect: Dialect = PLAIN
) -> list[Callable[[str], object]]:
    """The functions that read the cells of a row, in the order of the columns."""
    return [dialect_reader(column.type, typedefs, dialect) for column in relation.columns]


def read_cells(
    record: Record,
    readers: Sequence[Callable[[str], object]],
    places: Sequence[int],
    empties: Sequence[Any] = (),
) -> tuple[object, ...]:
    """The values of the cells at places; `empties` are what a quoted empty cell stands for, if that is
    another value. Raises CellFault."""
    row: list[object] = []
    for position, (read, place) in enumerate(zip(readers, places, strict=True)):
        cell = record.cells[place]
        try:
            quoted = empties[position] if record.empty and place in record.empty and empties else None
            row.append(read(cell) if quoted is None else quoted)
        except ValueError as error:
            at = record.column(place)
            raise CellFault(str(error), record.line, at, record.text, max(1, len(cell))) from None
    return tuple(row)


def _empty_text(type: Type, typedefs: TypeDefs) -> Any:
    """The value of the cell `""` in a column of optional strings, whose empty cells are absent values; None
    for other columns."""
    return some_maker(type, typedefs)("") if is_optional_string(type) else None


def _cell_faults(
    record: Record,
    readers: Sequence[Callable[[str], object]],
    places: Sequence[int],
    relation: Relation,
    typedefs: TypeDefs,
) -> Iterator[CellFault]:
    """The faults of the cells of a row."""
    for column, read, place in zip(relation.columns, readers, places, strict=True):
        try:
            read_cells(record, [read], [place])
        except CellFault as fault:
            fault.of, fault.help = column.name, other_form(column.type, typedefs, record.cells[place])
            yield fault


def after_header(
    found: Iterator[Record],
    relation: Relation,
    readers: Sequence[Callable[[str], object]],
    shape: RowShape,
    reading: Reading,
) -> tuple[Iterator[Record], list[int] | None]:
    """The records after the header, and the place of each column in it; None if there is no header. Raises
    CellFault."""
    dialect = reading.dialect
    first = next(found, None)
    has_none = shape.separator == "\t" and not dialect.given & _HEADED  # as is usual for tabs
    if first is not None and has_none and (note := check_no_header(first, relation, readers, reading.refuse)):
        reading.note(note)
    if first is None or dialect.header == "no" or has_none:
        return (found if first is None else itertools.chain([first], found)), None
    sample = list(itertools.islice(found, SAMPLE))
    order, note = find_header(first, sample, relation, readers, dialect)
    if note:
        reading.note(note)
    rest = itertools.chain(sample, found)
    return (itertools.chain([first], rest) if order is None else rest), order


def _wrong_count(record: Record, relation: Relation) -> CellFault:
    expected, given = len(relation.columns), len(record.cells)
    names = ", ".join(column.name for column in relation.columns)
    noun = "column" if expected == 1 else "columns"
    message = f"expected {expected} {noun} ({names}), found {given}" if names else "expected an empty line"
    at = record.column(expected) if given > expected else len(record.text) + 1
    return CellFault(message, record.line, at, record.text, help=_other_delimiter(record, expected))


def _other_delimiter(record: Record, expected: int) -> str:
    """A help for a row that has the expected number of cells between other signs."""
    if (sign := record.text.removeprefix("sep=")) in _DELIMITERS and sign:
        return f"options of the place say what this line tells Excel: `?skip=1&delimiter={_DELIMITERS[sign]}`"
    for sign, name in _DELIMITERS.items():
        if sign != record.separator and expected > 1 and record.text.count(sign) == expected - 1:
            return f"an option of the place names the sign between cells: `?delimiter={name}`"
    return ""


def _count_empty(text: str, shape: RowShape, relation: Relation, dialect: Dialect) -> int:
    """The number of rows of a relation without columns: empty lines, after the header's if it has one.
    Raises CellFault."""
    lines = list(records(text, replace(shape, keep_empty=True)))
    for line in lines:
        if line.text:
            raise _wrong_count(line, relation)
    has_header = dialect.header == "yes" or (dialect.header == "auto" and shape.separator != "\t")
    return max(0, len(lines) - has_header)


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
    return csv_line([*first, *relation.titles])


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
    `comma_line` does, unless a string is empty or has a carriage return, or an integer is very long. None for
    other types."""
    if not all(isinstance(c.type, BigInt | Bit | Signed | String | Float) for c in relation.columns):
        return None
    floats = [p for p, c in enumerate(relation.columns) if isinstance(c.type, Float)]
    texts = any(isinstance(c.type, String) for c in relation.columns)
    wide = [p for p, c in enumerate(relation.columns) if isinstance(c.type, BigInt)]
    cells, line = _cell_writers(relation, typedefs), comma_line(relation, typedefs)

    def write(rows: list[Row]) -> str:
        if texts and any("" in row for row in rows):
            return "".join(map(line, rows))
        if any(not -_WIDE < row[p] < _WIDE for p in wide for row in rows):
            return "".join(map(line, rows))
        out = io.StringIO()
        written = (
            [w(v) if p in floats else v for p, (w, v) in enumerate(zip(cells, row, strict=True))]
            for row in rows
        )
        csv.writer(out, lineterminator="\n").writerows(written if floats else rows)
        found = out.getvalue()
        return "".join(map(line, rows)) if "\r" in found else found

    return write


def _read_tabs(data: bytes, relation: Relation, typedefs: TypeDefs, reading: Reading) -> Columns:
    return read_text(data, delimited.TABS, relation, typedefs, reading)


def _read_commas(data: bytes, relation: Relation, typedefs: TypeDefs, reading: Reading) -> Columns:
    return read_text(data, delimited.COMMAS, relation, typedefs, reading)


TABS = TextFormat(_read_tabs, tab_line)
COMMAS = TextFormat(_read_commas, comma_line, csv_header, comma_lines)
