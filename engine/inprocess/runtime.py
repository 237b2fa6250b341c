"""The in-process runtime: the state of a circuit in columns, and its epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import interrupt
from ..circuit import (
    Circuit,
    Constant,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Fixpoint,
    Import,
    Input,
    Join,
    Negate,
    Output,
    Result,
    Sum,
    Trace,
)
from ..incremental import incrementalize
from ..integrals import shown, weighted
from ..runtime import Delta, Progress
from ..schedule import Epoch, downstream, readers
from ..schema import Schema
from .batch import Batch, Gathering, concat, consolidate
from .grouping import Grouping, reads_members
from .index import Index
from .interner import Values, encode_rows
from .join import Joiner, versions
from .polarity import shrinking_inputs
from .recursion import Imported, Recursion
from .rows import Change, Rows
from .steps import Evaluator
from .store import Store
from .views import EmptyView, Readable, StoreView, View, before


class InProcess:
    """The state of one circuit of changes. See `engine.runtime.Runtime`."""

    def __init__(
        self,
        circuit: Circuit,
        nan: float = float("nan"),
        values: Values | None = None,
        given: Mapping[str, Readable] | None = None,
    ) -> None:
        """`values` and `given`, the stores of input relations, are another runtime's, for a query."""
        self.circuit = circuit
        self.values = Values(nan) if values is None else values
        self._given = given or {}
        self._evaluator = Evaluator(self.values)
        outputs = {n.relation: at for at, n in enumerate(circuit.nodes) if isinstance(n, Output)}
        self._outputs = {n.relation: n.schema for n in circuit.nodes if isinstance(n, Output)}
        self._streams = {n.relation for n in circuit.nodes if isinstance(n, Output) and n.stream}
        self._unchanged = {
            name: Change(self.values, schema, _some(None, schema), True)
            for name, schema in self._outputs.items()
        }
        self._relations = outputs | dict(circuit.relations)
        self._inputs = {n.relation: (k, n) for k, n in enumerate(circuit.nodes) if isinstance(n, Input)}
        self._ending = {name: at for name, (at, node) in self._inputs.items() if node.stream}
        self._stores: dict[int, Readable] = {}
        self._joiners: dict[int, Joiner] = {}
        self._groups: dict[int, Grouping] = {}
        self._recursions: dict[int, Recursion] = {}
        self._shrinking = {
            at: shrinking_inputs(circuit, at) for at, n in enumerate(circuit.nodes) if isinstance(n, Fixpoint)
        }
        self._readers = readers(circuit)
        self._downstream: dict[str, set[int]] = {}  # of an input, found when it first changes
        self._epochs = 0
        self._static = False
        self._pending: Mapping[str, Sequence[tuple[Batch, int]]] = {}
        self._begun: list[int] = []
        self._prepare()

    # ------------------------------------------------------------- building

    def _prepare(self) -> None:
        nodes = self.circuit.nodes
        for at, node in enumerate(nodes):
            if isinstance(node, Fixpoint):
                self._recursions[at] = Recursion(node, self._evaluator)
        for at in sorted(self._kept()):
            node = nodes[at]
            if isinstance(node, Result):
                self._stores[at] = self._recursions[node.fixpoint].relations[node.relation]
            elif isinstance(node, Input) and node.relation in self._given:
                self._stores[at] = self._given[node.relation]
            elif not isinstance(node, Fixpoint | Output | Trace):
                self._stores[at] = Store(node.schema, not weighted(self.circuit, at))
        for at, node in enumerate(nodes):
            if isinstance(node, Join | DeltaJoin):
                schemas = [nodes[term.source].schema for term in node.terms]
                self._joiners[at] = Joiner(node, schemas, self._evaluator)
            elif isinstance(node, DeltaGroup):
                store = self._stores[node.source] if reads_members(node) else None
                self._groups[at] = Grouping(node, nodes[node.source].schema, store, self.values)

    def _kept(self) -> set[int]:
        """The nodes whose integrals some operator or reader needs."""
        kept = {shown(self.circuit, node) for _, node in self.circuit.relations}
        for at, node in enumerate(self.circuit.nodes):
            match node:
                case Input() | DeltaDistinct():
                    kept.add(at)
                case DeltaJoin():
                    kept.update(term.source for term in node.terms)
                case DeltaGroup() if reads_members(node):
                    kept.add(node.source)
                case Fixpoint():
                    kept.update(n.node for n in node.body.nodes if isinstance(n, Import))
                case Output():
                    kept.add(shown(self.circuit, node.source))
        return kept

    # ------------------------------------------------------------- reading

    def _store(self, relation: str) -> tuple[int, Readable]:
        at = shown(self.circuit, self._relations[relation])
        return at, self._stores[at]

    def _schema(self, relation: str) -> Schema:
        return self.circuit.nodes[self._relations[relation]].schema

    def _encode(self, schema: Schema, rows: Sequence[tuple[Any, ...]]) -> Batch:
        return Batch(encode_rows(self.values, schema, rows), len(rows))

    def batch(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> Batch:
        """Rows as a batch for `commit`."""
        return self._encode(self._input_schema(relation), rows)

    def _input_schema(self, relation: str) -> Schema:
        return self._inputs[relation][1].schema if relation in self._inputs else self._schema(relation)

    def batch_from_columns(self, relation: str, columns: Sequence[Any]) -> Batch:
        """Columns as a batch for `commit`."""
        schema = self._input_schema(relation)
        arrays = tuple(self.values.encode_input(c, d) for c, d in zip(schema, columns, strict=True))
        return Batch(arrays, len(arrays[0]) if arrays else 0)

    def batches(self, relation: str, delta: Delta) -> list[tuple[Batch, int]]:
        """The changes for `commit` that change an input relation as a delta of this runtime."""
        assert isinstance(delta, Change)
        whole = delta.batch
        weights = whole.weight_array()
        gone, come = whole.take(np.flatnonzero(weights < 0)), whole.take(np.flatnonzero(weights > 0))
        return [(batch, sign) for batch, sign in ((gone.negated(), -1), (come, 1)) if batch.length]

    def contains(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[bool]:
        """Which rows the relation holds."""
        return [weight != 0 for weight in self.lookup(relation, rows)]

    def lookup(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[int]:
        """The weight of each row."""
        _, store = self._store(relation)
        batch = self._encode(store.schema, rows)
        weights: list[int] = store.weight_of(batch.columns, batch.length).tolist()
        return weights

    def find(self, relation: str, values: Mapping[int, Any]) -> list[tuple[Any, ...]]:
        """The rows with these values in the columns at these positions."""
        _, store = self._store(relation)
        positions = tuple(sorted(values))
        keys = [self.values.encode_column(store.schema[p], [values[p]], 1) for p in positions]
        view = StoreView(store, False)
        groups, total = view.groups(positions, keys, 1)
        (part,) = view.expand(positions, groups, total)
        columns = store.table.columns_at(part.rows)
        batch = Batch(columns, len(part.rows))
        return list(Rows(self.values, store.schema, batch))

    def rows(self, relation: str) -> Rows:
        """The contents of a relation."""
        _, store = self._store(relation)
        return Rows(self.values, store.schema, store.batch())

    def size(self, relation: str) -> int:
        """The number of rows of a relation."""
        return self._store(relation)[1].present

    def query(self, circuit: Circuit) -> Rows:
        """Evaluates a circuit without recursion on the contents of this runtime's relations."""
        given = {n.relation: self._store(n.relation)[1] for n in circuit.nodes if isinstance(n, Input)}
        nested = _Query(incrementalize(circuit), values=self.values, given=given)
        nested._evaluator.epoch = self._evaluator.epoch
        return nested.answer()

    # ------------------------------------------------------------- epochs

    def commit(
        self,
        changes: Mapping[str, Sequence[tuple[Batch, int]]],
        *,
        static: bool = False,
        max_iterations: int | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Delta]:
        """Runs one epoch. A Ctrl-C takes effect at safe points and rolls the epoch back; one that comes
        when the epoch is complete is raised after it."""
        with interrupt.deferred():
            return self._commit(changes, static, max_iterations, progress)

    def _commit(
        self,
        changes: Mapping[str, Sequence[tuple[Batch, int]]],
        static: bool,
        max_iterations: int | None,
        progress: Progress | None,
    ) -> dict[str, Delta]:
        self._static = static
        self._pending = changes = self._with_ends(changes)
        self._begun.clear()
        if not static:
            self._build_histories(changes)
        self._epochs += 1
        self._evaluator.epoch = self._epochs - 1
        try:
            outputs = Epoch(self.circuit, self, max_iterations, progress, self._active(changes)).run()
            interrupt.check()
        except BaseException:
            self._rollback()
            raise
        for store in self._stores.values():
            if isinstance(store, Store):
                store.commit()
        for group in self._groups.values():
            group.commit()
        for at in self._begun:
            self._recursions[at].commit()
        return {name: self._shown(name, outputs.get(name)) for name in self._outputs}

    def _with_ends(
        self, changes: Mapping[str, Sequence[tuple[Batch, int]]]
    ) -> Mapping[str, Sequence[tuple[Batch, int]]]:
        """The changes of an epoch with the ends of the streams: what they hold goes."""
        held = {name: self._stores[at].batch() for name, at in self._ending.items()}
        ended = {name: [(rows, -1), *changes.get(name, ())] for name, rows in held.items()}
        return {**changes, **ended} if ended else changes

    def _active(self, changes: Mapping[str, Sequence[tuple[Batch, int]]]) -> Sequence[int] | None:
        """The nodes that may change, in order; None: all, as in the first epoch."""
        if self._epochs == 1:
            return None
        active: set[int] = set()
        for name, parts in changes.items():
            if any(batch.length for batch, _ in parts):
                if name not in self._downstream:
                    self._downstream[name] = downstream(self._readers, self._inputs[name][0])
                active |= self._downstream[name]
        return sorted(active)

    def _shown(self, output: str, batch: Batch | None) -> Change:
        """What a commit gives of an output."""
        if output in self._streams:
            return Change(self.values, self._outputs[output], self._store(output)[1].batch(), True)
        if batch is None:
            return self._unchanged[output]
        return Change(self.values, self._outputs[output], batch, self._static)

    def _rollback(self) -> None:
        for group in self._groups.values():
            group.rollback()
        for store in self._stores.values():
            if isinstance(store, Store):
                store.rollback()
        for at in self._begun:
            self._recursions[at].rollback()
        self._begun.clear()
        self._epochs -= 1

    def _build_histories(self, changes: Mapping[str, Sequence[tuple[Batch, int]]]) -> None:
        """Before something may shrink in a recursion that has only grown."""
        signs = {(name, sign) for name, parts in changes.items() for batch, sign in parts if batch.length}
        for at, recursion in self._recursions.items():
            if recursion.history or not self._epochs or signs.isdisjoint(self._shrinking[at]):
                continue
            node = recursion.fixpoint
            recursion.build_history(
                {
                    n.node: Imported(self._stores[n.node], weighted(self.circuit, n.node), None)
                    for n in node.body.nodes
                    if isinstance(n, Import)
                }
            )

    # ------------------------------------------------------------- operators

    def nothing(self) -> None:
        """No change."""

    def input(self, at: int, node: Input) -> Batch | None:
        """The legal part of the change of an input."""
        changes = [(batch, sign) for batch, sign in self._pending.get(node.relation, ()) if batch.length]
        store = self._stores[at]
        if not changes:
            return None
        assert isinstance(store, Store)
        if not node.multiset:
            return store.set_rows(changes)
        parts = [batch if sign > 0 else batch.negated() for batch, sign in changes]
        return store.add_counted(consolidate(concat(parts, len(node.schema))), as_set=False)

    def constant(self, at: int, node: Constant) -> Batch | None:
        """The facts, in the first epoch."""
        return self._encode(node.schema, node.rows) if self._epochs == 1 else None

    def sum(self, at: int, node: Sum, changes: Sequence[Batch | None]) -> Batch | None:
        """The sum of changes."""
        some = [change for change in changes if change is not None]
        return concat(some, len(node.schema)) if some else None

    def negate(self, at: int, node: Negate, change: Batch | None) -> Batch | None:
        """The change with its weights negated."""
        return None if change is None else change.negated()

    def join(self, at: int, node: Join | DeltaJoin, changes: Sequence[Batch | None]) -> Batch | None:
        """The change of a join, term by term."""
        sources = [term.source for term in node.terms]

        def now(k: int) -> View:
            return StoreView(self._stores[sources[k]], weighted(self.circuit, sources[k]))

        def earlier(k: int) -> View:
            change = changes[k]
            if self._epochs == 1 or change is None:
                return EmptyView()
            return before(self._stores[sources[k]], weighted(self.circuit, sources[k]), change)

        found = Gathering(len(node.schema))
        for start, views in versions(node.terms, changes, now, earlier, self._epochs == 1):
            found.extend(self._joiners[at].run(start, None if start is None else changes[start], views))
        return found.total()

    def distinct(self, at: int, node: DeltaDistinct, change: Batch | None) -> Batch | None:
        """The change of presence."""
        if change is None or not change.length:
            return None
        store = self._stores[at]
        assert isinstance(store, Store)
        if self._static:
            if not change.positive():
                change = consolidate(change)
                assert change.weights is None or change.positive()
            return store.add_present(Batch(change.columns, change.length))
        return store.add_counted(change, as_set=True)

    def group(self, at: int, node: DeltaGroup, change: Batch | None) -> Batch | None:
        """The change of the groups."""
        if change is None or not change.length:
            return None
        return self._groups[at].change(change)

    def recursion(self, at: int, node: Fixpoint, changes: Mapping[int, Batch | None]) -> Recursion:
        """Begins an epoch of a fixpoint."""
        recursion = self._recursions[at]
        self._begun.append(at)
        recursion.begin(
            {
                source: Imported(self._stores[source], weighted(self.circuit, source), change)
                for source, change in changes.items()
            }
        )
        return recursion

    def keep(self, at: int, change: Batch | None) -> None:
        """Takes a change into the node's store, unless an operator has done so."""
        node = self.circuit.nodes[at]
        store = self._stores.get(at)
        if change is None or not isinstance(store, Store) or isinstance(node, Input | DeltaDistinct):
            return
        if isinstance(node, DeltaGroup) and change.weights is None and store.weights is None:
            store.add_present(change)
        else:
            store.add_counted(change, as_set=False)


class _QueryView(StoreView):
    """A store as it is; an arrangement that it lacks is built for the query alone."""

    def __init__(self, store: Readable, weighted: bool) -> None:
        super().__init__(store, weighted)
        self._built: dict[tuple[int, ...], Index] = {}

    def index(self, positions: tuple[int, ...]) -> Index:
        """The arrangement by these columns."""
        if positions in self.store.indexes:
            return self.store.indexes[positions]
        if positions not in self._built:
            self._built[positions] = Index(self.store.table, positions, self.store.rows())
        return self._built[positions]


class _Query(InProcess):
    """A query: one static epoch in which the inputs' contents are the changes and the state at once."""

    def answer(self) -> Rows:
        """The rows of the circuit's output."""
        self._static = True
        self._epochs = 1
        (out,) = Epoch(self.circuit, self, None, None).run().values()
        node = next(n for n in self.circuit.nodes if isinstance(n, Output))
        return Rows(self.values, node.schema, consolidate(_some(out, node.schema)))

    def input(self, at: int, node: Input) -> Batch | None:
        """The contents of the relation."""
        return self._stores[at].batch()

    def join(self, at: int, node: Join | DeltaJoin, changes: Sequence[Batch | None]) -> Batch | None:
        """The join of the terms' contents: from the constants where an arrangement serves them, else
        from all rows of the term that would be looked up first."""
        if any(term.source not in self._stores for term in node.terms):
            return super().join(at, node, changes)
        joiner = self._joiners[at]
        views = [_QueryView(self._stores[t.source], weighted(self.circuit, t.source)) for t in node.terms]
        first = joiner.first_look_up(views)
        start = None
        if first is not None:
            store = self._stores[node.terms[first.term].source]
            if len(first.positions) < len(store.schema) and first.positions not in store.indexes:
                start = first.term
        change = None if start is None else self._stores[node.terms[start].source].batch()
        others: list[View | None] = [None if k == start else view for k, view in enumerate(views)]
        found = Gathering(len(node.schema))
        found.extend(joiner.run(start, change, others))
        return found.total()


def _some(batch: Batch | None, schema: Schema) -> Batch:
    return Batch(tuple(np.empty(0, np.int64) for _ in schema), 0) if batch is None else batch
