"""Faults in fact files, with their places."""

from __future__ import annotations


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
