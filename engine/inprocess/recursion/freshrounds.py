"""Rounds of a loop that begin from nothing, where most rows of what they read were replaced.

A group whose members change takes its row back and gives another one. Where all groups do so in all rounds,
as in PageRank, half of the rows of a round only take those of the round before back. Such a round is cheaper
from nothing but what is the same in all rounds:

    by changes      -Rank(a, 1)  +Rank(a, 2)   ──► -Part(b, a, 1)  +Part(b, a, 2)   ──► …
    from nothing                  Rank(a, 2)   ──►                  Part(b, a, 2)   ──► …

A round is a function of the round before (`engine.naiveloop`), so it has the same relations either way. What
it gives to the next round is a change again: the relations that are read there are compared with those of the
round before.

Changes may also bring rows of two rounds together on which an expression faults. Where one has faulted, the
loop is evaluated once more, each round from nothing that can be: no row of another round is there then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ... import thresholds
from ...circuit import Earlier, Join
from ...epoch import Epoch
from ...loopparts import Gate, LoopParts, unsteady
from ..storage.batch import Batch, Gathering, concat, consolidate, no_rows
from .loopcontents import LoopContents
from .loopdivergence import no_reach
from .loopepoch import LoopEpoch, PartEvent
from .loops import LoopRecursion
from .memories import Imported


def can_begin_anew(parts: LoopParts, contents: LoopContents) -> bool:
    """Whether rounds can begin from nothing: each follows from the one before alone, whose rows are at hand,
    and a join of what moves has no valuations while that is empty."""
    moving = unsteady(parts)
    for at, part in enumerate(parts.parts):
        match part.node:
            case Gate():
                return False
            case Earlier() if parts.lag(at) > 1 or not contents.holds(part.sources[0]):
                return False
            case Join(terms) if at in moving:
                pairs = zip(part.sources, terms, strict=True)
                if not any(source in moving and not term.negated for source, term in pairs):
                    return False
    return len(parts.scopes) == 1 and contents.is_plain


class FreshRoundsEpoch(LoopEpoch):
    """The events of one epoch that evaluates a loop from empty relations, some rounds of it from nothing."""

    _memory: LoopContents

    def __init__(
        self,
        recursion: LoopRecursion,
        contents: LoopContents,
        imports: Mapping[int, Imported],
        epoch: Epoch[Batch],
    ) -> None:
        super().__init__(recursion, contents, imports, epoch, no_reach(recursion.parts))
        parts = self._parts.parts
        self._moving = unsteady(self._parts)
        self._delays = {
            at: part.sources[0] for at, part in enumerate(parts) if isinstance(part.node, Earlier)
        }
        self._again = [  # what a round from nothing is told again: joins look it up
            (source, at, slot)
            for at in sorted(self._moving - {*self._delays})
            if not isinstance(parts[at].node, Join)
            for slot, source in enumerate(parts[at].sources)
            if source not in self._moving
        ]
        self._steady: dict[int, Batch | None] = {source: None for source, *_ in self._again}
        self._before: dict[int, Batch] = {}  # what the delays read, before the round that began from nothing
        self._now = self._read = 0  # the round, and the rows that its delays told
        self.always = False
        """Whether each round begins from nothing that can."""
        self._gone = 0  # the rows of changes that rounds from nothing have made void

    def _emit(self, at: int, time: int, change: Batch) -> None:
        if at in self._steady:
            self._steady[at] = change
        super()._emit(at, time, change)

    def _time_of(self, reader: int, time: int) -> int | None:
        # After a round from nothing, delays tell changes, which are not known yet.
        return None if self._before and reader in self._delays else super()._time_of(reader, time)

    def _due(self) -> Iterator[tuple[int, int, PartEvent]]:
        for_round = super()._due()
        while True:
            if not self._heap or self._heap[0][1] != self._now:
                self._turn()
            due = next(for_round, None)
            if due is None:
                return
            yield due

    def _turn(self) -> None:
        """Ends a round, and lets the next one begin from nothing if that is cheaper."""
        changes = self._compared()
        for at, source in self._delays.items():
            then = self._time_of(at, self._now)
            if then is not None and source in changes and changes[source].length:
                self._event(at, then).changes[0].append(changes[source])
        if self._heap:
            read, self._now = self._read, self._heap[0][1]
            self._read = sum(
                batch.length
                for at in self._delays
                if (at, self._now) in self._events
                for batch in self._events[at, self._now].changes[0]
            )
            unseen = self.settling.is_unseen(self._now)
            if self._read and unseen and (self.always or self._pays(self.told / max(read, 1))):
                self._begin_anew()

    def _compared(self) -> dict[int, Batch]:
        """The changes of what the delays read, if the round began from nothing."""
        changes = {
            source: consolidate(concat([self._held(source), before.negated()], len(before.columns)))
            for source, before in self._before.items()
        }
        self._before.clear()
        return changes

    def _pays(self, derived: float) -> bool:
        """Whether the round is cheaper from nothing, if it derives so many rows of each that it reads."""
        whole = sum(self._memory.size(source) for source in {*self._delays.values()})
        again = sum(batch.length for batch in self._steady.values() if batch is not None)
        saved = derived * (thresholds.FRESH_SHARE * self._read - whole)
        return saved > again + thresholds.FRESH_ROWS

    def _begin_anew(self) -> None:
        """Lets the round begin from nothing."""
        self._before = {source: self._held(source) for source in self._delays.values()}
        self._memory.restart(self._moving, self._now)
        self._events.clear()
        self._heap.clear()
        for at in self._gathered.keys() & self._moving:
            self._gone += self._gathered[at].rows
            self._gathered[at] = Gathering(len(self._nodes[at].schema))
        for at, source in self._delays.items():
            self._event(at, self._now).changes[0].append(self._before[source])
        for source, at, slot in self._again:
            if (batch := self._steady[source]) is not None:
                self._event(at, self._now).changes[slot].append(batch)
        self._read = sum(batch.length for batch in self._before.values())

    def _rows(self) -> int:
        return self._gone + super()._rows()

    def _held(self, at: int) -> Batch:
        return self._memory.held(at) or no_rows(self._nodes[at].schema)
