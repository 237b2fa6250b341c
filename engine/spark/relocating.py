"""Moving the state of operators between the driver and the cluster, between two epochs.

`prepare` computes all that is to come to either side, by jobs that may fail; `apply` puts it in place, and
cannot. An integral that nobody keeps is computed once more from the integrals that it follows from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..circuit import (
    Constant,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Fixpoint,
    Import,
    Join,
    Negate,
    NodeId,
    Output,
    Result,
    Sum,
)
from ..epoch import Epoch
from ..inprocess.arrangements.store import Store
from ..inprocess.arrangements.views import Readable
from ..inprocess.groups.grouping import GroupState
from ..inprocess.recursion.memories import Imported
from ..inprocess.recursion.recursion import Recursion
from ..inprocess.storage.batch import Batch
from ..integrals import weighted
from .change import Change
from .moving import Moving
from .placedepoch import EpochHere, PlacedEpoch
from .placement import PlacedOperators
from .running import RunningEpoch
from .sqltext import As, Query, Select, consolidated, everything
from .tables import Table

if TYPE_CHECKING:
    from .sides import Sides


class Relocation:
    """The move of the state of two sides to new places."""

    def __init__(self, sides: Sides, places: PlacedOperators) -> None:
        self._sides, self._old, self._new = sides, sides.places, places
        self._here, self._there, self._crossing = sides.here.state, sides.there, sides.crossing
        self._nodes = sides.circuit.nodes
        epoch: Epoch[Table] = Epoch({})
        here = EpochHere(self._here, Epoch({}))
        here.most = 1 << 62
        there = RunningEpoch(self._there, epoch)
        self._again = PlacedEpoch(
            here, there, self._crossing, sides.placement, self._old, sides.widths, epoch
        )
        self._known: dict[NodeId, Moving | None] = {}
        self._stores: dict[NodeId, Readable] = {}
        self._actions: list[Callable[[], None]] = []

    def prepare(self) -> None:
        """Computes what is to come to either side."""
        old, new = self._old, self._new
        for at, node in enumerate(self._nodes):
            self._leave_or_come(at)
            if at in new.there - old.there:
                self._to_cluster(at)
            elif at in old.there - new.there:
                self._to_driver(at)
            if isinstance(node, Result) and at in self._here.stores:
                self._place_result(at, node)

    def apply(self) -> None:
        """Puts it in place."""
        for action in self._actions:
            action()
        self._here.stores.update(self._stores)
        for at, group in self._here.groups.items():
            node = self._nodes[at]
            assert isinstance(node, DeltaGroup)
            if node.source in self._stores:
                group.read_from(self._stores[node.source])

    # ------------------------------------------------------------- integrals

    def _leave_or_come(self, at: NodeId) -> None:
        """The integral of a node comes to a side, or leaves it. Operators with a store of their own kind
        bring or take it themselves."""
        old, new, spines = self._old, self._new, self._there.spines
        if at in new.kept_there - old.kept_there:
            table = self._table(at)
            self._actions.append(partial(spines[at].replace, [table] if table.rows else []))
        elif at in old.kept_there - new.kept_there:
            self._actions.append(partial(spines[at].replace, []))
        if self._is_own(at):
            return
        if at in new.kept_here - old.kept_here:
            self._stores[at] = self._filled(at)
        elif at in old.kept_here - new.kept_here:
            self._stores[at] = self._here.new_store(at)

    def _is_own(self, at: NodeId) -> bool:
        """Whether a node on the driver has a store that is not just filled with its rows."""
        node = self._nodes[at]
        if isinstance(node, Result):
            return node.fixpoint not in self._new.there
        return isinstance(node, DeltaDistinct) and at not in self._new.there

    def _filled(self, at: NodeId) -> Store:
        """A store with the rows of a node."""
        return self._with(self._here.new_store(at), self._batch(at))

    def _with(self, store: Store, batch: Batch | None) -> Store:
        if batch is not None and batch.length:
            if store.is_set and batch.weights is None:
                store.add_present(batch)
            else:
                store.add_counted(batch, as_set=False)
            store.commit()
        return store

    def _table(self, at: NodeId) -> Table:
        change = self._crossing.there(self._nodes[at].schema, self._integral(at))
        if change is None:
            return self._crossing.tables.nothing(self._nodes[at].schema)
        return change.table

    def _batch(self, at: NodeId) -> Batch | None:
        return self._crossing.here(self._nodes[at].schema, self._integral(at))

    def _integral(self, at: NodeId) -> Moving | None:
        """The integral of a node as of the last commit, on the side where it is."""
        if at not in self._known:
            self._known[at] = self._found(at)
        return self._known[at]

    def _found(self, at: NodeId) -> Moving | None:
        if not self._sides.started:
            return None
        node, again, integral = self._nodes[at], self._again, self._integral
        if at in self._old.kept_here:
            return _rows(self._here.stores[at].batch())
        if at in self._old.kept_there:
            spine = self._there.spines[at]
            return self._change(at, everything(spine.net()), spine.rows())
        match node:
            case Output():
                return integral(node.source)
            case DeltaGroup():
                return _rows(self._here.groups[at].contents())
            case DeltaDistinct():
                counts = self._there.counts[at]
                present = consolidated(counts.columns, counts.contents(), "> 0")
                return self._change(at, Select([*counts.columns, As("1L", "w")], present), counts.rows())
            case Result() if node.fixpoint in self._old.there:
                query = self._there.recursions[node.fixpoint].contents(node.relation)
                return None if query is None else self._change(at, query, self._sides.placement.few + 1)
            case Result():
                return _rows(self._here.recursions[node.fixpoint].relations[node.relation].batch())
            case Constant():
                return again.constant(at, node)
            case Sum():
                return again.sum(at, node, [integral(source) for source in node.sources])
            case Negate():
                return again.negate(at, node, integral(node.source))
            case Join() | DeltaJoin():
                return again.join(at, node, [integral(term.source) for term in node.terms])
        raise AssertionError(f"the integral of a {type(node).__name__} is not kept")

    def _change(self, at: NodeId, query: Query, rows: int) -> Moving | None:
        if not rows:
            return None
        tables = self._crossing.tables
        return Moving(there=Change(tables, self._nodes[at].schema, query, rows <= tables.most_small))

    def _place_result(self, at: NodeId, node: Result) -> None:
        """The store of a relation of a recursion is the recursion's own while that is on the driver."""
        if node.fixpoint in self._new.there:
            if at in self._new.kept_here and at not in self._stores and node.fixpoint not in self._old.there:
                self._stores[at] = self._filled(at)
        elif node.fixpoint not in self._old.there:
            self._stores[at] = self._here.recursions[node.fixpoint].relations[node.relation]

    # ------------------------------------------------------------- operators

    def _to_cluster(self, at: NodeId) -> None:
        """The state of an operator on the driver goes to the cluster."""
        node = self._nodes[at]
        match node:
            case DeltaDistinct():
                table = self._crossing.table(node.schema, self._counts(at))
                self._actions.append(partial(self._there.counts[at].replace, [table] if table.rows else []))
                if at in self._new.kept_here:
                    self._stores[at] = self._filled(at)
                self._actions.append(partial(self._forget_counts, at))
            case DeltaGroup():
                if at in self._there.accumulators:
                    self._accumulate(at)
                self._actions.append(partial(self._set_group, at, self._empty_group(at, node)))
            case Fixpoint():
                self._recursion_to_cluster(at, node)

    def _accumulate(self, at: NodeId) -> None:
        """The accumulators of a group on the cluster, from those on the driver."""
        sent = self._there.driver_groups[at].sent(self._here.values, self._here.groups[at])
        spine = self._there.accumulators[at].spine
        self._actions.append(partial(spine.replace, [sent] if sent.rows else []))

    def _counts(self, at: NodeId) -> Batch:
        """The weights of the source of a distinct on the driver."""
        signed = self._here.memories.counts(at)
        store = self._here.own_store(at) if signed is None else signed
        if store.weights is None:
            return store.batch()
        rows = np.flatnonzero(store.weights[: store.table.size])
        return Batch(store.table.columns_at(rows), len(rows), store.weights[rows])

    def _forget_counts(self, at: NodeId) -> None:
        signed = self._here.memories.counts(at)
        if signed is not None:
            self._here.memories.put_counts(at, Store(self._nodes[at].schema, True))

    def _empty_group(self, at: NodeId, node: DeltaGroup) -> GroupState:
        store = self._here.new_store(node.source) if node.reads_members else None
        return self._sides.new_group(at, node, store)

    def _set_group(self, at: NodeId, group: GroupState) -> None:
        self._here.groups[at] = group

    def _recursion_to_cluster(self, at: NodeId, node: Fixpoint) -> None:
        relations = {
            name: self._crossing.table(store.schema, store.batch())
            for name, store in self._here.recursions[at].relations.items()
        }
        recursion = self._there.new_recursion(node)
        if any(table.rows for table in relations.values()):
            recursion.take_over(relations)
        empty = self._here.new_recursion(at, node)

        def act() -> None:
            self._there.recursions[at] = recursion
            self._here.recursions[at] = empty

        self._actions.append(act)

    def _to_driver(self, at: NodeId) -> None:
        """The state of an operator on the cluster comes to the driver."""
        node = self._nodes[at]
        match node:
            case DeltaDistinct():
                self._distinct_to_driver(at)
            case DeltaGroup():
                members = self._store(node.source) if node.reads_members else None
                group = self._sides.new_group(at, node, members)
                if at in self._there.accumulators:
                    self._there.driver_groups[at].bring(self._here.values, group)
                    self._actions.append(partial(self._there.accumulators[at].spine.replace, []))
                else:
                    batch = self._batch(node.source)
                    if batch is not None and batch.length:
                        group.change(batch)
                        group.commit()
                self._actions.append(partial(self._set_group, at, group))
            case Fixpoint():
                self._recursion_to_driver(at, node)

    def _store(self, at: NodeId) -> Readable:
        return self._stores.get(at) or self._here.stores[at]

    def _distinct_to_driver(self, at: NodeId) -> None:
        counts, schema = self._there.counts[at], self._nodes[at].schema
        net = self._crossing.tables.settled(everything(counts.net()), schema, small=True)
        batch = self._crossing.batch(schema, net)
        self._actions.append(partial(counts.replace, []))
        if self._here.memories.counts(at) is None:
            self._stores[at] = self._with(self._here.new_store(at), batch)
            return
        signed = Store(schema, True)
        self._with(signed, batch)
        weights = batch.weight_array()
        present = batch.take(np.flatnonzero(weights > 0))
        present = Batch(present.columns, present.length)
        self._stores[at] = self._with(self._here.new_store(at), present)
        self._actions.append(partial(self._here.memories.put_counts, at, signed))

    def _recursion_to_driver(self, at: NodeId, node: Fixpoint) -> None:
        """The recursion is evaluated once more, from its imports."""
        recursion = self._here.new_recursion(at, node)
        assert isinstance(recursion, Recursion)
        imports = {}
        for each in node.body.nodes:
            if isinstance(each, Import):
                store = self._store(each.node)
                imports[each.node] = Imported(store, weighted(self._sides.circuit, each.node), None)
        filled = self._sides.started
        if filled:
            evaluator = self._here.evaluator
            evaluator.silent = True
            try:
                running = recursion.begin_anew(recursion.sets, imports)
                running.seed(True)
                while (time := running.next_iteration()) is not None:
                    running.iterate(time)
                running.finish()
                running.commit()
            finally:
                evaluator.silent = False
        for result in self._sides.placement.results[at]:
            if result in self._here.stores:
                each_node = self._nodes[result]
                assert isinstance(each_node, Result)
                self._stores[result] = recursion.relations[each_node.relation]
        empty = self._there.new_recursion(node)

        def act() -> None:
            self._here.recursions[at] = recursion
            self._there.recursions[at] = empty

        self._actions.append(act)


def _rows(batch: Batch) -> Moving | None:
    return Moving(here=batch) if batch.length else None
