"""The rows of a fact file with their places, read slowly: for messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any, TypeAlias

from ..core import Relation
from ..errors.excerpt import Excerpt, row_span
from ..errors.source import Span
from .columns import TypeDefs
from .delimited import usual_shape
from .delimitedfiles import rows_of, shaped
from .dialects import DELIMITED, JSON, Reading
from .faults import Faults
from .files import FactFile
from .jsonfiles import fault_at, in_columns, items_of, row_from_json
from .read import columns_in, text_of

PlacedRows: TypeAlias = Iterator[tuple[tuple[Any, ...], Span]]
"""Rows, each with its place."""


def placed_rows(file: FactFile, relation: Relation, typedefs: TypeDefs) -> PlacedRows:
    """The rows of a file that can be read, each with its place. Wrong rows are passed over."""
    if file.format in DELIMITED:
        return _of_cells(file, relation, typedefs)
    return (_of_json if file.format in JSON else _of_table)(file, relation, typedefs)


def _of_cells(file: FactFile, relation: Relation, typedefs: TypeDefs) -> PlacedRows:
    text = text_of(file)
    shape = shaped(usual_shape(file.format), file.dialect, relation)
    reading = Reading(file.dialect, refuse=lambda _: None)
    for row, record in rows_of(text, shape, relation, typedefs, reading, Faults(reading.refuse)):
        yield row, _line(file.shown, record.line, record.text)


def _of_json(file: FactFile, relation: Relation, typedefs: TypeDefs) -> PlacedRows:
    text = text_of(file)
    named = in_columns(relation, file.dialect)
    lines = file.format != "json"
    for position, item in items_of(text, lines, (lambda _: None) if lines else None):
        with suppress(ValueError, RecursionError):
            fault = fault_at(text, position, "")
            yield row_from_json(named(item), relation, typedefs), _line(file.shown, fault.line, fault.text)


def _of_table(file: FactFile, relation: Relation, typedefs: TypeDefs) -> PlacedRows:
    wrong = set[int]()
    columns = columns_in(file, relation, typedefs, Reading(file.dialect, refuse=lambda f: wrong.add(f.line)))
    numbers = (number for number in count(1) if number not in wrong)
    for number, row in zip(numbers, columns.rows(relation), strict=False):
        yield row, row_span(file.shown, number)


def _line(name: str, number: int, text: str) -> Span:
    return Span(Excerpt(name, text, number), number, 1, number, max(2, len(text) + 1))
