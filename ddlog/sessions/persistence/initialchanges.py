"""The contents of a state, of now or as of an epoch, as changes for the runtime of a session that begins."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...durability.contents import FileHistory
from ...durability.forms import Rows
from ...durability.history import Untold
from ...durability.records import Stored
from ...engine.runtime import Batch, Runtime
from .kept_schema import KeptSchema
from .keptrelations import KeptRelations
from .stored_changes import SignedBatches, StoredChanges
from .windowcontents import KeptWindows

if TYPE_CHECKING:
    import pyarrow as pa


def window_contents(windows: KeptWindows, names: KeptSchema, now: int) -> Iterator[tuple[str, Stored, range]]:
    """Where the contents of windows as of an epoch are: the name of each, a stored relation, and the epochs
    after which what it held is in the window."""
    for name in windows.nodes:
        if name in windows.last:
            source, length = windows.last[name]
            yield name, names.source(source), range(max(1, now - length + 1), now + 1)
        elif name in names.stored:
            yield name, names.stored[name], range(now, now + 1)


class Beginning(StoredChanges["pa.Table"]):
    """The contents of a file, for a runtime over fields."""

    def __init__(self, kept: KeptRelations, told: FileHistory, runtime: Runtime) -> None:
        super().__init__(kept, told, runtime)
        self._kept = kept

    def batches(self, name: str, stored: Stored, rows: pa.Table) -> Iterator[tuple[Batch, int]]:
        return signed(self.runtime, self._kept.forms[stored.id].rows(rows), name)

    def given(self, now: int) -> dict[str, SignedBatches]:
        return {
            name: [pair for epoch in epochs for pair in self.held(name, stored, epoch)]
            for name, stored, epochs in window_contents(self._kept.windows, self._kept, now)
        }

    def since(self, epoch: int, now: int) -> dict[str, SignedBatches] | None:
        """The changes of inputs from the state after an epoch to the one after `now`; None if they cannot be
        told apart from others."""
        changes: dict[str, SignedBatches] = {}
        readers = [(name, stored, 0) for name, stored in self.names.stored.items() if stored.role == "input"]
        readers += [
            (name, self.names.source(source), delay) for name, (source, delay) in self.names.delays.items()
        ]
        try:
            for name, stored, delay in readers:
                if stored.kind == "stream":
                    changes[name] = self.of_epoch(name, stored, now - delay)
                    continue
                rows = self.told.between(stored, epoch - delay + 1, now - delay)
                changes[name] = self.signed(name, stored, rows)
        except Untold:
            return None
        return changes


def signed(runtime: Runtime, rows: Rows, name: str) -> Iterator[tuple[Batch, int]]:
    """Rows as changes of an input of a runtime over fields: deletions first."""
    make = partial(_batch, runtime, name)
    if rows.weights is None:
        if rows.length:
            yield make(rows), 1
        return
    for weight in np.unique(rows.weights).tolist():
        yield make(rows.taken(np.flatnonzero(rows.weights == weight))), weight


def _batch(runtime: Runtime, name: str, rows: Rows) -> Batch:
    if rows.columns:
        return runtime.batch_from_columns(name, rows.columns)
    return runtime.batch(name, [()] * rows.length)
