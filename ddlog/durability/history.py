"""The past of a state, as far back as it has the changes of epochs by themselves.

now:      ██████████████████ (epochs 1 to 1000, folded)  █ █ █
fine:              █ █ █ █ █ █ █ █ (epochs 600 to 1000)  █ █ █
at 800:   what holds now, minus the changes of the epochs after 800
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .chains import following
from .contents import Contents, later, of_one
from .epoch_range import EpochRange
from .forms import EPOCH, WEIGHT
from .records import EpochSpan
from .store import Store
from .sums import alike, in_one_form, summed, weights_of

if TYPE_CHECKING:
    import pyarrow as pa


class History(EpochRange):
    """The contents of relations as of earlier epochs. See `Contents`."""

    def __init__(self, store: Store, relations: set[int], last: int) -> None:
        """`store` is open for reading: its snapshot stays as it is. `last` is the last epoch that is told of.
        Raises DDlogError if the state is not what was written."""
        self._store, self._relations, self.last = store, relations, last
        self._now = Contents(store, relations)
        self._spans = store.spans()
        epochs = (span for span in self._spans if span.kind == "epochs")
        self._fine = following(epochs, store.head.epoch)[::-1]  # the last one first

    @property
    def first(self) -> int:
        found, migrated = self._store.head.epoch + 1, migrated_at(self._spans)
        for span in self._fine:
            if not self._is_apart(span):
                break
            found = span.first
        return max(found, migrated + 1)

    def _is_apart(self, span: EpochSpan) -> bool:
        """Whether the epochs of a span can be told apart."""
        if span.first == span.last:
            return True
        return all(EPOCH in table.column_names for _, table in self._store.tables(span))

    def until(self, relation: int, epoch: int) -> Iterator[pa.Table]:
        """The rows of a relation as of an epoch, as tables to be applied one after another."""
        before = list(self._now.until(relation, self._store.head.epoch))
        after = [_negated(table) for table in self._after(relation, epoch)]
        if not after:
            yield from before
            return
        tables = in_one_form([*before, *after])
        if alike(tables):
            yield summed(tables)
        else:
            yield from tables

    def _after(self, relation: int, epoch: int) -> Iterator[pa.Table]:
        for span in self._changed_after(epoch):
            for _, table in self._store.tables(span, {relation}):
                found = later(table, epoch) if EPOCH in table.column_names else table
                if found.num_rows:
                    yield found

    def _changed_after(self, epoch: int) -> Iterator[EpochSpan]:
        yield from (span for span in self._fine if span.last > epoch)
        yield from (span for span in self._spans if span.kind != "epochs" and span.last > epoch)

    def of_epoch(self, relation: int, epoch: int) -> Iterator[pa.Table]:
        """The changes of a relation in one epoch; of a stream, its elements."""
        for span in self._spans_of(epoch):
            for _, table in self._store.tables(span, {relation}):
                found = of_one(span, table, epoch)
                if found is not None and found.num_rows:
                    yield found

    def counts(self, epoch: int) -> dict[int, int]:
        return {each: sum(t.num_rows for t in self.of_epoch(each, epoch)) for each in self._relations}

    def time(self, epoch: int) -> float:
        return max(span.time for span in self._spans_of(epoch))

    def _spans_of(self, epoch: int) -> Sequence[EpochSpan]:
        fine = [span for span in self._fine if span.first <= epoch <= span.last]
        return [*fine, *(span for span in self._spans if span.kind != "epochs" and span.last == epoch)]


def migrated_at(spans: Sequence[EpochSpan]) -> int:
    """The last epoch after which the columns of inputs were changed; 0 if they never were. What these inputs
    held before has another form."""
    return max((span.last for span in spans if span.kind == "migrated"), default=0)


def _negated(table: pa.Table) -> pa.Table:
    import pyarrow as pa

    plain = table.drop_columns([name for name in (WEIGHT, EPOCH) if name in table.column_names])
    return plain.append_column(WEIGHT, pa.array(-weights_of(table), pa.int64()))
