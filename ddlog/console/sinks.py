"""Sinks for the changes of each commit: standard output, and files that `--updates` can read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Protocol, TextIO

from ..core import Relation
from ..errors.diagnostics import system_errors
from ..errors.facts import CannotWrite
from ..io.delimitedfiles import csv_header
from ..io.filenames import file_name
from ..io.jsonfiles import json_writer
from ..io.write import row_writer
from ..sessions.results import Changes
from ..sessions.session import Session
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


class ChangeSink(Protocol):
    """Takes the changes of commits."""

    def __call__(self, changes: Changes) -> None:
        """Takes the changes of a commit."""


class TextSink:
    """Prints changes in the form of `commit dump_changes`."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def __call__(self, changes: Changes) -> None:
        print_lines(changes.lines(self._names))
        sys.stdout.flush()


class LineSink:
    """Prints changes as JSON lines, or as separated rows that begin with the name of their relation."""

    def __init__(self, session: Session, names: Sequence[str], format: str) -> None:
        self._names, self._format = frozenset(names), format
        self._writers = RowWriters(session, format)

    def __call__(self, changes: Changes) -> None:
        named = [name for name in changes if name in self._names]
        if self._format == "jsonl":
            print_lines(json_changes(changes, named, self._writers))
        else:
            for name in named:
                lines = _separated_lines(changes, name, self._writers)
                separator = "," if self._format == "csv" else "\t"
                print_lines(f"{name}{separator}{line}" for line in lines)
        sys.stdout.flush()


class FileSink:
    """Appends changes to change files: one file of JSON lines, or one file for each relation."""

    def __init__(
        self,
        session: Session,
        chosen: Sequence[Relation],
        directory: Path,
        format: str,
        open_files: ExitStack,
    ) -> None:
        self._writers, self._format = RowWriters(session, format), format
        self._files: dict[str, TextIO] = {}
        for relation in chosen:
            name = "changes.jsonl" if format == "jsonl" else file_name(relation.name, f".changes.{format}")
            file = open_files.enter_context(_open(directory / name))
            self._files[relation.name] = file
            if format == "csv":
                file.write(csv_header(relation, ("change",)))
            if format == "jsonl":
                self._files = {each.name: file for each in chosen}
                break

    def __call__(self, changes: Changes) -> None:
        if self._format == "jsonl":
            named = [name for name in changes if name in self._files]
            for file in list(self._files.values())[:1]:
                file.writelines(f"{line}\n" for line in json_changes(changes, named, self._writers))
                file.flush()
            return
        for name, file in self._files.items():
            if name in changes:
                file.writelines(f"{line}\n" for line in _separated_lines(changes, name, self._writers))
            file.write("commit\n")
            file.flush()


def _open(path: Path) -> TextIO:
    """A new text file. Raises DDlogError."""
    with system_errors(CannotWrite, path):
        return path.open("w", encoding="utf-8", newline="")


class RowWriters:
    """The functions that write the rows of each relation in a format, made when they are first asked for."""

    def __init__(self, session: Session, format: str) -> None:
        self._session, self.format = session, format
        self._made: dict[str, Callable[[Row], str]] = {}

    def __getitem__(self, name: str) -> Callable[[Row], str]:
        if name not in self._made:
            relation, typedefs = self._session.program.relations[name], self._session.typedefs
            if self.format == "jsonl":
                self._made[name] = json_writer(relation, typedefs)
            else:
                self._made[name] = row_writer(self.format, relation, typedefs)
        return self._made[name]


def json_changes(changes: Changes, names: Iterable[str], writers: RowWriters) -> Iterator[str]:
    """The changes as JSON lines, with a commit as the last line."""
    for name in names:
        write, quoted = writers[name], json.dumps(name)
        for row, weight in changes.stored(name):
            word = "insert" if weight > 0 else "delete"
            yield from [f'{{"{word}": {{{quoted}: {write(row)}}}}}'] * abs(weight)
    yield '{"commit": true}'


def _separated_lines(changes: Changes, name: str, writers: RowWriters) -> Iterator[str]:
    """The changes of a relation as rows that begin with +1 or -1."""
    write = writers[name]
    separator = "," if writers.format == "csv" else "\t"
    for row, weight in changes.stored(name):
        line = f"{'+1' if weight > 0 else '-1'}{separator}{write(row)}".removesuffix("\n")
        yield from [line] * abs(weight)
