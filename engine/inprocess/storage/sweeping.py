"""Giving back the ids of interned values that nothing uses: mark and sweep, between epochs.

**The law.** Between epochs, an id of a domain is *used* if a row that is present has it: a row of a store, of
a relation of a recursion, or of a group (its key and its result). An id is also used while a batch that the
runtime gave out has it, alive in somebody's hands: rows and changes that were read and are decoded when they
are looked at, the changes that a delayed relation waits for, and the batches of an open transaction. A sweep
forgets the values of all other ids, and later values take over these ids.

Rows that are absent may keep such an id. An absent row is only a word that was seen before: a look-up that
finds it answers as if it had found nothing, and if the row of the new value comes, it takes that place. The
same holds for the keys of an index that have no rows and for groups without members. So whoever keeps ids
from one epoch to the next marks those of what is present, and need not look for the others.

A value is first interned at an epoch or between two, and a sweep comes after an epoch. A domain is due when
it has doubled since the last sweep and the new values are many, compared with the rows that a sweep reads;
thus a sweep costs a fraction of the work of interning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ... import thresholds
from ...schema import INLINE_LIMIT, Array, Column, Kind, Schema

if TYPE_CHECKING:
    from .interner import Interner, Values
    from .table import RowTable

Bools = npt.NDArray[np.bool_]


class Marks:
    """The ids found to be used, of the domains that are swept."""

    def __init__(self, domains: Iterable[tuple[str, Interner]]) -> None:
        self._used = {name: np.zeros(len(each.values), np.bool_) for name, each in domains}
        self.read = dict.fromkeys(self._used, 0)

    def used(self, domain: str) -> Bools:
        """Whether each id of a domain is used."""
        return self._used[domain]

    def columns(self, schema: Schema, columns: Sequence[Array]) -> None:
        """Marks the ids in columns."""
        for position, column in enumerate(schema):
            if self._wanted(column):
                self._mark(column, columns[position])

    def rows(self, schema: Schema, table: RowTable, rows: Array | None) -> None:
        """Marks the ids in rows of a table, by number, in rising order; None: in all."""
        for position, column in enumerate(schema):
            if not self._wanted(column):
                continue
            count = table.size if rows is None else len(rows)
            for at in range(0, count, thresholds.CHUNK):
                end = min(at + thresholds.CHUNK, count)
                codes = (
                    table.column(position, at, end)
                    if rows is None
                    else table.column_at(rows[at:end], position)
                )
                self._mark(column, codes)
        for derived in table.derived.values():
            derived.mark(self, rows)

    def _wanted(self, column: Column) -> bool:
        return column.kind in (Kind.OBJECT, Kind.INT) and column.domain in self._used

    def _mark(self, column: Column, codes: Array) -> None:
        if column.kind is Kind.INT:
            codes = codes[codes >= INLINE_LIMIT] - INLINE_LIMIT
        self._used[column.domain][codes] = True
        self.read[column.domain] += len(codes)


def is_due(interner: Interner) -> bool:
    """Whether a domain has grown so much that a sweep pays."""
    new = len(interner) - interner.kept
    return (
        new > thresholds.SWEPT_VALUES
        and new >= interner.kept
        and new >= interner.read // thresholds.SWEPT_CODES
    )


def everything(interner: Interner) -> bool:
    """Every domain."""
    return True


def sweep(values: Values, mark: Callable[[Marks], None], due: Callable[[Interner], bool]) -> dict[str, int]:
    """Forgets the values that nothing uses, of the domains that are `due`; `mark` marks what the state uses.
    Returns the number of values forgotten, by domain."""
    domains = [(name, each) for name, each in values.domains() if due(each)]
    if not domains:
        return {}
    marks = Marks(domains)
    mark(marks)
    values.mark_held(marks)
    return {name: _forget(each, marks.used(name), marks.read[name]) for name, each in domains}


def _forget(interner: Interner, used: Bools, read: int) -> int:
    held = len(interner.ids)
    interner.keep(used)
    interner.kept, interner.read = len(interner.ids), read
    return held - interner.kept
