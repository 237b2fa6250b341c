"""Rows of groups in their order, in columns: what functions of ordered rows read when many rows change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...schema import Array, Column, Schema
from ...sortedrows import ColumnOrder
from ..storage.interner import Values
from ..storage.marks import Bools


@dataclass
class OrderedColumns:
    """`ArrangedColumns` of some rows: row `order[k]` of them is at place k. `begins`: whether a group begins
    at a place; `differs`: whether its row is another in the order than the one before."""

    values: Values
    argument: tuple[Column, Array]
    out: Column
    order: Array
    begins: Bools
    differs: Bools

    @cached_property
    def starts(self) -> Array:
        """Where the group of a row begins."""
        return _stretches(self.begins)[0]

    @cached_property
    def ends(self) -> Array:
        """Where it ends."""
        return _stretches(self.begins)[1]

    @cached_property
    def peers(self) -> tuple[Array, Array]:
        """Where the rows begin and end that are equal to a row in the order."""
        return _stretches(self.differs)


def _stretches(begins: Bools) -> tuple[Array, Array]:
    """For each place, where the stretch of places begins and ends that it is in, given where any begin."""
    first = np.flatnonzero(begins)
    number = np.cumsum(begins) - 1
    return first[number], np.append(first[1:], len(begins))[number]


def in_order(
    values: Values,
    schema: Schema,
    columns: Sequence[Array] | Mapping[int, Array],
    groups: Array,
    places: Sequence[int],
    orders: Sequence[ColumnOrder],
) -> tuple[Array, Bools, Bools]:
    """The order of rows by their groups, in each by the columns at the first of the places, which `orders`
    tells, and then by all of the others; where a group begins there, and where the order is another than one
    row before."""
    keys = [groups]
    keys += [
        values.order_keys(schema[k], columns[k], order) for k, order in zip(places, orders, strict=False)
    ]
    order = np.lexsort(keys[::-1])
    begins, *others = (_changes(key[order]) for key in keys)
    differs = np.logical_or.reduce([begins, *others])
    if not differs.all():
        rest = [k for k in dict.fromkeys(places) if k not in places[: len(orders)]]
        keys += [values.order_keys(schema[k], columns[k]) for k in rest]
        order = np.lexsort(keys[::-1])  # begins and differs are the same
    return order, begins, differs


def _changes(column: Array) -> Bools:
    """Where a column has another value than one row before."""
    changed = np.ones(len(column), np.bool_)
    np.not_equal(column[1:], column[:-1], out=changed[1:])
    return changed
