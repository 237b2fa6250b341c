"""Rows and changes that the runtime returns: in value order, decoded when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from ... import thresholds
from ...divergence import SHOWN, Changing
from ...schema import Array, Schema
from .batch import Batch, RowColumns, consolidate, few_rows
from .interner import Values, decode_each, decode_rows, encode_each, order_of

Few: TypeAlias = tuple[list[tuple[Any, ...]], list[int]]
"""A few rows of Python values in value order, and their weights."""


def few_decoded(
    values: Values, schema: Schema, rows: Sequence[tuple[int, ...]], weights: list[int]
) -> Few | None:
    """A few rows in order by their values, as Python compares them, with their weights; None: it compares
    them in another way."""
    coding = values.coding(schema)
    if not coding.sorts:
        return None
    decode, of = coding.decode, values.decode
    decoded = [decode(row, of) for row in rows]
    if len(decoded) == 1:
        return decoded, weights
    order = sorted(zip(decoded, weights, strict=True), key=itemgetter(0))
    return [row for row, _ in order], [weight for _, weight in order]


class ArrayRows:
    """Rows of Python values in value order, decoded when first read."""

    def __init__(self, values: Values, schema: Schema, batch: Batch, is_held: bool = False) -> None:
        """`is_held`: the values of the batch are held already."""
        self.schema = schema
        self._values = values
        self._batch = batch
        self._ordered: Batch | None = None
        self._few: Few | None = None
        if not is_held:
            values.hold(schema, batch)

    @property
    def batch(self) -> Batch:
        """The rows as columns, in no order."""
        return self._batch

    def some(self, first: int, count: int) -> ArrayRows:
        """At most so many of the rows, from one on in the order in which they lie, which costs no sorting of
        all."""
        places = np.arange(min(first, self._batch.length), min(first + count, self._batch.length))
        return ArrayRows(self._values, self.schema, self._batch.take(places))

    def _in_order(self) -> Batch:
        if self._ordered is None:
            batch = self._batch
            if batch.length > 1:
                batch = batch.take(order_of(self._values, self.schema, batch.columns, batch.length))
            self._ordered = batch
        return self._ordered

    def _read_few(self) -> Few | None:
        """As `few_decoded`; None also of many rows."""
        batch = self._batch
        if self._few is None and batch.length <= thresholds.FEW_ROWS:
            self._few = few_decoded(self._values, self.schema, batch.rows(), batch.weight_list())
        return self._few

    @property
    def weights(self) -> list[int] | None:
        """The weight of each row; None: all 1."""
        if self._batch.weights is None:
            return None
        few = self._read_few()
        if few is not None:
            return few[1]
        weights = self._in_order().weights
        return None if weights is None else weights.tolist()

    def columns(self) -> list[list[Any]]:
        """The values column by column."""
        ordered = self._in_order()
        return [self._values.decode_column(c, a) for c, a in zip(self.schema, ordered.columns, strict=True)]

    def codes(self) -> Sequence[Array]:
        """The columns as int64 arrays, in value order."""
        return self._in_order().columns

    def __len__(self) -> int:
        return self._batch.length

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        few = self._read_few()
        if few is not None:
            return iter(few[0])
        ordered = self._in_order()
        if ordered.columns.__class__ is RowColumns:
            return iter(decode_each(self._values, self.schema, ordered.rows()))
        return iter(decode_rows(self._values, self.schema, ordered.columns, ordered.length))


class ArrayDelta:
    """The consolidated change of a relation in one epoch, decoded when first read.

    A `last` change may read the runtime's state when it is read itself: no later epoch alters it.
    """

    _read: ArrayRows | None = None
    _net: Batch | None = None  # the change, consolidated

    def __init__(
        self, values: Values, schema: Schema, batch: Batch, last: bool, is_net: bool = False
    ) -> None:
        """`is_net`: the batch is consolidated."""
        self._values, self._schema = values, schema
        if is_net or (batch.length == 1 and batch.weights is None and batch.times is None):
            self._net = batch
        elif last:
            self._batch = batch
        else:
            batch = self._net = consolidate(batch)
        values.hold(schema, batch)

    @property
    def _rows(self) -> ArrayRows:
        if self._read is None:
            if (net := self._net) is not None:
                self._read = ArrayRows(self._values, self._schema, net, is_held=True)
            else:
                self._read = ArrayRows(self._values, self._schema, consolidate(self._batch))
                del self._batch
        return self._read

    def some(self, first: int, count: int) -> ArrayDelta:
        """At most so many of the changed rows, from one on in the order in which they lie."""
        rows = self._rows.some(first, count)
        return ArrayDelta(rows._values, rows.schema, rows.batch, True)

    def settle(self) -> None:
        """Reads the change now, if it was not read: the runtime's state is about to change."""
        batch = self._rows.batch
        if batch.weights is None:
            self._rows.codes()

    @property
    def batch(self) -> Batch:
        """The change as the runtime's columns, consolidated, in no order."""
        return self._rows.batch

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows that changed, in value order."""
        rows = self._rows
        few = rows._read_few()
        return list(rows) if few is None else few[0].copy()

    def counts(self) -> tuple[int, int]:
        """The numbers of rows that came, and that went."""
        weights, length = self.batch.weights, self.batch.length
        came = length if weights is None else int(np.count_nonzero(weights > 0))
        return came, length - came

    @property
    def weights(self) -> list[int]:
        """The change of each row's weight."""
        rows = self._rows
        weights = rows.weights if rows._few is None else rows._few[1]
        return [1] * len(rows) if weights is None else weights

    def __len__(self) -> int:
        net = self._net  # each output is asked after each commit
        return len(self._rows) if net is None else net.length


