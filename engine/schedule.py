"""The walk of an incremental circuit in one epoch, whatever the runtime: which operator runs when.

The walk visits each node once, and iterates each fixpoint. It never looks into a batch: operators take and
give whole batches of changes. Only a recursion is asked, once an iteration, whether changes are pending.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from . import epochcosts, interrupt, memory
from .circuit import (
    Bracket,
    Circuit,
    Clocked,
    Constant,
    Delay,
    DeltaClock,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    DeltaLate,
    DeltaOrdered,
    DeltaWindow,
    Differentiate,
    Exchange,
    Feed,
    Feedback,
    Fixpoint,
    FixpointResult,
    Import,
    Input,
    Integrate,
    Join,
    Negate,
    Node,
    NodeId,
    Output,
    Sum,
    Trace,
)
from .divergence import MOST_ROUNDS, Changing, IterationLimit
from .labels import operator_of
from .runtime import Progress

B = TypeVar("B")
B_co = TypeVar("B_co", covariant=True)


class NestedEpoch(Protocol[B_co]):
    """One epoch of a fixpoint."""

    def next_iteration(self) -> int | None:
        """The least iteration with pending work; None at the fixpoint. Asked once an iteration."""

    def iterate(self, time: int) -> None:
        """The changes of the recursive relations at an iteration, and their later consequences."""

    def rows(self) -> int:
        """Rows so far, for progress."""

    def changing(self) -> Changing:
        """Some rows of the pending changes, for the error of a recursion that does not settle."""

    def finish(self) -> Mapping[str, B_co]:
        """The net change of each relation."""


def readers(circuit: Circuit) -> list[list[NodeId]]:
    """For each node, the nodes that read it."""
    found: list[list[NodeId]] = [[] for _ in circuit.nodes]
    for at, node in enumerate(circuit.nodes):
        for source in node.reads():
            found[source].append(at)
    return found


def downstream(read_by: Sequence[Sequence[NodeId]], start: NodeId) -> set[NodeId]:
    """The node and all that read it, directly or not."""
    reached = {start}
    waiting = [start]
    while waiting:
        for reader in read_by[waiting.pop()]:
            if reader not in reached:
                reached.add(reader)
                waiting.append(reader)
    return reached


def last_read(circuit: Circuit, nodes: Iterable[NodeId]) -> dict[NodeId, list[NodeId]]:
    """For each of some nodes, in order, the nodes that it is the last one to read."""
    last = {source: at for at in nodes for source in circuit.nodes[at].reads()}
    found: dict[NodeId, list[NodeId]] = {}
    for source, at in last.items():
        found.setdefault(at, []).append(source)
    return found


class Operators(Protocol[B]):
    """The incremental operators of a runtime; `at` is the node's position in the circuit. A batch
    is a change, None no change; each operator brings its own state up to date."""

    def input(self, at: int, node: Input) -> B:
        """The epoch's change of an input relation."""

    def constant(self, at: int, node: Constant) -> B:
        """The facts, in the first epoch; nothing after it."""

    def sum(self, at: int, node: Sum, changes: Sequence[B]) -> B:
        """The sum of changes."""

    def negate(self, at: int, node: Negate, change: B) -> B:
        """The change with its weights negated."""

    def exchange(self, at: int, node: Exchange, change: B) -> B:
        """The change, its rows on the shards that own them."""

    def clocked(self, at: int, node: Clocked, change: B) -> B:
        """The change of a node that remembers earlier epochs, for the change of its source."""

    def join(self, at: int, node: Join | DeltaJoin, changes: Sequence[B]) -> B:
        """The change of a join for a change of each term."""

    def distinct(self, at: int, node: DeltaDistinct, change: B) -> B:
        """The change of presence."""

    def group(self, at: int, node: DeltaGroup, change: B) -> B:
        """The change of the groups."""

    def ordered(self, at: int, node: DeltaOrdered, change: B) -> B:
        """The change of rows with their values."""

    def timed(self, at: int, node: DeltaClock | DeltaWindow | DeltaLate, change: B) -> B:
        """The change of an operator of windows, for that of its source. A DeltaLate gives the rows that come
        late, minus those of the epoch before."""

    def recursion(self, at: int, node: Fixpoint, changes: Mapping[int, B]) -> NestedEpoch[B]:
        """Begins an epoch of a fixpoint, given the changes of the nodes that it imports."""

    def keep(self, at: int, change: B) -> None:
        """The change of a node is known: state that holds the node's integral takes it in."""

    def lengths(self, changes: Iterable[B | None]) -> list[float]:
        """The rows of changes; `epochcosts.UNKNOWN` where counting them is work."""


