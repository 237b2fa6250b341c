"""The order of the rows of groups, by columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...schema import Array, Schema
from ...sortedrows import ColumnOrder
from ..storage.interner import Values
from ..storage.marks import Bools


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
    """The rows, as bools, in which a column has another value than in the row before."""
    changed = np.ones(len(column), np.bool_)
    np.not_equal(column[1:], column[:-1], out=changed[1:])
    return changed
