"""Changes of inputs on Spark that must be looked at before they are legal: primary keys, and multisets.

Relations stay on Spark. What is asked of one is a query over its rows as the transaction has them so far: the
rows of the last commit, and the batches that came after, each with its sign.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ...core import Relation
from ...engine.runtime import Batch
from ...engine.schema import RowExpr
from ...errors.changes import DifferentValue, KeyExists, KeyMissing
from ...errors.diagnostics import DDlogError
from ...sessions.inputs import KeyedChanges, RunLog, SignedBatch, StoredHere
from ...values.rows import Row

FEW = 200_000
"""A relation with a primary key of no more rows is kept by key on the driver once a row of it is changed."""


class Present:
    """A relation as a transaction has it so far."""

    def __init__(self, relation: Relation, runtime: Any) -> None:
        self.relation, self.runtime = relation, runtime
        self.columns = [f"c{place}" for place in range(len(relation.columns))]
        self.batches: list[SignedBatch] = []

    def configured(self) -> AbstractContextManager[None]:
        """The settings under which the runtime makes its plans."""
        settings: AbstractContextManager[None] = self.runtime.tables.configured()
        return settings

    def frame(self) -> Any:
        """The rows that are there, as c0, c1, … and how often as `w`."""
        contents = self.runtime.frame(self.relation.name)
        weighted = len(contents.columns) > len(self.columns)
        stored = contents.toDF(*self.columns, *(["w"] if weighted else []))
        if not weighted:
            stored = stored.selectExpr(*self.columns, "1L AS w")
        if not self.batches:
            return stored
        for batch, sign in self.batches:
            stored = stored.unionAll(batch.frame.selectExpr(*self.columns, f"w * {sign}L AS w"))
        summed = stored.groupBy(*self.columns).agg({"w": "sum"}).withColumnRenamed("sum(w)", "w")
        return summed.where("w > 0")

    def batch(self, frame: Any) -> Batch:
        """Rows c0, c1, … as a batch, computed now."""
        return self.runtime.batch_from_frame(self.relation.name, frame.select(*self.columns))

    def everything(self) -> Batch:
        """All rows that are there, as often as they are."""
        repeated = f"inline(array_repeat(struct({', '.join(self.columns)}), CAST(w AS INT)))"
        return self.batch(self.frame().selectExpr(repeated))

    def decoded(self, frame: Any) -> list[Row]:
        """The rows c0, c1, … of a frame, collected."""
        schema = self.runtime.schema(self.relation.name)
        table = frame.select(*self.columns).toArrow()
        codec = self.runtime.codec
        return list(zip(*(codec.decode(each, table.column(i)) for i, each in enumerate(schema)), strict=True))


class Keys:
    """The primary keys of rows, computed by Spark."""

    def __init__(self, present: Present, key: RowExpr) -> None:
        self._present, self._key = present, key
        assert present.relation.key is not None
        names = [parameter.name for parameter in present.relation.key.parameters]
        inputs = [f"c{names.index(name)}" for name in key.inputs]
        compiled = present.runtime.expressions.value(key, inputs)
        self._sql = f"{compiled.text}.v" if compiled.udf else compiled.text

    def of(self, frame: Any) -> Any:
        """The rows of a frame with their keys as `k`."""
        return frame.selectExpr("*", f"{self._sql} AS k")

    def rows(self, keys: Sequence[Any]) -> list[Row]:
        """The rows that are there with some keys."""
        present, codec = self._present, self._present.runtime.codec
        import pyarrow as pa

        wanted = pa.table({"k": codec.encode(self._key.column, list(keys))})
        with present.configured():
            asked = present.runtime.spark.createDataFrame(wanted).hint("broadcast")
            return present.decoded(self.of(present.frame()).join(asked, "k", "left_semi"))

    def first(self, frame: Any) -> Any:
        """The least key `k` of a frame in some order, or None if it has no rows."""
        rows = frame.selectExpr("k").limit(1).toArrow()
        decode = self._present.runtime.codec.decode
        return decode(self._key.column, rows.column(0))[0] if rows.num_rows else None


@dataclass(frozen=True, slots=True)
class _Settled:
    """A mark in the log of changes by key: before a batch came, these were the changes."""

    now: dict[Hashable, Row | None]
    batches: int


class StoredThere:
    """The rows of a relation with a primary key, as the transaction's batches leave them: few are kept here,
    of many those that are touched are looked up."""

    def __init__(self, present: Present, keys: Keys, key_of: Callable[[Row], Hashable]) -> None:
        self._present, self._keys, self._key_of = present, keys, key_of
        self._here = StoredHere(present.relation.name, present.runtime, key_of)
        self._known: dict[Hashable, Row | None] = {}
        self._seen = 0  # batches when `_known` was begun

    def get(self, key: Hashable) -> Row | None:
        """The row of a key."""
        if not self._present.batches and self._present.runtime.size(self._present.relation.name) <= FEW:
            return self._here.get(key)
        self._learn([key])
        return self._known[key]

    def keys(self) -> Iterable[Hashable]:
        """All keys."""
        return self._here.keys() if not self._present.batches else self._all()

    def learn(self, keys: Iterable[Hashable]) -> None:
        """Looks up the rows of many keys at once."""
        if self._present.batches or self._present.runtime.size(self._present.relation.name) > FEW:
            self._learn(keys)

    def settle(self, changed: Mapping[Hashable, Row | None]) -> None:
        """These keys have these rows from now on; None: none."""
        self._known.clear()
        if self._present.batches:
            self._here.forget()
        else:
            self._here.settle(changed)

    def forget_batches(self) -> None:
        """The batches have changed."""
        self._known.clear()

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
        return [self._key_of(row) for row in self._present.decoded(self._present.frame())]


class SparkKeyedChanges(KeyedChanges):
    """A relation with a primary key on Spark. Tables are checked by queries, single rows by looking up their
    keys."""

    def __init__(
        self,
        relation: Relation,
        runtime: Any,
        key_of: Callable[[Row], Hashable],
        show_key: Callable[[Any], str],
        key: RowExpr,
    ) -> None:
        self._present = Present(relation, runtime)
        self._keys = Keys(self._present, key)
        self._there = StoredThere(self._present, self._keys, key_of)
        super().__init__(relation, runtime, key_of, show_key, self._there)

    def insert(self, rows: Sequence[Row]) -> None:
        """Adds rows, whose keys must be new."""
        self._there.learn([self._key_of(row) for row in rows])
        super().insert(rows)

    def delete(self, rows: Sequence[Row]) -> None:
        """Removes rows, which must be there as given."""
        self._there.learn([self._key_of(row) for row in rows])
        super().delete(rows)

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        """Adds the rows of a file's batch; a row that is there already means nothing."""
        self._settle_rows()
        present, columns = self._present, self._present.columns
        with present.configured():
            new = batch.frame.select(*columns).distinct()
            new = new.join(present.frame().select(*columns), columns, "left_anti")
            fresh = present.batch(new)
            self._check_new(fresh)
        self._append(fresh, 1)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        """Adds or removes the rows of a batch."""
        self._settle_rows()
        with self._present.configured():
            (self._check_new if sign > 0 else self._check_there)(batch)
        self._append(batch, sign)

    def clear(self) -> None:
        """Removes every row, those of this transaction too."""
        self._settle_rows()
        with self._present.configured():
            everything = self._present.everything()
        self._append(everything, -1)

    def batches(self) -> list[SignedBatch]:
        """What the commit gives to the runtime, in order."""
        self._there.learn(self._now)
        return [*self._present.batches, *super().batches()]

    def undo(self, mark: int) -> None:
        """Takes back all that came after the mark."""
        while len(self._log) > mark:
            last: Any = self._log[-1]
            if isinstance(last, _Settled):
                self._log.pop()
                self._now = last.now
                del self._present.batches[last.batches :]
                self._there.forget_batches()
            else:
                super().undo(len(self._log) - 1)

    def settle(self, committed: bool) -> None:
        """The transaction ended: it became the state, or is to be forgotten."""
        super().settle(committed)
        self._present.batches.clear()
        self._there.forget_batches()

    def _settle_rows(self) -> None:
        """Makes batches of the changes of single rows, for a table follows."""
        log: list[Any] = self._log
        log.append(_Settled(self._now, len(self._present.batches)))
        self._there.learn(self._now)
        signed = super().batches()
        self._now = {}
        self._present.batches += signed
        self._there.forget_batches()

    def _append(self, batch: Batch, sign: int) -> None:
        self._present.batches.append((batch, sign))
        self._there.forget_batches()

    def _check_new(self, batch: Batch) -> None:
        """Sees that no key of a batch is there twice or in the relation."""
        new = self._keys.of(batch.frame.select(*self._present.columns))
        twice = new.groupBy("k").count().where("count > 1")
        key = self._keys.first(twice)
        if key is None:
            there = self._keys.of(self._present.frame()).select("k")
            key = self._keys.first(new.join(there, "k", "left_semi"))
        if key is not None:
            raise DDlogError([KeyExists(self._relation.name, self._show_key(key))])

    def _check_there(self, batch: Batch) -> None:
        """Sees that each row of a batch is in the relation, and comes once."""
        columns = self._present.columns
        gone = self._keys.of(batch.frame.select(*columns))
        there = self._keys.of(self._present.frame().select(*columns))
        key = self._keys.first(gone.join(there, "k", "left_anti"))
        if key is None:
            key = self._keys.first(gone.groupBy("k").count().where("count > 1"))
        if key is not None:
            raise DDlogError([KeyMissing(self._relation.name, self._show_key(key))])
        key = self._keys.first(gone.join(there, columns, "left_anti"))
        if key is not None:
            raise DDlogError([DifferentValue(self._relation.name, self._show_key(key))])