def walk(
    circuit: Circuit,
    operators: Operators[B],
    nodes: Sequence[NodeId] | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
    known: Mapping[NodeId, B] | None = None,
    times: dict[NodeId, float] | None = None,
) -> dict[str, B]:
    """Runs the operators of one epoch: of all nodes, or of `nodes`, in order. `known` has changes of nodes
    that are not walked; a walked node in it runs its operator, and has the change that stands there. With
    `times` the epoch is a large one: the longest time of each node so far is noted there, in seconds, and a
    change is dropped as soon as all of its readers have run. Returns the changes of the outputs among the
    nodes. Raises IterationLimit, and the errors of operators."""
    found = CircuitWalk(circuit, operators, limit, progress)
    if known:
        found.known = known
        found.changes.update(known)
    every = range(len(circuit.nodes)) if nodes is None else nodes
    return found.run(every, times)


def _timed(nodes: Iterable[NodeId], times: dict[NodeId, float]) -> Iterator[NodeId]:
    """The nodes. The greatest time of each is noted when the next one is asked for."""
    for at in nodes:
        since = epochcosts.clock()
        yield at
        times[at] = max(times.get(at, 0.0), epochcosts.clock() - since)


class CircuitWalk(Generic[B]):
    """The walk of one epoch, with the changes of the nodes visited so far. See `walk`."""

    def __init__(
        self,
        circuit: Circuit,
        operators: Operators[B],
        limit: int | None,
        progress: Progress | None,
    ) -> None:
        self.circuit, self.operators, self.limit, self.progress = circuit, operators, limit, progress
        self._meter = epochcosts.current()
        self.changes: dict[int, Any] = {}
        self.known: Mapping[NodeId, B] | None = None
        self.results: dict[int, Mapping[str, B]] = {}  # of fixpoints
        self.nodes: Sequence[NodeId] = ()  # of a walk that was measured
        self.times: list[float] = []

    def run(self, nodes: Sequence[NodeId], greatest: dict[NodeId, float] | None = None) -> dict[str, B]:
        """Visits nodes, in order. Returns the changes of the outputs among them."""
        outputs: dict[str, B] = {}
        meter, visited = self._meter, iter(nodes)
        done = {} if greatest is None or meter is not None else last_read(self.circuit, nodes)
        if meter is not None:
            inside = meter.inside
            visited = self._stamped(nodes, meter) if inside is None else self._inside(nodes, inside)
        for at in visited if greatest is None else _timed(visited, greatest):
            node = self.circuit.nodes[at]
            try:
                interrupt.check()
                if self.progress is not None and node.text:
                    self.progress(phase_of(node), 0, 0)
                ask = _ASKED.get(node.__class__)
                if ask is not None:
                    change = ask(self, at, node)
                    if self.known is not None and at in self.known:
                        change = self.known[at]
                    self.changes[at] = change
                    self.operators.keep(at, change)
                    if node.__class__ is Output:
                        outputs[node.relation] = change
                elif isinstance(node, Fixpoint):
                    self.results[at] = self._fixpoint(at, node)
                elif not isinstance(node, Trace):
                    raise TypeError(f"{type(node).__name__} has no place in an incremental circuit")
                for source in done.get(at, ()):
                    self.changes.pop(source, None)
            except MemoryError as error:
                memory.tell(error, phase_of(node))
                raise
        return outputs

    def _stamped(self, nodes: Sequence[NodeId], meter: epochcosts.Meter) -> Iterator[NodeId]:
        """The nodes, with the time before each noted; the end of a node is the beginning of the next one."""
        clock, append = epochcosts.clock, self.times.append
        for at in nodes:
            append(clock())
            yield at
        append(clock())
        self.nodes, meter.walk = nodes, self

    def rows(self, nodes: Iterable[NodeId]) -> list[float]:
        """The rows of the changes of nodes."""
        return self.operators.lengths(map(self.changes.get, nodes))

    def _inside(self, nodes: Sequence[NodeId], inside: epochcosts.Inside) -> Iterator[NodeId]:
        """The nodes of the body of a recursion, which is measured with that recursion."""
        for at in nodes:
            node = self.circuit.nodes[at]
            since = epochcosts.clock()
            yield at
            if node.text and not isinstance(node, Fixpoint):
                until = epochcosts.clock()
                out, *taken = self.rows((at, *node.reads()))
                known = out if out >= 0 else 0
                inside.derived += known if isinstance(node, Join | DeltaJoin) else 0
                inside.add(operator_of(node), node.text, since, until, sum(n for n in taken if n >= 0), out)

    def of_relation(self, node: FixpointResult) -> B:
        """The change of a relation of a recursion."""
        return self.results[node.fixpoint][node.relation]

    def _fixpoint(self, at: int, node: Fixpoint) -> Mapping[str, B]:
        get = self.changes.get
        imports: dict[int, Any] = {n.node: get(n.node) for n in node.body.nodes if isinstance(n, Import)}
        meter = self._meter
        if meter is None:
            nested = self.operators.recursion(at, node, imports)
            for time in self._times(node, nested):
                nested.iterate(time)
            return nested.finish()
        inside, outer = meter.inside, meter.put_in_force()
        try:
            found = self._measured(at, node, imports, meter.enter(at) if inside is None else inside)
        finally:
            meter.end(outer)
        meter.inside = inside
        return found

    def _times(self, node: Fixpoint, nested: NestedEpoch[B]) -> Iterator[int]:
        """The iterations, up to the fixpoint."""
        limit = MOST_ROUNDS if self.limit is None and isinstance(node, Bracket) else self.limit
        count = 0
        while (time := nested.next_iteration()) is not None:
            interrupt.check()
            if limit is not None and count >= limit:
                raise IterationLimit(limit, [name for name, _ in node.results], nested.changing())
            if self.progress is not None:
                self.progress(phase_of(node), time, nested.rows())
            yield time
            count += 1

    def _measured(
        self, at: int, node: Fixpoint, imports: Mapping[int, B], inside: epochcosts.Inside
    ) -> Mapping[str, B]:
        """The epoch of a recursion, with its rounds noted. The last to be noted is round 0, when the rows are
        known that came in all."""
        clock, since, start = epochcosts.clock, epochcosts.clock(), inside.derived
        inside.level += 1
        noted = inside.of_rounds
        nested = self.operators.recursion(at, node, imports)
        now, derived = clock(), inside.derived
        inner = [after - before for before, after in zip(noted, inside.of_rounds, strict=True)]
        seconds, of_start, since = now - since - inner[0], derived - start - inner[1], now
        first = before = -1
        for time in self._times(node, nested):
            if first < 0:
                first = before = nested.rows()
            nested.iterate(time)
            rows, now = nested.rows(), clock()
            inside.round(time + 1, now - since, inside.derived - derived, rows - before)
            before, since, derived = rows, now, inside.derived
        found = nested.finish()
        came = sum(self.operators.lengths(found.values())) - (before - first) - inner[2]
        inside.round(0, seconds, of_start, came if came >= 0 else epochcosts.UNKNOWN)
        inside.level -= 1
        return found


