"""What is wrong in a fact file, and where."""

from __future__ import annotations


class CellFault(Exception):
    """A fault at a line and column (from 1) of a file. `text` is the line; `width` what to underline."""

    def __init__(self, message: str, line: int, column: int, text: str, width: int = 1) -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.text, self.width = message, line, column, text, width


class FaultyFile(Exception):
    """All the faults that were found in a file."""

    def __init__(self, faults: list[CellFault]) -> None:
        super().__init__("\n".join(fault.message for fault in faults))
        self.faults = faults
