"""The log of a state: the changes of each epoch on their way to the disk.

`commit`: an epoch is on disk before it becomes final in memory. `interval`: epochs wait for at most a second,
and go together. `exit`: they go when the state is closed, all or none.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from ..errors.diagnostics import DDlogError
from ..errors.state import EarlierNotKept, NotKeptOnDisk, ValueNotKept
from .forms import RelationForm, Rows, joined
from .store import Store

if TYPE_CHECKING:
    import pyarrow as pa

Durability = Literal["commit", "interval", "exit"]
DURABILITIES: Final[tuple[Durability, ...]] = ("commit", "interval", "exit")
INTERVAL: Final = 0.5
"""Seconds that an epoch waits for others. With the time to write them, that is to stay below a second."""

_MANY = 50_000  # rows that do not wait: to bring them together costs more than to write them


class Log:
    """Takes the changes of epochs, and writes them to a store."""

    def __init__(
        self,
        store: Store,
        forms: Mapping[int, RelationForm],
        durability: Durability,
        written: Callable[[int], None],
    ) -> None:
        """`written` is called when the epochs up to one are on disk; not with durability `commit`, where the
        last one is not final yet."""
        self._written = written
        self._store, self._forms, self._durability = store, forms, durability
        self._waiting: list[tuple[int, Mapping[int, Rows], Sequence[str]]] = []
        self._rows = 0
        self._lock = threading.Lock()
        self._failed = False
        if durability == "exit":
            store.hold_back()

    def append(self, epoch: int, changes: Mapping[int, Rows], ids: Sequence[str] = ()) -> None:
        """Takes the changes of an epoch, by the relation's id, with the ids of its updates. Raises DDlogError
        if they, or earlier ones, cannot be written; then the epoch is not part of the log."""
        if self._durability == "commit":
            with self._reported(0):
                self._write([(epoch, changes, ids)])
            return
        with self._lock:
            if self._failed:
                self._flush()
            self._rows += sum(rows.length for rows in changes.values())
            if self._rows <= _MANY:
                changes = {relation: rows.copied() for relation, rows in changes.items()}
            self._waiting.append((epoch, changes, ids))
            if self._rows > _MANY:
                try:
                    self._flush()
                except BaseException:
                    self._waiting.pop()
                    raise

    def flush(self) -> None:
        """Writes the epochs that wait. Raises DDlogError."""
        with self._lock:
            self._flush()

    def flush_quietly(self) -> None:
        """The same; whatever fails is tried again, and raised, by the next `append` or `flush`."""
        with self._lock:
            try:
                self._flush()
            except Exception:
                self._failed = True

    def finish(self) -> None:
        """Writes all that waits, and puts it on disk. Raises DDlogError."""
        with self._lock:
            count = len(self._waiting)
            self._flush()
            with self._reported(max(count, 1)):
                self._store.finish()
        self._written(self._store.head.epoch)

    def _flush(self) -> None:
        if self._waiting:
            with self._reported(len(self._waiting)):
                self._write(self._waiting)
            self._waiting, self._rows, self._failed = [], 0, False
            if self._durability == "interval":
                self._written(self._store.head.epoch)

    def _write(self, epochs: Sequence[tuple[int, Mapping[int, Rows], Sequence[str]]]) -> None:
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

    def _reported(self, waiting: int) -> _Reported:
        return _Reported(str(self._store.path), waiting)


class _Reported:
    """Turns failures of writing into DDlogErrors."""

    def __init__(self, path: str, waiting: int) -> None:
        self._path, self._waiting = path, waiting

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, OSError | sqlite3.Error):
            reason = getattr(error, "strerror", None) or str(error)
            if self._waiting:
                raise DDlogError([EarlierNotKept(self._path, self._waiting, reason)]) from None
            raise DDlogError([NotKeptOnDisk(self._path, reason)]) from None
