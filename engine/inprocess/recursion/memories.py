"""The memory of a recursion in process while it only grows. See `engine.fixpoint` for the algorithm."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from ... import interrupt, thresholds
from ...circuit import Constant
from ...epochcosts import UNKNOWN, Inside, clock, inside
from ...fixpoint import derive_from
from ...rules import FixpointRule, Source
from ...versions import Seen
from ..arrangements.views import (
    EmptyView,
    GrowingView,
    Readable,
    StoreView,
    View,
    before,
    meets_nothing,
    was_empty,
)
from ..joins.join import Joiner
from ..joins.onebyone import Row
from ..storage.batch import Batch, TableColumns
from ..storage.interner import encode_rows
from ..storage.steps import Evaluator
from ..storage.table import RowTable
from .densesets import Choosing, DenseSets
from .followedrounds import FollowedRule
from .growingset import GrowingSet
from .products import Products
from .rowrounds import Starts, new_rows, round_by_rows, starts_of

_SECONDS = 0.1  # of rounds row by row, after which progress is told


class Imported(NamedTuple):
    """A relation from outside: its store, whether its weights count, and its change in this epoch."""

    store: Readable
    weighted: bool
    change: Batch | None


class GrowingSets:
    """Growing sets during one epoch: semi-naive evaluation."""

    def __init__(
        self,
        relations: Mapping[str, GrowingSet],
        imports: Mapping[int, Imported],
        evaluator: Evaluator,
        products: Products | None = None,
        followed: FollowedRule | None = None,
        rounds: int = 0,
    ) -> None:
        """`products`: the rules as products, if they are; then dense relations become bits. `followed`: the
        rule of the rounds, if it is one that a kernel follows. `rounds` from few rows are done."""
        self._relations, self._imports, self._evaluator = relations, imports, evaluator
        self._rounds = rounds
        self._measured = inside()
        stores = {node: each.store for node, each in imports.items()}
        self._choosing = Choosing(relations, stores, products, evaluator)
        self._dense: DenseSets | None = None
        self._followed = followed
        self._small = rounds  # from few rows, one after the other
        self._starts: Starts | None = None  # of the rules, for such rounds
        for relation in () if rounds else relations.values():
            relation.begin()

    def changed(self, source: Source) -> int:
        return changed_rows(self._imports, source)

    def assert_facts(self, head: str, facts: Constant) -> None:
        self._relations[head].grow(encoded(facts, self._evaluator))

    def derive(self, rule: FixpointRule[Joiner], start: int | None, seen: Seen) -> None:
        if self._dense is None:
            self._derive(rule, start, seen)
        if self._dense is not None and start is not None:
            self._dense.derive(rule, start, self._measured)

    def walk(self, rules: Sequence[FixpointRule[Joiner]], most: int) -> bool:
        """Runs rounds from few rows, at most so many, by a kernel or row by row. False: the next round is to
        be run in the general way, as it has more rows, or rules of another form."""
        pending = 0 if self._dense else sum([each.size - each.high for each in self._relations.values()])
        if self._measured is not None or not pending:
            return False
        done, gave_up = self._follow(most) if pending <= thresholds.FOLLOWED_ROWS else (0, False)
        if not done and pending <= thresholds.ROWS_ONE_BY_ONE:
            done, gave_up = self._one_by_one(rules, most)
        elif not done:
            self._small = 0
        self._rounds += done
        if gave_up:
            derive_from(self._relations, rules, self)
        if done:
            self._is_dense()
        return done > 0

    def _follow(self, most: int) -> tuple[int, bool]:
        """Runs rounds by a kernel. Returns their number, and whether the last one is to be derived in the
        general way after all."""
        if self._followed is None or self._rounds < thresholds.FOLLOWED_ROUNDS:
            return 0, False
        ((start, source, seen),) = self._followed.rule.starts
        views = self._views(self._followed.rule, start, seen)
        return self._followed.rounds(self._relations[source], views, most, self._evaluator.budget)

    def _one_by_one(self, rules: Sequence[FixpointRule[Joiner]], most: int) -> tuple[int, bool]:
        """As `_follow`, row by row, and not for long, as progress is told."""
        self._small += 1
        if self._small <= thresholds.GENERAL_RUNS:
            return 0, False
        if self._starts is None:
            views = {node: StoreView(each.store, each.weighted) for node, each in self._imports.items()}
            self._starts = starts_of(rules, self._relations, views)
        relations, done, until = self._relations, 0, monotonic() + _SECONDS
        rows: Mapping[str, list[Row]] = {name: each.pending_rows() for name, each in relations.items()}
        gave_up = False
        few = thresholds.ROWS_ONE_BY_ONE
        while 0 < sum(map(len, rows.values())) <= few and not gave_up and done < most and monotonic() < until:
            interrupt.check()
            for relation in relations.values():
                relation.advance()
            done += 1
            derived = round_by_rows(self._starts, rows)
            gave_up = derived is None
            if derived is not None:
                rows = new_rows(relations, derived)
        if gave_up:
            self._small = -4 * thresholds.GENERAL_RUNS
        return done, gave_up

    def _views(self, rule: FixpointRule[Joiner], start: int | None, seen: Seen) -> list[View | None]:
        return [None if k == start else self._view(each, seen[k]) for k, each in enumerate(rule.sources)]

    def _is_dense(self) -> bool:
        """True if the relations are bits, now or from now on."""
        if self._dense is None:
            self._dense = self._choosing.choose()
        return self._dense is not None

    def _derive(self, rule: FixpointRule[Joiner], start: int | None, seen: Seen) -> None:
        views = self._views(rule, start, seen)
        if meets_nothing(rule.node.terms, views):
            return
        source = None if start is None else rule.sources[start]
        measured = self._measured
        if measured is None:
            self._grow(rule, start, source, views)
            return
        relations = [self._relations[head] for head, _ in rule.heads]
        since, before, had = clock(), measured.derived, sum([each.size for each in relations])
        self._grow(rule, start, source, views)
        until = clock()
        new = UNKNOWN if self._dense else sum([each.size for each in relations]) - had
        taken = 0 if source is None else self._changing(source)
        measured.rule(rule.node.text, since, until, taken, before, new)

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
                if isinstance(source, str) and self._is_dense():
                    return  # `derive` begins again

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
            view = GrowingView(relation, now)
            return view if view.size else EmptyView()
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
        pending = any(relation.pending for relation in self._relations.values())
        return self._rounds if pending else None

    def advance(self, time: int) -> Collection[str]:
        self._rounds += 1
        changed = [name for name, relation in self._relations.items() if relation.advance()]
        self._is_dense()
        return changed


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


def _chunks(relation: GrowingSet, start: int, stop: int) -> Iterator[Batch]:
    for at in range(start, stop, thresholds.CHUNK):
        end = min(at + thresholds.CHUNK, stop)
        yield Batch(TableColumns(relation.table, at, end), end - at)


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
