"""The memory of a recursion whose relations have ranks; see `engine.ranks` and `engine.fixpoint`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import chain

import numpy as np

from ... import interrupt, thresholds
from ...budget import MADE, STEP
from ...circuit import Constant
from ...epochcosts import UNKNOWN, clock, inside
from ...fixpoint import derive_from
from ...maintenance import Watch
from ...rules import FixpointRule, Source
from ...schema import Array
from ...versions import Seen
from ..arrangements.views import StoreView, View, meets_nothing
from ..joins.join import Joiner
from ..storage.batch import Batch
from ..storage.steps import Evaluator
from .linear import Linear, iterate, ready
from .memories import Imported, changed_rows, encoded, outside, run_rule
from .rankedrelation import Ranked, RankedView
from .search import Contents, Searches


class RankedSets:
    """Ranked relations during one epoch."""

    def __init__(
        self,
        relations: Mapping[str, Ranked],
        imports: Mapping[int, Imported],
        searches: Mapping[str, Searches],
        evaluator: Evaluator,
        linear: Linear | None = None,
    ) -> None:
        """`linear`: the rules, if each is one look-up from rows of the relation."""
        self._relations, self._imports, self._evaluator = relations, imports, evaluator
        self._searches, self._linear = searches, linear
        self._time = 0
        self._gone = 0  # see `kernels.ranks.seen`
        self._contents: dict[Source, Contents] = {name: RankedView(each) for name, each in relations.items()}
        self._measured = inside()
        self.watch = Watch()

    def changed(self, source: Source) -> int:
        return changed_rows(self._imports, source)

    def assert_facts(self, head: str, facts: Constant) -> None:
        self._relations[head].derive(encoded(facts, self._evaluator))

    def derive(self, rule: FixpointRule[Joiner], start: int | None, seen: Seen) -> None:
        views: list[View | None] = [
            None if k == start else self._view(source, seen[k]) for k, source in enumerate(rule.sources)
        ]
        source = None if start is None else rule.sources[start]
        if isinstance(source, int) and meets_nothing(rule.node.terms, views):
            return
        batch = None if source is None else self._delta(source)
        measured = self._measured
        if measured is not None:
            since, before = clock(), measured.derived
        for head, derived in run_rule(rule, start, batch, views, measured=measured):
            self.watch.look()
            self._take(head, derived)
        if measured is not None:
            taken = 0 if batch is None else batch.length
            measured.rule(rule.node.text, since, clock(), taken, before, UNKNOWN)

    def _take(self, head: str, derived: Batch) -> None:
        """Takes rows that were derived."""
        self._relations[head].derive(derived)

    def walk(self, rules: Sequence[FixpointRule[Joiner]], most: int) -> bool:
        """Runs iterations of a linear recursion, at most so many. False: the next one is to be run in the
        general way."""
        linear = self._linear
        if linear is None or self._measured is not None or self.waiting() > thresholds.FOLLOWED_ROWS:
            return False
        relation = self._relations[linear.relation]
        table = relation.table
        look_ups = ready(linear, table.layout if table.is_numbered else None, self._stores())
        if look_ups is None:
            return False
        interrupt.check()
        self.watch.look()
        done, last, spent, is_open = iterate(relation, look_ups, most)
        self._evaluator.budget.spend(STEP + MADE * spent)
        if is_open:
            self._time, self._gone = last, -(last + 1)
            derive_from(self._relations, rules, self)
        return done > 0

    def _stores(self) -> Mapping[int, Imported]:
        """The imports that can be looked up as they are now without a view."""
        return self._imports

    def _view(self, source: Source, now: bool) -> View:
        if isinstance(source, str):
            return RankedView(self._relations[source], 0 if now else self._gone)
        return outside(self._imports[source], now)

    def _delta(self, source: Source) -> Batch | None:
        if isinstance(source, int):
            return self._imports[source].change
        delta = self._relations[source].fresh()
        return Batch(delta.columns, delta.length, delta.weights, np.full(delta.length, self._time, np.int64))

    def merge(self) -> None:
        """Derivations are taken in as they are found."""

    def waiting(self) -> int:
        """The rows that wait for their iterations."""
        parts = (each for relation in self._relations.values() for each in relation.pending.values())
        return sum(len(part.rows) for part in chain.from_iterable(parts))

    def next_iteration(self) -> int | None:
        pending = [min(each.pending) for each in self._relations.values() if each.pending]
        return min(pending) if pending else None

    def advance(self, time: int) -> Collection[str]:
        self._time, self._gone = time, -(time + 1)
        changed = []
        for name, relation in self._relations.items():
            if relation.step(time, partial(self._ask, name)):
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
