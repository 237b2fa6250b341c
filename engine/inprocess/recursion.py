"""Fixpoints: nested time over the rules of mutually recursive relations.

Without history an epoch is semi-naive evaluation on growing sets. The first epoch in which something
may shrink builds the history from the sets and their births, and from then on every epoch runs the
incremental algorithm of (epoch, iteration) times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..circuit import Constant, DeltaJoin, Fixpoint, Join
from ..derivations import Derivation, derivations
from ..schema import Array
from .batch import Batch, TableColumns
from .interner import encode_rows
from .join import Joiner, versions
from .recursive import HistoryView, RecursiveRelation, SetView
from .steps import Evaluator
from .views import EmptyView, Readable, StoreView, View, before


@dataclass(frozen=True, slots=True)
class Imported:
    """A relation from outside: its store, whether weights count, and its change in this epoch."""

    store: Readable
    weighted: bool
    change: Batch | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A join inside the recursion. `sources[k]` is term k's import (a node outside) or variable (a
    relation of the recursion). Its valuations go to one head or several, each by way of the linear
    joins given."""

    node: Join | DeltaJoin
    sources: tuple[int | str, ...]
    joiner: Joiner
    heads: tuple[tuple[str, tuple[Joiner, ...]], ...]

    def run(
        self, start: int | None, batch: Batch | None, views: Sequence[View | None]
    ) -> Iterator[tuple[str, Batch]]:
        """The heads' new rows; see Joiner.run."""
        for found in self.joiner.run(start, batch, views):
            for head, linear in self.heads:
                yield from ((head, out) for out in _through(linear, found))


def _through(linear: Sequence[Joiner], batch: Batch) -> Iterator[Batch]:
    if not linear:
        yield batch
        return
    for out in linear[0].run(0, batch, (None,)):
        yield from _through(linear[1:], out)


def rules_of(fixpoint: Fixpoint, evaluator: Evaluator) -> tuple[list[Rule], list[tuple[str, Constant]]]:
    """The rules of a fixpoint's body, and its facts. Heads that share a join make one rule."""
    found, facts = derivations(fixpoint)
    shared: dict[int, list[Derivation]] = {}
    for each in found:
        shared.setdefault(each.at, []).append(each)
    return [_rule(each, evaluator) for each in shared.values()], facts


def _rule(shared: Sequence[Derivation], evaluator: Evaluator) -> Rule:
    one = shared[0]
    heads = tuple(
        (each.head, tuple(Joiner(join, [schema], evaluator) for join, schema in each.linear))
        for each in shared
    )
    return Rule(one.node, one.sources, Joiner(one.node, one.schemas, evaluator), heads)