def _join(walk: CircuitWalk[Any], at: int, node: Join | DeltaJoin) -> Any:
    get = walk.changes.get
    return walk.operators.join(at, node, [get(term.source) for term in node.terms])


def _timed_node(walk: CircuitWalk[Any], at: int, node: DeltaClock | DeltaWindow | DeltaLate) -> Any:
    return walk.operators.timed(at, node, walk.changes.get(node.source))


def _clocked(walk: CircuitWalk[Any], at: int, node: Delay | Integrate | Differentiate | Feed) -> Any:
    return walk.operators.clocked(at, node, walk.changes.get(node.source))


_ASKED: dict[type[Node], Callable[[CircuitWalk[Any], int, Any], Any]] = {
    Join: _join,
    DeltaJoin: _join,
    DeltaDistinct: lambda walk, at, node: walk.operators.distinct(at, node, walk.changes.get(node.source)),
    Output: lambda walk, at, node: walk.changes.get(node.source),
    Input: lambda walk, at, node: walk.operators.input(at, node),
    DeltaGroup: lambda walk, at, node: walk.operators.group(at, node, walk.changes.get(node.source)),
    DeltaOrdered: lambda walk, at, node: walk.operators.ordered(at, node, walk.changes.get(node.source)),
    DeltaClock: _timed_node,
    DeltaWindow: _timed_node,
    DeltaLate: _timed_node,
    Sum: lambda walk, at, node: walk.operators.sum(at, node, [*map(walk.changes.get, node.sources)]),
    Negate: lambda walk, at, node: walk.operators.negate(at, node, walk.changes.get(node.source)),
    Exchange: lambda walk, at, node: walk.operators.exchange(at, node, walk.changes.get(node.source)),
    Delay: _clocked,
    Integrate: _clocked,
    Differentiate: _clocked,
    Feed: _clocked,
    Feedback: lambda walk, at, node: walk.operators.clocked(at, node, None),
    FixpointResult: lambda walk, at, node: walk.of_relation(node),
    Constant: lambda walk, at, node: walk.operators.constant(at, node),
}
"""Gives the change of a node, by its class: a small epoch asks many nodes that have little to do."""


def phase_of(node: Node) -> str:
    """A text for people: the rule or relation that a node computes, or the relations of a fixpoint."""
    return ", ".join(name for name, _ in node.results) if isinstance(node, Fixpoint) else node.text
