"""The births of a relation's rows on the driver, in an epoch that changes few of them.

An epoch looks every row that it derives up once, by the job that derives it, and from then on the driver
knows all derivations of the row by iteration: those before the epoch, its history, and those of the
epoch. A step of an iteration (DESIGN, section 6) is then no work for the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from ..inprocess.storage.interner import Values
from ..schema import Schema
from .codec import Codec
from .exchange import from_arrow
from .sqltext import names
from .tables import TIME, arrow_schema

BEFORE = (pa.field("hw", pa.int64()), pa.field("ht", pa.int32()))  # a derivation before the epoch, or null

Weights = dict[int, int]  # of a row's derivations, by iteration


class DriverBirths:
    """The rows that an epoch has derived, by number. `few` holds the part of the history that is on the
    driver already (columns c0, c1, …, w, t); the rest comes with the rows."""

    def __init__(self, schema: Schema, codec: Codec, few: Iterable[pa.Table]) -> None:
        self._schema, self._codec, self._values = schema, codec, Values()
        self._columns = names(schema)
        self._arrow = arrow_schema(codec, schema, (TIME,))
        self._numbers: dict[tuple[int, ...], int] = {}
        self._rows: list[pa.Table] = []  # in the order of their numbers
        self._before: list[Weights] = []
        self._derived: list[Weights] = []
        self._due: dict[int, set[int]] = {}
        self._changed: Weights = {}  # by row
        self._here: dict[tuple[int, ...], Weights] = {}
        for part in few:
            for row, weight, time in zip(self._codes(part), *_integers(part, "w", "t"), strict=True):
                _add(self._here.setdefault(row, {}), time, weight)

    def __len__(self) -> int:
        return len(self._before)

    @property
    def times(self) -> Iterable[int]:
        """The iterations at which there is something to do."""
        return self._due.keys()

    def learn(self, found: pa.Table) -> pa.Table:
        """Takes derivations (columns of the row, `w`, `t`), each beside those of its row before the epoch,
        one after the other (`hw`, `ht`); gives the derivations once."""
        known = len(self)
        numbers = self._numbered(found)
        seen: set[tuple[int, int]] = set()
        shown: dict[int, int] = {}
        once = []
        columns = _integers(found, "w", "t", "hw", "ht")
        for at, (row, weight, time, w, t) in enumerate(zip(numbers, *columns, strict=True)):
            if (row, time) not in seen:
                seen.add((row, time))
                once.append(at)
                _add(self._derived[row], time, weight)
                self._due.setdefault(time, set()).add(row)
            # The history comes with each derivation, and is counted with the first.
            if w is not None and row >= known and shown.setdefault(row, time) == time:
                _add(self._before[row], t, w)
        return found.take(pa.array(once, pa.int64())).select([*self._columns, "w", "t"])

    def step(self, time: int) -> pa.Table:
        """The changes of the relation at an iteration: -1 for rows born there before, +1 for rows born
        there now, with `t`. Rows whose change comes later are due then."""
        rows, weights = [], []
        for row in self._due.pop(time, ()):
            old, new, later = self._births(row, time)
            weight = (new == time) - (old == time)
            if weight:
                rows.append(row)
                weights.append(weight)
                _add(self._changed, row, weight)
            again = None
            if new is not None:
                again = old if old is not None and old > time else None
            elif old is not None and old <= time:
                again = later
            if again is not None:
                self._due.setdefault(again, set()).add(row)
        return self._table(rows, weights, time)

    def _births(self, row: int, time: int) -> tuple[int | None, int | None, int | None]:
        """Three iterations of a row: its birth before the epoch, its birth with the derivations of the epoch
        up to `time`, and its first derivation after `time` before the epoch. None where there is no such
        iteration."""
        before, derived = self._before[row], self._derived[row]
        old = min((t for t, w in before.items() if w > 0), default=None)
        so_far = (t for t in {*before, *derived} if t <= time)
        new = min((t for t in so_far if before.get(t, 0) + derived.get(t, 0) > 0), default=None)
        later = min((t for t, w in before.items() if w > 0 and t > time), default=None)
        return old, new, later

    def net(self) -> pa.Table:
        """The changes of the rows in the epoch, with no iteration."""
        changed = [(row, weight) for row, weight in self._changed.items() if weight]
        return self._table([row for row, _ in changed], [w for _, w in changed], 0).drop_columns(["t"])

    def appointments(self) -> dict[int, pa.Table]:
        """The rows to look at, by iteration, which is their `t`."""
        return {time: self._table(sorted(rows), [0] * len(rows), time) for time, rows in self._due.items()}

    def _table(self, rows: Sequence[int], weights: Sequence[int], time: int) -> pa.Table:
        if len(self._rows) != 1:
            empty = self._arrow.empty_table().select(self._columns)
            self._rows = [pa.concat_tables([empty, *self._rows]).combine_chunks()]
        taken = self._rows[0].take(pa.array(rows, pa.int64()))
        arrays = [*taken.columns, pa.array(weights, pa.int64()), pa.array([time] * len(rows), pa.int32())]
        return pa.Table.from_arrays(arrays, schema=self._arrow)

    def _numbered(self, found: pa.Table) -> list[int]:
        """The number of each row; rows that are new get one."""
        numbers, new = [], []
        for at, row in enumerate(self._codes(found)):
            number = self._numbers.get(row)
            if number is None:
                number = self._numbers[row] = len(self._before)
                self._before.append(self._here.get(row, {}).copy())
                self._derived.append({})
                new.append(at)
            numbers.append(number)
        if new:
            self._rows.append(found.take(pa.array(new, pa.int64())).select(self._columns))
        return numbers

    def _codes(self, rows: pa.Table) -> list[tuple[int, ...]]:
        """Each row as integers, equal where the rows are."""
        batch = from_arrow(self._values, self._codec, self._schema, rows)
        columns = [np.asarray(column).tolist() for column in batch.columns]
        return list(zip(*columns, strict=True)) if columns else [()] * rows.num_rows


def _add(weights: Weights, key: int, weight: int) -> None:
    weights[key] = weights.get(key, 0) + weight


def _integers(rows: pa.Table, *columns: str) -> list[list[int]]:
    return [rows.column(name).to_pylist() for name in columns]