class FewDelta(ArrayDelta):
    """A change of a few rows, which are decoded at once: to hold their codes would take as long."""

    def __init__(self, values: Values, schema: Schema, few: Few) -> None:
        self._values, self._schema, self._few = values, schema, few

    @property
    def _rows(self) -> ArrayRows:
        if self._read is None:
            rows, weights = self._few
            batch = few_rows(encode_each(self._values, self._schema, rows), weights, len(self._schema))
            self._read = ArrayRows(self._values, self._schema, batch)
        return self._read

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return self._few[0].copy()

    @property
    def weights(self) -> list[int]:
        return self._few[1].copy()

    def __len__(self) -> int:
        return len(self._few[0])


class LaterDelta(ArrayDelta):
    """A change that is made when it is first read."""

    def __init__(self, make: Callable[[], ArrayDelta], still: AbstractContextManager[object]) -> None:
        """`still` is held by who changes what the change is made of."""
        self._make, self._still = make, still

    @property
    def _rows(self) -> ArrayRows:
        if self._read is None:
            with self._still:
                if self._read is None:
                    self._read = self._make()._rows
        return self._read


def change_of(values: Values, schema: Schema, rows: list[tuple[int, ...]], weights: list[int]) -> ArrayDelta:
    """The change of a relation by a few weighted rows."""
    is_net = 0 not in weights and (len(rows) == 1 or len({*rows}) == len(rows))
    few = few_decoded(values, schema, rows, weights) if is_net else None
    if few is None:
        return ArrayDelta(values, schema, few_rows(rows, weights, len(schema)), False)
    return FewDelta(values, schema, few)


def some_changes(values: Values, schemas: Mapping[str, Schema], changes: Mapping[str, Batch]) -> Changing:
    """A few rows of the change of each relation, the least in value order."""
    found = []
    for name, schema in schemas.items():
        if name in changes:
            delta = ArrayDelta(values, schema, changes[name], True)
            pairs = zip(delta.rows[:SHOWN], delta.weights[:SHOWN], strict=True)
            found += [(name, row, weight) for row, weight in pairs]
    return found
