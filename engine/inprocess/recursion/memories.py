"""The memories of a recursion in process: growing sets, histories, and histories in the making.

See `engine.fixpoint` for the algorithms that use them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from ... import thresholds
from ...circuit import Constant
from ...maintaining import Watch
from ...metering import UNKNOWN, Inside, clock, inside
from ...rules import FixpointRule, Source
from ...schema import Array
from ...versions import Seen
from ..arrangements.views import EmptyView, Readable, StoreView, View, before, meets_nothing, was_empty
from ..joins.join import Joiner
from ..storage.batch import Batch
from ..storage.interner import encode_rows
from ..storage.steps import Evaluator
from ..storage.table import RowTable
from .growingset import GrowingSet, GrowingSetView
from .history import History, HistoryView


class Imported(NamedTuple):
    """A relation from outside: its store, whether its weights count, and its change in this epoch."""

    store: Readable
    weighted: bool
    change: Batch | None


class GrowingSets:
    """Growing sets during one epoch: semi-naive evaluation."""

    def __init__(
        self, relations: Mapping[str, GrowingSet], imports: Mapping[int, Imported], evaluator: Evaluator
    ) -> None:
        self._relations, self._imports, self._evaluator = relations, imports, evaluator
        self._rounds = 0
        self._measured = inside()
        for relation in relations.values():
            relation.begin()

    def changed(self, source: Source) -> int:
        return changed_rows(self._imports, source)

    def assert_facts(self, head: str, facts: Constant) -> None:
        self._relations[head].grow(encoded(facts, self._evaluator))

    def derive(self, rule: FixpointRule[Joiner], start: int | None, seen: Seen) -> None:
        views: list[View | None] = [
            None if k == start else self._view(source, seen[k]) for k, source in enumerate(rule.sources)
        ]
        if meets_nothing(rule.node.terms, views):
            return
        source = None if start is None else rule.sources[start]
        measured = self._measured
        if measured is None:
            self._grow(rule, start, source, views)
            return
        relations = [self._relations[head] for head, _ in rule.heads]
        since, before, had = clock(), measured.derived, sum([each.table.size for each in relations])
        self._grow(rule, start, source, views)
        until = clock()
        if measured.weight or until > measured.late:
            new = sum([each.table.size for each in relations]) - had
            taken = 0 if source is None else self._changing(source)
            measured.rule(rule.node.text, since, until, taken, before, new)
            self._evaluator.weight = max(1, measured.weight)

    def _grow(
        self,
        rule: FixpointRule[Joiner],
        start: int | None,
        source: Source | None,
        views: Sequence[View | None],
    ) -> None:
        for batch in self._delta(source):
            for head, derived in run_rule(rule, start, batch, views, self._held(rule), self._measured):
                self._relations[head].grow(derived)

    def _changing(self, source: Source) -> int:
        """The rows of a source from which a rule is run."""
        if isinstance(source, str):
            return self._relations[source].high - self._relations[source].low
        return self.changed(source)

    def _held(self, rule: FixpointRule[Joiner]) -> RowTable | None:
        """The table of the relation that all rows of a rule's join go into as they are, if it is one."""
        ((head, linear), *others) = rule.heads
        return None if others or linear else self._relations[head].table

    def _view(self, source: Source, now: bool) -> View:
        if isinstance(source, str):
            relation = self._relations[source]
            limit = relation.high if now else relation.low
            return GrowingSetView(relation, limit) if limit else EmptyView()
        store, weighted, change = self._imports[source]
        if not now and change is not None and was_empty(store, weighted, change):
            return EmptyView()
        return StoreView(store, weighted)  # deriving a row twice does no harm to a set

    def _delta(self, source: Source | None) -> Iterable[Batch | None]:
        if not isinstance(source, str):
            return (None if source is None else self._imports[source].change,)
        relation = self._relations[source]
        return _chunks(relation, relation.low, relation.high)

    def merge(self) -> None:
        """Rows are taken in as they are derived."""

    def next_iteration(self) -> int | None:
        pending = any(relation.high != relation.table.size for relation in self._relations.values())
        return self._rounds if pending else None

    def advance(self, time: int) -> Collection[str]:
        self._rounds += 1
        return [name for name, relation in self._relations.items() if relation.advance()]


class TimedRelation(Protocol):
    """A relation of a recursion in nested time."""

    pending: dict[int, Any]

    def derive(self, batch: Batch) -> None:
        """Adds derivations."""

    def fresh(self) -> Batch:
        """The delta."""


R = TypeVar("R", bound=TimedRelation)


