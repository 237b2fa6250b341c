"""The change manager: what a transaction does to each input relation, kept legal as it comes.

Inserting what is there and deleting what is not mean nothing for a plain relation (the runtime sees
to that), change a multiset's counts, and are errors where a primary key forbids them. Of a stream there
is what the transaction has inserted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..core import Relation
from ..engine.runtime import Batch, Runtime
from ..errors.changes import DifferentValue, KeyExists, KeyMissing, NothingToClear
from ..errors.diagnostics import DDlogError
from ..values.rows import Row

SignedBatch = tuple[Batch, int]


class Changes(Protocol):
    """The pending changes of one input relation. Each change is logged, so that the last can be undone."""

    def insert(self, rows: Sequence[Row]) -> None:
        """Adds rows."""

    def delete(self, rows: Sequence[Row]) -> None:
        """Removes rows."""

    def clear(self) -> None:
        """Removes every row, those of this transaction too."""

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        """Adds the rows of a file's batch; `rows` gives them one by one, if they must be looked at."""

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        """Adds (1) or removes (-1) the rows of a batch, as `insert` and `delete` do."""

    def batches(self) -> list[SignedBatch]:
        """What the commit gives to the runtime, in order."""

    def mark(self) -> int:
        """The length of the log."""

    def undo(self, mark: int) -> None:
        """Takes back all that came after the mark."""

    def settle(self, committed: bool) -> None:
        """The transaction ended: it became the state, or is to be forgotten."""


class RunLog:
    """The log of a transaction that is kept as it comes, run by run."""

    _runs: list[Any]

    def mark(self) -> int:
        """The length of the log."""
        return len(self._runs)

    def undo(self, mark: int) -> None:
        """Takes back all that came after the mark."""
        del self._runs[mark:]

    def settle(self, committed: bool) -> None:
        """The transaction ended."""
        self._runs = []


class SetChanges(RunLog):
    """A plain relation: runs of insertions and deletions, the last of which decides."""

    def __init__(self, relation: Relation, runtime: Runtime) -> None:
        self._relation, self._runtime = relation, runtime
        self._runs = list[tuple[int, Sequence[Row] | None, Batch | None]]()

    def insert(self, rows: Sequence[Row]) -> None:
        """Adds rows."""
        self._runs.append((1, rows, None))

    def delete(self, rows: Sequence[Row]) -> None:
        """Removes rows."""
        self._runs.append((-1, rows, None))

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        """Adds the rows of a file's batch."""
        self.change(batch, rows, 1)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        """Adds or removes the rows of a batch."""
        self._runs.append((sign, None, batch))

    def clear(self) -> None:
        """Removes every row, those of this transaction too."""
        self._runs.append((0, None, None))

    def batches(self) -> list[SignedBatch]:
        """What the commit gives to the runtime, in order."""
        name = self._relation.name
        batches: list[SignedBatch] = []
        gathered: list[Row] = []
        for position, (sign, rows, batch) in enumerate(self._runs):
            if rows is not None:
                gathered.extend(rows)
                following = self._runs[position + 1] if position + 1 < len(self._runs) else None
                if following is None or following[0] != sign or following[1] is None:
                    batches.append((self._runtime.batch(name, gathered), sign))
                    gathered = []
            elif batch is not None:
                batches.append((batch, sign))
            else:
                batches = self._everything()
        return batches

    def _everything(self) -> list[SignedBatch]:
        frame = getattr(self._runtime, "frame", None)
        if frame is not None:  # on Spark, where rows stay
            return [(self._runtime.batch_from_frame(self._relation.name, frame(self._relation.name)), -1)]  # type: ignore[attr-defined]
        stored = self._runtime.rows(self._relation.name)
        if not len(stored):
            return []
        return [(self._runtime.batch_from_columns(self._relation.name, stored.columns()), -1)]


class Stored(Protocol):
    """The rows of a relation with a primary key as of the last commit."""

    def get(self, key: Hashable) -> Row | None:
        """The row of a key."""

    def keys(self) -> Iterable[Hashable]:
        """All keys."""

    def settle(self, changed: Mapping[Hashable, Row | None]) -> None:
        """These keys have these rows from now on; None: none."""


