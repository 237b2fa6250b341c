"""The contents of relations as of an epoch, from the spans of a state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..io.arrownumbers import numbers_in
from .forms import EPOCH
from .records import EpochSpan
from .store import Store
from .sums import summed

if TYPE_CHECKING:
    import pyarrow as pa


class Untold(Exception):
    """Changes that are only known together with others."""


class Contents:
    """The rows of some relations, by their ids, in the current spans of a store, which are read now."""

    def __init__(self, store: Store, relations: set[int], after: int = 0) -> None:
        """The spans that end `after` an epoch are read, those before it only checked. Raises DDlogError if
        the rows are not what was written."""
        self._store = store
        self._found: dict[int, list[tuple[EpochSpan, pa.Table]]] = {relation: [] for relation in relations}
        for span in store.current():
            if span.last <= after:
                store.check(span)
                continue
            for relation, table in store.tables(span, relations):
                self._found[relation].append((span, table))

    def until(self, relation: int, epoch: int) -> Iterator[pa.Table]:
        """The changes of a relation up to an epoch: tables to be applied one after another, each with a row
        once at most. Changes that cannot be told apart count as those of the last epoch of their span."""
        for span, tables in self._by_span(relation):
            if span.last <= epoch:
                yield from _net(tables, EPOCH in tables[0].column_names)
            elif span.first <= epoch and EPOCH in tables[0].column_names:
                yield from _net([_filtered(table, 1, epoch) for table in tables], True)

    def between(self, relation: int, after: int, until: int) -> Iterator[pa.Table]:
        """The changes of a relation in the epochs after one, up to another: tables to be applied one after
        another. Raises Untold if they cannot be told apart from others."""
        for span, tables in self._by_span(relation):
            if span.last <= after or span.first > until:
                continue
            several = EPOCH in tables[0].column_names
            if span.first > after and span.last <= until:
                yield from _net(tables, several)
            elif several:
                yield from _net([_filtered(table, after + 1, until) for table in tables], True)
            else:
                raise Untold

    def of_epoch(self, relation: int, epoch: int) -> Iterator[pa.Table]:
        """The changes of a relation in one epoch; of a stream, its elements."""
        for span, tables in self._by_span(relation):
            for table in tables:
                found = of_one(span, table, epoch)
                if found is not None and found.num_rows:
                    yield found

    def _by_span(self, relation: int) -> Iterator[tuple[EpochSpan, list[pa.Table]]]:
        gathered: list[pa.Table] = []
        last: EpochSpan | None = None
        for span, table in self._found[relation]:
            if last is not None and span != last:
                yield last, gathered
                gathered = []
            last = span
            gathered.append(table)
        if last is not None:
            yield last, gathered


def of_one(span: EpochSpan, table: pa.Table, epoch: int) -> pa.Table | None:
    """The rows of one epoch among those of a span. Rows that cannot be told apart are of the last epoch."""
    if not span.first <= epoch <= span.last:
        return None
    if EPOCH in table.column_names:
        return _filtered(table, epoch, epoch)
    return table if epoch == span.last else None


def later(table: pa.Table, epoch: int) -> pa.Table:
    """The rows of later epochs."""
    return _filtered(table, epoch + 1, 1 << 62)


def _filtered(table: pa.Table, first: int, last: int) -> pa.Table:
    """The rows of some epochs."""
    import pyarrow as pa

    epochs = numbers_in(table.column(EPOCH))
    return table.take(pa.array(np.flatnonzero((epochs >= first) & (epochs <= last)))).drop_columns([EPOCH])


def _net(tables: list[pa.Table], several: bool) -> Iterator[pa.Table]:
    """The tables of one span, with the changes of several epochs summed up."""
    some = [table for table in tables if table.num_rows]
    if some and several:
        yield summed(some)
    else:
        yield from some  # parts of one sum: no row is in two of them
