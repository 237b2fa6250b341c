"""Placement: which operators run on the driver and which on the cluster, and where each integral is kept.

Two sets of nodes decide. `large` are the nodes whose integral is more than the driver is to hold, `heavy`
those whose operator has more to do than the driver should. An operator runs on the cluster if it is heavy or
needs the integral of a large node; its result may be small all the same, and then lies on the driver, too.

    large input ──► join, on the cluster ──► group of many members ──► few groups: on the driver again

A node becomes large when it exceeds `limit` rows, and is small again below a quarter of that, so that it does
not swing. What follows from a large change is presumed large until the epoch has shown how large it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from ..circuit import (
    Circuit,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Fixpoint,
    Input,
    Join,
    Late,
    Negate,
    Node,
    NodeId,
    Output,
    Result,
    Sum,
    Trace,
)
from ..forgetting import forgetful_nodes
from ..integrals import shown
from ..schedule import downstream, readers

SLACK = 4
"""A node that is large is small again when it has shrunk to this part of the limit."""
TOTAL = 4
"""The driver holds at most so many times the limit, all nodes together."""


def is_linear(node: Node) -> bool:
    """Whether a node is a join of one term, which needs no integral."""
    return isinstance(node, Join) and len(node.terms) == 1 and not node.terms[0].negated


def is_plain(node: Node) -> bool:
    """Whether a node takes changes where they are."""
    return isinstance(node, Trace | Output | Sum | Negate) or is_linear(node)


class Outgrown(Exception):
    """A node has more rows than the driver is to hold."""

    def __init__(self, at: NodeId = -1, rows: int = 0) -> None:
        super().__init__(f"node {at} has {rows} rows")
        self.at, self.rows = at, rows


class Misguessed(Exception):
    """Some rows that an epoch took for changes of inputs change nothing: they are there, or are not."""

    def __init__(self, nodes: Sequence[NodeId]) -> None:
        super().__init__(f"nodes {nodes} have other changes")
        self.nodes = nodes


def _meets_small(node: DeltaJoin, changes: Sequence[bool], places: PlacedOperators) -> bool:
    """Whether the driver joins small changes of the terms that change with all other terms."""
    sources = [term.source for term in node.terms]
    return all(
        other in places.kept_here
        for k, source in enumerate(sources)
        if changes[source]
        for other in (*sources[:k], *sources[k + 1 :])
    )


@dataclass(frozen=True)
class PlacedOperators:
    """Operators on the cluster, and the nodes whose integrals lie on the driver and on the cluster."""

    there: frozenset[NodeId] = frozenset()
    kept_here: frozenset[NodeId] = frozenset()
    kept_there: frozenset[NodeId] = frozenset()


@dataclass
class Placement:
    """The placement of the nodes of a circuit of changes. `ungrouped` are the distinct nodes that pass counts
    on to groups when they are on the cluster, `accumulating` the groups that do not need their members with
    them: where true, they read some now and then. `mode` is "auto", or for tests "driver", "cluster",
    "flip"."""

    circuit: Circuit
    ungrouped: frozenset[NodeId]
    accumulating: Mapping[NodeId, bool]
    limit: int
    few: int  # rows of a change that the driver joins with what it has
    mode: str = "auto"
    large: set[NodeId] = field(default_factory=set)
    heavy: set[NodeId] = field(default_factory=set)

    def __post_init__(self) -> None:
        nodes = self.circuit.nodes
        self._readers = readers(self.circuit)
        self._flips = Random(len(nodes))
        self._forgetful = frozenset(forgetful_nodes(self.circuit))
        self.timed = frozenset(self._of_time())
        self._units = list(self._together())
        self._shown = {shown(self.circuit, at) for _, at in self.circuit.relations}
        self._shown |= {shown(self.circuit, at) for at, node in enumerate(nodes) if isinstance(node, Output)}
        self._asked = {at: frozenset(self._needs(at)) for at in range(len(nodes))}
        self.results: Mapping[NodeId, list[NodeId]] = {
            at: [k for k, n in enumerate(nodes) if isinstance(n, Result) and n.fixpoint == at]
            for at, node in enumerate(nodes)
            if isinstance(node, Fixpoint)
        }
        self.pinned = frozenset(self._on_driver())
        if self.mode == "cluster":
            self.presume(range(len(nodes)))

    # ------------------------------------------------------------- what the circuit says

    def _of_time(self) -> Iterator[NodeId]:
        """The operators that remember earlier epochs or a clock, the relations that forget with windows,
        and all that follows from these are on the cluster."""
        yield from self._forgetful
        for at, node in enumerate(self.circuit.nodes):
            if node.remembers:
                yield from downstream(self._readers, at)

    def _on_driver(self) -> Iterator[NodeId]:
        """The recursions that only the driver has operators for, with what they import and give."""
        nodes = self.circuit.nodes
        for at, node in enumerate(nodes):
            if isinstance(node, Fixpoint) and node.lifted:
                yield at
                yield from node.reads()
                yield from self.results[at]

    def _together(self) -> Iterator[frozenset[NodeId]]:
        """Operators that have to be in one place."""
        yield self.timed
        for at in self.ungrouped:
            yield frozenset({at, *self._readers[at]})

    def _needs(self, at: NodeId) -> Iterator[NodeId]:
        """The nodes whose integrals an operator needs where it runs, its own among them."""
        node = self.circuit.nodes[at]
        if node.kept or isinstance(node, DeltaGroup):
            yield at
        if at not in self.accumulating:
            yield from node.looked_up()

    # ------------------------------------------------------------- the places

    def places(self) -> PlacedOperators:
        """The places that follow from what is large and heavy."""
        nodes, large, heavy = self.circuit.nodes, self.large, self.heavy
        there = {
            at
            for at, node in enumerate(nodes)
            if not isinstance(node, Output | Trace | Result)
            and (at in heavy or not large.isdisjoint(self._asked[at]))
        }
        for at, results in self.results.items():
            if not large.isdisjoint(results):
                there.add(at)
        for unit in self._units:
            if not there.isdisjoint(unit):
                there |= unit
        there |= self.timed
        there -= {at for at in self.pinned if isinstance(nodes[at], Fixpoint)}
        here, away = set[NodeId](), set[NodeId]()
        for at, node in enumerate(nodes):
            if isinstance(node, Trace | Output | Result):
                continue
            on_cluster = at in there
            kept = away if on_cluster else here
            match node:
                case Input() | Late():
                    kept.add(at)
                case DeltaDistinct() if not on_cluster:
                    here.add(at)
                case DeltaJoin():
                    sources = {term.source for term in node.terms}
                    kept |= sources
                    if at not in self.timed:
                        here |= sources - large  # small changes of the others are joined there
                case DeltaGroup() if on_cluster:
                    away.add(at)
                    if self.accumulating.get(at, True):
                        away |= {node.source} - self.ungrouped
                case DeltaGroup():
                    if node.reads_members:
                        (away if node.source in large else here).add(node.source)
                case Fixpoint():
                    kept |= self._asked[at]
        for at in self._shown:
            (away if at in large or at in self.timed else here).add(at)
        here -= self._forgetful
        return PlacedOperators(frozenset(there), frozenset(here), frozenset(away))

    def waves(
        self, places: PlacedOperators, changing: Collection[NodeId], guessed: Collection[NodeId]
    ) -> list[int]:
        """The wave of each node. All small changes that the cluster computes in one wave come by one job,
        before the next wave: an operator that needs a change of the cluster as a table is in a later wave.
        Of the inputs only some are `changing`, and nothing waits for those whose changes are `guessed`."""
        waves: list[int] = []
        waiting: list[bool] = []  # whether a change is known when the wave ends, and not before
        changes: list[bool] = []
        made_there = self.made_there(places)
        for at, node in enumerate(self.circuit.nodes):
            reads, plain = node.reads(), is_plain(node)
            of_input = isinstance(node, Input) and not node.stream
            changes.append(
                at in changing
                if of_input
                else not reads or at in self.timed or any(changes[s] for s in reads)
            )
            waits = [waves[s] + (waiting[s] and not (plain and self._is_query(s))) for s in reads]
            waves.append(max(waits, default=0))
            wait = any(waiting[s] and waves[s] == waves[at] for s in reads) if plain else made_there[at]
            if isinstance(node, DeltaJoin):
                wait = wait and not _meets_small(node, changes, places)
            waiting.append(wait and changes[at] and at not in guessed)
        return waves

    def _is_query(self, at: NodeId) -> bool:
        """Whether a small change of a node on the cluster is a query that others may contain. Others are made
        on the driver, of what a query finds."""
        node = self.circuit.nodes[at]
        made_here = isinstance(node, Input | DeltaDistinct | DeltaGroup)
        return is_plain(node) or not made_here

    def made_there(self, places: PlacedOperators) -> list[bool]:
        """Whether the change of each node is made on the cluster; a plain operator follows its sources."""
        made: list[bool] = []
        for at, node in enumerate(self.circuit.nodes):
            there = (node.fixpoint if isinstance(node, Result) else at) in places.there
            made.append(any(made[s] for s in node.reads()) if is_plain(node) else there)
        return made

    # ------------------------------------------------------------- changing it

    def presume(self, nodes: Iterable[NodeId]) -> bool:
        """Takes nodes for large and heavy; whether some were not."""
        found = set(nodes)
        new = not (found <= self.large and found <= self.heavy)
        self.large |= found
        self.heavy |= found
        return new

    def below(self, at: NodeId) -> set[NodeId]:
        """A node and all that follow from it."""
        return downstream(self._readers, at)

    def outgrown(self, error: Outgrown) -> bool:
        """Takes a node for large, and after a large change what follows from it; whether that is new."""
        if error.rows > self.limit // SLACK:
            return self.presume(self.below(error.at))
        return self.presume([error.at, *self.results.get(error.at, ())])

    def flip(self) -> None:
        """Takes some nodes for large and heavy, others than before."""
        some = [at for at in range(len(self.circuit.nodes)) if self._flips.random() < 0.5]
        self.large = {at for at in some if self._flips.random() < 0.6}
        self.heavy = set(some)
