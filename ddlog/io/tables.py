"""Rows as tables of text and of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from ..types import BigInt, Bit, Float, Signed, Type
from ..values import quote
from .columns import TypeDefs, cell_writer

SHOWN = 1000
"""The number of rows that a table on a terminal shows."""
_LEAST = 8  # characters that a cut column keeps


def cell_texts(
    types: Sequence[Type], typedefs: TypeDefs, rows: Iterable[Sequence[Any]]
) -> Iterator[list[str]]:
    """Each row as the texts that text files have of its values, on one line."""
    writers = [cell_writer(of, typedefs) for of in types]
    for row in rows:
        texts = (write(value) or "" for write, value in zip(writers, row, strict=True))
        yield [text if text.isprintable() else quote(text)[1:-1] for text in texts]


def table_lines(
    names: Sequence[str], types: Sequence[Type], rows: Iterable[Sequence[str]], width: int | None = None
) -> Iterator[str]:
    """A table as wide as it needs to be, or whose widest columns are cut so that it has this width."""
    from rich.cells import cell_len, set_cell_size

    lines = [list(names), *map(list, rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    widths = widths if width is None else _cut(widths, width - 2 * (len(widths) - 1))
    right = list(map(is_number, types))

    def cell(text: str, size: int, right: bool) -> str:
        if cell_len(text) > size:
            return set_cell_size(text, size - 1) + "…"
        blanks = " " * (size - cell_len(text))
        return blanks + text if right else text + blanks

    for number, line in enumerate(lines):
        yield "  ".join(map(cell, line, widths, right)).rstrip()
        if not number:
            yield "──".join("─" * size for size in widths)


def is_number(type: Type) -> bool:
    """Whether values of the type stand at the right."""
    return isinstance(type, BigInt | Bit | Signed | Float)


def _cut(widths: Sequence[int], room: int) -> list[int]:
    """The widths with the widest made equal, so that they fit the room."""
    most = max(widths, default=0)
    while most > _LEAST and sum(min(each, most) for each in widths) > room:
        most -= 1
    return [min(each, most) for each in widths]


def is_cut(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether a table of this width does not show all of each cell."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(names, *rows, strict=True)]
    return sum(widths) + 2 * (len(widths) - 1) > width


def markdown_lines(
    names: Sequence[str], types: Sequence[Type], rows: Iterable[Sequence[str]]
) -> Iterator[str]:
    """A table of Markdown."""
    yield _markdown_line(names)
    yield f"|{'|'.join(' ---: ' if is_number(of) else ' --- ' for of in types)}|"
    yield from map(_markdown_line, rows)


def _markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in cells)} |"


def shown_lines(
    names: Sequence[str],
    types: Sequence[Type],
    typedefs: TypeDefs,
    rows: Iterable[Sequence[Any]],
    count: int,
    width: int | None,
) -> Iterator[str]:
    """A table for a terminal of this width: the first rows, its widest columns cut, and a line that says so.
    None: everything."""
    if width is None:
        yield from table_lines(names, types, cell_texts(types, typedefs, rows))
        return
    texts = list(cell_texts(types, typedefs, islice(rows, SHOWN)))
    yield from table_lines(names, types, texts, width)
    left = [f"the first {SHOWN:,} of {count:,} rows"] if count > SHOWN else []
    left += ["wide columns are cut"] if is_cut(names, texts, width) else []
    if left:
        yield f"({', '.join(left)}; --no-limit shows all)"
