"""Pending changes of a relation that is a set and has no primary key.

Inserting a present row and deleting an absent one have no effect, and the runtime sees to that: nothing is
looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...engine.runtime import Batch
from ...values.rows import Row
from .present import SignedBatch
from .runs import Runs


class SetChanges(Runs):
    """Runs of insertions and deletions; the last one decides whether a row is present. The rows of batches
    are not asked for: what reads them would keep a whole file in memory."""

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        super().load(batch, tuple)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        super().change(batch, tuple, sign)

    def batches(self) -> list[SignedBatch]:
        signed: list[SignedBatch] = []
        for batch, sign in self._signed():
            signed = [*signed, (batch, sign)] if sign else [(self._present.everything(), -1)]
        return signed
