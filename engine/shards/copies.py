"""Copies of relations of which other workers have rows, for look-ups here.

A worker copies a relation when it has asked for more keys of it than it has rows, so that a copy costs no
more than asking did. In an epoch that changes a few rows of the relation, it asks the others for these, at
the next look-up or at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence

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
        self.behind = set[NodeId]()
        """The nodes whose copies do not have the changes of this epoch."""

    def note(self, at: NodeId, keys: int) -> None:
        """Other workers were asked for so many keys."""
        self._asked[at] += keys

    def begin(self, changing: Collection[NodeId]) -> None:
        """An epoch begins that changes some nodes."""
        self.behind = self._stores.keys() & changing
        for at in changing:
            self._sizes.pop(at, None)

    def rollback(self, changing: Collection[NodeId]) -> None:
        """The epoch that changes some nodes is taken back."""
        self.behind = set()
        self._forget(self._stores.keys() & changing)

    def _forget(self, nodes: Collection[NodeId]) -> None:
        for at in nodes:
            self._stores.pop(at, None)
            self._asked.pop(at, None)
            self._sizes.pop(at, None)

    def clear(self) -> None:
        """Forgets all copies."""
        self._stores.clear()
        self.behind.clear()
        self._asked.clear()
        self._sizes.clear()

    def view(
        self,
        at: NodeId,
        about: int,
        own: StoreView,
        size: Callable[[], int],
        others: Callable[[], Batch],
        changes: Callable[[int], Sequence[Batch] | None],
    ) -> StoreView | None:
        """The contents of a node of `about` so many rows as a copy, if there is one or it is worth one: `own`
        are those of this worker, `size` asks how many rows the others have, `others` for these, and `changes`
        for those of the epoch on all workers, unless another one has more than so many of them."""
        if at in self.behind:
            self.bring_up(at, changes)
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

    def bring_up(self, at: NodeId, changes: Callable[[int], Sequence[Batch] | None]) -> None:
        """Takes the changes of the epoch into the copy of a node; forgets it where they are many."""
        self.behind.discard(at)
        store = self._stores[at]
        found = changes(max(thresholds.FEW_ROWS, store.present // thresholds.COPIED_CHANGE))
        if found is None:
            self._forget((at,))
            return
        for batch in found:
            store.add_counted(batch, as_set=False)
        store.commit()
