"""Pending changes of a relation with a primary key: batches that are legal as they are, and then the new row
of each touched key.

Inserting a present key, and deleting an absent key or another row than the present one, are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...core import Relation
from ...engine.runtime import Batch, ComparingRuntime
from ...errors.changes import DifferentValue, KeyMissing
from ...errors.diagnostics import DDlogError
from ...errors.source import Span
from ...values.rows import Row
from .keys import primary_key
from .presentbykey import PresentByKey
from .presentrows import Present, SignedBatch
from .runs import BagChanges, PendingChanges, SetChanges, StreamChanges

if TYPE_CHECKING:
    from ..program import Program


class _Touch(NamedTuple):
    """A key before a change of its row: whether the transaction knew the key, and as what."""

    key: Hashable
    known: bool
    row: Row | None


class KeyedChanges:
    """The new row of each key that was touched after the batches."""

    def __init__(self, present: PresentByKey) -> None:
        self._present, self._key_of = present, present.key.of
        self._now: dict[Hashable, Row | None] = {}
        self._log: list[_Touch | int] = []  # an int: so many batches were taken when another one came

    def insert(self, rows: Sequence[Row]) -> None:
        for row in rows:
            key = self._key_of(row)
            self._check_absent(key, row)
            self._set(key, row)

    def delete(self, rows: Sequence[Row]) -> None:
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
        if not self._take(batch, 1, rows):
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
        if not self._take(batch, sign, rows):
            (self.insert if sign > 0 else self.delete)(list(rows()))

    def clear(self) -> None:
        for key in [*self._present.keys(), *self._now]:
            if self.get(key) is not None:
                self._set(key, None)

    def get(self, key: Hashable) -> Row | None:
        """The row with a key, as the transaction sees it; None if the key is absent."""
        return self._now[key] if key in self._now else self._present.get(key)

    def batches(self) -> list[SignedBatch]:
        before = {key: self._present.get(key) for key in self._now}
        gone = [row for key, row in before.items() if row is not None and self._now[key] != row]
        come = [row for key, row in self._now.items() if row is not None and before[key] != row]
        signed = ((self._present.batch(rows), sign) for rows, sign in ((gone, -1), (come, 1)) if rows)
        return [*self._present.taken, *signed]

    def hand_over(self) -> None:
        self._present.hand_over()

    def mark(self) -> int:
        return len(self._log)

    def undo(self, mark: int) -> None:
        while len(self._log) > mark:
            match self._log.pop():
                case int(taken):
                    self._present.untake(taken)
                case _Touch(key, True, row):
                    self._now[key] = row
                case _Touch(key):
                    self._now.pop(key, None)  # a Ctrl-C may have come before it was there

    def settle(self, committed: bool) -> None:
        self._present.settle(self._now if committed else None)
        self._now, self._log = {}, []

    def _take(self, batch: Batch, sign: int, rows: Callable[[], Iterable[Row]]) -> bool:
        """Takes a batch as it is, if no row was changed before and all of its changes are legal."""
        if self._now or not self._present.legal(batch, sign):
            return False
        self._log.append(len(self._present.taken))
        self._present.take(batch, sign, rows)
        return True

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


def stored_changes(program: Program, declared: Relation, runtime: ComparingRuntime) -> PendingChanges:
    """The changes of an input relation whose rows a runtime looks up, none so far."""
    key = primary_key(program, declared)
    if key is not None:
        return KeyedChanges(PresentByKey(declared, runtime, key))
    kinds: dict[str, Callable[[Present], PendingChanges]]
    kinds = {"relation": SetChanges, "multiset": BagChanges, "stream": StreamChanges}
    return kinds[declared.kind](Present(declared, runtime))
