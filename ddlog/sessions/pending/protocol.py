"""The pending changes of one input relation, as a transaction sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from ...engine.runtime import Batch
from ...values.rows import Row

SignedBatch = tuple[Batch, int]
"""A batch of rows to insert (1) or to delete (-1)."""


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


class RunLog:
    """A log of runs of changes, each run kept as it came."""

    _runs: list[Any]

    def mark(self) -> int:
        return len(self._runs)

    def undo(self, mark: int) -> None:
        del self._runs[mark:]

    def settle(self, committed: bool) -> None:
        self._runs = []
