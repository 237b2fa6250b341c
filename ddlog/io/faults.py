"""Faults in fact files, with their places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

MOST_FAULTS = 10
"""The faults of a file that are told; further ones are counted."""


class CellFault(Exception):
    """A fault at a line and column (from 1) of a file. `text` is the line, of which `width` characters are
    underlined. Without a line, `line` is the number of a row and `column` is 0. `of` is the name of the
    relation's column whose cell is wrong, if it is one alone."""

    of = ""

    def __init__(
        self, message: str, line: int, column: int, text: str, width: int = 1, help: str = ""
    ) -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.text, self.width = message, line, column, text, width
        self.help = help


class FaultyFile(Exception):
    """The first faults that were found in one file, and the number of further ones."""

    def __init__(self, faults: list[CellFault], more: int = 0) -> None:
        super().__init__("\n".join(fault.message for fault in faults))
        self.faults, self.more = faults, more


RefuseFault: TypeAlias = Callable[[CellFault], None]
"""Takes the fault of a row that is left out."""


def raise_fault(fault: CellFault) -> None:
    """Lets the first fault end the reading. Raises CellFault."""
    raise fault


class Faults:
    """The faults of one file: the first ones, and the number of the others; or none, if they are refused."""

    def __init__(self, refuse: RefuseFault | None = None) -> None:
        self.first: list[CellFault] = []
        self.more = 0
        self._refuse = refuse

    def add(self, fault: CellFault) -> None:
        """Takes the fault of a row, which is left out."""
        if self._refuse is not None:
            self._refuse(fault)
        elif len(self.first) < MOST_FAULTS:
            self.first.append(fault)
        else:
            self.more += 1


@contextmanager
def gathered_faults(refuse: RefuseFault | None = None) -> Iterator[Faults]:
    """The faults of one file, for the reader inside to add to. A CellFault that the reader raises is the
    last of them, also if faults are refused. Raises FaultyFile at the end, unless there are none."""
    faults = Faults(refuse)
    try:
        yield faults
    except CellFault as fault:
        faults.first.append(fault)
    if faults.first:
        raise FaultyFile(faults.first, faults.more)
