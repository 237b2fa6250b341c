"""One epoch of one worker: its operators over its shard, with Exchanges, and joins that ask the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from ..circuit import (
    Constant,
    DeltaClock,
    DeltaJoin,
    DeltaLate,
    DeltaWindow,
    Exchange,
    Fixpoint,
    Join,
    NodeId,
)
from ..divergence import Changing
from ..epoch import Epoch
from ..inprocess.arrangements.store import Store, store_of
from ..inprocess.arrangements.views import GrowingView, StoreView, View
from ..inprocess.epoch import RunningEpoch
from ..inprocess.joins.transientfaults import may_cancel
from ..inprocess.recursion.rankedrelation import Ranked, RankedView
from ..inprocess.storage.batch import Batch, Gathering, Rows, concat, consolidate, no_rows
from ..rules import Source
from ..runtime import Delta
from ..schema import RowFault
from ..versions import Seen, versions
from .loop import RunningShardsLoop, ShardsLoop
from .recursion import MaintainedShards, ShardsRecursion
from .state import ShardState
from .team import Team
from .views import Place, ShardsView, Spread
from .wire import exchanged, packed, unpacked


class ShardEpoch(RunningEpoch):
    """One epoch over a shard of the state. `active` are the nodes that may change, once they are known."""

    state: ShardState

    def __init__(self, state: ShardState, epoch: Epoch[Batch], team: Team) -> None:
        super().__init__(state, epoch)
        self._team = team
        self.active = frozenset[NodeId]()
        self._changes: dict[NodeId, Batch | None] = {}  # of the nodes that are done
        self._running: dict[NodeId, MaintainedShards] = {}
        self._loops: dict[NodeId, RunningShardsLoop] = {}
        self._wholes: dict[tuple[NodeId, bool], Store] = {}  # by nodes, with this epoch's change and without

    def begin(self, active: frozenset[NodeId]) -> None:
        """Notes which nodes may change."""
        self.active = active
        self.state.copies.begin(active)

    def rollback(self) -> None:
        self._team.abort()
        super().rollback()
        self.state.copies.rollback(self.active)

    def finish(self, outputs: Mapping[str, Batch | Rows | None]) -> dict[str, Delta]:
        found = super().finish(outputs)
        for at in [*self.state.copies.behind]:
            self.state.copies.bring_up(at, partial(self._changes_of_all, at))
        return found

    # ------------------------------------------------------------- operators

    def constant(self, at: int, node: Constant) -> Batch | None:
        return None if self._team.rank else super().constant(at, node)

    def exchange(self, at: int, node: Exchange, change: Batch | None) -> Batch | None:
        return exchanged(self._team, self.state.values, node.schema, node.key, change)

    def join(self, at: int, node: Join | DeltaJoin, changes: Sequence[Batch | None]) -> Batch | None:
        if not self._team.looks_into or self.epoch.first:
            return self._joined(at, node, changes)
        try:
            found = self._joined(at, node, changes)
            said = self._team.agree((False, may_cancel(node, changes)))
            if not any(faults for faults, _ in said):
                return found
        except RowFault:
            said = self._team.agree((True, may_cancel(node, changes)))
            if not any(may for _, may in said):
                raise
        if not any(may for _, may in said):
            self._team.agree(None)  # until the worker gives up that knows the fault
        return self._without_cancelled(at, node, changes)

    def _without_cancelled(
        self, at: int, node: Join | DeltaJoin, changes: Sequence[Batch | None]
    ) -> Batch | None:
        """The change of a join by all that its terms hold now and held before, on all workers; see
        `inprocess.joins.transientfaults`. Rows that may be anywhere go to owners for it."""
        joiner, arity, total = self.state.joiners[at], len(node.schema), Gathering(len(node.schema))
        if len(node.terms) == 1 and not node.terms[0].negated:
            (change,) = changes
            owned = self._owned(node.terms[0].source, change)
            return concat(list(joiner.run(0, owned, (None,))), arity) if owned.length else None
        present = [self.state.stores[term.source].present for term in node.terms]
        sizes = [*map(sum, zip(*self._team.agree(present), strict=True))]
        positive = [place for place, term in enumerate(node.terms) if not term.negated]
        start = min(positive, key=sizes.__getitem__, default=None)
        for now in (True, False):
            joiner.forget_faults()
            rows, views = None, list[View | None]()
            for place, (term, change) in enumerate(zip(node.terms, changes, strict=True)):
                source = term.source
                if place == start or self.state.placed.keys[source] is None:
                    self._wholes[source, now] = self._whole(source, change, now)
                views.append(None if place == start else self._spread_whole(source, now))
            self._team.agree(None)  # all have made what others look up
            if start is not None:
                rows = self._wholes[node.terms[start].source, now].batch()
            if rows is None and self._team.rank:
                continue
            found = joiner.run(start, rows, views)
            total.extend(found if now else (each.negated() for each in found))
        return total.total()

    def _whole(self, at: NodeId, change: Batch | None, now: bool) -> Store:
        """The rows of a node that this worker owns, each once, with this epoch's change or without."""
        store = self.state.stores[at]
        held = [store.batch()] if now or change is None else [store.batch(), change.negated()]
        return store_of(store.schema, self._owned(at, concat(held, len(store.schema))))

    def _owned(self, at: NodeId, batch: Batch | None) -> Batch:
        """Some rows of a node that this worker owns, each once; by all columns if rows may be anywhere."""
        schema = self.circuit.nodes[at].schema
        if self.state.placed.keys[at] is None:
            batch = exchanged(self._team, self.state.values, schema, range(len(schema)), batch)
        return no_rows(schema) if batch is None else consolidate(batch)

    def _spread_whole(self, at: NodeId, now: bool) -> View:
        """The contents of a node on all workers, each row once."""
        if self.state.placed.keys[at] is not None:
            return self.spread(at, now or at not in self.active)
        schema, place = self.circuit.nodes[at].schema, ("whole", at, now)
        spread = Spread(schema, tuple(range(len(schema))))
        return ShardsView(self._team, self.state.values, spread, place, self.view_of(place))

    def _joined(self, at: int, node: Join | DeltaJoin, changes: Sequence[Batch | None]) -> Batch | None:
        if len(node.terms) == 1 and not node.terms[0].negated:
            (change,) = changes
            if change is None or not change.length:
                return None
            return concat(list(self.state.joiners[at].run(0, change, (None,))), len(node.schema))
        active = [term.source in self.active for term in node.terms]
        starts = self.net(self.state.joiners[at], changes)
        sizes = [int(each) for each in active]
        if sum(sizes) > 1:
            own = [0 if change is None else change.length for change in starts]
            sizes = list(map(sum, zip(*self._team.agree(own), strict=True)))
        found = Gathering(len(node.schema))
        for start, seen in versions(node.terms, sizes, self.epoch.first):
            change = None if start is None else starts[start]
            if self._team.rank if start is None else change is None or not change.length:
                continue
            views = self.views(node, start, seen, changes)
            found.extend(self.state.joiners[at].run(start, change, views))
        return found.total()

    def views(
        self, node: Join | DeltaJoin, start: int | None, seen: Seen, changes: Sequence[Batch | None]
    ) -> list[View | None]:
        return [
            None if k == start else self.spread(term.source, seen[k] or term.source not in self.active)
            for k, term in enumerate(node.terms)
        ]

    def spread(self, at: NodeId, now: bool) -> ShardsView | StoreView:
        """The contents of a node on all workers, with the change of this epoch or without."""
        place, state, key = ("node", at, now), self.state, self.state.placed.keys[at]
        local, spread = self.view_of(place), Spread(self.circuit.nodes[at].schema, key)
        view = ShardsView(self._team, state.values, spread, place, local, partial(state.copies.note, at))
        copy = None
        if now and key and at not in state.forgetful:
            assert isinstance(local, StoreView)
            size, others = partial(self._size_of_others, at), partial(self._others, at)
            changes = partial(self._changes_of_all, at)
            copy = state.copies.view(at, view.size, local, size, others, changes)
        return copy or view

    def _of_others(self, what: str, at: NodeId, *more: Any) -> Collection[Any]:
        """What a method of the workers that own rows says of a node."""
        team = self._team
        return team.ask({peer: (what, (at, *more)) for peer in team.owning if peer != team.rank}).values()

    def _size_of_others(self, at: NodeId) -> int:
        """The number of rows of a node on other workers."""
        return sum(self._of_others("node_size", at))

    def _others(self, at: NodeId) -> Batch:
        """The rows of a node on other workers."""
        schema, came = self.circuit.nodes[at].schema, self._of_others("node_parcel", at)
        return concat([unpacked(self.state.values, schema, each) for each in came], len(schema))

    def change_of(self, at: NodeId) -> Batch:
        """The change of a node that is done, on this worker."""
        change = self._changes.get(at)
        return no_rows(self.circuit.nodes[at].schema) if change is None else change

    def _changes_of_all(self, at: NodeId, most: int) -> list[Batch] | None:
        """The changes of a node that is done on all workers; None if another one has more than so many
        rows."""
        came = self._of_others("node_change", at, most)
        if None in came:
            return None
        schema = self.circuit.nodes[at].schema
        return [self.change_of(at), *(unpacked(self.state.values, schema, each) for each in came)]

    def view_of(self, place: Place) -> View:
        """The part of this worker of a version of a relation."""
        kind, at, *version = place
        if kind == "node":
            change = self._changes.get(at)
            if version[0] or change is None:
                return StoreView(self.state.stores[at], self.state.weighted(at))
            return self.before(at, change)
        if kind == "loop":
            return self._loops[at].view_of(*version)
        if kind == "whole":
            return StoreView(self._wholes[at, version[0]], True)
        name, now = version
        relation = self._running[at].relations[name]
        if isinstance(relation, Ranked):
            return RankedView(relation, 0 if now is True else now)
        return GrowingView(relation, bool(now))

    def keep(self, at: int, change: Batch | None) -> None:
        self._changes[at] = change
        super().keep(at, change)
        self._team.ready()

    # ------------------------------------------------------------- windows

    def timed(
        self, at: int, node: DeltaClock | DeltaWindow | DeltaLate, change: Batch | None
    ) -> Batch | None:
        found = super().timed(at, node, change)
        return None if self._team.rank and isinstance(node, DeltaClock) else found  # all have its value

    def greatest(self, node: DeltaClock, change: Batch | None) -> int | None:
        every = self._team.agree(super().greatest(node, change))
        return max((value for value in every if value is not None), default=None)

    def forget(self) -> None:
        for at, holders in self.state.forgetful.items():
            if self.active.isdisjoint(holder.window for holder in holders):
                continue
            schema = self.circuit.nodes[at].schema
            parts = [Batch(part.columns, part.length) for part in self.leaving.get(at, ())]
            own = concat(parts, len(schema))
            key = self.state.placed.keys[at]
            if key is None:
                came = [unpacked(self.state.values, schema, each) for each in
                        self._team.agree(packed(self.state.values, schema, own))]  # fmt: skip
                found: Batch | None = concat(came, len(schema))
            else:
                found = exchanged(self._team, self.state.values, schema, key, own)
            if found is not None and found.length:
                self.forget_some(at, found, lambda window, *rows: self.spread(window, True).presence(*rows))

    # ------------------------------------------------------------- recursions

    def recursion(self, at: int, node: Fixpoint, changes: Mapping[int, Batch | None]) -> Any:
        recursion = self.state.recursions[at]
        imports = self.imports(changes)
        if isinstance(recursion, ShardsLoop):
            loop = self._loops[at] = RunningShardsLoop(recursion, imports, self.epoch, at)
            self._begun.append(loop)
            loop.seed(self.epoch.first)
            return loop
        if not isinstance(recursion, ShardsRecursion):
            return _Nothing() if self._team.rank else super().recursion(at, node, changes)
        recursion.view_of = partial(self._view_in, at)
        running = self._running[at] = MaintainedShards(recursion, imports, self.epoch)
        self._begun.append(running)
        self._team.ready()
        running.seed(self.epoch.first)
        return running

    def _view_in(self, fixpoint: NodeId, source: Source, version: Any, local: View) -> View:
        """A version of a source of a recursion, on all workers."""
        if isinstance(source, int):
            return self.spread(source, bool(version) or source not in self.active)
        place = "relation", fixpoint, source, version
        node = self.circuit.nodes[fixpoint]
        assert isinstance(node, Fixpoint)
        schema = node.body.nodes[dict(node.results)[source]].schema
        spread = Spread(schema, self.state.placed.inside[fixpoint][source])
        return ShardsView(self._team, self.state.values, spread, place, local)


class _Nothing:
    """An epoch of a recursion that runs on another worker."""

    def next_iteration(self) -> int | None:
        return None

    def iterate(self, time: int) -> None:
        """Nothing."""

    def rows(self) -> int:
        return 0

    def changing(self) -> Changing:
        return []

    def finish(self) -> Mapping[str, Batch | None]:
        return _Absent()


class _Absent(dict[str, Batch | None]):
    def __missing__(self, relation: str) -> None:
        return None
