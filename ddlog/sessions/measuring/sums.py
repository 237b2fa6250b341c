"""The figures of measured epochs, summed up: seconds and rows by node, and inside recursions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isnan

import numpy as np

from ...engine.circuit import Circuit, FixpointResult, Input, NodeId, Output, Trace
from ...engine.epochcosts import ROUND, RUN, Figures, Taken, summed

_NO_RUNS = np.zeros((0, RUN - 1))
_NO_ROUNDS = np.zeros((0, ROUND))


@dataclass(slots=True)
class Walked:
    """So many epochs that followed each other and visited the same nodes."""

    nodes: Sequence[NodeId]
    count: int


@dataclass(slots=True)
class Cost:
    """The calls of an operator, their time, and their rows. `out`: the rows that it gave, None where that is
    not known; `new`: of those of a rule the ones that its relation did not have."""

    calls: int = 0
    seconds: float = 0.0
    taken: int = 0
    out: int | None = 0
    new: int | None = None


@dataclass(slots=True)
class RecursionCosts:
    """The costs inside one recursion, and its rounds: number, seconds, derived rows and new rows."""

    costs: dict[tuple[str, str], Cost] = field(default_factory=dict)
    rounds: list[tuple[int, float, int, int | None]] = field(default_factory=list)


class _Visited:
    """The sums over the epochs that visited the same nodes."""

    def __init__(self, nodes: Sequence[NodeId]) -> None:
        self.nodes, self.epochs = nodes, 0
        self.seconds, self.rows = np.zeros(len(nodes)), np.zeros(len(nodes))
        self.known = np.ones(len(nodes), np.bool_)

    @property
    def width(self) -> int:
        """The figures of a walk."""
        return 2 * len(self.nodes) + 1

    def add(self, walks: Figures) -> None:
        """Adds walks."""
        size = len(self.nodes) + 1
        self.epochs += len(walks)
        self.seconds += np.diff(walks[:, :size], axis=1).sum(axis=0)
        rows = walks[:, size:]
        self.known &= ~np.isnan(rows).any(axis=0)
        self.rows += np.nan_to_num(rows).sum(axis=0)


class WalkEnds:
    """The inputs and outputs among the nodes of a walk."""

    def __init__(self, circuit: Circuit, nodes: Sequence[NodeId]) -> None:
        self.circuit, self.nodes = circuit, nodes
        self._inputs = [k for k, at in enumerate(nodes) if isinstance(circuit.nodes[at], Input)]
        self._outputs = [k for k, at in enumerate(nodes) if isinstance(circuit.nodes[at], Output)]

    def rows(self, rows: Sequence[float]) -> tuple[int, int]:
        """The rows by which inputs and by which outputs changed, as far as they are known, given those of all
        nodes."""
        taken, given = ([rows[k] for k in part] for part in (self._inputs, self._outputs))
        return sum(int(n) for n in taken if not isnan(n)), sum(int(n) for n in given if not isnan(n))


class Sums:
    """The costs of some epochs of a circuit. `operators`: see `engine.epochcosts.Meter`."""

    def __init__(self, circuit: Circuit, operators: Sequence[tuple[NodeId, str, str]]) -> None:
        self.circuit, self._operators = circuit, operators
        self._visited: dict[tuple[NodeId, ...], _Visited] = {}  # by their nodes
        self._runs, self._rounds = _NO_RUNS, _NO_ROUNDS

    def add(self, walked: Iterable[Walked], taken: Taken) -> None:
        """Adds epochs, given the nodes that they walked."""
        if len(taken.runs):
            self._runs = summed(np.concatenate([self._runs, taken.runs]), 1)
        if len(taken.rounds):
            self._rounds = summed(np.concatenate([self._rounds, taken.rounds]), 2)
        at = 0
        for each in walked:
            key = tuple(each.nodes)
            visited = self._visited.get(key)
            if visited is None:
                visited = self._visited[key] = _Visited(each.nodes)
            stop = at + each.count * visited.width
            visited.add(taken.walks[at:stop].reshape(each.count, visited.width))
            at = stop

    def costs(self) -> dict[NodeId, Cost]:
        """The costs by node, without the nodes that only pass on."""
        found: dict[NodeId, Cost] = {}
        for visited in self._visited.values():
            rows: dict[NodeId, float] = dict(zip(visited.nodes, visited.rows.tolist(), strict=True))
            seconds_of, known_of = visited.seconds.tolist(), visited.known.tolist()
            for at, seconds, known in zip(visited.nodes, seconds_of, known_of, strict=True):
                node = self.circuit.nodes[at]
                if not isinstance(node, Output | FixpointResult | Trace):
                    cost = found.setdefault(at, Cost())
                    cost.calls += visited.epochs
                    cost.seconds += seconds
                    cost.taken += round(sum(rows.get(source, 0) for source in node.reads()))
                    cost.out = cost.out + round(rows[at]) if known and cost.out is not None else None
        return found

    def recursions(self) -> dict[NodeId, RecursionCosts]:
        """The runs and rounds inside recursions."""
        found: dict[NodeId, RecursionCosts] = {}
        for number, calls, seconds, taken, out, new in self._runs.tolist():
            at, operator, text = self._operators[int(number)]
            cost = Cost(int(calls), seconds, int(taken), _rows(out), _rows(new))
            found.setdefault(at, RecursionCosts()).costs[operator, text] = cost
        for of, number, seconds, derived, rows in self._rounds.tolist():
            told = int(number), seconds, int(derived), _rows(rows)
            found.setdefault(int(of), RecursionCosts()).rounds.append(told)
        return found


class CommitSums:
    """The numbers, seconds and rows of commits. Of more than `_MOST` commits, the slower one of neighbours is
    kept, over and over, so that slow ones stay."""

    _MOST = 1 << 14

    def __init__(self) -> None:
        self._kept = np.zeros((0, 4))

    def add(self, figures: Figures) -> None:
        """Adds commits."""
        kept = np.concatenate([self._kept, figures])
        while len(kept) > self._MOST:
            even = kept[: len(kept) // 2 * 2]
            slower = even[:, 1].reshape(-1, 2).argmax(axis=1) + np.arange(0, len(even), 2)
            kept = np.concatenate([kept[slower], kept[len(even) :]])
        self._kept = kept

    def rows(self) -> Iterable[tuple[int, float, int | None, int | None]]:
        """The commits that are kept: number, seconds, rows in and out."""
        for n, seconds, *others in self._kept.tolist():
            taken, given = map(_rows, others)
            yield int(n), seconds, taken, given


def _rows(number: float) -> int | None:
    return None if np.isnan(number) else int(number)