class StoredHere:
    """All rows by key, read from the runtime when first asked for, and kept up to date."""

    def __init__(self, name: str, runtime: Runtime, key_of: Callable[[Row], Hashable]) -> None:
        self._name, self._runtime, self._key_of = name, runtime, key_of
        self._rows: dict[Hashable, Row] | None = None

    def get(self, key: Hashable) -> Row | None:
        """The row of a key."""
        return self._all().get(key)

    def keys(self) -> Iterable[Hashable]:
        """All keys."""
        return self._all()

    def settle(self, changed: Mapping[Hashable, Row | None]) -> None:
        """These keys have these rows from now on; None: none."""
        if self._rows is None:
            return
        for key, row in changed.items():
            if row is None:
                self._rows.pop(key, None)
            else:
                self._rows[key] = row

    def forget(self) -> None:
        """The rows have changed in another way: they are to be read again."""
        self._rows = None

    def _all(self) -> dict[Hashable, Row]:
        if self._rows is None:
            self._rows = {self._key_of(row): row for row in self._runtime.rows(self._name)}
        return self._rows


class KeyedChanges:
    """A relation with a primary key: the row of each touched key, before and now."""

    def __init__(
        self,
        relation: Relation,
        runtime: Runtime,
        key_of: Callable[[Row], Hashable],
        show_key: Callable[[Any], str],
        stored: Stored | None = None,
    ) -> None:
        self._relation, self._runtime = relation, runtime
        self._key_of, self._show_key = key_of, show_key
        self._stored = StoredHere(relation.name, runtime, key_of) if stored is None else stored
        self._now: dict[Hashable, Row | None] = {}
        self._log: list[tuple[Hashable, bool, Row | None]] = []

    def insert(self, rows: Sequence[Row]) -> None:
        """Adds rows, whose keys must be new."""
        for row in rows:
            key = self._key_of(row)
            present = self.get(key)
            if present is not None:
                raise DDlogError([KeyExists(self._relation.name, self._show_key(key))])
            self._set(key, row)

    def delete(self, rows: Sequence[Row]) -> None:
        """Removes rows, which must be there as given."""
        for row in rows:
            key = self._key_of(row)
            present = self.get(key)
            if present is None:
                raise DDlogError([KeyMissing(self._relation.name, self._show_key(key))])
            if present != row:
                raise DDlogError([DifferentValue(self._relation.name, self._show_key(key))])
            self._set(key, None)

    def upsert(self, rows: Sequence[Row]) -> None:
        """Puts rows in the place of those with their keys."""
        for row in rows:
            self._set(self._key_of(row), row)

    def delete_key(self, key: Hashable) -> None:
        """Removes the row of a key, which must be there."""
        if self.get(key) is None:
            raise DDlogError([KeyMissing(self._relation.name, self._show_key(key))])
        self._set(key, None)

    def modify(self, key: Hashable, change: Callable[[Row], Row]) -> None:
        """Changes the row of a key, which must be there; the changed row may have another key."""
        present = self.get(key)
        if present is None:
            raise DDlogError([KeyMissing(self._relation.name, self._show_key(key))])
        changed = change(present)
        new_key = self._key_of(changed)
        if new_key != key and self.get(new_key) is not None:
            raise DDlogError([KeyExists(self._relation.name, self._show_key(new_key))])
        self._set(key, None)
        self._set(new_key, changed)

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        """Adds the rows of a file's batch; a row that is there already means nothing."""
        for row in rows():
            key = self._key_of(row)
            if self.get(key) != row:
                self.insert([row])

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        """Adds or removes the rows of a batch."""
        (self.insert if sign > 0 else self.delete)(list(rows()))

    def clear(self) -> None:
        """Removes every row, those of this transaction too."""
        for key in [*self._stored.keys(), *self._now]:
            if self.get(key) is not None:
                self._set(key, None)

    def get(self, key: Hashable) -> Row | None:
        """The row of a key, as the transaction sees it."""
        return self._now[key] if key in self._now else self._stored.get(key)

    def batches(self) -> list[SignedBatch]:
        """What the commit gives to the runtime, in order."""
        name = self._relation.name
        before = {key: self._stored.get(key) for key in self._now}
        gone = [row for key, row in before.items() if row is not None and self._now[key] != row]
        come = [row for key, row in self._now.items() if row is not None and before[key] != row]
        signed = ((gone, -1), (come, 1))
        return [(self._runtime.batch(name, rows), sign) for rows, sign in signed if rows]

    def mark(self) -> int:
        """The length of the log."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Takes back all that came after the mark."""
        while len(self._log) > mark:
            key, known, row = self._log.pop()
            if known:
                self._now[key] = row
            else:
                del self._now[key]

    def settle(self, committed: bool) -> None:
        """The transaction ended: it became the state, or is to be forgotten."""
        if committed:
            self._stored.settle(self._now)
        self._now, self._log = {}, []

    def _set(self, key: Hashable, row: Row | None) -> None:
        self._log.append((key, key in self._now, self._now.get(key)))
        self._now[key] = row


