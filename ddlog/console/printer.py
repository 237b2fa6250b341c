"""Relations on standard output, in the forms of `--format`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..io.delimitedfiles import csv_header
from ..io.jsonfiles import json_writer
from ..io.tables import cell_texts, markdown_lines, shown_lines
from ..io.write import row_writer
from ..sessions.results import RelationView, Result
from ..sessions.results.lines import RowLines, record_lines
from .options import PRINTED


def row_lines(format: str | None) -> RowLines:
    """A function that gives the lines of rows in a form; as records, if that is none of text."""
    if format not in PRINTED:
        return record_lines
    return lambda tables, named: printed_tables(tables, named, format, None)


def printed_tables(
    tables: Sequence[RelationView | Result], named: bool, format: str, width: int | None
) -> Iterator[str]:
    """Tables in a form; if they are `named`, each under its name. `width` is that of the terminal, if rows
    and columns may be cut."""
    if format == "json":
        yield from _document(tables, named)
        return
    for table in tables:
        if format == "jsonl":
            yield from _json_lines(table, named)
            continue
        if named:
            yield f"{table.relation.name}:"
        yield from _rows(table, format, width)
        if named:
            yield ""


def _rows(table: RelationView | Result, format: str, width: int | None) -> Iterator[str]:
    names, types, rows = table.columns, table.types, table.repeated()
    match format:
        case "table":
            count = sum(table.stored.weights or [len(table)])
            yield from shown_lines(names, types, table.typedefs, rows, count, width)
        case "markdown":
            yield from markdown_lines(names, types, cell_texts(types, table.typedefs, rows))
        case _:
            line = row_writer(format, table.relation, table.typedefs)
            if format == "csv":
                yield csv_header(table.relation).removesuffix("\n")
            yield from (line(row).removesuffix("\n") for row in rows)


def _json_lines(table: RelationView | Result, named: bool) -> Iterator[str]:
    write, name = json_writer(table.relation, table.typedefs), json.dumps(table.relation.name)
    yield from (f"{{{name}: {write(row)}}}" if named else write(row) for row in table.repeated())


def _document(tables: Sequence[RelationView | Result], named: bool) -> Iterator[str]:
    """An array of rows, or of named tables an object of arrays."""
    if not named:
        for table in tables:
            yield from _array(table, "[", "]")
        return
    yield "{"
    for place, table in enumerate(tables, 1):
        yield from _array(table, f"{json.dumps(table.relation.name)}: [", "]" + "," * (place < len(tables)))
    yield "}"


def _array(table: RelationView | Result, opening: str, closing: str) -> Iterator[str]:
    write: Callable[[Any], str] = json_writer(table.relation, table.typedefs)
    yield opening
    waiting: str | None = None
    for row in table.repeated():
        if waiting is not None:
            yield f"{waiting},"
        waiting = write(row)
    yield from () if waiting is None else (waiting,)
    yield closing
