"""Sinks for the changes of each commit: standard output, and files that `--updates` can read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TextIO, TypeAlias

from ..core import Relation
from ..errors.diagnostics import system_errors
from ..errors.facts import CannotWrite
from ..io.delimitedfiles import csv_header
from ..io.filenames import file_name
from ..io.jsonfiles import json_writer
from ..io.tables import cell_texts, markdown_lines, table_lines
from ..io.write import row_writer
from ..sessions.results import Changes
from ..sessions.session import Session
from ..types import Signed
from ..values.rows import Row

_BUFFER = 1 << 12  # lines that are printed at once


def print_line(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def print_lines(lines: Iterable[str]) -> None:
    """Prints many lines, a block at a time."""
    left = iter(lines)
    more = True
    while more and (block := [*islice(left, _BUFFER)]):
        sys.stdout.write("\n".join(block) + "\n")
        more = len(block) == _BUFFER


ChangeSink: TypeAlias = Callable[[Changes], None]
"""Takes the changes of each commit."""
RowWriters: TypeAlias = Callable[[str], Callable[[Row], str]]
"""The function that writes the rows of a relation in a form."""


def row_writers(session: Session, format: str) -> RowWriters:
    """The writers of relations in a form, each made when it is first asked for."""

    @cache
    def made(name: str) -> Callable[[Row], str]:
        relation, typedefs = session.program.relations[name], session.typedefs
        write = json_writer if format == "jsonl" else partial(row_writer, format)
        return write(relation, typedefs)

    return made


def printing_sink(session: Session, names: Sequence[str], format: str | None) -> ChangeSink:
    """A sink that prints the changes of some relations: in a form, of JSON a line a change, or without one in
    that of `commit dump_changes`."""
    lines = _lines_in(session, names, "jsonl" if format == "json" else format)

    def sink(changes: Changes) -> None:
        print_lines(lines(changes))
        sys.stdout.flush()

    return sink


def _lines_in(
    session: Session, names: Sequence[str], format: str | None
) -> Callable[[Changes], Iterator[str]]:
    """The function that gives the lines of changes in a form."""
    match format:
        case None:
            return lambda changes: changes.lines(names)
        case "table" | "markdown":
            return partial(_table_lines, session, frozenset(names), format)
        case "jsonl":
            return partial(json_changes, names=frozenset(names), writers=row_writers(session, format))
    return partial(_named_lines, frozenset(names), format, row_writers(session, format))


def _named_lines(names: Collection[str], format: str, writers: RowWriters, changes: Changes) -> Iterator[str]:
    """Separated rows that begin with the names of their relations."""
    separator = "," if format == "csv" else "\t"
    for name in (each for each in changes if each in names):
        for line in _separated_lines(changes, name, format, writers):
            yield f"{name}{separator}{line}"


def _table_lines(session: Session, names: Collection[str], format: str, changes: Changes) -> Iterator[str]:
    """A table for each relation, in text or in Markdown."""
    lines = markdown_lines if format == "markdown" else table_lines
    for name in (each for each in changes if each in names):
        relation, signed = session.program.relations[name], changes.stored(name)
        types = [column.type for column in relation.columns]
        texts = cell_texts(types, session.typedefs, (row for row, _ in signed))
        rows = ([f"{weight:+}", *each] for each, (_, weight) in zip(texts, signed, strict=True))
        yield f"{name}:"
        yield from lines(["change", *relation.titles], [Signed(64), *types], rows)
        yield ""


def file_sink(
    session: Session, chosen: Sequence[Relation], directory: Path, format: str, open_files: ExitStack
) -> ChangeSink:
    """A sink that appends changes to files that `--updates` can read: one of JSON lines, or one for each
    relation, each commit with its end."""
    writers = row_writers(session, format)
    files: list[tuple[TextIO, Callable[[Changes], Iterator[str]]]] = []
    if format == "jsonl":
        names = frozenset(each.name for each in chosen)
        file = open_files.enter_context(_open(directory / "changes.jsonl"))
        files = [(file, partial(json_changes, names=names, writers=writers))]
    for relation in chosen if format != "jsonl" else ():
        file = open_files.enter_context(_open(directory / file_name(relation.name, f".changes.{format}")))
        if format == "csv":
            file.write(csv_header(relation, ("change",)))
        lines = partial(_separated_lines, name=relation.name, format=format, writers=writers, ends=True)
        files.append((file, lines))

    def sink(changes: Changes) -> None:
        for file, lines in files:
            file.writelines(f"{line}\n" for line in lines(changes))
            file.flush()

    return sink


def _open(path: Path) -> TextIO:
    """A new text file. Raises DDlogError."""
    with system_errors(CannotWrite, path):
        return path.open("w", encoding="utf-8", newline="")


def json_changes(changes: Changes, names: Collection[str], writers: RowWriters) -> Iterator[str]:
    """The changes of some relations as JSON lines, with a commit as the last line."""
    for name in (each for each in changes if each in names):
        write, quoted = writers(name), json.dumps(name)
        for row, weight in changes.stored(name):
            word = "insert" if weight > 0 else "delete"
            yield from [f'{{"{word}": {{{quoted}: {write(row)}}}}}'] * abs(weight)
    yield '{"commit": true}'


def _separated_lines(
    changes: Changes, name: str, format: str, writers: RowWriters, ends: bool = False
) -> Iterator[str]:
    """The changes of a relation as rows that begin with +1 or -1, and the end of the commit."""
    separator = "," if format == "csv" else "\t"
    for row, weight in changes.stored(name) if name in changes else ():
        line = f"{'+1' if weight > 0 else '-1'}{separator}{writers(name)(row)}".removesuffix("\n")
        yield from [line] * abs(weight)
    yield from ["commit"] if ends else []
