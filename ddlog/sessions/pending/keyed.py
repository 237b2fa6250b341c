"""Pending changes of a relation with a primary key: the row of each touched key, before and now.

Inserting a present key, and deleting an absent key or another row than the present one, are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ...core import Relation
from ...engine.runtime import Batch, Runtime
from ...errors.changes import DifferentValue, KeyExists, KeyMissing
from ...errors.diagnostics import DDlogError
from ...values.rows import Row
from .protocol import SignedBatch

_DEAR = 64  # rows that are read in the time of a look-up
_Change = tuple[Hashable, bool, Row | None]


class RowsByKey(Protocol):
    """The rows of a relation with a primary key as of the last commit."""

    def get(self, key: Hashable) -> Row | None:
        """The row with a key; None if the key is absent."""

    def keys(self) -> Iterable[Hashable]:
        """All keys."""

    def settle(self, changed: Mapping[Hashable, Row | None]) -> None:
        """Takes in the changes of a commit: the new row of each key, or None if the key is absent now."""


class StoredByKey:
    """All rows by key, read from the runtime when first asked for, and kept up to date. Where the columns at
    `places` are the key, rows are looked up one by one until reading them all would have been cheaper."""

    def __init__(
        self, name: str, runtime: Runtime, key_of: Callable[[Row], Hashable], places: Sequence[int] = ()
    ) -> None:
        self._name, self._runtime, self._key_of, self._places = name, runtime, key_of, places
        self._rows: dict[Hashable, Row] | None = None
        self._found: dict[Hashable, Row | None] = {}  # of this transaction
        self._asked = 0

    @property
    def is_read(self) -> bool:
        """Whether all rows are held."""
        return self._rows is not None

    def get(self, key: Any) -> Row | None:
        if self._rows is not None or not self._places:
            return self._all().get(key)
        if key not in self._found:
            self._asked += 1
            if self._asked * _DEAR > self._runtime.size(self._name):
                return self._all().get(key)
            parts = key if len(self._places) > 1 else (key,)
            rows = self._runtime.find(self._name, dict(zip(self._places, parts, strict=True)))
            self._found[key] = rows[0] if rows else None
        return self._found[key]

    def keys(self) -> Iterable[Hashable]:
        return self._all()

    def settle(self, changed: Mapping[Hashable, Row | None]) -> None:
        self._found = {}
        if self._rows is None:
            return
        for key, row in changed.items():
            if row is None:
                self._rows.pop(key, None)
            else:
                self._rows[key] = row

    def forget(self) -> None:
        """Drops the rows, which are read again when they are next asked for."""
        self._rows, self._found = None, {}

    def _all(self) -> dict[Hashable, Row]:
        if self._rows is None:
            self._rows = {self._key_of(row): row for row in self._runtime.rows(self._name)}
        return self._rows


class KeyedChanges:
    """The new row of each touched key. `show_key` gives the text of a key for messages."""

    def __init__(
        self,
        relation: Relation,
        runtime: Runtime,
        key_of: Callable[[Row], Hashable],
        show_key: Callable[[Any], str],
        stored: RowsByKey,
    ) -> None:
        self._relation, self._runtime = relation, runtime
        self._key_of, self._show_key = key_of, show_key
        self._stored = stored
        self._now: dict[Hashable, Row | None] = {}
        self._log: list[Any] = []  # changes, and what subclasses put there

    def insert(self, rows: Sequence[Row]) -> None:
        for row in rows:
            key = self._key_of(row)
            if self.get(key) is not None:
                raise DDlogError([KeyExists(self._relation.name, self._show_key(key))])
            self._set(key, row)

    def delete(self, rows: Sequence[Row]) -> None:
        for row in rows:
            key = self._key_of(row)
            present = self.get(key)
            if present is None:
                raise DDlogError([KeyMissing(self._relation.name, self._show_key(key))])
            if present != row:
                raise DDlogError([DifferentValue(self._relation.name, self._show_key(key))])
            self._set(key, None)

    def upsert(self, rows: Sequence[Row]) -> None:
        """Inserts rows, each in place of the present row with its key."""
        for row in rows:
            self._set(self._key_of(row), row)

    def delete_key(self, key: Hashable) -> None:
        """Deletes the row with a key. Raises DDlogError if the key is absent."""
        self._row_of(key)
        self._set(key, None)

    def modify(self, key: Hashable, change: Callable[[Row], Row]) -> None:
        """Replaces the row with a key by the row that `change` makes of it, which may have another key.
        Raises DDlogError if the key is absent or the new key is taken."""
        changed = change(self._row_of(key))
        new_key = self._key_of(changed)
        if new_key != key and self.get(new_key) is not None:
            raise DDlogError([KeyExists(self._relation.name, self._show_key(new_key))])
        self._set(key, None)
        self._set(new_key, changed)

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        for row in rows():
            if self.get(self._key_of(row)) != row:  # loading a present row again has no effect
                self.insert([row])

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        (self.insert if sign > 0 else self.delete)(list(rows()))

    def clear(self) -> None:
        for key in [*self._stored.keys(), *self._now]:
            if self.get(key) is not None:
                self._set(key, None)

    def get(self, key: Hashable) -> Row | None:
        """The row with a key, as the transaction sees it; None if the key is absent."""
        return self._now[key] if key in self._now else self._stored.get(key)

    def batches(self) -> list[SignedBatch]:
        before = {key: self._stored.get(key) for key in self._now}
        gone = [row for key, row in before.items() if row is not None and self._now[key] != row]
        come = [row for key, row in self._now.items() if row is not None and before[key] != row]
        signed = ((gone, -1), (come, 1))
        return [(self._runtime.batch(self._relation.name, rows), sign) for rows, sign in signed if rows]

    def mark(self) -> int:
        return len(self._log)

    def undo(self, mark: int) -> None:
        while len(self._log) > mark:
            self._take_back(self._log.pop())

    def _take_back(self, change: _Change) -> None:
        key, known, row = change
        if known:
            self._now[key] = row
        else:
            del self._now[key]

    def settle(self, committed: bool) -> None:
        if committed:
            self._stored.settle(self._now)
        self._now, self._log = {}, []

    def _row_of(self, key: Hashable) -> Row:
        present = self.get(key)
        if present is None:
            raise DDlogError([KeyMissing(self._relation.name, self._show_key(key))])
        return present

    def _set(self, key: Hashable, row: Row | None) -> None:
        self._log.append((key, key in self._now, self._now.get(key)))
        self._now[key] = row
