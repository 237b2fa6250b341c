"""Stores of Z-sets whose weights may be negative: a row is present where its weight is not zero."""

from __future__ import annotations

import numpy as np

from ...schema import Array
from .store import Store


class SignedStore(Store):
    """A store of weighted rows, of any sign."""

    signed = True

    def _weigh(self, rows: Array, change: Array) -> tuple[Array, Array]:
        assert self.weights is not None
        touched = np.unique(rows)
        before = self.weights[touched]
        np.add.at(self.weights, rows, change)
        crossed = (before != 0) != (self.weights[touched] != 0)
        return touched[crossed], before[crossed]

    def _signs(self, touched: Array, before: Array) -> tuple[Array, Array]:
        assert self.weights is not None
        return touched, np.where(self.weights[touched] != 0, 1, -1)

    def _count(self) -> int:
        return len(self.rows())
