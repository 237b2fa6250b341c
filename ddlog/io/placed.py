"""The rows of a fact file with their places, read slowly: for messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core import Relation
from ..errors.excerpt import Excerpt
from ..errors.source import Span
from .columns import TypeDefs
from .delimited import records, usual_shape
from .delimitedfiles import after_header, cell_readers, read_cells, shaped
from .dialects import DELIMITED, JSON
from .files import FactFile
from .jsonfiles import fault_at, in_columns, items_of, row_from_json
from .read import text_of
from .reading import Reading


def placed_rows(
    file: FactFile, relation: Relation, typedefs: TypeDefs
) -> Iterator[tuple[tuple[Any, ...], Span]]:
    """The rows of a file that was read without a fault, each with its line; none of a file without lines."""
    name = file.shown
    if file.format in DELIMITED:
        shape = shaped(usual_shape(file.format), file.dialect, relation)
        readers = cell_readers(relation, typedefs, file.dialect)
        rows, reading = records(text_of(file), shape), Reading(file.dialect)
        found, order = after_header(rows, relation, readers, shape, reading)
        for record in found:
            row = read_cells(record, readers, order or range(len(readers)))
            yield row, _line(name, record.line, record.text)
    if file.format in JSON:
        text = text_of(file)
        named = in_columns(relation, file.dialect)
        for position, item in items_of(text, file.format != "json"):
            fault = fault_at(text, position, "")
            yield row_from_json(named(item), relation, typedefs), _line(name, fault.line, fault.text)


def _line(name: str, number: int, text: str) -> Span:
    return Span(Excerpt(name, text, number), number, 1, number, max(2, len(text) + 1))
