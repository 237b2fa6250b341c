"""Delimited fact files, read as Soufflé reads them.

A large file is read by Arrow. Small files, and files in which Arrow finds something unexpected, are read line
by line, which finds the errors and their places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ...core import Relation
from ...io.columns import ColumnData, Columns
from ...io.delimited import Record, RowShape, records
from ...io.delimitedfiles import LARGE
from ...io.faults import CellFault, gathered_faults
from ...io.utf8 import decode
from ...types import Bit, Float, Signed, String, User
from .facttexts import cell_reader, is_plain
from .transfers import FileForm, Vocabulary

_EMPTY_LINE = re.compile(rb"(?:\A|\n)\r?\n")


def read_delimited_facts(
    data: bytes,
    form: FileForm,
    relation: Relation,
    words: Vocabulary,
    note: Callable[[str], None],
) -> Columns:
    """The rows of a text. `note` is told of columns that are left out. Raises FaultyFile."""
    if relation.columns and len(data) >= LARGE:
        quick = _read_large(data, form, relation, words)
        if quick is not None:
            return quick
    return _read_lines(decode(data), form, relation, words, note)


# ------------------------------------------------------------- large files


def _read_large(data: bytes, form: FileForm, relation: Relation, words: Vocabulary) -> Columns | None:
    """The rows, or None when something in the text is not plain."""
    from ...io.arrowcsv import TextLayout, read_delimited

    start = (data.find(b"\n") + 1 or len(data)) if form.headers else 0
    types = [column.type for column in relation.columns]
    if len(form.delimiter) != 1 or not form.delimiter.isascii():
        return None
    if form.quoted and data.count(b'"', start) % 2:
        return None
    one_symbol = types == [String()]
    if not one_symbol and _EMPTY_LINE.search(data, start):
        return None
    if form.delimiter == "," and not form.quoted and (b"[" in data or not all(map(is_plain, types))):
        return None
    first = data[start : data.find(b"\n", start) + 1 or len(data)].decode("utf-8", "replace")
    try:
        width = len(next(records(first, form.shape)).cells)
    except (StopIteration, CellFault):
        return None
    needed = max(form.places) + 1
    if width < needed or width > needed == len(form.places):  # columns that are left out are noted
        return None
    layout = TextLayout(form.delimiter, form.quoted, one_symbol, width, form.places)
    readers = [None if isinstance(t, Bit | Signed | Float) else cell_reader(t, words) for t in types]
    columns = read_delimited(data, start, layout, types, readers)
    return None if columns is None or any(map(_has_infinity, columns.data)) else columns


def _has_infinity(column: ColumnData) -> bool:
    """Whether a float was perhaps too large for its type."""
    return isinstance(column, np.ndarray) and column.dtype == np.float64 and bool(np.isinf(column).any())


# ------------------------------------------------------------ line by line


def _read_lines(
    text: str,
    form: FileForm,
    relation: Relation,
    words: Vocabulary,
    note: Callable[[str], None],
) -> Columns:
    """The rows of a text. A line may have more columns than the relation. Raises FaultyFile."""
    width = len(relation.columns)
    readers = [cell_reader(column.type, words) for column in relation.columns]
    columns: list[list[Any]] = [[] for _ in readers]
    needed, wider, count = max(form.places, default=-1) + 1, 0, 0
    with gathered_faults() as faults:
        for record in islice(_records(text, form, relation), int(form.headers), None):
            count += 1
            wider = wider or (record.line if width and len(record.cells) > needed == width else 0)
            if len(record.cells) < needed:
                faults.add(_too_few(record, relation, needed))
            else:
                for place, read, column in zip(form.places, readers, columns, strict=True):
                    try:
                        column.append(read(record.cells[place]))
                    except ValueError as error:
                        faults.add(_wrong_cell(record, place, str(error)))
    if wider:
        note(f"{form.path}:{wider}: there are more columns than {form.name} has, which are left out")
    return Columns(tuple(columns), count)


def _records(text: str, form: FileForm, relation: Relation) -> Iterator[Record]:
    if not form.quoted and "," in form.delimiter and any(sign in text for sign in "[("):
        has_branches = any(isinstance(column.type, User) for column in relation.columns)
        return _bracketed_records(text, form.delimiter, *(("[(", "])") if has_branches else "[]"))
    return records(text, form.shape)


def _bracketed_records(text: str, delimiter: str, opening: str, closing: str) -> Iterator[Record]:
    """The lines of a text. A delimiter between brackets separates no cells."""
    for record in records(text, RowShape(delimiter, keep_empty=True)):
        cells: list[str] = []
        starts, depth = [1], 0
        for part in record.cells:
            if depth:
                cells[-1] += delimiter + part
            else:
                if cells:
                    starts.append(starts[-1] + len(cells[-1]) + len(delimiter))
                cells.append(part)
            depth = max(0, depth + sum(map(part.count, opening)) - sum(map(part.count, closing)))
        if depth:
            raise CellFault("a bracket is not closed", record.line, starts[-1], record.text)
        yield Record(record.line, record.text, cells, starts)


def _too_few(record: Record, relation: Relation, needed: int) -> CellFault:
    names = ", ".join(column.name for column in relation.columns)
    noun = "column" if needed == 1 else "columns"
    message = f"expected {needed} {noun} ({names}), found {len(record.cells)}"
    return CellFault(message, record.line, len(record.text) + 1, record.text)


def _wrong_cell(record: Record, place: int, problem: str) -> CellFault:
    width = max(1, len(record.cells[place]))
    return CellFault(problem, record.line, record.column(place), record.text, width)
