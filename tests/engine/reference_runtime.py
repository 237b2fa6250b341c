"""A runtime that evaluates everything from scratch at each commit: slow, and right by definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from types import MappingProxyType
from typing import Any, TypeVar

from ddlog.engine import zset
from ddlog.engine.circuit import Circuit, Input, Integrate, Output
from ddlog.engine.node import Stateful
from ddlog.engine.reference import Evaluation, evaluate
from ddlog.engine.schema import Schema
from ddlog.sessions.hosts.inprocess import InProcessHost
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session

Row = tuple[Any, ...]
T = TypeVar("T")


class ReferenceRows:
    """Rows in value order."""

    def __init__(self, schema: Schema, contents: Mapping[Row, int]) -> None:
        self.schema, self._rows = schema, sorted(contents)
        counts = [contents[row] for row in self._rows]
        self.weights = None if set(counts) <= {1} else counts

    def columns(self) -> list[list[Any]]:
        return [[row[at] for row in self._rows] for at in range(len(self.schema))]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)


class ReferenceDelta:
    """The difference of two states."""

    def __init__(self, before: Mapping[Row, int], after: Mapping[Row, int]) -> None:
        changed = {row: after.get(row, 0) - before.get(row, 0) for row in {*before, *after}}
        self.rows = sorted(row for row, weight in changed.items() if weight)
        self.weights = [changed[row] for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)


class ReferenceRuntime:
    """The Protocol of runtimes, over `evaluate`. The circuit is an incremental one: from
    nothing, its changes are its contents."""

    def __init__(self, circuit: Circuit, fails: bool = False) -> None:
        """`fails`: an epoch may fail, and others follow."""
        self._fails = fails
        outputs = [node.relation for node in circuit.nodes if isinstance(node, Output)]
        self._streams = {n.relation for n in circuit.nodes if isinstance(n, Input | Output) and n.stream}
        shown = [(name, at) for name, at in circuit.relations if name not in outputs]
        extra = tuple(Output(name, at, circuit.nodes[at].schema) for name, at in shown)
        self._outputs = outputs
        timed = any(isinstance(node, Stateful | Integrate) for node in circuit.nodes)
        self._circuit = Circuit(circuit.nodes + extra, circuit.relations)
        self._evaluation = Evaluation(self._circuit, incremental=True) if timed else None
        self._multisets = {n.relation: n.multiset for n in circuit.nodes if isinstance(n, Input)}
        self._inputs: dict[str, dict[Row, int]] = {name: {} for name in self._multisets}
        self._state: dict[str, dict[Row, int]] = {name: {} for name, _ in circuit.relations}

    def bounded(self) -> AbstractContextManager[None]:
        return nullcontext()

    def batch(self, relation: str, rows: Sequence[Row]) -> list[Row]:
        return list(rows)

    def batch_from_columns(self, relation: str, columns: Sequence[Any]) -> list[Row]:
        listed = [[c[0][i] for i in c[1]] if isinstance(c, tuple) else list(c) for c in columns]
        return list(zip(*listed, strict=True))

    def batches(self, relation: str, delta: Any) -> list[tuple[list[Row], int]]:
        counted = list(zip(delta.rows, delta.weights, strict=True))
        return [([row for row, w in counted for _ in range(w * sign)], sign) for sign in (-1, 1)]

    def contains(self, relation: str, rows: Sequence[Row]) -> list[bool]:
        return [row in self._state[relation] for row in rows]

    def lookup(self, relation: str, rows: Sequence[Row]) -> list[int]:
        return [self._state[relation].get(row, 0) for row in rows]

    def find(self, relation: str, values: Mapping[int, Any]) -> list[Row]:
        return [row for row in self._state[relation] if all(row[at] == v for at, v in values.items())]

    def covers(self, relation: str, batches: Sequence[list[Row]]) -> bool:
        gone = Counter(row for batch in batches for row in batch)
        return all(self._state[relation].get(row, 0) >= count for row, count in gone.items())

    def has_room(
        self, relation: str, key: Sequence[int], come: Sequence[list[Row]], gone: Sequence[list[Row]]
    ) -> bool:
        left = self._state[relation].keys() - {row for batch in gone for row in batch}
        rows = [*left, *(row for batch in come for row in batch)]
        return len({tuple(row[at] for at in key) for row in rows}) == len(rows)

    def attempt(self, changes: Mapping[str, Any], look: Callable[[], T], limit: int | None) -> T:
        kept = self._inputs, self._state
        try:
            self.commit(changes)
            return look()
        finally:
            self._inputs, self._state = kept

    def births(self, relation: str, rows: Sequence[Row], together: Collection[str]) -> None:
        """Unknown."""

    def rows(self, relation: str) -> ReferenceRows:
        at = self._circuit.relation(relation)
        return ReferenceRows(self._circuit.nodes[at].schema, self._state[relation])

    def size(self, relation: str) -> int:
        return len(self._state[relation])

    def commit(
        self, changes: Mapping[str, Sequence[tuple[Any, int]]], **options: Any
    ) -> dict[str, ReferenceDelta]:
        inputs = {name: {} if name in self._streams else dict(rows) for name, rows in self._inputs.items()}
        for name, batches in changes.items():
            for rows, sign in batches:
                for row in rows:
                    before = inputs[name].get(row, 0)
                    inputs[name][row] = before + sign if self._multisets[name] else max(0, sign)
            inputs[name] = {row: weight for row, weight in inputs[name].items() if weight}
        state = self._evaluated(inputs)
        before = {**self._state, **{name: {} for name in self._streams}}
        deltas = {name: ReferenceDelta(before.get(name, {}), state[name]) for name in self._outputs}
        self._inputs, self._state = inputs, state
        return deltas

    def _evaluated(self, inputs: dict[str, dict[Row, int]]) -> Mapping[str, Mapping[Row, int]]:
        """The contents of the relations. Where they depend on the past, an epoch goes on from the last."""
        if self._evaluation is None:
            return evaluate(self._circuit, inputs)
        changes = {name: zset.subtract(rows, self._inputs[name]) for name, rows in inputs.items()}
        evaluation = self._evaluation
        if self._fails:
            evaluation = deepcopy(evaluation, {id(self._circuit): self._circuit})
        found = evaluation.step(changes)
        self._evaluation = evaluation
        return {name: zset.add(self._state.get(name, {}), change) for name, change in found.items()}

    def footprint(self) -> None:
        """Unknown."""

    def plans(self) -> None:
        """There are none."""

    def expectations(self) -> None:
        """There are none."""

    def decisions(self) -> tuple[()]:
        """None are taken."""
        return ()

    def close(self) -> None:
        """Nothing."""

    def tidy(self) -> None:
        """Nothing is kept."""

    def query(
        self,
        circuit: Circuit,
        given: Mapping[str, Sequence[Row]] = MappingProxyType({}),
        most: int | None = None,
    ) -> ReferenceRows:
        (output,) = (node for node in circuit.nodes if isinstance(node, Output))
        few = {name: dict.fromkeys(rows, 1) for name, rows in given.items()}
        return ReferenceRows(output.schema, evaluate(circuit, {**self._state, **few})[output.relation])


def by_definition(program: Program, fails: bool = False) -> Session:
    """A session of a program that keeps all relations. `fails`: see ReferenceRuntime."""
    circuit = program.circuit("relational", tuple(program.relations))
    kept = frozenset(name for name, _ in circuit.relations)
    return Session(program, InProcessHost(program, ReferenceRuntime(circuit, fails)), kept)
