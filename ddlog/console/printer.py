"""Relations and changes on standard output, in the forms of `--format`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core import Relation
from ..io.delimitedfiles import csv_header
from ..io.jsonfiles import json_writer
from ..io.tables import cell_texts, markdown_lines, shown_lines, table_lines
from ..io.write import row_writer
from ..sessions.results import Changes, RelationView, Result
from ..sessions.results.lines import RowLines, record_lines
from ..sessions.session import Session
from ..types import Signed, Type
from .options import PRINTED
from .sinks import ChangeSink, LineSink, print_lines


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


def _columns(relation: Relation) -> tuple[list[str], list[Type]]:
    return [*relation.titles], [column.type for column in relation.columns]


class TableSink:
    """Prints the changes of each commit as a table for each relation, in text or in Markdown."""

    def __init__(self, session: Session, names: Sequence[str], format: str) -> None:
        self._session, self._names = session, frozenset(names)
        self._lines = markdown_lines if format == "markdown" else table_lines

    def __call__(self, changes: Changes) -> None:
        for name in changes:
            if name in self._names:
                print_lines([f"{name}:", *self._table(changes, name), ""])

    def _table(self, changes: Changes, name: str) -> Iterator[str]:
        names, types = _columns(self._session.program.relations[name])
        signed = changes.stored(name)
        texts = cell_texts(types, self._session.typedefs, (row for row, _ in signed))
        rows = ([f"{weight:+}", *each] for each, (_, weight) in zip(texts, signed, strict=True))
        return self._lines(["change", *names], [Signed(64), *types], rows)


def printing_sink(session: Session, names: Sequence[str], format: str) -> ChangeSink:
    """A sink that prints the changes of each commit in a form; as JSON, a line a change."""
    if format in ("table", "markdown"):
        return TableSink(session, names, format)
    return LineSink(session, names, "jsonl" if format == "json" else format)