class Recursion:
    """The state of one Fixpoint node, and one epoch of it at a time: `begin`, then `iterate` until
    it gives None, then `finish`; then `commit`, or `rollback` at any point."""

    def __init__(self, fixpoint: Fixpoint, evaluator: Evaluator) -> None:
        self.fixpoint = fixpoint
        self.rules, self.facts = rules_of(fixpoint, evaluator)
        self.evaluator = evaluator
        schemas = {head: fixpoint.body.nodes[node].schema for head, node in fixpoint.results}
        self.relations = {head: RecursiveRelation(schema) for head, schema in schemas.items()}
        self.history = False
        self._births_known = True  # the sets' order of arrival is that of one run from empty relations
        self._steps: dict[str, list[int]] = {head: [] for head in schemas}
        self._epochs = 0
        self._runs = 0  # counts begun epochs, rolled back or not
        self._imports: Mapping[int, Imported] = {}
        self._start: dict[str, int] = {}
        self._low: dict[str, int] = {}

    # ------------------------------------------------------------- one epoch

    def begin(self, imports: Mapping[int, Imported]) -> None:
        """Takes the epoch's changes from outside, all of them at the first iteration."""
        self._imports = imports
        self._epochs += 1
        self._runs += 1
        self.evaluator.iteration = 0
        if self.history:
            self._seed_history()
        else:
            self._start = {head: r.table.size for head, r in self.relations.items()}
            if not any(self._start.values()):
                self._births_known = True
                self._steps = {head: [] for head in self.relations}
            elif self._epochs > 1 and any(i.change is not None for i in imports.values()):
                self._births_known = False
            self._seed_sets()

    def next_iteration(self) -> int | None:
        """The least iteration at which something is pending, None at the fixpoint."""
        if self.history:
            return min((t for r in self.relations.values() for t in r.pending), default=None)
        if all(self._low[head] == r.table.size for head, r in self.relations.items()):
            return None
        return len(next(iter(self._steps.values()))) if self._births_known else self._rounds

    def iterate(self, time: int) -> None:
        """One iteration: the changes of the relations at `time`, and what follows from them."""
        self.evaluator.iteration = time + 1
        if self.history:
            self._iterate_history(time)
        else:
            self._iterate_sets()

    def rows(self) -> int:
        """The number of rows so far, for progress."""
        return sum(r.table.size for r in self.relations.values())

    def finish(self) -> dict[str, Batch]:
        """The net changes of the relations in this epoch."""
        self.evaluator.iteration = 0
        out = {}
        for head, relation in self.relations.items():
            if not self.history:
                start = self._start[head]
                stop = relation.table.size
                relation.arrange(stop)
                out[head] = Batch(TableColumns(relation.table, start, stop), stop - start)
                continue
            change = relation.settle()
            columns = relation.table.columns_at(change.rows)
            out[head] = Batch(columns, len(change.rows), change.weights)
        return out

    def commit(self) -> None:
        """Ends the epoch: its changes stay."""
        for relation in self.relations.values():
            relation.commit()
        self._imports = {}

    def rollback(self) -> None:
        """Takes back the running epoch, finished or not."""
        for head, relation in self.relations.items():
            if self.history:
                relation.rollback()
            elif head in self._start:
                relation.truncate(self._start[head])
                if self._epochs <= 1:
                    self._steps[head].clear()
        self._imports = {}
        self._epochs -= 1

    # ------------------------------------------------------------- sets

    def _seed_sets(self) -> None:
        self._rounds = 0
        self._low = {head: r.table.size for head, r in self.relations.items()}
        if self._epochs == 1:
            for head, node in self.facts:
                self._add(head, self._constant(node))
        for rule in self.rules:
            for start, change, views in self._import_starts(rule):
                for head, batch in rule.run(start, change, views):
                    self._add(head, batch)

    def _iterate_sets(self) -> None:
        low = dict(self._low)
        high = {head: r.table.size for head, r in self.relations.items()}
        self._rounds += 1
        for head, relation in self.relations.items():
            if self._births_known:
                self._steps[head].append(high[head])
            relation.arrange(high[head])
        self._low = high
        for rule in self.rules:
            for start, source in enumerate(rule.sources):
                if not isinstance(source, str) or low[source] == high[source]:
                    continue
                views = self._around(rule, start, lambda name, new: self._set(name, high if new else low))
                relation = self.relations[source]
                if any(isinstance(view, EmptyView) for view in views):
                    continue
                for at in range(low[source], high[source], 1 << 20):
                    stop = min(at + (1 << 20), high[source])
                    delta = Batch(relation.table.columns(at, stop), stop - at)
                    for head, batch in rule.run(start, delta, views):
                        self._add(head, batch)

    def _add(self, head: str, batch: Batch) -> None:
        """Adds derived rows to a growing set."""
        self.relations[head].table.insert_new(batch.columns, batch.length)

    def _constant(self, node: Constant) -> Batch:
        return Batch(encode_rows(self.evaluator.values, node.schema, node.rows), len(node.rows))

    # ------------------------------------------------------------- history

    def build_history(self, imports: Mapping[int, Imported]) -> None:
        """From growing sets to histories. `imports` shows the outside as it is, with no changes.
        An interrupt leaves the sets as they were."""
        if self.history:
            return
        sets, epochs, steps, known = self.relations, self._epochs, self._steps, self._births_known
        self.evaluator.silent = True
        try:
            if not known:
                self._rerun(imports)
            self._count_derivations(imports)
        except BaseException:
            for relation in sets.values():
                relation.forget_history()
            self.relations, self._epochs, self._steps, self._births_known = sets, epochs, steps, known
            raise
        finally:
            self._imports = {}
            self.evaluator.silent = False
        if self.relations is not sets:
            for head, relation in sets.items():
                relation.become(self.relations[head])
            self.relations = sets
        self._epochs = epochs
        self.history = True
        self._steps = {}

    def _rerun(self, imports: Mapping[int, Imported]) -> None:
        """Evaluates from empty relations, new ones, so that the order of arrival is that of births."""
        self.relations = {head: RecursiveRelation(r.schema) for head, r in self.relations.items()}
        self._steps = {head: [] for head in self.relations}
        self._births_known = True
        self._epochs = 0
        self.begin({n: Imported(i.store, i.weighted, i.store.batch()) for n, i in imports.items()})
        while (time := self.next_iteration()) is not None:
            self.iterate(time)
        self.finish()

    def _count_derivations(self, imports: Mapping[int, Imported]) -> None:
        """The histories of sets whose order of arrival is that of births."""
        births = {}
        for head, relation in self.relations.items():
            steps = np.array(self._steps[head], np.int64)
            births[head] = np.searchsorted(steps, np.arange(relation.table.size), side="right").astype(
                np.int64
            )
            relation.arrange(relation.table.size)
        for head, relation in self.relations.items():
            relation.start_history(births[head])
        self._imports = imports
        for head, node in self.facts:
            self.relations[head].count(self._constant(node))
        for rule in self.rules:
            self._count(rule, births)

    def _count(self, rule: Rule, births: Mapping[str, Array]) -> None:
        """Counts all derivations of a rule at their times."""
        views: list[View] = []
        for source in rule.sources:
            if isinstance(source, str):
                relation = self.relations[source]
                views.append(SetView(relation, relation.table.size, births[source]))
            else:
                views.append(self._now(source))
        positive = [k for k, term in enumerate(rule.node.terms) if not term.negated]
        if not positive:
            for head, batch in rule.run(None, None, views):
                self.relations[head].count(batch)
            return
        start = max(positive, key=lambda k: views[k].size)
        source = rule.sources[start]
        others: list[View | None] = [None if k == start else view for k, view in enumerate(views)]
        if isinstance(source, str):
            table = self.relations[source].table
            for at in range(0, table.size, 1 << 20):
                stop = min(at + (1 << 20), table.size)
                rows = Batch(table.columns(at, stop), stop - at, None, births[source][at:stop])
                for head, batch in rule.run(start, rows, others):
                    self.relations[head].count(batch)
        else:
            for head, batch in rule.run(start, self._imports[source].store.batch(), others):
                self.relations[head].count(batch)

    def _seed_history(self) -> None:
        for rule in self.rules:
            for start, change, views in self._import_starts(rule):
                for head, batch in rule.run(start, change, views):
                    self.relations[head].derive(batch)

    def _iterate_history(self, time: int) -> None:
        marks = {head: r.overlay for head, r in self.relations.items()}
        changes = {head: r.step(time, self._runs) for head, r in self.relations.items()}
        for rule in self.rules:
            for start, source in enumerate(rule.sources):
                change = changes.get(source) if isinstance(source, str) else None
                if change is None:
                    continue
                assert isinstance(source, str)
                views = self._around(rule, start, lambda name, new: self._seen(name, None if new else marks))
                table = self.relations[source].table
                times = np.full(len(change.rows), time, np.int64)
                delta = Batch(table.columns_at(change.rows), len(change.rows), change.weights, times)
                for head, batch in rule.run(start, delta, views):
                    self.relations[head].derive(batch)

    # ------------------------------------------------------------- shared

    def _now(self, source: int) -> View:
        imported = self._imports[source]
        return StoreView(imported.store, imported.weighted)

    def _set(self, name: str, limits: Mapping[str, int]) -> View:
        """A relation without history: its rows below a limit."""
        limit = limits[name]
        return SetView(self.relations[name], limit) if limit else EmptyView()

    def _seen(self, name: str, marks: Mapping[str, int] | None) -> View:
        """A relation with history, with the overlay up to a mark; None: all of it."""
        relation = self.relations[name]
        return HistoryView(relation, relation.overlay if marks is None else marks[name])

    def _around(self, rule: Rule, start: int, variable: Callable[[str, bool], View]) -> list[View | None]:
        """What a change of the variable at `start` sees: variables before it with this iteration's
        change, those after it without; all of the outside as it is now."""
        return [
            None
            if k == start
            else variable(source, k < start)
            if isinstance(source, str)
            else self._now(source)
            for k, source in enumerate(rule.sources)
        ]

    def _import_starts(self, rule: Rule) -> Iterator[tuple[int | None, Batch | None, list[View | None]]]:
        """The terms whose relations changed outside, their changes, and the versions that each sees."""
        changes = [self._imports[s].change if isinstance(s, int) else None for s in rule.sources]

        def now(k: int) -> View:
            source = rule.sources[k]
            if isinstance(source, int):
                return self._now(source)
            return HistoryView(self.relations[source], 0) if self.history else self._set(source, self._start)

        def earlier(k: int) -> View:
            source = rule.sources[k]
            assert isinstance(source, int)
            return self._before(source)

        for start, views in versions(rule.node.terms, changes, now, earlier, self._epochs == 1):
            yield start, None if start is None else changes[start], views

    def _before(self, source: int) -> View:
        imported = self._imports[source]
        assert imported.change is not None
        if self._epochs == 1:
            return EmptyView()
        view = before(imported.store, imported.weighted, imported.change)
        if not self.history and not isinstance(view, EmptyView):
            return StoreView(imported.store, imported.weighted)  # deriving a row twice does no harm to a set
        return view