class MultisetChanges:
    """A multiset: how often each row comes and goes. A row that is not there is not deleted."""

    def __init__(self, relation: Relation, runtime: Runtime) -> None:
        self._relation, self._runtime = relation, runtime
        self._stored: Counter[Row] | None = None
        self._pending: Counter[Row] = Counter()
        self._log: list[tuple[Row, int]] = []

    def insert(self, rows: Sequence[Row]) -> None:
        """Adds rows."""
        for row in rows:
            self._add(row, 1)

    def delete(self, rows: Sequence[Row]) -> None:
        """Removes one of each row, where there is one."""
        for row in rows:
            if self._rows()[row] + self._pending[row] > 0:
                self._add(row, -1)

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        """Adds the rows of a file's batch."""
        self.change(batch, rows, 1)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        """Adds or removes the rows of a batch."""
        (self.insert if sign > 0 else self.delete)(list(rows()))

    def clear(self) -> None:
        """Removes every row, those of this transaction too."""
        for row in {*self._rows(), *self._pending}:
            present = self._rows()[row] + self._pending[row]
            if present:
                self._add(row, -present)

    def batches(self) -> list[SignedBatch]:
        """What the commit gives to the runtime, in order."""
        come = [row for row, count in self._pending.items() for _ in range(count)]
        gone = [row for row, count in self._pending.items() for _ in range(-count)]
        return [
            (self._runtime.batch(self._relation.name, rows), sign)
            for rows, sign in ((come, 1), (gone, -1))
            if rows
        ]

    def mark(self) -> int:
        """The length of the log."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Takes back all that came after the mark."""
        while len(self._log) > mark:
            row, count = self._log.pop()
            self._pending[row] -= count

    def settle(self, committed: bool) -> None:
        """The transaction ended: it became the state, or is to be forgotten."""
        if committed and self._stored is not None:
            self._stored.update(self._pending)
        self._pending, self._log = Counter(), []

    def _add(self, row: Row, count: int) -> None:
        self._pending[row] += count
        self._log.append((row, count))

    def _rows(self) -> Counter[Row]:
        if self._stored is None:
            stored = self._runtime.rows(self._relation.name)
            self._stored = Counter(dict(zip(stored, stored.weights or [1] * len(stored), strict=True)))
        return self._stored


class StreamChanges(RunLog):
    """A stream: the elements of the transaction. A deletion takes back one that came before it."""

    def __init__(self, relation: Relation, runtime: Runtime) -> None:
        self._relation, self._runtime = relation, runtime
        self._runs = list[tuple[int, Callable[[], Iterable[Row]], Batch | None]]()

    def insert(self, rows: Sequence[Row]) -> None:
        """Adds elements."""
        self._runs.append((1, lambda: rows, None))

    def delete(self, rows: Sequence[Row]) -> None:
        """Takes back one of each element, where there is one."""
        self._runs.append((-1, lambda: rows, None))

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        """Adds the elements of a file's batch."""
        self.change(batch, rows, 1)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        """Adds or takes back the elements of a batch."""
        self._runs.append((sign, rows, batch))

    def clear(self) -> None:
        """Is an error."""
        raise DDlogError([NothingToClear(self._relation.name)])

    def batches(self) -> list[SignedBatch]:
        """What the commit gives to the runtime."""
        runs = self._runs if all(sign > 0 for sign, _, _ in self._runs) else [(1, self._left, None)]
        alone = [row for _, rows, batch in runs if batch is None for row in rows()]
        whole = [batch for _, _, batch in runs if batch is not None]
        if alone:
            whole.append(self._runtime.batch(self._relation.name, alone))
        return [(batch, 1) for batch in whole]

    def _left(self) -> Iterable[Row]:
        """The elements that were not taken back."""
        left: Counter[Row] = Counter()
        for sign, rows, _ in self._runs:
            for row in rows():
                if sign > 0 or left[row]:
                    left[row] += sign
        return left.elements()
