"""Small recursions: the in-process runtime runs them on the driver, epoch by epoch.

An iteration on the cluster is a job, and on the driver a few calls. A recursion that outgrows the driver is
left as it was before the epoch, and the cluster takes over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..circuit import Circuit, DeltaBracket, Fixpoint, Import, Input, Node, Output, Result
from ..inprocess.runtime import InProcess
from ..inprocess.storage.batch import Batch
from ..inprocess.storage.rows import ArrayDelta
from ..maintaining import Decision, Maintaining
from ..metering import handing_over
from ..rules import schemas_of
from ..runtime import Progress
from ..schema import Schema
from .exchange import from_arrow, to_arrow
from .tables import Table, Tables


class RecursionOutgrown(Exception):
    """The recursion has more rows than the driver is to hold."""


class DriverRecursion:
    """One fixpoint on the driver. `weighted` are the imported nodes whose rows have weights."""

    def __init__(
        self,
        fixpoint: Fixpoint,
        schemas: Mapping[int, Schema],
        weighted: set[int],
        tables: Tables,
        nan: float,
        maintaining: Maintaining,
    ) -> None:
        self._fixpoint, self._schemas, self._weighted = fixpoint, schemas, weighted
        self._tables, self._nan, self._maintaining = tables, nan, maintaining
        self._relations = schemas_of(fixpoint)
        self._runtime = self._new()
        self._fresh = True
        self._decision: Decision | None = None  # of the epoch that `run` ended
        self._undo: list[dict[str, list[tuple[Batch, int]]]] = []

    def _new(self) -> InProcess:
        nodes: list[Node] = []
        places: dict[int, int] = {}
        for at, schema in self._schemas.items():
            places[at] = len(nodes)
            weighted = at in self._weighted
            signed = weighted and isinstance(self._fixpoint, DeltaBracket)
            nodes.append(Input(f"{at}", schema, weighted, signed=signed))
        body = tuple(
            Import(places[n.node], n.schema, n.text) if isinstance(n, Import) else n
            for n in self._fixpoint.body.nodes
        )
        at = len(nodes)
        nodes.append(replace(self._fixpoint, body=Circuit(body), text=""))
        for relation, schema in self._relations.items():
            nodes.append(Result(at, relation, schema))
            nodes.append(Output(relation, len(nodes) - 1, schema))
        shown = tuple((n.relation, k) for k, n in enumerate(nodes) if isinstance(n, Output))
        return InProcess(Circuit(tuple(nodes), shown), self._nan, maintain=self._maintaining.mode)

    def run(
        self,
        changes: Mapping[int, Table],
        most: int,
        static: bool,
        limit: int | None,
        progress: Progress | None,
        number: int,
    ) -> dict[str, Table]:
        """Runs the epoch of this number for the changes of the imports; gives those of the relations.

        Raises RecursionOutgrown where there are more than `most` rows, Unsettled, RowFault: with the state
        as it was.
        """
        batches: dict[str, list[tuple[Batch, int]]] = {}
        for at, table in changes.items():
            if table.rows:
                assert table.local is not None
                schema, values = self._schemas[at], self._runtime.values
                signed = self._signed(from_arrow(values, self._tables.codec, schema, table.local))
                for batch, _ in signed:
                    values.hold(schema, batch)
                batches[f"{at}"] = signed

        def watch(phase: str, iteration: int, rows: int) -> None:
            if rows > most:
                raise RecursionOutgrown
            if progress is not None:
                progress(phase, iteration, rows)

        decided = self._runtime.decided
        self._runtime.earlier = number - self._runtime.committed
        with handing_over(), self._runtime.within(self._tables.budget.left):
            deltas = self._runtime.commit(batches, static=static, max_iterations=limit, progress=watch)
        self._undo.append(batches)
        self._decision = self._runtime.decisions()[-1] if self._runtime.decided > decided else None
        out = {}
        for relation, delta in deltas.items():
            assert isinstance(delta, ArrayDelta)
            out[relation] = self._table(self._relations[relation], delta.batch)
        return out

    def _signed(self, batch: Batch) -> list[tuple[Batch, int]]:
        """A change as the runtime takes it: rows that go, rows that come."""
        if batch.weights is None:
            return [(batch, 1)]
        weights = batch.weights
        return [
            (Batch(tuple(c[rows] for c in batch.columns), len(rows), abs(weights[rows])), sign)
            for sign in (-1, 1)
            for rows in (np.flatnonzero(np.sign(weights) == sign),)
            if len(rows)
        ]

    def commit(self, epoch: int) -> None:
        """The epoch of this number stays."""
        if self._decision is not None:
            self._maintaining.note(replace(self._decision, epoch=epoch))
            self._decision = None
        self._undo.clear()
        self._fresh = False

    def rollback(self) -> None:
        """Takes back the epoch that `run` ended, if it did: state is additive."""
        self._decision = None
        if not self._undo:
            return
        if self._fresh:
            self._runtime = self._new()
        else:
            for batches in reversed(self._undo):
                back = {name: [(b, -s) for b, s in reversed(parts)] for name, parts in batches.items()}
                self._runtime.commit(back)
        self._undo.clear()

    def contents(self) -> dict[str, Table]:
        """The relations' rows as of the last commit."""
        return {
            relation: self._table(schema, self._runtime.rows(relation).batch)
            for relation, schema in self._relations.items()
        }

    def _table(self, schema: Schema, batch: Batch) -> Table:
        return self._tables.local(to_arrow(self._runtime.values, self._tables.codec, schema, batch))
