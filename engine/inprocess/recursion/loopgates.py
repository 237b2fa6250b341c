"""Gates, which let changes of a loop pass until it ends: see `engine.loopparts`."""

from __future__ import annotations

from collections.abc import Iterator

from ... import thresholds
from ...loopparts import Gate
from ...time import Lattice
from ..storage.batch import Batch, concat, consolidate
from ..storage.marks import Marks


class GateState:
    """The memory of a Gate: the changes of its source by time, and the times at which flags come and go."""

    def __init__(self, node: Gate, lattice: Lattice) -> None:
        self._node, self._lattice = node, lattice
        self._arity = len(node.schema)
        self._batches: dict[int, list[Batch]] = {}
        self._flags: dict[int, int] = {}
        self._log: list[tuple[int, int]] = []  # times, and changes of the flag: 0 for a batch

    def passed(self, time: int, change: Batch | None, flag: int) -> Iterator[tuple[int, Batch]]:
        """The batches that pass for a change of the source and of the flag at a time, each with its time."""
        lattice, component = self._lattice, self._node.component
        number = lattice.round(time, component)
        if flag:
            for held, batches in self._batches.items():
                if batches and lattice.round(held, component) >= number:
                    yield lattice.join(held, time), concat(batches, self._arity).scaled(flag)
            self._flags[time] = self._flags.get(time, 0) + flag
            self._log.append((time, flag))
        if change is None or not change.length:
            return
        if not number:
            yield time, change
            return
        change = consolidate(change)
        self._batches.setdefault(time, []).append(change)
        self._log.append((time, 0))
        weights: dict[int, int] = {}
        for flagged, weight in self._flags.items():
            if lattice.round(flagged, component) <= number:
                then = lattice.join(time, flagged)
                weights[then] = weights.get(then, 0) + weight
        yield from ((then, change.scaled(weight)) for then, weight in weights.items() if weight)

    def commit(self) -> None:
        """The epoch's changes stay."""
        for time in {time for time, change in self._log if not change}:
            held = self._batches[time]
            if len(held) > thresholds.GATE_BATCHES:
                whole = consolidate(concat(held, self._arity))
                self._batches[time] = [whole] if whole.length else []
        self._flags = {time: weight for time, weight in self._flags.items() if weight}
        self._log.clear()

    def rollback(self) -> None:
        """Takes back the changes since the last commit."""
        for time, change in reversed(self._log):
            if change:
                self._flags[time] -= change
            else:
                self._batches[time].pop()
        self._log.clear()

    def mark(self, marks: Marks) -> None:
        """Marks the ids in the changes."""
        for batches in self._batches.values():
            for batch in batches:
                marks.columns(self._node.schema, batch.columns)
