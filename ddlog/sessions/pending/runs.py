"""Pending changes of an input relation, as a transaction sees them, and runs of changes kept as they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

from ...engine.runtime import Batch
from ...values.rows import Row
from .present import Present, SignedBatch


class PendingChanges(Protocol):
    """The pending changes of one input relation. Each change is logged, so that the last can be undone."""

    def insert(self, rows: Sequence[Row]) -> None:
        """Inserts rows. Raises DDlogError for a row that the relation cannot take."""

    def delete(self, rows: Sequence[Row]) -> None:
        """Deletes rows. Raises DDlogError for a row that cannot be deleted."""

    def clear(self) -> None:
        """Deletes every row, the rows that this transaction inserted included. Raises DDlogError for a
        stream."""

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        """Inserts the facts of a file. `rows` gives the rows of the batch one by one, for relations that
        check each row."""

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        """Inserts (1) or deletes (-1) the rows of a batch, with the same checks as `insert` and `delete`."""

    def batches(self) -> list[SignedBatch]:
        """The batches that the commit gives to the runtime, in order."""

    def mark(self) -> int:
        """The length of the log."""

    def undo(self, mark: int) -> None:
        """Takes back the changes after a mark."""

    def settle(self, committed: bool) -> None:
        """Ends the transaction: its changes are part of the state now, or they are forgotten."""


class Run(NamedTuple):
    """Rows to insert (1) or to delete (-1), also as a batch if they came as one; 0 deletes all rows."""

    sign: int
    rows: Callable[[], Iterable[Row]]
    batch: Batch | None


class Runs:
    """Runs of changes, which are checked when the transaction commits."""

    def __init__(self, present: Present) -> None:
        self._present = present
        self._runs: list[Run] = []

    def insert(self, rows: Sequence[Row]) -> None:
        self._runs.append(Run(1, lambda: rows, None))

    def delete(self, rows: Sequence[Row]) -> None:
        self._runs.append(Run(-1, lambda: rows, None))

    def clear(self) -> None:
        self._runs.append(Run(0, lambda: (), None))

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        self._runs.append(Run(1, rows, batch))

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        self._runs.append(Run(sign, rows, batch))

    def mark(self) -> int:
        return len(self._runs)

    def undo(self, mark: int) -> None:
        del self._runs[mark:]

    def settle(self, committed: bool) -> None:
        self._runs, self._present.taken = [], []

    def _signed(self) -> Iterator[tuple[Batch | None, int]]:
        """The runs as batches, in order, with neighbouring rows of one sign together; a sign of 0 for a
        deletion of all rows."""
        for (sign, single), runs in groupby(self._runs, lambda run: (run.sign, run.batch is None)):
            if sign and single:
                rows = [row for run in runs for row in run.rows()]
                if rows:
                    yield self._present.batch(rows), sign
            else:
                yield from ((run.batch, sign) for run in runs)
