"""What an evaluation of a loop told, by time. When the loop is to be maintained, timelines are made of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...circuit import Distinct, Group
from ...loopparts import LoopParts, delays, is_set, looked_up
from ..storage.batch import Batch, concat
from ..storage.marks import Marks
from .loopgates import GateState

_MOST = 1 << 26  # rows
_TIMES = 12  # at which the changes of a part are compared
_LARGE = 4096  # rows of a change of which only some are compared
_SHARE = 16  # times as many as these


class LoopRecording:
    """The changes at the parts whose timelines it takes to maintain a loop; of no more than some rows."""

    def __init__(self, parts: LoopParts, gates: dict[int, GateState]) -> None:
        self._parts, self.gates = parts, gates
        self.told: dict[int, list[tuple[int, Batch]]] = {}  # by part
        self.asked: dict[int, list[tuple[int, Batch]]] = {}  # the sources of distincts, by distinct
        self._distincts = {
            at
            for at, part in enumerate(parts.parts)
            if isinstance(part.node, Distinct) and not is_set(parts, part.sources[0])
        }
        groups = {at for at, part in enumerate(parts.parts) if isinstance(part.node, Group)}
        delayed = delays(parts)
        self._told = self._distincts | groups | (looked_up(parts) - {*delayed})
        self._told |= {*delayed.values()}
        self._room = _MOST

    @property
    def complete(self) -> bool:
        """Whether there was room for all."""
        return self._room >= 0

    def tell(self, at: int, time: int, change: Batch) -> None:
        """Notes what a part emits at a time."""
        if at in self._told:
            self._note(self.told, at, time, change)

    def ask(self, at: int, time: int, change: Batch) -> None:
        """Notes what a distinct is given at a time."""
        if at in self._distincts:
            self._note(self.asked, at, time, change)

    def _note(self, notes: dict[int, list[tuple[int, Batch]]], at: int, time: int, change: Batch) -> None:
        if self._room < 0:
            return
        self._room -= change.length
        notes.setdefault(at, []).append((time, change))
        if self._room < 0:
            self.told.clear()
            self.asked.clear()

    def commit(self) -> None:
        """The evaluation's changes stay."""
        for gate in self.gates.values():
            gate.commit()

    def mark(self, marks: Marks) -> None:
        """Marks the ids in the changes."""
        for notes in (self.told, self.asked):
            for at, changes in notes.items():
                for _, change in changes:
                    marks.columns(self._parts.parts[at].node.schema, change.columns)
        for gate in self.gates.values():
            gate.mark(marks)

    def batches(self) -> list[Batch]:
        """The changes."""
        return [batch for notes in (self.told, self.asked) for each in notes.values() for _, batch in each]

    @property
    def rows(self) -> int:
        """The rows of all changes."""
        return sum(batch.length for batch in self.batches())

    def differs(self, other: LoopRecording) -> float:
        """About how many rows of the changes differ, as a part of all rows: by a sample."""
        different = total = 0.0
        for at, changes in self.told.items():
            mine, others = _by_time(changes), _by_time(other.told.get(at, []))
            times = sorted({*mine, *others})
            step = -(-len(times) // _TIMES)
            rows = found = 0
            for time in times[::step]:
                size = sum(each.length for each in (*mine.get(time, ()), *others.get(time, ())))
                rows += size
                found += _different(mine.get(time, ()), others.get(time, ()), size)
            size = sum(batch.length for _, batch in changes)
            total += size
            different += size * found / max(rows, 1)
        return different / max(total, 1.0)


def _by_time(changes: list[tuple[int, Batch]]) -> dict[int, list[Batch]]:
    found: dict[int, list[Batch]] = {}
    for time, batch in changes:
        found.setdefault(time, []).append(batch)
    return found


def _different(mine: Iterable[Batch], others: Iterable[Batch], size: int) -> int:
    """About how many rows two sums of batches do not have alike; both have `size` rows together."""
    parts = [*mine, *(batch.negated() for batch in others)]
    whole = concat(parts, len(parts[0].columns))
    words = np.zeros(whole.length, np.uint64)
    for column in whole.columns:
        words = (words ^ column.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        words ^= words >> np.uint64(29)
    weights, share = whole.weight_array(), 1
    if size > _LARGE:
        some = np.flatnonzero(words % np.uint64(_SHARE) == 0)
        words, weights, share = words[some], weights[some], _SHARE
    _, places = np.unique(words, return_inverse=True)
    sums = np.bincount(places, weights) if len(places) else np.zeros(0)
    return share * int(np.count_nonzero(sums))
