"""The rows of an input relation with a primary key, by look-ups."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from ...core import Relation
from ...engine.runtime import Batch, ComparingRuntime
from ...values.rows import Row
from .keys import RelationKey
from .presentrows import Present

_DEAR = 64  # rows that are read in the time of a look-up


class PresentByKey(Present):
    """The rows of a relation with a primary key, read when first asked for, and kept up to date. Where
    columns are the key, rows are looked up one by one until reading them all would have been cheaper."""

    def __init__(self, relation: Relation, runtime: ComparingRuntime, key: RelationKey) -> None:
        super().__init__(relation, runtime)
        self.key = key
        self._rows: dict[Hashable, Row] | None = None
        self._found: dict[Hashable, Row | None] = {}  # of this transaction
        self._asked = 0
        self._readers: list[Callable[[], Iterable[Row]]] = []  # of the rows of each batch taken
        self._changed: dict[Hashable, Row | None] | None = None

    def legal(self, batch: Batch, sign: int) -> bool:
        """Whether a batch may be taken as a whole: to insert it, its keys are absent; to delete it, its rows
        are present."""
        name, places = self.relation.name, self.key.places
        come = [each for each, of in self.taken if of > 0]
        gone = [each for each, of in self.taken if of < 0]
        if not places:
            return False
        if sign > 0:
            return self._runtime.has_room(name, places, [*come, batch], gone)
        return self._runtime.covers(name, [*gone, batch])

    def take(self, batch: Batch, sign: int, rows: Callable[[], Iterable[Row]]) -> None:
        """Takes a legal batch."""
        self.taken.append((batch, sign))
        self._readers.append(rows)
        self._changed = None

    def untake(self, count: int) -> None:
        """Leaves so many of the batches that were taken."""
        del self.taken[count:], self._readers[count:]
        self._changed = None

    def hand_over(self) -> None:
        """See `PendingChanges`."""
        if self._rows is None:
            self.untake(0)

    def get(self, key: Hashable) -> Row | None:
        """The row with a key; None if the key is absent."""
        if self.taken and key in self._by_batches():
            return self._by_batches()[key]
        return self._stored(key)

    def keys(self) -> Iterable[Hashable]:
        """All keys, and maybe others."""
        return [*self._all(), *self._by_batches()]

    def settle(self, changed: Mapping[Hashable, Row | None] | None) -> None:
        """Ends the transaction. `changed` has the new row of each key that it changed beside the batches;
        None if it is forgotten."""
        if changed is not None and self._rows is not None:
            for key, row in {**self._by_batches(), **changed}.items():
                if row is None:
                    self._rows.pop(key, None)
                else:
                    self._rows[key] = row
        self._found = {}
        self.untake(0)

    def forget(self) -> None:
        """Drops the rows, which are read again when they are next asked for."""
        self._rows, self._found = None, {}

    def _by_batches(self) -> Mapping[Hashable, Row | None]:
        """The new row of each key that the batches change."""
        if self._changed is None:
            self._changed = {
                self.key.of(row): row if sign > 0 else None
                for (_, sign), rows in zip(self.taken, self._readers, strict=True)
                for row in rows()
            }
        return self._changed

    def _stored(self, key: Any) -> Row | None:
        """The row with a key as of the last commit."""
        places = self.key.places
        if self._rows is not None or not places:
            return self._all().get(key)
        if key not in self._found:
            self._asked += 1
            if self._asked * _DEAR > self._runtime.size(self.relation.name):
                return self._all().get(key)
            parts = key if len(places) > 1 else (key,)
            rows = self._runtime.find(self.relation.name, dict(zip(places, parts, strict=True)))
            self._found[key] = rows[0] if rows else None
        return self._found[key]

    def _all(self) -> dict[Hashable, Row]:
        if self._rows is None:
            rows = self._runtime.rows(self.relation.name)
            self._rows = {self.key.of(row): row for row in rows}
        return self._rows
