"""Copies of relations of which other workers have rows, for look-ups here.

A worker copies a relation when it has asked for more keys of it than it has rows, so that a copy costs no
more than asking did, and keeps the copy until the relation changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from .. import thresholds
from ..circuit import NodeId
from ..inprocess.arrangements.store import Store, store_of
from ..inprocess.arrangements.views import StoreView
from ..inprocess.storage.batch import Batch, concat


class Copies:
    """The copies that one worker has, by nodes, and the keys that it has asked for of others."""

    def __init__(self) -> None:
        self._asked = Counter[NodeId]()
        self._sizes: dict[NodeId, int] = {}
        self._stores: dict[NodeId, Store] = {}

    def note(self, at: NodeId, keys: int) -> None:
        """Other workers were asked for so many keys."""
        self._asked[at] += keys

    def forget(self, nodes: Collection[NodeId]) -> None:
        """Forgets the copies of nodes that change."""
        for at in self._stores.keys() & nodes:
            del self._stores[at]
        for at in self._asked.keys() & nodes:
            del self._asked[at]
            self._sizes.pop(at, None)

    def clear(self) -> None:
        """Forgets all copies."""
        self._stores.clear()
        self._asked.clear()
        self._sizes.clear()

    def view(
        self, at: NodeId, about: int, own: StoreView, size: Callable[[], int], others: Callable[[], Batch]
    ) -> StoreView | None:
        """The contents of a node of `about` so many rows as a copy, if there is one or it is worth one: `own`
        are those of this worker, `size` asks how many rows the others have, and `others` for these."""
        if at not in self._stores:
            if self._asked[at] <= about:
                return None
            if at not in self._sizes:  # a worker may have a small part of a large relation
                self._sizes[at] = own.size + size()
            if self._asked[at] <= self._sizes[at] or self._sizes[at] > thresholds.COPIED_ROWS:
                return None
            schema = own.relation.schema
            whole = concat([own.relation.batch(), others()], len(schema))
            if own.weighted:
                store = store_of(schema, whole)
            else:
                (store := Store(schema)).add_present(whole)
                store.commit()
            self._stores[at] = store
        return StoreView(self._stores[at], own.weighted)
