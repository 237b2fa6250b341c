"""Relations and changes on standard output, in the forms of `--format`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..core import Relation
from ..io.delimitedfiles import csv_header
from ..io.jsonfiles import json_writer
from ..io.write import row_writer
from ..sessions.results import Changes
from ..sessions.session import Session
from ..types import Signed, Type
from ..values.rows import Row
from .sinks import ChangeSink, LineSink, print_lines
from .tables import cell_texts, markdown_lines, shown_lines, table_lines


def printed_relations(
    session: Session, chosen: Sequence[Relation], format: str, width: int | None
) -> Iterator[str]:
    """Relations in a form; of several, each under its name. `width` is that of the terminal, if rows and
    columns may be cut."""
    if format == "json":
        yield from _document(session, chosen)
        return
    for relation in chosen:
        rows = session[relation.name].repeated()
        if format == "jsonl":
            yield from _json_lines(session, relation, rows, len(chosen) == 1)
            continue
        if len(chosen) > 1:
            yield f"{relation.name}:"
        yield from _rows(session, relation, format, rows, width)
        if len(chosen) > 1:
            yield ""


def _rows(
    session: Session, relation: Relation, format: str, rows: Iterable[Row], width: int | None
) -> Iterator[str]:
    names, types = _columns(relation)
    match format:
        case "table":
            count = sum(session[relation.name].stored.weights or [session.size(relation.name)])
            yield from shown_lines(names, types, session.typedefs, rows, count, width)
        case "markdown":
            yield from markdown_lines(names, types, cell_texts(types, session.typedefs, rows))
        case _:
            line = row_writer(format, relation, session.typedefs)
            if format == "csv":
                yield csv_header(relation).removesuffix("\n")
            yield from (line(row).removesuffix("\n") for row in rows)


def _json_lines(session: Session, relation: Relation, rows: Iterable[Row], alone: bool) -> Iterator[str]:
    write, name = json_writer(relation, session.typedefs), json.dumps(relation.name)
    yield from (write(row) if alone else f"{{{name}: {write(row)}}}" for row in rows)


def _document(session: Session, chosen: Sequence[Relation]) -> Iterator[str]:
    """One array of rows, or of several relations an object of arrays."""
    if len(chosen) == 1:
        yield from _array(session, chosen[0], "[", "]")
        return
    yield "{"
    for place, relation in enumerate(chosen, 1):
        yield from _array(
            session, relation, f"{json.dumps(relation.name)}: [", "]" + "," * (place < len(chosen))
        )
    yield "}"


def _array(session: Session, relation: Relation, opening: str, closing: str) -> Iterator[str]:
    write: Callable[[Any], str] = json_writer(relation, session.typedefs)
    yield opening
    waiting: str | None = None
    for row in session[relation.name].repeated():
        if waiting is not None:
            yield f"{waiting},"
        waiting = write(row)
    yield from () if waiting is None else (waiting,)
    yield closing


def _columns(relation: Relation) -> tuple[list[str], list[Type]]:
    return [column.name for column in relation.columns], [column.type for column in relation.columns]


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
