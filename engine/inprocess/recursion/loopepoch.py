"""The events of one epoch of a loop: every operator at every time at which it may emit something.

An event is a part and a time at which it has something to do. Events are taken in the order of this key, for
a part two loops deep:

    round of the outer loop, place of the inner loop in it, round of the inner loop, place in the inner loop

So whatever a part reads at a time has been told before the part is visited there, and all that a visit
brings about comes later. See `engine.time`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Protocol

import numpy as np

from ... import epochcosts, interrupt, thresholds
from ...circuit import (
    Admit,
    Constant,
    Distinct,
    Earlier,
    Exchange,
    FixpointResult,
    Group,
    Import,
    Join,
    Negate,
    NodeId,
    Sum,
)
from ...epoch import Epoch
from ...labels import operator_of
from ...loopparts import Gate, counts
from ...maintenance import IterationRows, Watch
from ...schema import Array, Schema
from ...versions import Seen, versions
from ..arrangements.timeline import TimedView
from ..arrangements.views import StoreView, View, before, meets_nothing
from ..joins.join import Joiner
from ..storage.batch import Batch, Gathering, concat, consolidate
from ..storage.interner import encode_rows
from ..storage.rows import some_changes
from .loopdivergence import Reach, Settling
from .loopgates import GateState
from .loops import LoopRecursion
from .looptimelines import EmittedRows
from .memories import Imported


class _Rounds:
    """Notes the rounds of an evaluation from empty relations as they end, but for round 0, which is what the
    walk of the circuit has left."""

    def __init__(self, inside: epochcosts.Inside) -> None:
        self._inside = inside
        self._since, self._derived, self._rows = epochcosts.clock(), inside.derived, 0

    def end(self, number: int, rows: int) -> None:
        """Notes a round; `rows` have come by its end."""
        now, derived = epochcosts.clock(), self._inside.derived
        if number:
            self._inside.round(number, now - self._since, derived - self._derived, rows - self._rows)
        self._since, self._derived, self._rows = now, derived, rows


class Remembered(Protocol):
    """The memory of a loop's operators: its timelines, or its contents while it is evaluated."""

    joiners: dict[NodeId, Joiner]
    gates: dict[int, GateState]

    def view(self, source: int, time: int, unseen: Batch | None) -> View:
        """A part as it is from a time on, without a change at that time if one is given."""

    def keep(self, at: int, time: int, change: Batch) -> None:
        """Keeps what a part emits at a time."""

    def distinct(self, at: int, time: int, changes: Sequence[Batch], visits: list[Array]) -> EmittedRows:
        """The rows that a distinct of no set emits: `visits` are the rows that wait for this time."""

    def group(self, at: int, time: int, changes: Sequence[Batch], visits: list[Array]) -> EmittedRows:
        """The rows that a group emits: `visits` are the keys that wait for this time."""

    def holds(self, at: int) -> bool:
        """Whether the contents of a part are at hand when the epoch ends, and its changes are not needed."""

    def end_round(self) -> None:
        """A round of the outermost loop is over."""


class PartEvent:
    """The work of a part at a time: changes of its sources, rows that it emits as they are, and keys to
    visit."""

    __slots__ = ("changes", "ready", "visits")

    def __init__(self, slots: int) -> None:
        self.changes: list[list[Batch]] = [[] for _ in range(slots)]
        self.ready: list[Batch] = []
        self.visits: list[Array] = []


