"""The meaning of circuits, written to be read beside dbsp-spec and never optimised: the oracle.

The meaning of an operator is in `value` of its node; here are streams, memories and fixpoints.
Values are dicts from rows to weights. Inside a fixpoint the value of a node at iteration i is the
sum of its stream up to i, so an Import is held, a Variable is the iteration before, and a Trace
or a Delay is of the epoch before at the *same* iteration: integrating over iterations, applying an
operator lifted over epochs, and differentiating again is that operator with nested time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from . import circuit as c
from . import zset
from .divergence import IterationLimit
from .naiveloop import Naive, bracket, changing
from .node import Stateful
from .operators.feedback import cycles
from .zset import Row, Zset

Memory = dict[c.NodeId, Any]


def evaluate(
    circuit: c.Circuit, inputs: Mapping[str, Mapping[Row, int]], limit: int | None = None
) -> dict[str, Zset]:
    """The outputs of a relational circuit by name, for the given contents of its inputs. Raises Unsettled;
    `limit` are the iterations that a recursion may take."""
    return Evaluation(circuit, limit=limit).step(inputs)


class Evaluation:
    """A circuit over streams, evaluated one epoch after another.

    The inputs of a relational circuit are whole relations. The inputs and outputs of an incremental circuit
    are changes, and a Constant in it is a change of the first epoch only.
    """

    def __init__(self, circuit: c.Circuit, incremental: bool = False, limit: int | None = None) -> None:
        self._circuit = circuit
        self._incremental = incremental
        self._limit = limit
        self._memories: list[Memory] = [{}]  # by iteration; the last stands for all later ones
        self._bodies: dict[c.NodeId, Evaluation] = {}
        self._anew: dict[c.NodeId, tuple[dict[c.NodeId, Zset], dict[str, Zset]]] = {}
        self._epoch = 0
        self._iteration = 0

    def step(self, inputs: Mapping[str, Mapping[Row, int]]) -> dict[str, Zset]:
        """The outputs of the next epoch by name; an input not given is empty."""
        values, memory = self._values(inputs, {}, self._memories[0])
        self._memories, self._epoch = [memory], self._epoch + 1
        return {n.relation: values[i] for i, n in enumerate(self._circuit.nodes) if isinstance(n, c.Output)}

    @property
    def _moment(self) -> tuple[int, int]:
        return self._epoch, self._iteration

    def _fixpoint(self, node: c.Fixpoint, outside: Mapping[c.NodeId, Any]) -> dict[str, Zset]:
        """The limits of monotone relations in this epoch: iterates until neither they nor memories change."""
        relations: dict[str, Zset] = {relation: {} for relation, _ in node.results}
        memories: list[Memory] = []
        while True:
            before = self._memories[min(len(memories), len(self._memories) - 1)]
            self._iteration = len(memories)
            values, memory = self._values(relations, outside, before)
            memories.append(memory)
            previous, relations = relations, {relation: values[result] for relation, result in node.results}
            if relations == previous and len(memories) >= len(self._memories):
                self._memories, self._epoch = memories, self._epoch + 1
                return relations
            if self._limit is not None and len(memories) > self._limit and relations != previous:
                raise IterationLimit(self._limit, list(relations), changing(previous, relations))

    def _evaluated(self, node: c.Fixpoint, imports: Mapping[c.NodeId, Zset]) -> dict[str, Zset]:
        """The relations of a node that is evaluated anew from all of its imports."""
        if isinstance(node, c.Bracket):
            inner = Evaluation(node.body, limit=self._limit)
            return bracket(node, imports, partial(inner._values, {}), self._limit)
        naive = Naive(self._limit, lambda each, sources: each.value(sources, self._moment))
        return naive.relations(node, imports)

    def _change(self, node: c.Fixpoint, i: c.NodeId, changes: Mapping[c.NodeId, Any]) -> dict[str, Zset]:
        """D ∘ Q ∘ I over epochs, where Q is a node that is evaluated anew."""
        imports, before = self._anew.get(i, ({}, {}))
        imports = {at: zset.add(imports.get(at, {}), changes[at]) for at in node.reads()}
        now = self._evaluated(node, imports)
        self._anew[i] = imports, now
        return {relation: zset.subtract(rows, before.get(relation, {})) for relation, rows in now.items()}

    def _values(
        self, relations: Mapping[str, Mapping[Row, int]], outside: Mapping[c.NodeId, Any], before: Memory
    ) -> tuple[dict[c.NodeId, Any], Memory]:
        values: dict[c.NodeId, Any] = {}
        after: Memory = {}
        ends = cycles(self._circuit.nodes)
        for i, node in enumerate(self._circuit.nodes):
            if isinstance(node, Stateful):
                values[i], after[i] = node.step([values[at] for at in node.reads()], before.get(i))
                continue
            values[i] = self._value(node, i, values, relations, outside, before.get(i, {}))
        for i, node in enumerate(self._circuit.nodes):
            if isinstance(node, c.Delay | c.Differentiate):
                after[i] = values[node.source]
            elif isinstance(node, c.Feed):
                after[ends[node.name]] = values[node.source]
            elif isinstance(node, c.Integrate | c.Trace):
                after[i] = zset.add(before.get(i, {}), values[node.source])
        return values, after

    def _value(
        self,
        node: c.Node,
        i: c.NodeId,
        values: Mapping[c.NodeId, Any],
        relations: Mapping[str, Mapping[Row, int]],
        outside: Mapping[c.NodeId, Any],
        before: Zset,
    ) -> Any:
        match node:
            case c.Input(relation) | c.Variable(relation):
                return dict(relations.get(relation, {}))
            case c.Constant(rows):
                return {} if self._incremental and self._epoch else zset.zset((row, 1) for row in rows)
            case c.Import(source):
                return outside[source]
            case c.Delay() | c.Trace() | c.Feedback():
                return before
            case c.Integrate(source):
                return zset.add(before, values[source])
            case c.Differentiate(source):
                return zset.subtract(values[source], before)
            case c.Fixpoint() if node.lifted and self._incremental:
                return self._change(node, i, values)
            case c.Fixpoint() if node.lifted:
                return self._evaluated(node, values)
            case c.Fixpoint(body):
                inner = Evaluation(body, self._incremental, self._limit)
                return self._bodies.setdefault(i, inner)._fixpoint(node, values)
            case c.FixpointResult(fixpoint, relation):
                return values[fixpoint][relation]
            case _:
                return node.value([values[source] for source in node.reads()], self._moment)
