"""Recordings of evaluations of a loop: the changes by time. They become timelines when the loop is to be
maintained."""

from __future__ import annotations

from collections.abc import Collection

from ... import thresholds
from ...circuit import Group
from ...loopparts import LoopParts, counts, delays, looked_up
from ..storage.batch import Batch
from ..storage.marks import Marks
from .loopgates import GateState


class LoopRecording:
    """The changes at the parts whose timelines it takes to maintain a loop; of no more than some rows."""

    def __init__(self, parts: LoopParts, gates: dict[int, GateState]) -> None:
        self._parts, self.gates = parts, gates
        self.told: dict[int, list[tuple[int, Batch]]] = {}  # by part
        self.asked: dict[int, list[tuple[int, Batch]]] = {}  # the sources of distincts, by distinct
        self._distincts = {at for at in range(len(parts.parts)) if counts(parts, at)}
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
