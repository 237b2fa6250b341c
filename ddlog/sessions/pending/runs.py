"""Pending changes of an input relation, as a transaction sees them, and runs of changes kept as they came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

from ...engine.runtime import Batch
from ...errors.changes import NothingToClear
from ...errors.diagnostics import DDlogError
from ...values.rows import Row
from .presentrows import Present, SignedBatch


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

    def hand_over(self) -> None:
        """Drops what only a transaction that goes on would ask for: a commit has its batches now."""

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

    def hand_over(self) -> None:
        self._runs, self._present.taken = [], []

    def settle(self, committed: bool) -> None:
        self.hand_over()

    def _single(self) -> list[SignedBatch] | None:
        """The only run, if its rows came one by one, as batches."""
        if len(self._runs) != 1 or not (run := self._runs[0]).sign or run.batch is not None:
            return None
        rows = list(run.rows())
        return [(self._present.batch(rows), run.sign)] if rows else []

    def _signed(self) -> Iterator[tuple[Batch | None, int]]:
        """The runs as batches, in order, with neighbouring rows of one sign together; a sign of 0 for a
        deletion of all rows."""
        alone = self._single()
        if alone is not None:
            yield from alone
            return
        for (sign, single), runs in groupby(self._runs, lambda run: (run.sign, run.batch is None)):
            if sign and single:
                rows = [row for run in runs for row in run.rows()]
                if rows:
                    yield self._present.batch(rows), sign
            else:
                yield from ((run.batch, sign) for run in runs)


class SetChanges(Runs):
    """Runs of insertions and deletions; the last one decides whether a row is present. The rows of batches
    are not asked for: what reads them would keep a whole file in memory."""

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        super().load(batch, tuple)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        super().change(batch, tuple, sign)

    def batches(self) -> list[SignedBatch]:
        single = self._single()
        if single is not None:
            return single
        signed: list[SignedBatch] = []
        for batch, sign in self._signed():
            if sign:
                signed.append((batch, sign))
            else:
                signed = [(self._present.everything(), -1)]
        return signed


class BagChanges(Runs):
    """Runs of insertions and deletions. A deletion takes only rows that are there when the transaction comes
    to it. Batches stay batches as long as it is known which of their rows are."""

    def batches(self) -> list[SignedBatch]:
        signs = {run.sign for run in self._runs}
        whole = signs <= {1} or any(run.batch is not None for run in self._runs)
        try:
            signed = self._whole() if whole else None
        finally:
            self._present.taken = []  # which would keep the values of its rows
        return self._counted() if signed is None else signed

    def _whole(self) -> list[SignedBatch] | None:
        """The batches, if all rows to delete are there; None: rows have to be counted."""
        present = self._present
        for batch, sign in self._signed():
            if batch is None or (sign < 0 and not present.covers(batch)):
                return None
            present.taken.append((batch, sign))
        return present.taken

    def _counted(self) -> list[SignedBatch]:
        """The batches of the rows, counted one by one."""
        change: Counter[Row] = Counter()
        held = self._held()
        for sign, rows, _ in self._runs:
            if not sign:
                change = Counter({row: -weight for row, weight in held.items()})
            for row in rows():
                if sign > 0 or held.get(row, 0) + change[row] > 0:
                    change[row] += sign
        signed = [([row for row, n in change.items() for _ in range(n * sign)], sign) for sign in (1, -1)]
        return [(self._present.batch(rows), sign) for rows, sign in signed if rows]

    def _held(self) -> Mapping[Row, int]:
        """The weights of the last commit, as far as a run asks for them."""
        if any(not run.sign for run in self._runs):
            return self._present.counted()
        gone = list(dict.fromkeys(row for run in self._runs if run.sign < 0 for row in run.rows()))
        return dict(zip(gone, self._present.weights(gone), strict=True)) if gone else {}


class StreamChanges(BagChanges):
    """The elements of the transaction. A deletion takes back an element that was inserted before it."""

    def clear(self) -> None:
        raise DDlogError([NothingToClear(self._present.relation.name)])

    def _whole(self) -> list[SignedBatch] | None:
        only_insertions = all(run.sign > 0 for run in self._runs)
        return super()._whole() if only_insertions else None

    def _held(self) -> Mapping[Row, int]:
        return {}
