"""Guesses of changes of inputs: rows that are inserted are mostly new, and rows that go are mostly there.

The rules that read an input need not wait until the cluster has told which rows change it: one job tells
that, and finds what else the epoch needs. An epoch that has guessed wrongly begins again, and so does one
that fails before its guesses are known to be right.
"""

from __future__ import annotations

from collections.abc import Iterable

from .. import thresholds
from ..circuit import Circuit, DeltaJoin, Join, NodeId
from ..operators.steps import has_effect


class Guesses:
    """Which inputs of a circuit may be guessed."""

    def __init__(self, circuit: Circuit) -> None:
        joins = (node for node in circuit.nodes if isinstance(node, Join | DeltaJoin))
        self._effects = any(has_effect(step) for join in joins for step in join.steps)
        self._until: dict[NodeId, int] = {}
        self._epoch = 0
        self._never = False
        self.pending = False  # whether a guess of the running epoch may be wrong

    def begin(self) -> None:
        """An epoch begins, or begins again."""
        self.pending = False

    def allows(self, at: NodeId) -> bool:
        """Whether the change of an input may be guessed in this epoch."""
        return not self._effects and not self._never and self._until.get(at, 0) <= self._epoch

    def were_wrong(self, nodes: Iterable[NodeId]) -> None:
        """Notes that guesses of some inputs were wrong."""
        self._until.update(dict.fromkeys(nodes, self._epoch + thresholds.SPARK_PATIENCE))

    def stop(self, stopped: bool = True) -> None:
        """Guesses nothing until further notice."""
        self._never = stopped

    def ended(self) -> None:
        """An epoch was committed."""
        self._epoch += 1
