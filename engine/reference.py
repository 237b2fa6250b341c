"""The meaning of circuits, written to be read beside dbsp-spec and never optimised: the oracle.

The meaning of an operator is in `value` of its node; here are streams, memories and fixpoints.
Values are dicts from rows to weights. Inside a fixpoint the value of a node at iteration i is the
sum of its stream up to i, so an Import is held, a Variable is the iteration before, and a Trace
or a Delay is of the epoch before at the *same* iteration: integrating over iterations, applying an
operator lifted over epochs, and differentiating again is that operator with nested time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import circuit as c
from . import zset
from .naiveloop import Naive
from .node import Stateful
from .settling import MOST_ROUNDS, SHOWN, Endless, IterationLimit, Repetition, is_checkpoint
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
        self._anew: dict[c.NodeId, _Anew] = {}
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
        """The limits of the relations in this epoch: iterates until neither they nor memories change."""
        relations: dict[str, Zset] = {relation: {} for relation, _ in node.results}
        memories: list[Memory] = []
        settling = _Settling(node, self._limit)
        while True:
            before = self._memories[min(len(memories), len(self._memories) - 1)]
            self._iteration = len(memories)
            values, memory = self._values(relations, outside, before)
            memories.append(memory)
            previous, relations = relations, {relation: values[result] for relation, result in node.results}
            if relations == previous and len(memories) >= len(self._memories):
                self._memories, self._epoch = memories, self._epoch + 1
                return relations
            if len(memories) >= len(self._memories):
                settling.check(len(memories), previous, relations)

    def _evaluated(self, node: c.Fixpoint, imports: Mapping[c.NodeId, Zset]) -> dict[str, Zset]:
        """The relations of a node that is evaluated anew from all of its imports."""
        match node:
            case c.Bracket():
                return bracket(node, imports, self._limit)
            case c.Loop():
                naive = Naive(self._limit, lambda each, sources: each.value(sources, self._moment))
                return naive.relations(node, imports)
            case _:
                return Evaluation(node.body, False, self._limit)._fixpoint(node, imports)

    def _values(
        self, relations: Mapping[str, Mapping[Row, int]], outside: Mapping[c.NodeId, Any], before: Memory
    ) -> tuple[dict[c.NodeId, Any], Memory]:
        values: dict[c.NodeId, Any] = {}
        after: Memory = {}
        cycles = {n.name: i for i, n in enumerate(self._circuit.nodes) if isinstance(n, c.Feedback)}
        for i, node in enumerate(self._circuit.nodes):
            if isinstance(node, Stateful):
                values[i], after[i] = node.step([values[at] for at in node.reads()], before.get(i))
                continue
            values[i] = self._value(node, i, values, relations, outside, before.get(i, {}))
        for i, node in enumerate(self._circuit.nodes):
            if isinstance(node, c.Delay | c.Differentiate):
                after[i] = values[node.source]
            elif isinstance(node, c.Feed):
                after[cycles[node.name]] = values[node.source]
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
                return self._anew.setdefault(i, _Anew(node, self._evaluated)).step(outside=values)
            case c.Bracket() | c.Loop():
                return self._evaluated(node, values)
            case c.Fixpoint(body):
                inner = Evaluation(body, self._incremental, self._limit)
                return self._bodies.setdefault(i, inner)._fixpoint(node, values)
            case c.Result(fixpoint, relation):
                return values[fixpoint][relation]
            case _:
                return node.value([values[source] for source in node.reads()], self._moment)


def bracket(node: c.Bracket, outside: Mapping[c.NodeId, Any], limit: int | None) -> dict[str, Zset]:
    """The results of a Bracket for the values outside: what enters does so at iteration 0."""
    inner, none = Evaluation(node.body, limit=limit), {source: dict[Row, int]() for source in node.reads()}
    values, memory = inner._values({}, outside, {})
    sums, done, rest = {name: values[at] for name, at in node.results}, 1, False
    while not rest:
        before = memory
        values, memory = inner._values({}, none, before)
        done, rest = done + 1, memory == before
        now = {name: values[at] for name, at in node.results}
        sums = {name: zset.add(rows, now[name]) for name, rows in sums.items()}
        moving = [(name, row, 1) for name, rows in now.items() for row in sorted(rows)[:SHOWN]]
        if rest and moving:
            raise Endless(list(sums), moving)
        if not rest and done > (MOST_ROUNDS if limit is None else limit):
            raise IterationLimit(done - 1, list(sums), moving)
    return sums


class _Anew:
    """D ∘ Q ∘ I over epochs, where Q is a Fixpoint, a Bracket or a Loop."""

    def __init__(
        self, node: c.Fixpoint, relations: Callable[[c.Fixpoint, Mapping[c.NodeId, Zset]], dict[str, Zset]]
    ) -> None:
        """`relations` evaluates the node, given its imports."""
        self._node, self._of = node, relations
        self._imports: dict[c.NodeId, Zset] = {source: {} for source in node.reads()}
        self._relations: dict[str, Zset] = {relation: {} for relation, _ in node.results}

    def step(self, outside: Mapping[c.NodeId, Any]) -> dict[str, Zset]:
        """The changes of the relations, for those of the nodes outside."""
        self._imports = {at: zset.add(rows, outside[at]) for at, rows in self._imports.items()}
        before, self._relations = self._relations, self._of(self._node, self._imports)
        return {relation: zset.subtract(rows, before[relation]) for relation, rows in self._relations.items()}


class _Settling:
    """Raises Unsettled where a recursion takes too many rounds, or repeats itself."""

    def __init__(self, node: c.Fixpoint, limit: int | None) -> None:
        self._relations = [relation for relation, _ in node.results]
        self._monotone = node.monotone
        self._limit = MOST_ROUNDS if limit is None and not node.monotone else limit
        self._checkpoint: tuple[int, Any] = 0, None
        self._moved: dict[str, Zset] = {}

    def check(self, number: int, before: Mapping[str, Zset], now: Mapping[str, Zset]) -> None:
        """Looks at the relations before and after a round; `number` rounds are done."""
        changes = {relation: zset.subtract(rows, before[relation]) for relation, rows in now.items()}
        if not any(changes.values()):
            return
        for relation, rows in changes.items():
            self._moved.setdefault(relation, {}).update(dict.fromkeys(rows, 0))
        at, state = self._checkpoint
        if now == state and not self._monotone:
            raise Repetition(number - at, self._relations, self._some(self._moved))
        if self._limit is not None and number > self._limit:
            raise IterationLimit(self._limit, self._relations, self._some(changes))
        if is_checkpoint(number):
            self._checkpoint, self._moved = (number, now), {}

    def _some(self, changes: Mapping[str, Zset]) -> list[tuple[str, Row, int]]:
        return [
            (r, row, changes[r][row]) for r in self._relations for row in sorted(changes.get(r, ()))[:SHOWN]
        ]
