"""Answers of queries as tables of text."""

from __future__ import annotations

from collections.abc import Iterator

from ..sessions.results import Result

SHOWN = 1000
"""The number of rows that a table shows."""


def table_lines(result: Result) -> Iterator[str]:
    """A query's answer as a table, as wide as it needs to be."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    numeric = [
        str(type).startswith(("bit<", "signed<", "bigint", "float", "double")) for type in result.types
    ]
    for name, right in zip(result.columns, numeric, strict=True):
        table.add_column(Text(name), justify="right" if right else "left", no_wrap=True)
    for texts in result.texts(SHOWN):
        table.add_row(*map(Text, texts))
    console = Console(width=1 << 16, color_system=None)
    with console.capture() as captured:
        console.print(table)
    yield from (line.rstrip() for line in captured.get().splitlines() if line.strip())
