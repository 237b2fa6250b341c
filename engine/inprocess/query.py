"""Queries in process: one epoch over the stores of a runtime, which change nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..circuit import DeltaJoin, Input, Join
from ..derived import Position
from ..epoch import Epoch
from ..integrals import weighted
from ..schedule import walk
from .batch import Batch, Gathering, consolidate, no_rows
from .index import Index, made_once
from .rows import ArrayRows
from .running import RunningEpoch
from .state import State
from .views import Readable, StoreView, View, whole_row


def answer(state: State, epoch: int, given: Collection[str] = ()) -> ArrayRows:
    """The rows of the one output of a circuit whose inputs are stores of a runtime. `epoch` is the number
    that the query's expressions are told. Joins begin with an input that is `given`."""
    (name,) = state.outputs
    operators = _Query(state, given)
    state.evaluator.epoch = epoch
    (out,) = walk(state.circuit, operators).values()
    schema = state.circuit.nodes[state.outputs[name]].schema
    return ArrayRows(state.values, schema, no_rows(schema) if out is None else consolidate(out))


class _Query(RunningEpoch):
    """A static epoch in which the inputs' contents are the changes and the state at once."""

    def __init__(self, state: State, given: Collection[str]) -> None:
        super().__init__(state, Epoch({}, static=True))
        nodes = state.circuit.nodes
        self._given = {at for at, n in enumerate(nodes) if isinstance(n, Input) and n.relation in given}

    def input(self, at: int, node: Input) -> Batch | None:
        return self.state.stores[at].batch()

    def join(self, at: int, node: Join | DeltaJoin, changes: Sequence[Batch | None]) -> Batch | None:
        """The join of the terms' contents: from the constants where an arrangement serves them, else from
        all rows of the term that would be looked up first."""
        stores = self.state.stores
        if any(term.source not in stores for term in node.terms):
            return super().join(at, node, changes)
        joiner = self.state.joiners[at]
        views = [_QueryView(stores[t.source], weighted(self.circuit, t.source)) for t in node.terms]
        start = next((k for k, term in enumerate(node.terms) if term.source in self._given), None)
        first = None if start is not None else joiner.first_look_up(views)
        if first is not None:
            store = stores[node.terms[first.term].source]
            if not whole_row(first.positions, store.schema) and first.positions not in store.indexes:
                start = first.term
        change = None if start is None else stores[node.terms[start].source].batch()
        others: list[View | None] = [None if k == start else view for k, view in enumerate(views)]
        found = Gathering(len(node.schema))
        found.extend(joiner.run(start, change, others))
        return found.total()


class _QueryView(StoreView):
    """A store as it is. An arrangement that it lacks is built for the query alone."""

    def __init__(self, store: Readable, weighted: bool) -> None:
        super().__init__(store, weighted)
        self._built: dict[tuple[Position, ...], Index] = {}

    def arranged(self) -> Collection[tuple[Position, ...]]:
        return {*self.relation.indexes, *self._built}

    def index(self, positions: tuple[Position, ...]) -> Index:
        if positions in self.relation.indexes:
            return self.relation.indexes[positions]
        relation = self.relation
        return made_once(self._built, positions, lambda: Index(relation.table, positions, relation.rows()))
