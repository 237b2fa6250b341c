"""The difference of a recursion's state to an earlier one, kept up round by round."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...schema import Array
from ..storage.arrays import grown
from ..storage.batch import Batch
from ..storage.table import RowTable


class RoundCheckpoint:
    """The difference of the state to that after `at` rounds."""

    def __init__(self, at: int) -> None:
        self.at = at
        self._tables: dict[str, RowTable] = {}
        self._weights: dict[str, Array] = {}
        self._different = 0

    def add(self, changes: Mapping[str, Batch]) -> None:
        """Adds the changes of a round, in each of which a row occurs once."""
        for name, change in changes.items():
            table = self._tables.setdefault(name, RowTable(len(change.columns)))
            rows = table.insert(change.columns, change.length)
            weights = grown(self._weights.get(name, np.zeros(0, np.int64)), table.size, 0)
            before = np.count_nonzero(weights[rows])
            weights[rows] += change.weight_array()
            self._different += int(np.count_nonzero(weights[rows]) - before)
            self._weights[name] = weights

    def differs(self) -> bool:
        """Whether the state is another one."""
        return self._different > 0

    def moved(self) -> dict[str, Batch]:
        """The rows that came or went since."""
        return {name: Batch(table.columns(), table.size) for name, table in self._tables.items()}
