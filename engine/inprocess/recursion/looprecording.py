"""Recordings of evaluations of a loop: the changes by time. They become timelines when the loop is to be
maintained."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ... import thresholds
from ...circuit import Distinct, Group
from ...loopparts import LoopParts, delays, is_set, looked_up
from ...schema import Array
from ..storage.batch import Batch, concat
from ..storage.marks import Marks
from .loopgates import GateState


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
        self._since: tuple[dict[int, int], dict[int, int]] = {}, {}  # the first changes that stay, by part
        self._room = thresholds.RECORDED_ROWS

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

    def take_back(self, some: Collection[int], time: int) -> None:
        """Notes that some parts begin from nothing at a time: all that they told and were given is gone."""
        for notes, since in zip((self.told, self.asked), self._since, strict=True):
            for at in some:
                stay = notes.get(at, [])[since.get(at, 0) :]
                since[at] = since.get(at, 0) + 2 * len(stay)
                for _, change in stay:
                    self._note(notes, at, time, change.negated())

    def _note(self, notes: dict[int, list[tuple[int, Batch]]], at: int, time: int, change: Batch) -> None:
        if self._room < 0:
            return
        self._room -= change.length
        notes.setdefault(at, []).append((time, change.unread()))
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
                    marks.columns(self._parts.parts[at].node.schema, change.unread().columns)
        for gate in self.gates.values():
            gate.mark(marks)

    def batches(self) -> list[Batch]:
        """The changes."""
        return [batch for notes in (self.told, self.asked) for each in notes.values() for _, batch in each]

    @property
    def rows(self) -> int:
        """The rows of all changes."""
        return sum(batch.length for batch in self.batches())

    def sample(self) -> Sample:
        """Some of the changes of each part, to be compared with those of a later evaluation."""
        return {at: _sampled(_by_time(changes)) for at, changes in self.told.items()}

    def differs(self, before: Sample) -> float:
        """About how many rows of the changes differ from those of an earlier evaluation, as a part of all
        rows."""
        different = total = 0.0
        for at, changes in self.told.items():
            mine, others = _by_time(changes), before.get(at, _NOTHING)
            rows = found = 0
            for time in {*others.some, *_strided({*mine} - others.times)}:
                size, differing = _different(mine.get(time, ()), others.some.get(time))
                rows, found = rows + size, found + differing
            size = sum(batch.length for _, batch in changes)
            total += size
            different += size * found / max(rows, 1)
        return different / max(total, 1.0)


class _SomeRows(NamedTuple):
    """Some rows of the changes at a time: of all `size` rows, each as one number, with its weight."""

    size: int
    words: Any
    weights: Array


class SampledPart(NamedTuple):
    """The changes of a part at some times, and all of its times."""

    some: dict[int, _SomeRows]
    times: frozenset[int]


Sample: TypeAlias = dict[int, SampledPart]
"""Changes of parts."""

_NOTHING = SampledPart({}, frozenset())


def _strided(times: Iterable[int]) -> list[int]:
    """Some of the times, at about equal distances."""
    every = sorted(times)
    return every[:: -(-len(every) // thresholds.COMPARED_TIMES) or 1]


def _sampled(changes: dict[int, list[Batch]]) -> SampledPart:
    return SampledPart({time: _some(changes[time]) for time in _strided(changes)}, frozenset(changes))


def _by_time(changes: Iterable[tuple[int, Batch]]) -> dict[int, list[Batch]]:
    found: dict[int, list[Batch]] = {}
    for time, batch in changes:
        found.setdefault(time, []).append(batch.unread())
    return found


def _some(batches: Sequence[Batch], few: bool = False) -> _SomeRows:
    """The rows of batches; of many only one in `thresholds.COMPARED_SHARE`. `few`: also of a few."""
    if not batches:
        return _SomeRows(0, np.zeros(0, np.uint64), np.zeros(0, np.int64))
    whole = concat(batches, len(batches[0].columns))
    words = np.zeros(whole.length, np.uint64)
    for column in whole.columns:
        words = (words ^ column.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        words ^= words >> np.uint64(29)
    found = _SomeRows(whole.length, words, whole.weight_array())
    return _fewer(found) if few or whole.length > thresholds.COMPARED_ROWS else found


def _fewer(some: _SomeRows) -> _SomeRows:
    places = np.flatnonzero(some.words % np.uint64(thresholds.COMPARED_SHARE) == 0)
    return _SomeRows(some.size, some.words[places], some.weights[places])


def _different(mine: Sequence[Batch], others: _SomeRows | None) -> tuple[int, int]:
    """The rows of two sums of batches together, and about how many of them these do not have alike."""
    before = _some(()) if others is None else others
    if not before.size:
        size = sum(batch.length for batch in mine)
        return size, size
    now = _some(mine, before.size > thresholds.COMPARED_ROWS)
    if now.size > thresholds.COMPARED_ROWS >= before.size:
        before = _fewer(before)
    words, places = np.unique(np.concatenate([now.words, before.words]), return_inverse=True)
    sums = np.bincount(places, np.concatenate([now.weights, -before.weights]), len(words))
    share = thresholds.COMPARED_SHARE if max(now.size, before.size) > thresholds.COMPARED_ROWS else 1
    return now.size + before.size, share * int(np.count_nonzero(sums))
