"""Queries in process: one epoch over the stores of a runtime, which change nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

import numpy as np

from ..circuit import DeltaJoin, Input, Join, Trace
from ..derivedcolumns import Position
from ..epoch import Epoch
from ..integrals import weighted
from ..node import Node
from ..schedule import walk
from .arrangements.index import RowIndex, made_once
from .arrangements.views import Readable, StoreView, View, whole_row
from .epoch import RunningEpoch
from .state import State
from .storage.batch import Batch, Gathering, consolidate, no_rows
from .storage.rows import ArrayRows

Built: TypeAlias = "dict[tuple[int, tuple[Position, ...]], RowIndex]"
"""Arrangements built for queries, by the identity of the store and the columns."""


def answer(
    state: State, epoch: int, given: Collection[str], built: Built, most: int | None = None
) -> ArrayRows:
    """The rows of the one output of a circuit whose inputs are stores of a runtime. `epoch` is the number
    that the query's expressions are told. Joins begin with an input that is `given`. `built` takes the
    arrangements that the stores lack. Of more than `most` rows some are given."""
    (name,) = state.outputs
    operators = _Query(state, given, built)
    state.evaluator.begin(epoch)
    (out,) = walk(state.circuit, operators).values()
    schema = state.circuit.nodes[state.outputs[name]].schema
    found = no_rows(schema) if out is None else consolidate(out)
    if most is not None and found.length > most:
        found = found.take(np.arange(most))
    return ArrayRows(state.values, schema, found)


class _Query(RunningEpoch):
    """A static epoch in which the inputs' contents are the changes and the state at once."""

    def __init__(self, state: State, given: Collection[str], built: Built) -> None:
        super().__init__(state, Epoch({}, static=True))
        self._built = built
        nodes = state.circuit.nodes
        self._given = {at for at, n in enumerate(nodes) if isinstance(n, Input) and n.relation in given}
        self._read = {at for n in nodes if not self._looks_up(n) for at in n.reads()}

    def input(self, at: int, node: Input) -> Batch | None:
        """The contents; nothing where joins only look rows up in them."""
        return self.state.stores[at].batch() if at in self._read else None

    def _kept(self, at: int) -> Built:
        """The arrangements of a store so far: those of inputs of the runtime stay until it changes."""
        node = self.circuit.nodes[at]
        return self._built if isinstance(node, Input) and at not in self._given else {}

    def _looks_up(self, node: Node) -> bool:
        """Whether a node reads nothing but stores."""
        if isinstance(node, Join | DeltaJoin):
            return all(term.source in self.state.stores for term in node.terms)
        return isinstance(node, Trace)

    def join(self, at: int, node: Join | DeltaJoin, changes: Sequence[Batch | None]) -> Batch | None:
        """The join of the terms' contents: from the constants where an arrangement serves them, else from
        all rows of the term that would be looked up first."""
        stores = self.state.stores
        if not self._looks_up(node):
            return super().join(at, node, changes)
        joiner = self.state.joiners[at]
        views = [
            _QueryView(stores[t.source], weighted(self.circuit, t.source), self._kept(t.source))
            for t in node.terms
        ]
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
    """A store as it is. An arrangement that it lacks is built for queries alone."""

    def __init__(self, store: Readable, weighted: bool, built: Built) -> None:
        super().__init__(store, weighted)
        self._built = built

    def arranged(self) -> Collection[tuple[Position, ...]]:
        own = {positions for store, positions in self._built if store == id(self.relation)}
        return own.union(self.relation.indexes)

    def index(self, positions: tuple[Position, ...]) -> RowIndex:
        if positions in self.relation.indexes:
            return self.relation.indexes[positions]
        relation = self.relation
        key = id(relation), positions
        return made_once(self._built, key, lambda: RowIndex(relation.table, positions, relation.rows()))