class NestedTime(Generic[R]):
    """Relations in nested time during one epoch. A subclass gives the views of its kind of relation, and
    `advance`."""

    def __init__(
        self, relations: Mapping[str, R], imports: Mapping[int, Imported], evaluator: Evaluator
    ) -> None:
        self._relations, self._imports, self._evaluator = relations, imports, evaluator
        self._time = 0
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
            self._relations[head].derive(derived)
        if measured is not None:
            until = clock()
            if measured.weight or until > measured.late:
                taken = 0 if batch is None else batch.length
                measured.rule(rule.node.text, since, until, taken, before, UNKNOWN)
                self._evaluator.weight = max(1, measured.weight)

    def _view(self, source: Source, now: bool) -> View:
        if isinstance(source, str):
            return self._inside(self._relations[source], now)
        return outside(self._imports[source], now)

    def _inside(self, relation: R, now: bool) -> View:
        """A relation with the change of the running iteration or without."""
        raise NotImplementedError

    def _delta(self, source: Source) -> Batch | None:
        if isinstance(source, int):
            return self._imports[source].change
        delta = self._relations[source].fresh()
        return Batch(delta.columns, delta.length, delta.weights, np.full(delta.length, self._time, np.int64))

    def merge(self) -> None:
        """Derivations are taken in as they are found."""

    def next_iteration(self) -> int | None:
        return min((t for relation in self._relations.values() for t in relation.pending), default=None)


class Histories(NestedTime[History]):
    """Histories during one epoch. `run` is a number that no other epoch has."""

    def __init__(
        self,
        relations: Mapping[str, History],
        imports: Mapping[int, Imported],
        evaluator: Evaluator,
        run: int,
    ) -> None:
        super().__init__(relations, imports, evaluator)
        self._run = run

    def _inside(self, relation: History, now: bool) -> View:
        return HistoryView(relation, relation.overlay if now else relation.mark)

    def advance(self, time: int) -> Collection[str]:
        self._time = time
        return [name for name, relation in self._relations.items() if relation.step(time, self._run)]


class Counting:
    """Histories in the making: every row of the growing sets is a change, at its birth. See
    `fixpoint.Deriving`."""

    def __init__(
        self,
        histories: Mapping[str, History],
        sets: Mapping[str, GrowingSet],
        births: Mapping[str, Array],
        imports: Mapping[int, Imported],
        evaluator: Evaluator,
    ) -> None:
        self._histories, self._sets, self._births = histories, sets, births
        self._imports, self._evaluator = imports, evaluator

    def changed(self, source: Source) -> int:
        if isinstance(source, str):
            return self._sets[source].present
        return self._imports[source].store.present

    def assert_facts(self, head: str, facts: Constant) -> None:
        self._histories[head].count(encoded(facts, self._evaluator))

    def derive(self, rule: FixpointRule[Joiner], start: int | None, seen: Seen) -> None:
        views: list[View | None] = [
            None if k == start else self._view(source) for k, source in enumerate(rule.sources)
        ]
        for batch in self._whole(None if start is None else rule.sources[start]):
            for head, derived in run_rule(rule, start, batch, views):
                self._histories[head].count(derived)

    def _view(self, source: Source) -> View:
        if isinstance(source, str):
            relation = self._sets[source]
            return GrowingSetView(relation, relation.table.size, self._births[source])
        return outside(self._imports[source], True)

    def _whole(self, source: Source | None) -> Iterable[Batch | None]:
        if not isinstance(source, str):
            return (None if source is None else self._imports[source].store.batch(),)
        relation = self._sets[source]
        return _chunks(relation, 0, relation.table.size, self._births[source])

    def merge(self) -> None:
        """Derivations are taken in as they are found."""


def changed_rows(imports: Mapping[int, Imported], source: Source) -> int:
    """The rows in the change of a source with which an epoch begins."""
    change = imports[source].change if isinstance(source, int) else None
    return 0 if change is None else change.length


def encoded(facts: Constant, evaluator: Evaluator) -> Batch:
    """Facts as a batch."""
    return Batch(encode_rows(evaluator.values, facts.schema, facts.rows), len(facts.rows))


def outside(imported: Imported, now: bool) -> View:
    """An import with its change or without."""
    if now or imported.change is None:
        return StoreView(imported.store, imported.weighted)
    return before(imported.store, imported.weighted, imported.change)


def _chunks(relation: GrowingSet, start: int, stop: int, births: Array | None = None) -> Iterator[Batch]:
    for at in range(start, stop, thresholds.CHUNK):
        end = min(at + thresholds.CHUNK, stop)
        times = None if births is None else births[at:end]
        yield Batch(relation.table.columns(at, end), end - at, None, times)


def run_rule(
    rule: FixpointRule[Joiner],
    start: int | None,
    batch: Batch | None,
    views: Sequence[View | None],
    held: RowTable | None = None,
    measured: Inside | None = None,
) -> Iterator[tuple[str, Batch]]:
    """The rows of the heads that the join gives; see `Joiner.run`."""
    left_out = rule.join.left_out
    for found in rule.join.run(start, batch, views, held):
        if measured is not None:
            measured.derived += found.length
        for head, linear in rule.heads:
            if not linear:
                yield head, found
            else:
                yield from ((head, out) for out in _through(linear, found))
    if measured is not None:
        measured.derived += rule.join.left_out - left_out


def _through(linear: Sequence[Joiner], batch: Batch) -> Iterator[Batch]:
    if not linear:
        yield batch
        return
    for out in linear[0].run(0, batch, (None,)):
        yield from _through(linear[1:], out)
