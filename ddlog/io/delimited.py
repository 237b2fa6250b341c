"""Delimited text as records of cells, with their places for messages.

Tab-separated cells are taken as they stand; comma-separated ones follow RFC 4180. A first line that
names the columns, in any order, is a header (comma-separated files only).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from ..core import Relation
from .faults import CellFault

_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


@dataclass(frozen=True, slots=True)
class Record:
    """A row of cells as text, the line that it begins on, the column that each cell begins at, and the cells
    that are `""`."""

    line: int
    text: str
    cells: list[str]
    starts: list[int] | None = field(default=None)
    separator: str = "\t"
    empty: Collection[int] = ()

    def column(self, cell: int) -> int:
        """The column of the line, from 1, at which a cell begins."""
        if self.starts is not None:
            return self.starts[min(cell, len(self.starts) - 1)]
        return 1 + sum(len(each) + len(self.separator) for each in self.cells[:cell])


def tab_records(text: str, keep_empty: bool) -> Iterator[Record]:
    """The lines of a tab-separated text. Empty lines are records only if `keep_empty`."""
    return plain_records(text, "\t", keep_empty)


def comma_records(text: str) -> Iterator[Record]:
    """The records of a comma-separated text. Raises CellFault at a quote that does not end."""
    return quoted_records(text, ",", False) if '"' in text else plain_records(text, ",", False)


def plain_records(text: str, separator: str, keep_empty: bool) -> Iterator[Record]:
    """The lines of a text without quotes. Empty lines are records only if `keep_empty`."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        if line or keep_empty:
            yield Record(number, line, line.split(separator), None, separator)


def quoted_records(text: str, separator: str, keep_empty: bool) -> Iterator[Record]:
    """The records of a text in which a cell may be quoted. Empty lines are records only if `keep_empty`.
    Raises CellFault at a quote that does not end."""
    position, line = 0, 1
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if '"' not in text[position:end]:
            plain = text[position:end].removesuffix("\r")
            if plain or keep_empty:
                yield Record(line, plain, plain.split(separator), None, separator)
            position, line = end + 1, line + 1
            continue
        record, position = _quoted_record(text, position, line, separator)
        yield record
        line += text.count("\n", position - 1, position) + sum(cell.count("\n") for cell in record.cells)


def _quoted_record(text: str, position: int, line: int, separator: str) -> tuple[Record, int]:
    cells: list[str] = []
    starts: list[int] = []
    empty: list[int] = []
    begin = position
    line_end = text.find("\n", begin)
    shown = text[begin : line_end if line_end >= 0 else len(text)]
    while True:
        starts.append(position - begin + 1)
        if text.startswith('"', position):
            quoted = _QUOTED.match(text, position)
            if quoted is None:
                raise CellFault("this quoted cell does not end", line, starts[-1], shown)
            if not quoted.group(1):
                empty.append(len(cells))
            cells.append(quoted.group(1).replace('""', '"'))
            position = quoted.end()
        else:
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            stop = text.find(separator, position, end)
            cells.append(text[position:stop] if stop >= 0 else text[position:end].removesuffix("\r"))
            position = stop if stop >= 0 else end
        if text.startswith(separator, position):
            position += len(separator)
            continue
        if text.startswith("\r\n", position):
            position += 1
        if position < len(text) and text[position] != "\n":
            column = position - begin + 1
            raise CellFault(
                f"expected `{separator}` or the end of the line after a quoted cell", line, column, shown
            )
        return Record(line, shown.removesuffix("\r"), cells, starts, separator, empty), position + 1


def header_order(record: Record, relation: Relation) -> list[int] | None:
    """The position of each column of the relation, if the record is a header; None if it is data.

    Raises CellFault for a record that names some of the columns, but not exactly all of them.
    """
    names = [column.name for column in relation.columns]
    cells = [cell.strip().removeprefix("\ufeff") for cell in record.cells]
    if sorted(cells) == sorted(names):
        return [cells.index(name) for name in names]
    known = [cell for cell in cells if cell in names]
    if not known or len(known) * 2 < len(names):
        return None
    shown = ", ".join(names)
    for position, cell in enumerate(cells):
        if cell not in names or cells.index(cell) < position:
            what = "twice in the header" if cell in names else f"no column of {relation.name}"
            message = f"`{cell}` is {what}; the columns are {shown}"
            raise CellFault(message, record.line, record.column(position), record.text)
    missing = next(name for name in names if name not in cells)
    raise CellFault(
        f"the header lacks the column `{missing}` of {relation.name}", record.line, 1, record.text
    )
