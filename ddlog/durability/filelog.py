"""Epochs of a log in the file of a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors.diagnostics import DDlogError
from ..errors.state import ValueNotKept
from .forms import RelationForm, Rows, joined
from .store import FileStore

if TYPE_CHECKING:
    import pyarrow as pa

FileEpoch = tuple[int, Mapping[int, Rows], Sequence[str]]
"""The number of an epoch, its changes by the relation's id, and the ids of its updates."""


class FileWriter:
    """Writes epochs to a store, those that wait together as one span. See `log.EpochWriter`."""

    def __init__(self, store: FileStore, forms: Mapping[int, RelationForm]) -> None:
        self._store, self._forms = store, forms

    @property
    def place(self) -> str:
        return str(self._store.path)

    def rows(self, changes: Mapping[int, Rows]) -> int:
        return sum([rows.length for rows in changes.values()])

    def taken(self, epoch: int, changes: Mapping[int, Rows], ids: Sequence[str], waits: bool) -> FileEpoch:
        if waits:
            changes = {relation: rows.copied() for relation, rows in changes.items()}
        return epoch, changes, ids

    def finish(self) -> None:
        self._store.finish()

    def drop(self, epoch: FileEpoch) -> None:
        """Nothing: what is written lasts, unless the store holds all back until its end."""

    def write(self, epochs: Sequence[FileEpoch]) -> None:
        parts: dict[int, tuple[list[Rows], list[int]]] = {}
        for epoch, changes, _ in epochs:
            for relation, rows in changes.items():
                of = parts.setdefault(relation, ([], []))
                of[0].append(rows)
                of[1].append(epoch)
        several = len(epochs) > 1
        batches = {
            relation: self._batch(relation, joined(rows, numbers if several else None))
            for relation, (rows, numbers) in parts.items()
        }
        applied = [(id, epoch) for epoch, _, ids in epochs for id in ids]
        self._store.append(epochs[0][0], epochs[-1][0], batches, applied)

    def _batch(self, relation: int, rows: Rows) -> pa.RecordBatch:
        try:
            return self._forms[relation].batch(rows)
        except ValueError as error:
            raise DDlogError([ValueNotKept(self._store.name_of(relation), str(error))]) from None