class LoopEpoch:
    """The events of one epoch."""

    def __init__(
        self,
        recursion: LoopRecursion,
        memory: Remembered,
        imports: Mapping[int, Imported],
        epoch: Epoch[Batch],
        reach: Reach,
    ) -> None:
        """`reach` says how far earlier epochs went, none of them if it is evaluated from empty relations."""
        self._recursion, self._memory, self._imports, self._epoch = recursion, memory, imports, epoch
        self._parts, self._lattice = recursion.parts, recursion.parts.lattice
        self._nodes = [part.node for part in self._parts.parts]
        self._heap: list[tuple[tuple[int, ...], int, int]] = []
        self._events: dict[tuple[int, int], PartEvent] = {}
        self._first = False
        self.told = 0  # the rows of a round so far
        self._gathered: dict[int, Gathering] = {}  # the changes of relations of the outermost loop, by part
        self._names: dict[int, list[tuple[int, str]]] = {}  # the relations that a part is, with their scopes
        for number, scope in enumerate(self._parts.scopes):
            for relation, at in scope.results.items():
                self._names.setdefault(at, []).append((number, relation))
                if not number and relation in recursion.relations and not memory.holds(at):
                    self._gathered[at] = Gathering(len(self._nodes[at].schema))
        schemas = {name: self._nodes[at].schema for at, each in self._names.items() for _, name in each}
        self.settling = self._settling(reach, schemas)
        self._distincts = {at for at in range(len(self._parts.parts)) if counts(self._parts, at)}
        self.depths: list[
            tuple[int, int]
        ] = []  # the rounds of the outermost loop, with what was told in each

    def _settling(self, reach: Reach, schemas: Mapping[str, Schema]) -> Settling:
        """What looks at the changes of relations with these columns."""
        # No method of this epoch, which would make a cycle of them.
        shown = partial(some_changes, self._recursion.evaluator.values, schemas)
        return Settling(self._parts, self._epoch.limit, reach, shown)

    def run(self, first: bool, profile: IterationRows, watch: Watch) -> None:
        """All events; `first`: from empty relations. Raises LoopLimit, LoopRepetition, RowFault, GivenUp."""
        self._first = first
        for source, at in self._parts.imports.items():
            store, _, change = self._imports[source]
            batch = store.batch() if first else change
            if batch is not None and batch.length:
                self._event(at, 0).ready.append(batch)
        if first:
            self._begin()
        evaluator, lattice = self._recursion.evaluator, self._lattice
        parts = self._parts.parts
        measured = epochcosts.inside()
        rounds = _Rounds(measured) if first and measured is not None else None
        outermost = 0
        for seen, (time, at, event) in enumerate(self._due(), 1):
            interrupt.check()
            number = int(lattice.round(time, 0))
            if number != outermost:
                self.depths.append((outermost, self.told))
                if rounds is not None:
                    rounds.end(outermost, self._rows())
                self._memory.end_round()
                if not outermost:
                    watch.seeded()
                watch.reached = profile.reached(number)
                self._look(watch)
                outermost, self.told = number, 0
                if self._epoch.progress is not None:
                    self._epoch.progress(self._recursion.phase, number, self._rows())
            if not seen % thresholds.LOOP_EVENTS:
                self._look(watch)
            component = parts[at].depth - 1
            evaluator.iteration = int(lattice.round(time, component))
            evaluator.rounds = partial(lattice.round, component=component)
            if measured is None:
                out = self._visit(at, time, event)
            else:
                out = self._measured(at, time, event, measured)
            if out is not None and out.length:
                self.told += out.length
                self._emit(at, time, out)
        self.depths.append((outermost, self.told))
        if rounds is not None:
            rounds.end(outermost, self._rows())
        self.settling.end()

    def _look(self, watch: Watch) -> None:
        watch.look()

    def changes(self, relation: str) -> Batch | None:
        """The net change of a relation of the outermost loop, if it is not at hand."""
        gathered = self._gathered.get(self._parts.results[relation])
        total = None if gathered is None else gathered.total()
        return None if total is None else consolidate(total)

    def _begin(self) -> None:
        for at, node in enumerate(self._nodes):
            if isinstance(node, Constant) and node.rows:
                values = self._recursion.evaluator.values
                rows = Batch(encode_rows(values, node.schema, node.rows), len(node.rows))
                self._event(at, 0).ready.append(rows)
            elif isinstance(node, Join) and all(term.negated for term in node.terms):
                self._event(at, 0)

    def _rows(self) -> int:
        return sum(gathered.rows for gathered in self._gathered.values())

    # ------------------------------------------------------------- events

    def _event(self, at: int, time: int) -> PartEvent:
        """The event of a part at a time."""
        found = self._events.get((at, time))
        if found is None:
            found = self._events[at, time] = PartEvent(len(self._parts.parts[at].sources))
            heappush(self._heap, (self._order(at, time), time, at))
        return found

    def _order(self, at: int, time: int) -> tuple[int, ...]:
        """The place of an event among all."""
        order: list[int] = []
        for component, place in enumerate(self._parts.parts[at].place):
            order += (int(self._lattice.round(time, component)), place)
        return tuple(order)

    def _due(self) -> Iterator[tuple[int, int, PartEvent]]:
        """The events in their order, those that visits bring about among them: time, part and event."""
        while self._heap:
            _, time, at = heappop(self._heap)
            yield time, at, self._events.pop((at, time))

    def _emit(self, at: int, time: int, change: Batch) -> None:
        """Gives the change of a part to its readers."""
        self._memory.keep(at, time, change)
        if at in self._names:
            self._settle(at, time, change)
        if at in self._gathered:
            self._gathered[at].extend([change])
        for reader, slot in self._parts.readers[at]:
            then = self._time_of(reader, time)
            if then is not None:
                self._event(reader, then).changes[slot].append(change)

    def _settle(self, at: int, time: int, change: Batch) -> None:
        """Notes the change of a part that is a relation."""
        for number, relation in self._names[at]:
            self.settling.told(number, relation, time, change)

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
                raise self.settling.beyond(number, lattice.most, {})
            return time + node.rounds * lattice.unit(scope.component)
        if isinstance(node, FixpointResult):
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

    def _measured(self, at: int, time: int, event: PartEvent, inside: epochcosts.Inside) -> Batch | None:
        taken = sum(batch.length for each in event.changes for batch in each)
        since, node = epochcosts.clock(), self._nodes[at]
        out = self._visit(at, time, event)
        if node.text:
            until, length = epochcosts.clock(), 0 if out is None else out.length
            inside.derived += length if isinstance(node, Join) else 0
            inside.add(operator_of(node), node.text, since, until, taken, length)
        return out

    def _visit(self, at: int, time: int, event: PartEvent) -> Batch | None:
        """The rows that a part emits at a time."""
        node = self._nodes[at]
        arity = len(node.schema)
        match node:
            case Join():
                changes = [concat(each, 0) if each else None for each in event.changes]
                return self._sum([*event.ready, *self._join(at, node, time, changes)], arity)
            case Distinct() if at in self._distincts:
                return self._told(at, self._memory.distinct(at, time, event.changes[0], event.visits))
            case Group():
                return self._told(at, self._memory.group(at, time, event.changes[0], event.visits))
            case Admit():
                change = self._sum(event.changes[0], arity)
                return self._sum([*event.ready, *self._admit(at, node, time, change)], arity)
            case Gate():
                return self._sum([*event.ready, *self._gate(at, time, event)], arity)
            case Negate():
                change = self._sum(event.changes[0], arity)
                return None if change is None else change.negated()
            case FixpointResult():  # what came in some rounds may be gone in the last
                return consolidate(concat(event.changes[0], arity))
            case Sum() | Distinct() | Earlier() | Import() | Constant() | Exchange():
                return self._sum([*event.ready, *(b for each in event.changes for b in each)], arity)
            case _:
                raise TypeError(f"{type(node).__name__} has no place in a loop")

    def _sum(self, batches: Sequence[Batch], arity: int) -> Batch | None:
        return concat(batches, arity) if batches else None

    def _join(self, at: int, node: Join, time: int, changes: Sequence[Batch | None]) -> list[Batch]:
        found: list[Batch] = []
        sizes = [0 if change is None else change.length for change in changes]
        for start, seen in versions(node.terms, sizes, self._begins(node, time)):
            views = self._views(at, start, seen, time, changes)
            if not meets_nothing(node.terms, views):
                found += self._joined(at, start, time, changes, views)
        return found

    def _begins(self, node: Join, time: int) -> bool:
        """Whether a join gives the valuations that rest on no row."""
        return self._first and not time and all(term.negated for term in node.terms)

    def _joined(
        self,
        at: int,
        start: int | None,
        time: int,
        changes: Sequence[Batch | None],
        views: Sequence[View | None],
    ) -> list[Batch]:
        """The rows of this time of a delta join; the others wait for theirs."""
        found: list[Batch] = []
        timed: Batch | None = None
        if start is not None:
            change = changes[start]
            assert change is not None
            times = np.full(change.length, time, np.int64) if _have_times(views) else None
            timed = Batch(change.columns, change.length, change.weights, times)
        for derived in self._memory.joiners[at].run(start, timed, views):
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
        return self._memory.view(source, time, unseen)

    def _told(self, at: int, told: EmittedRows) -> Batch | None:
        """The rows that an operator emits. Notes the keys to visit again."""
        if len(told.again):
            order = np.argsort(told.times, kind="stable")
            cuts = np.flatnonzero(np.diff(told.times[order])) + 1
            for some in np.split(order, cuts):
                self._event(at, int(told.times[some[0]])).visits.append(told.again[some])
        return told.change

    def _admit(self, at: int, node: Admit, time: int, change: Batch | None) -> list[Batch]:
        if change is None or not change.length:
            return []
        arity, number = len(node.schema), self._parts.target(self._parts.parts[at])
        scope = self._parts.scopes[number]
        now = int(self._lattice.round(time, scope.component))
        ends = arity + node.since
        last = max(int(column.max()) for column in change.columns[arity:])
        if last <= (self._lattice.most if scope.last is None else scope.last):
            self.settling.named[number] = max(self.settling.named[number], last)
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
            raise self.settling.beyond(number, lattice.most, {})
        now = int(lattice.round(time, scope.component))
        return self._later(at, time, time + (rounds - now) * lattice.unit(scope.component), rows)

    def _gate(self, at: int, time: int, event: PartEvent) -> list[Batch]:
        found: list[Batch] = []
        change = self._sum(event.changes[0], len(self._nodes[at].schema))
        flag = sum(int(batch.weight_array().sum()) for batch in event.changes[1])
        for then, batch in self._memory.gates[at].passed(time, change, flag):
            (found if then == time else self._event(at, then).ready).append(batch)
        return found


def _have_times(views: Sequence[View | None]) -> bool:
    """Whether a join with these gives rows at several times."""
    return any(isinstance(view, TimedView) for view in views)
