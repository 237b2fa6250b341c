"""Pending changes of a relation with a primary key on Spark.

Tables are checked by queries over the present rows. Single rows are checked by their keys: a small relation
is kept by key on the driver, in a large one the touched keys are looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....core import Relation
from ....engine.runtime import Batch
from ....engine.schema import RowExpr
from ....engine.spark.numbered import all_differ_by
from ....engine.spark.table import Table
from ....errors.changes import DifferentValue, KeyExists, KeyMissing
from ....errors.diagnostics import DDlogError
from ....sessions.pending import KeyedChanges, SignedBatch, StoredByKey, key_places
from ....values.rows import Row
from .present import Keys, Present

if TYPE_CHECKING:
    from ....engine.spark.runtime import SparkRuntime

FEW = 200_000
"""A relation with a primary key and at most so many rows is kept by key on the driver once a row of it is
changed."""


@dataclass(frozen=True, slots=True)
class _Settled:
    """A mark in the log of changes by key, where a batch came: the changes before it, and the batches."""

    now: dict[Hashable, Row | None]
    batches: int


class PresentByKey:
    """The rows of a relation with a primary key as the batches of the transaction leave them. See
    `RowsByKey`."""

    def __init__(self, present: Present, keys: Keys, key_of: Callable[[Row], Hashable]) -> None:
        self._present, self._keys, self._key_of = present, keys, key_of
        self._here = StoredByKey(present.relation.name, present.runtime, key_of)
        self._known: dict[Hashable, Row | None] = {}
        self._seen = 0  # number of batches when `_known` was begun

    def get(self, key: Hashable) -> Row | None:
        if self._is_small():
            return self._here.get(key)
        self._learn([key])
        return self._known[key]

    def keys(self) -> Iterable[Hashable]:
        return self._here.keys() if not self._present.batches else self._all()

    def learn(self, keys: Iterable[Hashable]) -> None:
        """Looks up the rows with many keys at once."""
        if not self._is_small():
            self._learn(keys)

    def settle(self, changed: Mapping[Hashable, Row | None]) -> None:
        self._known.clear()
        if self._present.batches:
            self._here.forget()
        else:
            self._here.settle(changed)

    def forget_batches(self) -> None:
        """Drops the rows that were looked up: the batches have changed."""
        self._known.clear()

    def _is_small(self) -> bool:
        return not self._present.batches and self._present.size() <= FEW

    def _learn(self, keys: Iterable[Hashable]) -> None:
        if self._seen != len(self._present.batches):
            self._known.clear()
            self._seen = len(self._present.batches)
        asked = [key for key in dict.fromkeys(keys) if key not in self._known]
        if not asked:
            return
        self._known.update(dict.fromkeys(asked))
        self._known.update({self._key_of(row): row for row in self._keys.rows(asked)})

    def _all(self) -> list[Hashable]:
        return [self._key_of(row) for row in self._present.collected(self._present.frame())]


class SparkKeyedChanges(KeyedChanges):
    """The new row of each touched key, after the batches of the tables that came before."""

    def __init__(
        self,
        relation: Relation,
        runtime: SparkRuntime,
        key_of: Callable[[Row], Hashable],
        show_key: Callable[[Any], str],
        key: RowExpr,
    ) -> None:
        self._present = Present(relation, runtime)
        self._keys = Keys(self._present, key)
        self._rows = PresentByKey(self._present, self._keys, key_of)
        super().__init__(relation, runtime, key_of, show_key, self._rows)

    def insert(self, rows: Sequence[Row]) -> None:
        self._rows.learn([self._key_of(row) for row in rows])
        super().insert(rows)

    def delete(self, rows: Sequence[Row]) -> None:
        self._rows.learn([self._key_of(row) for row in rows])
        super().delete(rows)

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        self._settle_rows()
        present, columns = self._present, self._present.columns
        if present.is_empty() and self._keys_differ(batch):
            self._append(batch, 1)
            return
        with present.configured():
            new = batch.frame.select(*columns).distinct()
            new = new.join(present.frame().select(*columns), columns, "left_anti")
            fresh = present.batch(new)
            self._check_new(fresh)
        self._append(fresh, 1)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        self._settle_rows()
        with self._present.configured():
            (self._check_new if sign > 0 else self._check_present)(batch)
        self._append(batch, sign)

    def clear(self) -> None:
        self._settle_rows()
        with self._present.configured():
            everything = self._present.everything()
        self._append(everything, -1)

    def batches(self) -> list[SignedBatch]:
        self._rows.learn(self._now)
        signed = super().batches()
        for batch, _ in signed:
            if isinstance(batch, Table) and not self._present.batches:
                batch.checked = True  # these rows change the relation: the commit need not look
        return [*self._present.batches, *signed]

    def undo(self, mark: int) -> None:
        while len(self._log) > mark:
            last: Any = self._log[-1]
            if isinstance(last, _Settled):
                self._log.pop()
                self._now = last.now
                del self._present.batches[last.batches :]
                self._rows.forget_batches()
            else:
                super().undo(len(self._log) - 1)

    def settle(self, committed: bool) -> None:
        super().settle(committed)
        self._present.batches.clear()
        self._rows.forget_batches()

    def _settle_rows(self) -> None:
        """Turns the changes of single rows into batches, before the batch of a table."""
        log: list[Any] = self._log
        log.append(_Settled(self._now, len(self._present.batches)))
        self._rows.learn(self._now)
        signed = super().batches()
        self._now = {}
        self._present.batches += signed
        self._rows.forget_batches()

    def _append(self, batch: Batch, sign: int) -> None:
        self._present.batches.append((batch, sign))
        self._rows.forget_batches()

    def _check_new(self, batch: Batch) -> None:
        """Raises DDlogError for a key that a batch has twice, or that is present."""
        new = self._keys.of(batch.frame.select(*self._present.columns))
        twice = new.groupBy("k").count().where("count > 1")
        key = self._keys.first(twice)
        if key is None:
            present = self._keys.of(self._present.frame()).select("k")
            key = self._keys.first(new.join(present, "k", "left_semi"))
        if key is not None:
            raise DDlogError([KeyExists(self._relation.name, self._show_key(key))])

    def _keys_differ(self, batch: Batch) -> bool:
        """Whether no two rows of a batch have the same key."""
        places = key_places(self._relation)
        if isinstance(batch, Table) and batch.local is not None and places:
            runtime = self._present.runtime
            schema = runtime.schema(self._relation.name)
            keys = batch.local.select([f"c{place}" for place in places])
            return all_differ_by(runtime.codec, [schema[place] for place in places], keys)
        with self._present.configured():
            keys = self._keys.of(batch.frame.select(*self._present.columns))
            return self._keys.first(keys.groupBy("k").count().where("count > 1")) is None

    def _check_present(self, batch: Batch) -> None:
        """Raises DDlogError for a row of a batch that is not present, or that the batch has twice."""
        columns = self._present.columns
        gone = self._keys.of(batch.frame.select(*columns))
        present = self._keys.of(self._present.frame().select(*columns))
        key = self._keys.first(gone.join(present, "k", "left_anti"))
        if key is None:
            key = self._keys.first(gone.groupBy("k").count().where("count > 1"))
        if key is not None:
            raise DDlogError([KeyMissing(self._relation.name, self._show_key(key))])
        key = self._keys.first(gone.join(present, columns, "left_anti"))
        if key is not None:
            raise DDlogError([DifferentValue(self._relation.name, self._show_key(key))])
