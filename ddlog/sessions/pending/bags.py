"""Pending changes of a bag. Deleting an absent row has no effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ...values.rows import Row
from .present import SignedBatch
from .runs import Runs


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
        """The batches, of deletions the part that is there; None: rows have to be counted."""
        present = self._present
        for batch, sign in self._signed():
            if sign == 0:
                batch = present.everything() if present.by_query else None
            elif sign < 0:
                batch = present.there(batch)
            if batch is None:
                return None
            present.taken.append((batch, sign or -1))
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
