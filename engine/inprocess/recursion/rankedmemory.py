"""The memory of a recursion whose relations have ranks; see `engine.ranks` and `engine.fixpoint`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from ...rules import Source
from ...schema import Array
from ..arrangements.views import StoreView, View
from ..storage.steps import Evaluator
from .memories import Imported, NestedTime
from .ranked import Ranked, RankedView
from .searching import Contents, Searches


class RankedSets(NestedTime[Ranked]):
    """Ranked relations during one epoch."""

    def __init__(
        self,
        relations: Mapping[str, Ranked],
        imports: Mapping[int, Imported],
        searches: Mapping[str, Searches],
        evaluator: Evaluator,
    ) -> None:
        super().__init__(relations, imports, evaluator)
        self._searches = searches
        self._gone = 0  # see `kernels.ranks.seen`
        self._contents: dict[Source, Contents] = {name: RankedView(each) for name, each in relations.items()}

    def waiting(self) -> int:
        """The rows that wait for their iterations."""
        parts = (each for relation in self._relations.values() for each in relation.pending.values())
        return sum(len(part.rows) for part in chain.from_iterable(parts))

    def _inside(self, relation: Ranked, now: bool) -> View:
        return RankedView(relation, 0 if now else self._gone)

    def advance(self, time: int) -> Collection[str]:
        self._time, self._gone = time, -(time + 1)
        changed = []
        for name, relation in self._relations.items():

            def ask(columns: Sequence[Array], length: int, enough: int, name: str = name) -> Array:
                return self._ask(name, columns, length, enough)

            if relation.step(time, ask):
                changed.append(name)
        return changed

    def _ask(self, name: str, columns: Sequence[Array], length: int, enough: int) -> Array:
        if not self._contents.keys() >= self._imports.keys():
            self._contents |= {
                node: StoreView(each.store, each.weighted) for node, each in self._imports.items()
            }
        self.watch.look()
        silent, self._evaluator.silent = self._evaluator.silent, True
        try:
            return self._searches[name].least_ranks(columns, length, enough, self._contents)
        finally:
            self._evaluator.silent = silent