class SparkMultisetChanges(RunLog):
    """A multiset on Spark: runs of insertions and deletions. Of a deletion that counts which is there when
    the transaction comes to it; that is found out at the commit."""

    def __init__(self, relation: Relation, runtime: Any) -> None:
        self._relation, self._runtime = relation, runtime
        self._runs = list[tuple[int, Sequence[Row] | None, Batch | None]]()

    def insert(self, rows: Sequence[Row]) -> None:
        """Adds rows."""
        self._runs.append((1, rows, None))

    def delete(self, rows: Sequence[Row]) -> None:
        """Removes one of each row, where there is one."""
        self._runs.append((-1, rows, None))

    def clear(self) -> None:
        """Removes every row, those of this transaction too."""
        self._runs.append((0, None, None))

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        """Adds the rows of a file's batch."""
        self._runs.append((1, None, batch))

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        """Adds or removes the rows of a batch."""
        self._runs.append((sign, None, batch))

    def batches(self) -> list[SignedBatch]:
        """What the commit gives to the runtime, in order."""
        if all(rows is not None for _, rows, _ in self._runs):
            return self._of_rows()
        present = Present(self._relation, self._runtime)
        for sign, rows, batch in self._runs:
            if rows is not None:
                batch = self._runtime.batch(self._relation.name, rows)
            with present.configured():
                if batch is None:
                    batch, sign = present.everything(), -1
                elif sign < 0:
                    batch = _capped(present, batch)
            present.batches.append((batch, sign))
        return present.batches

    def _of_rows(self) -> list[SignedBatch]:
        """The batches of a transaction of single rows: those to delete are looked up, all at once."""
        name = self._relation.name
        gone = list(dict.fromkeys(row for sign, rows, _ in self._runs if sign < 0 for row in rows or ()))
        there = Counter(dict(zip(gone, self._runtime.lookup(name, gone), strict=True)))
        change: Counter[Row] = Counter()
        for sign, rows, _ in self._runs:
            for row in rows or ():
                if sign > 0 or there[row] + change[row] > 0:
                    change[row] += sign
        signed = [
            ([row for row, count in change.items() for _ in range(count * sign)], sign) for sign in (1, -1)
        ]
        return [(self._runtime.batch(name, rows), sign) for rows, sign in signed if rows]


def _capped(present: Present, batch: Batch) -> Batch:
    """The part of a deletion that is there to be deleted."""
    columns = present.columns
    asked = batch.frame.groupBy(*columns).agg({"w": "sum"}).withColumnRenamed("sum(w)", "asked")
    both = asked.join(present.frame(), columns)
    repeated = f"inline(array_repeat(struct({', '.join(columns)}), CAST(least(asked, w) AS INT)))"
    return present.batch(both.selectExpr(repeated))
