"""Pending changes of a relation with a primary key: batches that are legal as they are, and then the new row
of each touched key.

Inserting a present key, and deleting an absent key or another row than the present one, are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ...core import Relation
from ...engine.runtime import Batch
from ...errors.changes import DifferentValue, KeyMissing
from ...errors.diagnostics import DDlogError
from ...errors.source import Span
from ...values.rows import Row
from .keys import RelationKey
from .presentrows import SignedBatch


class PresentByKey(Protocol):
    """The rows of a relation with a primary key, as of the last commit and the batches taken since."""

    relation: Relation
    key: RelationKey
    by_query: bool
    taken: list[SignedBatch]

    def batch(self, rows: Sequence[Row], alone: bool = False) -> Batch:
        """See `Present`."""

    def everything(self) -> Batch:
        """See `Present`."""

    def legal(self, batch: Batch, sign: int, again: bool) -> Batch | None:
        """The batch as the transaction can insert or delete it as a whole; None: its rows have to be changed
        one by one. `again`: rows that are present may be inserted again, without effect. Raises
        DDlogError."""

    def take(self, batch: Batch, sign: int, rows: Callable[[], Iterable[Row]]) -> None:
        """Takes a legal batch."""

    def untake(self, count: int) -> None:
        """Leaves so many of the batches that were taken."""

    def hand_over(self) -> None:
        """See `PendingChanges`."""

    def learn(self, keys: Iterable[Hashable]) -> None:
        """Has many rows looked up at once."""

    def get(self, key: Hashable) -> Row | None:
        """The row with a key; None if the key is absent."""

    def keys(self) -> Iterable[Hashable]:
        """All keys, and maybe others. Not asked by query."""

    def settle(self, changed: Mapping[Hashable, Row | None] | None) -> None:
        """Ends the transaction. `changed` has the new row of each key that it changed beside the batches;
        None if it is forgotten."""


class _Touch(NamedTuple):
    """A key before a change of its row: whether the transaction knew the key, and as what."""

    key: Hashable
    known: bool
    row: Row | None


@dataclass(frozen=True, slots=True)
class _Taken:
    """The transaction before a batch came."""

    now: dict[Hashable, Row | None]
    taken: int


class KeyedChanges:
    """The new row of each key that was touched after the batches."""

    def __init__(self, present: PresentByKey) -> None:
        self._present, self._key_of = present, present.key.of
        self._now: dict[Hashable, Row | None] = {}
        self._log: list[_Touch | _Taken] = []

    def insert(self, rows: Sequence[Row]) -> None:
        self._learn(rows)
        for row in rows:
            key = self._key_of(row)
            self._check_absent(key, row)
            self._set(key, row)

    def delete(self, rows: Sequence[Row]) -> None:
        self._learn(rows)
        for row in rows:
            key = self._key_of(row)
            if self._row_of(key) != row:
                raise self._fault(DifferentValue, key)
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
        if new_key != key:
            self._check_absent(new_key, changed)
        self._set(key, None)
        self._set(new_key, changed)

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        if not self._take(batch, 1, rows, True):
            for row in rows():
                if self.get(self._key_of(row)) != row:
                    self.insert([row])

    def load_new(self, rows: Iterable[tuple[Row, Span]], refuse: Callable[[DDlogError], None]) -> None:
        """Inserts rows with their places; a row with the key of another row is refused."""
        for row, span in rows:
            key = self._key_of(row)
            present = self.get(key)
            if present is None:
                self._set(key, row)
            elif present != row:
                refuse(self._present.key.exists(self._present.relation.name, row, present, span))

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        if not self._take(batch, sign, rows, False):
            (self.insert if sign > 0 else self.delete)(list(rows()))

    def clear(self) -> None:
        if self._present.by_query:
            self._settle_rows()
            self._present.take(self._present.everything(), -1, tuple)
            return
        for key in [*self._present.keys(), *self._now]:
            if self.get(key) is not None:
                self._set(key, None)

    def get(self, key: Hashable) -> Row | None:
        """The row with a key, as the transaction sees it; None if the key is absent."""
        return self._now[key] if key in self._now else self._present.get(key)

    def batches(self) -> list[SignedBatch]:
        taken = self._present.taken
        return [*taken, *((batch, sign) for batch, sign, _ in self._signed(not taken))]

    def hand_over(self) -> None:
        self._present.hand_over()

    def mark(self) -> int:
        return len(self._log)

    def undo(self, mark: int) -> None:
        while len(self._log) > mark:
            match self._log.pop():
                case _Taken(now, taken):
                    self._now = now
                    self._present.untake(taken)
                case _Touch(key, True, row):
                    self._now[key] = row
                case _Touch(key):
                    del self._now[key]

    def settle(self, committed: bool) -> None:
        self._present.settle(self._now if committed else None)
        self._now, self._log = {}, []

    def _take(self, batch: Batch, sign: int, rows: Callable[[], Iterable[Row]], again: bool) -> bool:
        """Takes a batch as it is, if all of its changes are legal."""
        if self._now and not self._present.by_query:
            return False
        self._settle_rows()
        legal = self._present.legal(batch, sign, again)
        if legal is not None:
            self._present.take(legal, sign, rows)
        return legal is not None

    def _settle_rows(self) -> None:
        """Makes batches of the changes of single rows, before another batch."""
        self._log.append(_Taken(self._now, len(self._present.taken)))
        if self._now:
            for batch, sign, rows in self._signed(False):
                self._present.take(batch, sign, rows.copy)
            self._now = {}

    def _signed(self, alone: bool) -> list[tuple[Batch, int, list[Row]]]:
        """The changes of single rows as batches. `alone`: the transaction has no others."""
        self._present.learn(self._now)
        before = {key: self._present.get(key) for key in self._now}
        gone = [row for key, row in before.items() if row is not None and self._now[key] != row]
        come = [row for key, row in self._now.items() if row is not None and before[key] != row]
        return [
            (self._present.batch(rows, alone), sign, rows) for rows, sign in ((gone, -1), (come, 1)) if rows
        ]

    def _learn(self, rows: Sequence[Row]) -> None:
        if self._present.by_query:
            self._present.learn([self._key_of(row) for row in rows])

    def _row_of(self, key: Hashable) -> Row:
        present = self.get(key)
        if present is None:
            raise self._fault(KeyMissing, key)
        return present

    def _check_absent(self, key: Hashable, row: Row) -> None:
        """Raises DDlogError if there is a row with the key of a new one."""
        present = self.get(key)
        if present is not None:
            raise self._present.key.exists(self._present.relation.name, row, present)

    def _set(self, key: Hashable, row: Row | None) -> None:
        self._log.append(_Touch(key, key in self._now, self._now.get(key)))
        self._now[key] = row

    def _fault(self, kind: type[KeyMissing | DifferentValue], key: Hashable) -> DDlogError:
        return DDlogError([kind(self._present.relation.name, self._present.key.show(key))])
