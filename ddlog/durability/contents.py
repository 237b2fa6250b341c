"""The rows of spans in a file, read as `history.SpanRows`, and what a file tells of now and of the past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..io.arrow import numbers_in
from .chains import following
from .forms import EPOCH, WEIGHT
from .history import Cut, History, Untold
from .records import EpochSpan, Stored
from .store import FileStore
from .sums import alike, in_one_form, plain, summed, weights_of

if TYPE_CHECKING:
    import pyarrow as pa

FileHistory: TypeAlias = "History[EpochSpan, pa.Table]"


class FileRows:
    """The rows of some relations, by their ids, in the spans of a store, each of which is read once."""

    def __init__(self, store: FileStore | None, relations: set[int]) -> None:
        self._store, self._relations = store, relations
        self._found: dict[int, dict[int, list[pa.Table]]] = {}

    def apart(self, spans: Sequence[EpochSpan]) -> FileRows:
        """The rows of these spans, read now: without the store."""
        found = FileRows(None, self._relations)
        found._found = {span.id: self.of(span) for span in spans}
        return found

    def of(self, span: EpochSpan) -> dict[int, list[pa.Table]]:
        """The tables of a span by relations. Raises DDlogError."""
        if span.id not in self._found:
            assert self._store is not None
            found: dict[int, list[pa.Table]] = {}
            for relation, table in self._store.tables(span, self._relations):
                found.setdefault(relation, []).append(table)
            self._found[span.id] = found
        return self._found[span.id]

    def sum(self, stored: Stored, some: Sequence[Cut[EpochSpan]]) -> Iterator[pa.Table]:
        found = [table for each in some for table in self._cut(stored, each)]
        if any(each.sign < 0 for each in some):
            found = in_one_form(found) if found else found
            found = [summed(found)] if found and alike(found) else found
        yield from found

    def count(self, stored: Stored, some: Sequence[Cut[EpochSpan]]) -> int:
        return sum(table.num_rows for table in self.sum(stored, some))

    def _cut(self, stored: Stored, cut: Cut[EpochSpan]) -> Iterator[pa.Table]:
        """The tables of a span with a sign: parts of one sum, in which no row is twice."""
        assert stored.id in self._relations
        tables = self.of(cut.span).get(stored.id, [])
        several = bool(tables) and EPOCH in tables[0].column_names
        if not (cut.whole or several):
            if tables and cut.exact:
                raise Untold
            tables = tables if cut.has_last else []
        elif not cut.whole:
            tables = [_filtered(table, cut.first, cut.last) for table in tables]
        tables = [table for table in tables if table.num_rows]
        if cut.sign < 0:
            yield from map(_negated, tables)
        elif several and tables:
            yield summed(tables)
        else:
            yield from tables


def contents_of(store: FileStore, relations: set[int], after: int = 0) -> FileHistory:
    """The history that the current spans of a store have of relations, by their ids. The spans that end
    `after` an epoch are read now, those before it only checked. Raises DDlogError if they are not what was
    written."""
    rows, found = FileRows(store, relations), list[EpochSpan]()
    for span in store.current():
        if span.last <= after:
            store.check([span])
        else:
            rows.of(span)
            found.append(span)
    return History(found, found, store.head.epoch, rows)


def count_of(contents: FileHistory, stored: Stored, epoch: int) -> int:
    """The number of rows that a file knows of a relation as of an epoch, each as often as it is there."""
    return sum(int(weights_of(table).sum()) for table in contents.held(stored, epoch))


def history_of(store: FileStore, relations: set[int], last: int) -> FileHistory:
    """The history of a store, open for reading, up to an epoch. Raises DDlogError if the state is not what
    was written."""
    rows, current, spans = FileRows(store, relations), store.current(), store.spans()
    for span in current:
        rows.of(span)
    return History(current, fine(store, spans), last, rows)


def history_apart(store: FileStore, relations: set[int], last: int) -> FileHistory:
    """The same, all of it read now: it can be sent to another process, and needs the store no more."""
    rows, current, apart = FileRows(store, relations), store.current(), fine(store, store.spans())
    return History(current, apart, last, rows.apart([*current, *apart]))


def fine(store: FileStore, spans: Sequence[EpochSpan]) -> list[EpochSpan]:
    """The spans that tell the last epochs apart, those that follow each other first. What inputs held before
    their columns were changed has another form."""
    migrated = max((span.last for span in spans if span.kind == "migrated"), default=0)
    found: list[EpochSpan] = []
    for span in reversed(following((span for span in spans if span.kind == "epochs"), store.head.epoch)):
        if span.first <= migrated or not store.is_apart(span):
            break
        found.append(span)
    start = found[-1].first if found else store.head.epoch + 1
    return found[::-1] + [span for span in spans if span.kind != "epochs" and span.last >= start]


def _filtered(table: pa.Table, first: int, last: int) -> pa.Table:
    """The rows of some epochs."""
    import pyarrow as pa

    epochs = numbers_in(table.column(EPOCH))
    return table.take(pa.array(np.flatnonzero((epochs >= first) & (epochs <= last)))).drop_columns([EPOCH])


def _negated(table: pa.Table) -> pa.Table:
    import pyarrow as pa

    return plain(table).append_column(WEIGHT, pa.array(-weights_of(table), pa.int64()))
