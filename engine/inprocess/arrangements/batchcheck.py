"""Batches of input rows against the rows of a relation, in columns: what may be inserted and deleted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema import Array
from ..storage.batch import Batch, concat, consolidate
from ..storage.table import RowTable
from .views import Readable, StoreView


def covers(store: Readable, batches: Sequence[Batch]) -> bool:
    """Whether a store holds the rows of batches, each as often as all of them together have it."""
    rows = consolidate(concat(list(batches), len(store.schema)))
    held = store.weight_of(rows.columns, rows.length)
    return bool((held >= rows.weight_array()).all())


def has_room(store: Readable, key: Sequence[int], come: Sequence[Batch], gone: Sequence[Batch]) -> bool:
    """Whether the rows of the batches that come differ by key from each other, and from all rows of the store
    but those that go, which are there."""
    places = tuple(sorted(key))
    keys = _keys(places, come)
    if keys.size != sum(batch.length for batch in come):
        return False
    if not store.present:
        return True
    columns = keys.columns()
    taken = with_keys(store, places, columns, keys.size)
    if not len(taken):
        return True
    freed = _keys(places, gone)
    return bool((freed.find([column[taken] for column in columns], len(taken)) >= 0).all())


def with_keys(store: Readable, places: tuple[int, ...], keys: Sequence[Array], length: int) -> Array:
    """The positions of keys that a row of a store has in the columns at these places, in order."""
    if len(places) == len(store.schema):
        return np.flatnonzero(store.weight_of(keys, length))
    return np.flatnonzero(StoreView(store, False).counts(places, keys, length))


def _keys(places: tuple[int, ...], batches: Sequence[Batch]) -> RowTable:
    table = RowTable(len(places))
    for batch in batches:
        table.insert([batch.columns[place] for place in places], batch.length)
    return table
