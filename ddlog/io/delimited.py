"""Delimited text as records of cells, with their places for messages.

Tab-separated cells are taken as they stand; comma-separated ones follow RFC 4180. `header.py` tells whether
the first record is a header.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache

from .faults import CellFault


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


@dataclass(frozen=True, slots=True)
class RowShape:
    """How rows are separated: the sign between cells, the sign around them, or nothing, and the number of
    lines before the first row. Empty lines are rows only if they are kept."""

    separator: str
    quote: str = ""
    skip: int = 0
    keep_empty: bool = False


COMMAS, TABS = RowShape(",", '"'), RowShape("\t")


def usual_shape(format: str) -> RowShape:
    """The usual shape of the rows in files of a format."""
    return COMMAS if format == "csv" else TABS


def records(text: str, shape: RowShape) -> Iterator[Record]:
    """The rows of a text. Raises CellFault at a quote that does not end."""
    for _ in range(shape.skip):
        text = text.partition("\n")[2]
    return (_quoted_records if shape.quote and shape.quote in text else _plain_records)(text, shape)


def _plain_records(text: str, shape: RowShape) -> Iterator[Record]:
    """The lines of a text without quotes."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1 + shape.skip):
        line = line.removesuffix("\r")
        if line or shape.keep_empty:
            yield _plain_record(number, line, shape)


def _plain_record(number: int, line: str, shape: RowShape) -> Record:
    return Record(number, line, line.split(shape.separator), None, shape.separator)


def _quoted_records(text: str, shape: RowShape) -> Iterator[Record]:
    """The records of a text in which a cell may be quoted. Raises CellFault at a quote that does not end."""
    position, line = 0, 1 + shape.skip
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if shape.quote not in text[position:end]:
            plain = text[position:end].removesuffix("\r")
            if plain or shape.keep_empty:
                yield _plain_record(line, plain, shape)
            position, line = end + 1, line + 1
            continue
        record, position = _quoted_record(text, position, line, shape.separator, shape.quote)
        yield record
        line += text.count("\n", position - 1, position) + sum(cell.count("\n") for cell in record.cells)


@cache
def _quoted(quote: str) -> re.Pattern[str]:
    sign = re.escape(quote)
    return re.compile(f"{sign}((?:[^{sign}]|{sign}{sign})*){sign}")


def _quoted_record(text: str, position: int, line: int, separator: str, quote: str) -> tuple[Record, int]:
    cells: list[str] = []
    starts: list[int] = []
    empty: list[int] = []
    begin = position
    line_end = text.find("\n", begin)
    shown = text[begin : line_end if line_end >= 0 else len(text)]
    while True:
        starts.append(position - begin + 1)
        if text.startswith(quote, position):
            quoted = _quoted(quote).match(text, position)
            if quoted is None:
                raise CellFault("this quoted cell does not end", line, starts[-1], shown)
            if not quoted.group(1):
                empty.append(len(cells))
            cells.append(quoted.group(1).replace(quote * 2, quote))
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
