"""The costs of measured epochs, summed up: by node, and inside recursions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from math import isnan

from ...engine.circuit import Circuit, FixpointResult, Input, NodeId, Output, Trace
from ...engine.epochcosts import UNKNOWN, Cost, Inside


class Walks:
    """The epochs that visited the same nodes: what each node reads, and the ends of the circuit."""

    def __init__(self, circuit: Circuit, nodes: Sequence[NodeId], costs: dict[NodeId, Cost]) -> None:
        self.nodes, of = nodes, circuit.nodes
        places = {at: place for place, at in enumerate(nodes)}
        self._inputs = [place for place, at in enumerate(nodes) if isinstance(of[at], Input)]
        self._outputs = [place for place, at in enumerate(nodes) if isinstance(of[at], Output)]
        self._costs = [
            (
                place,
                costs.setdefault(at, Cost(new=UNKNOWN)),
                [places[each] for each in of[at].reads() if each in places],
            )
            for place, at in enumerate(nodes)
            if not isinstance(of[at], Output | FixpointResult | Trace)
        ]

    def add(self, times: Sequence[float], rows: Sequence[float]) -> None:
        """Adds an epoch to the costs, given the times between the nodes and the rows of their changes."""
        for place, cost, sources in self._costs:
            cost.calls += 1
            cost.seconds += times[place + 1] - times[place]
            cost.out += rows[place]
            for source in sources:
                cost.taken += 0 if isnan(rows[source]) else rows[source]

    def ends(self, rows: Sequence[float]) -> tuple[int, int]:
        """The rows by which inputs and by which outputs changed, as far as they are known, given those of all
        nodes."""
        taken, given = ([rows[k] for k in part] for part in (self._inputs, self._outputs))
        return sum(int(n) for n in taken if not isnan(n)), sum(int(n) for n in given if not isnan(n))


class Sums:
    """The costs of some epochs of a circuit: by node, without the nodes that only pass on, and inside
    recursions."""

    _MOST = 1 << 10  # sets of nodes that are known

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.costs: dict[NodeId, Cost] = {}
        self.insides: dict[NodeId, Inside] = {}
        self._walks: dict[int, Walks] = {}  # by the identity of the sequence of nodes, which these hold

    def walks(self, nodes: Sequence[NodeId]) -> Walks:
        """The epochs that visited these nodes."""
        found = self._walks.get(id(nodes))
        if found is None:
            if len(self._walks) == self._MOST:
                self._walks.clear()
            found = self._walks[id(nodes)] = Walks(self.circuit, nodes, self.costs)
        return found

    def add(
        self,
        nodes: Sequence[NodeId],
        times: Sequence[float],
        rows: Sequence[float],
        insides: Mapping[NodeId, Inside],
    ) -> None:
        """Adds an epoch."""
        self.walks(nodes).add(times, rows)
        for at, inside in insides.items():
            self.insides.setdefault(at, Inside()).merge(inside)


class CommitSums:
    """The numbers, seconds and rows of commits. Of many commits, the slower one of neighbours is kept, over
    and over, so that slow ones stay."""

    _MOST = 1 << 14

    def __init__(self) -> None:
        self._kept: list[tuple[int, float, int, int]] = []

    def add(self, number: int, seconds: float, taken: int, given: int) -> None:
        """Adds a commit."""
        if len(self._kept) == 2 * self._MOST:
            self._kept = list(self._slower())
        self._kept.append((number, seconds, taken, given))

    def __iter__(self) -> Iterator[tuple[int, float, int, int]]:
        """The commits that are kept, at most so many: number, seconds, rows in and out."""
        return self._slower() if len(self._kept) > self._MOST else iter(self._kept)

    def _slower(self) -> Iterator[tuple[int, float, int, int]]:
        for one, other in zip_longest(self._kept[::2], self._kept[1::2]):
            yield one if other is None or one[1] >= other[1] else other
