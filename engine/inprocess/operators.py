"""The incremental operators in process: what an epoch of a circuit and a round of a recursion share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from .. import thresholds
from ..circuit import (
    Clocked,
    Constant,
    DeltaClock,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    DeltaLate,
    DeltaOrdered,
    DeltaWindow,
    Exchange,
    Fixpoint,
    FixpointResult,
    Input,
    Join,
    Negate,
    NodeId,
    Sum,
)
from ..epoch import Epoch
from ..schedule import NestedEpoch
from ..schema import Array, RowFault
from ..versions import Seen, versions
from .arrangements.store import Store
from .arrangements.views import Readable, StoreView, View, before, meets_nothing
from .arrangements.windows import ClockState, WindowStore, greatest, late
from .clockoperators import step
from .groups.group import GroupState
from .groups.orderedgroups import OrderedState
from .joins.join import Joiner
from .joins.transientfaults import may_cancel, without_cancelled
from .state import State
from .storage.batch import Batch, Gathering, concat, consolidate
from .storage.interner import encode_rows

KEPT_ALREADY = frozenset((Input, DeltaDistinct, DeltaWindow, FixpointResult))
"""The nodes whose stores have taken the change when it is known."""


class EpochOperators:
    """The operators of one epoch over a state. See `engine.schedule.Operators`."""

    def __init__(self, state: State, epoch: Epoch[Batch]) -> None:
        self.state, self.epoch, self.circuit = state, epoch, state.circuit
        self.changed: list[Store | GroupState | OrderedState | ClockState] = []  # perhaps, by this epoch
        self.taken: dict[int, Batch] = {}  # the changes of the inputs
        self.leaving: dict[int, list[Batch]] = {}  # of forgetful nodes: rows that may be in no window now
        self.forgotten: dict[int, Batch] = {}  # of forgetful nodes: rows that were dropped
        self.remembered: dict[int, Batch] = {}  # the changes of the nodes that are remembered
        self.gathering: Gathering | None = None  # the rows of the join that is being computed
        self.filled: set[NodeId] = set()  # the nodes that held nothing and took rows in early
        self._before: dict[NodeId, tuple[Batch, View]] = {}  # see `before`
        self._nets: dict[tuple[NodeId, tuple[int, ...]], tuple[Batch, Batch | None]] = {}  # see `net`

    def input(self, at: int, node: Input) -> Batch | None:
        changes = [(batch, sign) for batch, sign in self.epoch.changes.get(node.relation, ()) if batch.length]
        if not changes:
            return None
        store = self._to_change(at)
        change = self._taken(at, node, store, changes)
        self.taken[at] = change
        return change if change.length else None

    def _taken(self, at: int, node: Input, store: Store, changes: Sequence[tuple[Batch, int]]) -> Batch:
        """The change of an input's store by these changes."""
        if not node.multiset:
            change = store.set_rows(changes)
        else:
            parts = [batch.scaled(sign) for batch, sign in changes]
            change = store.add_counted(consolidate(concat(parts, len(node.schema))), as_set=False)
        return change

    def constant(self, at: int, node: Constant) -> Batch | None:
        if not self.epoch.first:
            return None
        return Batch(encode_rows(self.state.values, node.schema, node.rows), len(node.rows))

    def sum(self, at: int, node: Sum, changes: Sequence[Batch | None]) -> Batch | None:
        some = [change for change in changes if change is not None]
        return self._with_early(at, concat(some, len(node.schema)) if some else None)

    def negate(self, at: int, node: Negate, change: Batch | None) -> Batch | None:
        return None if change is None else change.negated()

    def exchange(self, at: int, node: Exchange, change: Batch | None) -> Batch | None:
        return change

    def clocked(self, at: int, node: Clocked, change: Batch | None) -> Batch | None:
        memory = self.state.memories.of(at, node)
        self.changed.append(memory)
        return step(node, memory, change)

    def join(self, at: int, node: Join | DeltaJoin, changes: Sequence[Batch | None]) -> Batch | None:
        try:
            return self._joined(at, node, changes)
        except RowFault:
            self.gathering = None
            if self.epoch.first or not may_cancel(node, changes):
                raise

        def source(place: int) -> tuple[Readable, bool, Batch | None]:
            of = node.terms[place].source
            return self.state.stores[of], self.state.weighted(of), changes[place]

        return without_cancelled(self.state.joiners[at], node, changes, source)

    def _joined(self, at: int, node: Join | DeltaJoin, changes: Sequence[Batch | None]) -> Batch | None:
        """The change of a join, by its delta joins."""
        joiner = self.state.joiners[at]
        starts = self.net(joiner, changes)
        sizes = [0 if change is None else change.length for change in starts]
        rows = sum(sizes)
        if not (self.epoch.first or rows):
            return None
        if len(changes) == 1 and 0 < rows <= thresholds.FEW_ROWS and not node.terms[0].negated:
            return concat(list(joiner.run(0, starts[0], (None,))), len(node.schema))
        may_fail = not self.epoch.first and may_cancel(node, changes)
        found = self.gathering = Gathering(len(node.schema)) if may_fail else self.gathered(at)
        for start, seen in versions(node.terms, sizes, self.epoch.first):
            views = self.views(node, start, seen, changes)
            if meets_nothing(node.terms, views):
                continue
            found.extend(joiner.run(start, None if start is None else starts[start], views))
        total = found.total()
        self.gathering = None
        return self._with_early(at, total)

    def gathered(self, at: NodeId) -> Gathering:
        """A sum for the rows of a join that stay, so far empty. If all of them go to one store or group that
        holds nothing yet, it takes many at once, before the others are there."""
        state, arity = self.state, len(self.circuit.nodes[at].schema)
        into = None if state.evaluator.measured else state.takers.get(at)
        if into is None or into in state.late:
            return Gathering(arity)
        group = state.groups.get(into)
        held = state.own_store(into).table if group is None else group.keys
        if held.size and into not in self.filled:
            return Gathering(arity)
        return Gathering(arity, thresholds.CHUNK, partial(self._take_early, into))

    def _take_early(self, at: NodeId, part: Batch) -> None:
        """Adds a part of the change of a node, or of the source of a group, to what held nothing."""
        group = self.state.groups.get(at)
        if at not in self.filled:
            self.filled.add(at)
            self.changed.append(self.state.own_store(at) if group is None else group)
        if group is None:
            self._add(at, part)
        else:
            group.add_part(part)

    def _add(self, at: NodeId, change: Batch) -> Batch:
        """Adds rows to the store of a node. Returns the change of presence if it is a *distinct*."""
        store, as_set = self.state.own_store(at), isinstance(self.circuit.nodes[at], DeltaDistinct)
        if not (as_set and self.epoch.static):
            return store.add_counted(change, as_set)
        if not change.positive():
            change = consolidate(change)
            assert change.weights is None or change.positive()
        return store.add_present(Batch(change.columns, change.length))

    def _with_early(self, at: NodeId, change: Batch | None) -> Batch | None:
        """The change of a node, given what has not come early."""
        if at not in self.filled:
            return change
        if change is not None and change.length:
            self._take_early(at, change)
        group = self.state.groups.get(at)
        return self.state.own_store(at).as_change() if group is None else group.as_change()

    def net(self, joiner: Joiner, changes: Sequence[Batch | None]) -> list[Batch | None]:
        """The changes of the terms of a join, as `Joiner.net` gives them: once for all joins that read the
        same columns of a change. Large changes are left as they are: they would be held until the epoch
        ends."""
        nets = [*changes]
        for place, (change, read) in enumerate(zip(changes, joiner.read, strict=True)):
            if change is None or change.weights is None or read is None:
                continue
            if 0 < change.length <= thresholds.JOIN_CHUNK:
                by = joiner.node.terms[place].source, read
                held = self._nets.get(by)
                if held is None or held[0] is not change:
                    held = self._nets[by] = change, joiner.net(place, change)
                nets[place] = held[1]
        return nets

    def views(
        self, node: Join | DeltaJoin, start: int | None, seen: Seen, changes: Sequence[Batch | None]
    ) -> list[View | None]:
        """The view that a delta join has of each term but its start, given the changes of all terms."""
        views: list[View | None] = []
        for k, term in enumerate(node.terms):
            if k == start:
                views.append(None)
                continue
            store, counted = self.state.stores[term.source], self.state.weighted(term.source)
            change = changes[k]
            if seen[k] or change is None:
                views.append(StoreView(store, counted))
            else:
                views.append(self.before(term.source, change))
        return views

    def before(self, at: NodeId, change: Batch) -> View:
        """A node as it was before its change of this epoch. All joins that read it share the view, which
        holds the change as a store with indexes of its own, unless that is large."""
        held = self._before.get(at)
        if held is not None and held[0] is change:
            return held[1]
        view = before(self.state.stores[at], self.state.weighted(at), change)
        if change.length <= thresholds.CHUNK:
            self._before[at] = change, view
        return view

    def distinct(self, at: int, node: DeltaDistinct, change: Batch | None) -> Batch | None:
        if at in self.filled:
            return self._with_early(at, change)
        if change is None or not change.length:
            return None
        counts = self.state.memories.counts(at)
        if counts is not None:
            self.changed.append(counts)
            change = counts.add_counted(change, as_set=True)
        self._to_change(at)
        return self._add(at, change)

    def group(self, at: int, node: DeltaGroup, change: Batch | None) -> Batch | None:
        if at in self.filled:
            return self._with_early(at, change)
        if change is None or not change.length:
            return None
        group = self.state.groups[at]
        self.changed.append(group)
        return group.change(change)

    def ordered(self, at: int, node: DeltaOrdered, change: Batch | None) -> Batch | None:
        if change is None or not change.length:
            return None
        state = self.state.ordered[at]
        self.changed.append(state)
        return state.change(change, self.state.stores[node.source])

    def timed(
        self, at: int, node: DeltaClock | DeltaWindow | DeltaLate, change: Batch | None
    ) -> Batch | None:
        if at in self.state.given:
            first = self.epoch.first
            return self._first_timed(at, node, change) if first else self._given_timed(at, node)
        match node:
            case DeltaClock():
                return self._clock(at, self.greatest(node, change))
            case DeltaWindow():
                return self._window(at, node, change)
            case DeltaLate():
                last = self.state.stores[at].batch().negated()
                come = late(node, change, self.state.clocks[node.clock])
                parts = [each for each in (last, come) if each is not None and each.length]
                return concat(parts, len(node.schema)) if parts else None

    def _first_timed(
        self, at: int, node: DeltaClock | DeltaWindow | DeltaLate, change: Batch | None
    ) -> Batch | None:
        """The first change of a node that began with contents. It has taken in what its source gives."""
        parts: list[Batch | None] = [self.state.given[at]]
        match node:
            case DeltaClock():
                parts.append(self._clock(at, self.greatest(node, change)))
            case DeltaWindow():
                parts.append(self._window(at, node, None))
        some = [part for part in parts if part is not None and part.length]
        return consolidate(concat(some, len(node.schema))) if some else None

    def _given_timed(self, at: int, node: DeltaClock | DeltaWindow | DeltaLate) -> Batch:
        """The change of a node that is known, whatever its source gives."""
        change = self.state.given[at]
        match node:
            case DeltaClock() if change.length:
                clock = self.state.clocks[at]
                self.changed.append(clock)
                clock.begin_with(int(change.columns[0].max()))
            case DeltaWindow():
                store = self._to_change(at)
                assert isinstance(store, WindowStore)
                return store.take_in(change)
        return change

    def _clock(self, at: int, greatest: int | None) -> Batch | None:
        clock = self.state.clocks[at]
        self.changed.append(clock)
        return clock.change(greatest)

    def greatest(self, node: DeltaClock, change: Batch | None) -> int | None:
        """The greatest value that comes to a clock."""
        return greatest(node, change)

    def _window(self, at: int, node: DeltaWindow, change: Batch | None) -> Batch | None:
        store = self._to_change(at)
        assert isinstance(store, WindowStore)
        found = store.change(node, change, self.state.clocks[node.clock])
        if found is not None and found.weights is not None:
            gone = found.take(np.flatnonzero(found.weights < 0))
            for source, columns in self.state.held_by.get(at, ()):
                by_place = dict(zip(columns, gone.columns, strict=True))
                rows = Batch(tuple(by_place[place] for place in range(len(columns))), gone.length)
                self.leaving.setdefault(source, []).append(rows)
        return found

    def forget(self) -> None:
        """Drops the rows of forgetful nodes that are in no window any more."""
        for at, parts in self.leaving.items():
            width = len(self.circuit.nodes[at].schema)
            found = concat([Batch(part.columns, part.length) for part in parts], width)
            self.forget_some(at, found, lambda window, *rows: self.state.stores[window].weight_of(*rows))

    def forget_some(
        self, at: NodeId, found: Batch, presence: Callable[[NodeId, Sequence[Array], int], Array]
    ) -> None:
        """Drops these rows of a forgetful node, unless one of its windows has them: `presence` gives the
        weights of rows in a window."""
        store = self._to_change(at)
        rows = np.unique(store.table.find(found.columns, found.length))
        rows = rows[rows >= 0]
        columns = store.table.columns_at(rows)
        gone = np.ones(len(rows), np.bool_)
        for holder in self.state.forgetful[at]:
            gone &= presence(holder.window, [columns[place] for place in holder.columns], len(rows)) == 0
        if gone.any():
            batch = Batch(columns, len(rows)).take(np.flatnonzero(gone))
            weights = store.weight_of(batch.columns, batch.length)
            store.add_counted(Batch(batch.columns, batch.length, -weights), as_set=False)
            self.forgotten[at] = Batch(batch.columns, batch.length, weights)

    def recursion(
        self, at: int, node: Fixpoint, changes: Mapping[int, Batch | None]
    ) -> NestedEpoch[Batch | None]:
        raise TypeError("a recursion stands inside a recursion")

    def lengths(self, changes: Iterable[Batch | None]) -> list[float]:
        return [0 if change is None else change.length for change in changes]

    def keep(self, at: int, change: Batch | None) -> None:
        if change is None:
            return
        if at in self.state.remembering:
            self.remembered[at] = change
        store = self.state.stores.get(at)
        if store is None:
            return
        if at in self.state.forgetful:
            self.leaving.setdefault(at, []).append(change)
        node = self.circuit.nodes[at]
        if node.__class__ in KEPT_ALREADY or not isinstance(store, Store):
            return
        if at in self.filled and at not in self.state.groups:
            return
        if at in self.state.late:
            self.state.take_in()
        self.changed.append(store)
        store.keep(change, isinstance(node, DeltaGroup))

    def _to_change(self, at: int) -> Store:
        store = self.state.stores[at]
        assert isinstance(store, Store)
        self.changed.append(store)
        return store
