"""One epoch of a loop: every operator at every time at which it may emit something. See `engine.looptime`.

An event is a part and a time at which it has something to do. Events are taken in the order of this key, for
a part two loops deep:

    round of the outer loop, place of the inner loop in it, round of the inner loop, place in the inner loop

So whatever a part reads at a time has been told before the part is visited there, and all that a visit
brings about comes later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

import numpy as np

from .. import interrupt
from ..circuit import (
    Admit,
    Constant,
    Distinct,
    Earlier,
    Fixpoint,
    Group,
    Import,
    Join,
    Loop,
    Negate,
    Result,
    Sum,
)
from ..epoch import Epoch
from ..loopparts import Gate
from ..schema import Array, Origin, RowFault
from ..settling import MOST_ROUNDS, Changing, LoopLimit
from ..versions import Seen, versions
from .batch import Batch, concat, consolidate
from .interner import encode_rows
from .loops import LoopRecursion, LoopState
from .looptimeline import Missing, missing_presence
from .memories import Imported
from .rows import some_changes
from .table import RowTable
from .timeline import TimelineBeforeView, TimelineView
from .views import StoreView, View, before, meets_nothing


class _Event:
    """What a part finds at a time: changes of its sources, rows that it emits as they are, and keys to
    visit."""

    __slots__ = ("changes", "ready", "visits")

    def __init__(self, slots: int) -> None:
        self.changes: list[list[Batch]] = [[] for _ in range(slots)]
        self.ready: list[Batch] = []
        self.visits: list[Array] = []


class LoopEpoch:
    """The events of one epoch."""

    def __init__(
        self, recursion: LoopRecursion, state: LoopState, imports: Mapping[int, Imported], epoch: Epoch[Batch]
    ) -> None:
        self._recursion, self._state, self._imports, self._epoch = recursion, state, imports, epoch
        self._parts, self._lattice = state.parts, state.parts.lattice
        self._nodes = [part.node for part in self._parts.parts]
        self._heap: list[tuple[tuple[int, ...], int, int]] = []
        self._events: dict[tuple[int, int], _Event] = {}
        self._keys: dict[int, RowTable] = {}  # of groups
        self._found: dict[str, list[Batch]] = {}
        self._names: dict[int, list[tuple[int, str]]] = {}  # the relations that a part is, with their scopes
        for number, scope in enumerate(self._parts.scopes):
            for relation, at in scope.results.items():
                self._names.setdefault(at, []).append((number, relation))
        self._limits = [self._limit(scope.node) for scope in self._parts.scopes]

    def _limit(self, node: Fixpoint) -> int:
        own = node.most if isinstance(node, Loop) else None
        given = (own, self._epoch.limit, MOST_ROUNDS)
        return next(each for each in given if each is not None)

    def run(self, first: bool) -> dict[str, Batch]:
        """The net changes of the relations; `first`: the state is empty. Raises LoopLimit, RowFault."""
        for source, at in self._parts.imports.items():
            store, _, change = self._imports[source]
            batch = store.batch() if first else change
            if batch is not None and batch.length:
                self._event(at, 0).ready.append(batch)
        if first:
            self._begin()
        evaluator, lattice = self._recursion.evaluator, self._lattice
        heap, events, parts = self._heap, self._events, self._parts.parts
        outermost = -1
        while heap:
            _, time, at = heappop(heap)
            interrupt.check()
            number = int(lattice.round(time, 0))
            if number != outermost and self._epoch.progress is not None:
                self._epoch.progress(f"loop {self._recursion.node.name}", number, self._rows())
            outermost = number
            evaluator.iteration = int(lattice.round(time, parts[at].depth - 1))
            out = self._visit(at, time, events.pop((at, time)))
            if out is not None and out.length:
                self._emit(at, time, out)
        return {name: consolidate(concat(some, len(some[0].columns))) for name, some in self._found.items()}

    def _begin(self) -> None:
        for at, node in enumerate(self._nodes):
            if isinstance(node, Constant) and node.rows:
                values = self._recursion.evaluator.values
                rows = Batch(encode_rows(values, node.schema, node.rows), len(node.rows))
                self._event(at, 0).ready.append(rows)
            elif isinstance(node, Join) and all(term.negated for term in node.terms):
                self._event(at, 0)

    def _rows(self) -> int:
        return sum(batch.length for batches in self._found.values() for batch in batches)

    # ------------------------------------------------------------- events

    def _event(self, at: int, time: int) -> _Event:
        """The event of a part at a time."""
        found = self._events.get((at, time))
        if found is None:
            part = self._parts.parts[at]
            found = self._events[at, time] = _Event(len(part.sources))
            order: list[int] = []
            for component, place in enumerate(part.place):
                order += (int(self._lattice.round(time, component)), place)
            heappush(self._heap, (tuple(order), time, at))
        return found

    def _emit(self, at: int, time: int, change: Batch) -> None:
        """Gives the change of a part to its readers."""
        timeline = self._state.timelines.get(at)
        if timeline is not None and at not in self._state.told:
            timeline.add(change, time)
        for number, relation in self._names.get(at, ()):
            self._told(number, relation, time, change)
        for reader, slot in self._parts.readers[at]:
            then = self._time_of(reader, time)
            if then is not None:
                self._event(reader, then).changes[slot].append(change)

    def _told(self, number: int, relation: str, time: int, change: Batch) -> None:
        """Notes the change of a relation of a scope."""
        scope = self._parts.scopes[number]
        if number == 0:
            self._found.setdefault(relation, []).append(change)
        limit = self._limits[number]
        if int(self._lattice.round(time, scope.component)) > limit + self._state.named[number]:
            raise self._beyond(number, limit, {relation: change})

    def _beyond(self, number: int, limit: int, changes: Mapping[str, Batch]) -> LoopLimit:
        scope = self._parts.scopes[number]
        node, schemas = scope.node, {name: self._nodes[at].schema for name, at in scope.results.items()}
        some: Changing = some_changes(self._recursion.evaluator.values, schemas, changes)
        name = node.name if isinstance(node, Loop) else ""
        return LoopLimit(limit, name, list(schemas), some, self._place(number))

    def _place(self, number: int) -> Origin:
        """Where the innermost loop stands that a scope is, or is in; the outermost scope is a loop."""
        scope = self._parts.scopes[number]
        while not isinstance(scope.node, Loop):
            scope = self._parts.scopes[scope.parent]
        return scope.node.origin

    def _time_of(self, reader: int, time: int) -> int | None:
        """The time at which a part reads what its source emits at a time; None: it does not."""
        node, lattice = self._nodes[reader], self._lattice
        if isinstance(node, Earlier):
            number = self._parts.parts[reader].scope
            scope = self._parts.scopes[number]
            then = int(lattice.round(time, scope.component)) + node.rounds
            if scope.last is not None and then > scope.last:
                return None
            if then > lattice.most:
                raise self._beyond(number, lattice.most, {})
            return time + node.rounds * lattice.unit(scope.component)
        if isinstance(node, Result):
            return int(lattice.within(time, self._parts.parts[reader].depth))
        return time

    def _later(self, at: int, time: int, times: Array, rows: Batch) -> list[Batch]:
        """The part of rows that is of this time; the rest waits for its times."""
        if not rows.length or (int(times.min()) == time and int(times.max()) == time):
            return [rows]
        now: list[Batch] = []
        order = np.argsort(times, kind="stable")
        cuts = np.flatnonzero(np.diff(times[order])) + 1
        for some in np.split(order, cuts):
            then = int(times[some[0]])
            if then == time:
                now.append(rows.take(some))
            else:
                self._event(at, then).ready.append(rows.take(some))
        return now

    # ------------------------------------------------------------- operators

    def _visit(self, at: int, time: int, event: _Event) -> Batch | None:
        """What a part emits at a time."""
        node = self._nodes[at]
        arity = len(node.schema)
        match node:
            case Join():
                changes = [concat(each, 0) if each else None for each in event.changes]
                return self._sum([*event.ready, *self._join(at, node, time, changes)], arity)
            case Distinct() if at in self._state.sums:
                return self._distinct(at, time, event)
            case Group():
                return self._group(at, node, time, event)
            case Admit():
                change = self._sum(event.changes[0], arity)
                return self._sum([*event.ready, *self._admit(at, node, time, change)], arity)
            case Gate():
                return self._sum([*event.ready, *self._gate(at, node, time, event)], arity)
            case Negate():
                change = self._sum(event.changes[0], arity)
                return None if change is None else change.negated()
            case Sum() | Distinct() | Earlier() | Result() | Import() | Constant():
                return self._sum([*event.ready, *(b for each in event.changes for b in each)], arity)
            case _:
                raise TypeError(f"{type(node).__name__} has no place in a loop")

    def _sum(self, batches: Sequence[Batch], arity: int) -> Batch | None:
        return concat(batches, arity) if batches else None

    def _join(self, at: int, node: Join, time: int, changes: Sequence[Batch | None]) -> list[Batch]:
        found: list[Batch] = []
        sizes = [0 if change is None else change.length for change in changes]
        unprompted = not any(sizes) and all(term.negated for term in node.terms)
        for start, seen in versions(node.terms, sizes, unprompted):
            views = self._views(at, start, seen, time, changes)
            if meets_nothing(node.terms, views):
                continue
            timed: Batch | None = None
            if start is not None:
                change = changes[start]
                assert change is not None
                times = None if len(views) == 1 else np.full(change.length, time, np.int64)
                timed = Batch(change.columns, change.length, change.weights, times)
            for derived in self._state.joiners[at].run(start, timed, views):
                plain = Batch(derived.columns, derived.length, derived.weights)
                if derived.times is None:
                    found.append(plain)
                else:
                    found += self._later(at, time, derived.times, plain)
        return found

    def _views(
        self, at: int, start: int | None, seen: Seen, time: int, changes: Sequence[Batch | None]
    ) -> list[View | None]:
        views: list[View | None] = []
        for k, source in enumerate(self._parts.parts[at].sources):
            unseen = None if seen[k] else changes[k]
            views.append(None if k == start else self._view(source, time, unseen))
        return views

    def _view(self, source: int, time: int, unseen: Batch | None) -> View:
        node = self._nodes[source]
        if isinstance(node, Import):
            store, weighted, _ = self._imports[node.node]
            return StoreView(store, weighted) if unseen is None else before(store, weighted, unseen)
        timeline = self._state.timelines[source]
        if unseen is None:
            return TimelineView(timeline, time)
        return TimelineBeforeView(timeline, time, unseen)

    def _distinct(self, at: int, time: int, event: _Event) -> Batch | None:
        sums = self._state.sums[at]
        visited = event.visits
        change = self._sum(event.changes[0], len(sums.schema))
        if change is not None and change.length:
            visited.append(sums.add(change, time))
        if not visited:
            return None
        rows = np.unique(np.concatenate(visited))
        return self._tell(at, time, missing_presence(sums, self._state.told[at], rows, time))

    def _group(self, at: int, node: Group, time: int, event: _Event) -> Batch | None:
        keys = self._keys.setdefault(at, RowTable(node.keys))
        visited = event.visits
        for change in event.changes[0]:
            visited.append(keys.insert(change.columns[: node.keys], change.length))
        if not visited:
            return None
        groups = np.unique(np.concatenate(visited))
        return self._tell(at, time, self._state.groups[at].missing(keys, groups, time))

    def _tell(self, at: int, time: int, missing: Missing) -> Batch | None:
        """Gives what is missing, and notes the keys to visit again."""
        if len(missing.again):
            order = np.argsort(missing.times, kind="stable")
            cuts = np.flatnonzero(np.diff(missing.times[order])) + 1
            for some in np.split(order, cuts):
                self._event(at, int(missing.times[some[0]])).visits.append(missing.again[some])
        if not len(missing.rows):
            return None
        told = self._state.told[at]
        told.add_rows(missing.rows, missing.change, time)
        return Batch(told.table.columns_at(missing.rows), len(missing.rows), missing.change)

    def _admit(self, at: int, node: Admit, time: int, change: Batch | None) -> list[Batch]:
        if change is None or not change.length:
            return []
        arity, number = len(node.schema), self._target(at, node)
        scope = self._parts.scopes[number]
        now = int(self._lattice.round(time, scope.component))
        ends = arity + node.since
        last = max(int(column.max()) for column in change.columns[arity:])
        if last <= (self._lattice.most if scope.last is None else scope.last):
            self._state.named[number] = max(self._state.named[number], last)
        since = np.full(change.length, now, np.int64)
        for column in change.columns[arity:ends]:
            since = np.maximum(since, column)
        until = np.full(change.length, np.iinfo(np.int64).max)
        for column in change.columns[ends : ends + node.until]:
            until = np.minimum(until, column)
        plain = Batch(tuple(change.columns[:arity]), change.length, change.weights)
        found = self._at_rounds(at, time, number, since, plain, np.flatnonzero(since < until))
        if node.until:
            gone = np.flatnonzero(since < until)
            found += self._at_rounds(at, time, number, until, plain.negated(), gone)
        return found

    def _target(self, at: int, node: Admit) -> int:
        number = self._parts.parts[at].scope
        for _ in range(node.scope):
            number = self._parts.scopes[number].parent
        return number

    def _at_rounds(
        self, at: int, time: int, number: int, rounds: Array, rows: Batch, some: Array
    ) -> list[Batch]:
        """Rows each of which is of a round of a scope."""
        scope, lattice = self._parts.scopes[number], self._lattice
        if scope.last is not None:
            some = some[rounds[some] <= scope.last]
        if not len(some):
            return []
        rounds, rows = rounds[some], rows.take(some)
        last = int(rounds.max())
        if last > lattice.most:
            raise self._beyond(number, lattice.most, {})
        now = int(lattice.round(time, scope.component))
        return self._later(at, time, time + (rounds - now) * lattice.unit(scope.component), rows)

    def _gate(self, at: int, node: Gate, time: int, event: _Event) -> list[Batch]:
        state, lattice = self._state.gates[at], self._lattice
        component, arity = node.component, len(node.schema)
        found: list[Batch] = []

        def give(then: int, batch: Batch) -> None:
            (found if then == time else self._event(at, then).ready).append(batch)

        flag = sum(int(batch.weight_array().sum()) for batch in event.changes[1])
        if flag:
            number = lattice.round(time, component)
            for held, batches in state.batches.items():
                if batches and lattice.round(held, component) >= number:
                    give(lattice.join(held, time), _times(concat(batches, arity), flag))
            state.add_flag(time, flag)
        change = self._sum(event.changes[0], arity)
        if change is None or not change.length:
            return found
        if not lattice.round(time, component):
            return [*found, change]
        change = consolidate(change)
        state.add(time, change)
        weights: dict[int, int] = {}
        number = lattice.round(time, component)
        for flagged, weight in state.flags.items():
            if lattice.round(flagged, component) <= number:
                then = lattice.join(time, flagged)
                weights[then] = weights.get(then, 0) + weight
        for then, weight in weights.items():
            if weight:
                give(then, _times(change, weight))
        return found


def _times(batch: Batch, factor: int) -> Batch:
    if factor == 1:
        return batch
    return Batch(batch.columns, batch.length, batch.weight_array() * factor)


class RunningLoop:
    """One epoch of a loop. See `schedule.Nested`: all rounds are one iteration."""

    def __init__(
        self, recursion: LoopRecursion, imports: Mapping[int, Imported], epoch: Epoch[Batch]
    ) -> None:
        self._recursion, self._imports, self._epoch = recursion, imports, epoch
        self._before = recursion.state
        self._changes: dict[str, Batch] = {}
        self._anew = False

    def seed(self, first: bool) -> None:
        """All rounds."""
        changed = any(each.change is not None and each.change.length for each in self._imports.values())
        if not first and not changed:
            return
        state = self._before
        if state is not None:
            try:
                self._changes = self._epoch_of(state).run(False)
                return
            except RowFault:  # perhaps of rows that are never there together
                state.rollback()
            except MemoryError:  # the state may be half changed
                self._before = None
                raise
        self._anew = True
        state = self._recursion.state = LoopState(self._recursion.parts, self._recursion.evaluator)
        self._changes = self._epoch_of(state).run(True)

    def _epoch_of(self, state: LoopState) -> LoopEpoch:
        return LoopEpoch(self._recursion, state, self._imports, self._epoch)

    def next_iteration(self) -> int | None:
        return None

    def iterate(self, time: int) -> None:
        raise AssertionError("all rounds of a loop are one iteration")

    def changing(self) -> Changing:
        return ()

    def rows(self) -> int:
        return 0

    def finish(self) -> dict[str, Batch | None]:
        recursion, found = self._recursion, self._changes
        recursion.evaluator.iteration = 0
        if not self._anew:
            return {name: recursion.change(name, found.get(name)) for name in recursion.relations}
        empty = {
            name: Batch(tuple(np.empty(0, np.int64) for _ in s), 0) for name, s in recursion.schemas.items()
        }
        return {name: recursion.replace(name, found.get(name, empty[name])) for name in recursion.relations}

    def commit(self) -> None:
        """The epoch's changes stay."""
        self._recursion.commit()
        if self._recursion.state is not None:
            self._recursion.state.commit()

    def rollback(self) -> None:
        """Takes the epoch back, finished or not."""
        self._recursion.rollback()
        self._recursion.state = self._before
        if self._before is not None:
            self._before.rollback()
