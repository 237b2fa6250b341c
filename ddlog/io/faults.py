"""Faults in fact files, with their places."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

MOST_FAULTS = 10
"""The faults after which a reader gives a file up."""


class CellFault(Exception):
    """A fault at a line and column (from 1) of a file. `text` is the line, of which `width` characters are
    underlined. Without a line, `line` is the number of a row and `column` is 0."""

    def __init__(self, message: str, line: int, column: int, text: str, width: int = 1) -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.text, self.width = message, line, column, text, width


class FaultyFile(Exception):
    """The faults that were found in one file."""

    def __init__(self, faults: list[CellFault]) -> None:
        super().__init__("\n".join(fault.message for fault in faults))
        self.faults = faults


@contextmanager
def gathered_faults() -> Iterator[list[CellFault]]:
    """The faults of one file, a list for the reader inside to fill. A CellFault that the reader raises is the
    last of them. Raises FaultyFile at the end, unless there are none."""
    faults: list[CellFault] = []
    try:
        yield faults
    except CellFault as fault:
        faults.append(fault)
    if faults:
        raise FaultyFile(faults)
