"""A loop in shards, in product time: all workers visit the same parts at the same times.

    vote for the least time ─► Earlier ─► ⋈ ─► ⇄ ─► distinct ─► ⋈ ─► ⇄ ─► group ─► … ─► vote
                                          ↕ look-ups

The timeline of a row is on the worker that owns the row, and that of a group on the worker that owns its key.
So each worker finds alone what is missing at a time, and when it is to be visited again (`engine.time`). Two
things are decided together:

- Which time comes next: the least that some worker has work for. At it all workers visit all parts that this
  work may reach without entering or leaving a loop inside, whether they have work there or not. So an
  Exchange gets a message of each worker, and a look-up finds the others at the same visit. A worker that owns
  no rows of the loop only hears of the times.
- What `Settling` looks at: which relations changed, and whether the state is one that it was before.

Whether a loop is maintained or evaluated anew (`engine.maintenance`) is decided by a vote, too, in which a
worker weighs as much as its part of an evaluation takes. So is whether maintaining is given up, with the vote
for the next time. When an epoch that is maintained faults or does not settle, all state is evaluated anew
(`runtime`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from ..account import DEARER
from ..circuit import Exchange, Import, Join
from ..clock import work
from ..divergence import Changing
from ..epoch import Epoch
from ..inprocess.arrangements.timeline import TimedView
from ..inprocess.arrangements.views import View
from ..inprocess.recursion.checkpoint import RoundCheckpoint
from ..inprocess.recursion.loopcontents import LoopContents
from ..inprocess.recursion.loopdivergence import Reach, Settling, no_reach
from ..inprocess.recursion.loopepoch import LoopEpoch, PartEvent
from ..inprocess.recursion.loops import LoopRecursion
from ..inprocess.recursion.looptimelines import LoopTimelines
from ..inprocess.recursion.memories import Imported
from ..inprocess.recursion.paths import Paths
from ..inprocess.runningloop import RunningLoop
from ..inprocess.storage.batch import Batch, concat, consolidate, no_rows
from ..inprocess.storage.interner import Values
from ..inprocess.storage.rows import some_changes
from ..loopparts import Gate, LoopParts, unsteady
from ..maintenance import GivenUp, Watch
from ..schema import Schema
from ..versions import Seen, versions
from .carried import Key
from .team import Team
from .views import ShardsView, Spread, TimedShardsView
from .wire import exchanged, packed, unpacked

_BY_VOTE = "most of the work is expected to be less"


class ShardsLoop(LoopRecursion):
    """The part of one worker of the state of a loop."""

    team: Team
    keys: Sequence[Key | None]
    """The columns by which the rows of each part have owners."""

    @property
    def keeps_rounds(self) -> bool:
        """Whether there are timelines, or a recording to make them of."""
        return self.is_ready or (self.recording is not None and self.recording.complete)

    @cached_property
    def speaking(self) -> range:
        """The workers that may have something to do in an epoch that is maintained: those that own rows, if
        all rows that come or are looked up have owners by their columns."""
        nodes = [part.node for part in self.parts.parts]
        are_owned = all(
            key if isinstance(node, Import) else key != () and not isinstance(node, Gate)
            for node, key in zip(nodes, self.keys, strict=True)
        )
        return self.team.owning if are_owned else range(self.team.size)

    @cached_property
    def stretches(self) -> VisitStretches:
        """The stretches of its parts."""
        return VisitStretches(self.parts)


class VisitStretches:
    """The parts of a loop in the order of their visits, cut where a loop inside begins or ends: what is
    visited together at a time."""

    def __init__(self, parts: LoopParts) -> None:
        order = sorted(range(len(parts.parts)), key=lambda at: parts.parts[at].place)
        self.of = [0] * len(order)  # the stretch of each part
        self.first: list[int] = []  # the first part of each
        self._rank = [0] * len(order)
        for rank, at in enumerate(order):
            if not rank or parts.parts[at].scope != parts.parts[order[rank - 1]].scope:
                self.first.append(at)
            self.of[at], self._rank[at] = len(self.first) - 1, rank
        self._parts = parts
        self._reached: dict[frozenset[int], list[int]] = {}

    def reached(self, some: frozenset[int]) -> list[int]:
        """The parts of a stretch that change at a time if some of it do, in order."""
        if some not in self._reached:
            found, waiting = set(some), [*some]
            while waiting:
                at = waiting.pop()
                for reader, _ in self._parts.readers[at]:
                    is_later = self.of[reader] == self.of[at] and self._rank[reader] > self._rank[at]
                    if is_later and reader not in found:
                        found.add(reader)
                        waiting.append(reader)
            self._reached[some] = sorted(found, key=self._rank.__getitem__)
        return self._reached[some]


class _Vote(NamedTuple):
    """What a worker says of an epoch before it: the rows that change, whether it goes over paths, whether it
    is for maintaining, what its vote weighs, which is the time of an evaluation, and whether it has what
    maintaining takes: rounds, or paths that have begun. Workers may differ after an epoch that was given up
    before all had come to the loop."""

    changed: int
    over_paths: bool
    maintain: bool = False
    weight: float = 0.0
    is_kept: bool = False


class RunningShardsLoop(RunningLoop):
    """One epoch of a loop on one worker."""

    _recursion: ShardsLoop

    def __init__(
        self, recursion: ShardsLoop, imports: Mapping[int, Imported], epoch: Epoch[Batch], at: int
    ) -> None:
        """`at` is the place of the loop in the circuit."""
        super().__init__(recursion, imports, epoch)
        self._at = at
        self._votes: Sequence[_Vote] = ()
        self._weight = self._total = 0.0  # of this worker and of all, in a vote on how to go on

    def seed(self, first: bool) -> None:
        votes = self._votes = self._recursion.team.agree(self._vote(first))
        if not first and not any(vote.changed for vote in votes):
            return
        had_paths = any(vote.over_paths for vote in votes)
        looks_into = self._recursion.team.looks_into
        is_without_paths = not all(vote.over_paths for vote in votes)
        if is_without_paths or looks_into:
            self._recursion.forget_paths(unsuitable=is_without_paths)
        anew = first or had_paths or looks_into
        if not self._followed() and (anew or not self._maintained_together(votes)):
            self._evaluate()

    def _follows_on(self, paths: Paths) -> bool:
        return all(vote.is_kept for vote in self._votes) and not self._is_outvoted(self._votes)

    def _vote(self, first: bool) -> _Vote:
        changed, paths = self._account.changed, self._recursion.paths
        if first:
            return _Vote(changed, paths is not None)
        choice = self._choice() if paths is None else self._account.choose()
        maintain = choice.maintain and not (paths is not None and paths.has_ghosts())
        self._weight = 1.0 if choice.estimate is None else choice.estimate.recompute
        is_kept = self._recursion.keeps_rounds if paths is None else paths.begun
        return _Vote(changed, paths is not None, maintain, self._weight, is_kept)

    def _is_outvoted(self, votes: Sequence[_Vote]) -> bool:
        """Whether the workers on which something changes are against maintaining."""
        against = sum(vote.weight for vote in votes if vote.changed and not vote.maintain)
        return 2 * against > sum(vote.weight for vote in votes if vote.changed)

    def _maintained_together(self, votes: Sequence[_Vote]) -> bool:
        """Whether the epoch is done in product time. Workers decide on which something changes: the others do
        not learn by evaluations what changes bring about."""
        recursion = self._recursion
        self._total = sum(vote.weight for vote in votes)
        if self._is_outvoted(votes):
            self._account.refuse(_BY_VOTE)
            return False
        if not all(vote.is_kept for vote in votes):
            self._account.give_up("no rounds are kept", None)
            return False
        since, ready = work(), recursion.is_ready
        timelines = self._timelines = recursion.timelines()
        assert timelines is not None
        if not ready:
            self._account.prepared(since)
        events = self._events = self._events_of(timelines)
        watch = self._account.choice.watch
        try:
            events.run(False, recursion.costs.profile, watch)
            return True
        except GivenUp:
            self._account.give_up(DEARER, watch)
            self._given_up(watch)
        timelines.rollback()
        self._timelines, self._total = None, 0.0
        return False

    def _events_of(self, memory: LoopTimelines | LoopContents) -> ShardsLoopEpoch:
        before = self._recursion.reach if memory is self._timelines else no_reach(self._recursion.parts)
        found = ShardsLoopEpoch(self._recursion, memory, self._imports, self._epoch, before, self._at)
        found.weight, found.total = self._weight, self._total
        return found

    def view_of(self, at: int, slot: int, now: bool) -> View:
        """The part of this worker of what a join looks up in the visit that goes on."""
        assert isinstance(self._events, ShardsLoopEpoch)
        return self._events.view_of(at, slot, now)


class ShardsLoopEpoch(LoopEpoch):
    """The events of one epoch on one worker. The heap has the first part of each stretch that has events."""

    _recursion: ShardsLoop
    weight = total = 0.0
    """What the vote of this worker weighs on whether to give up, and what those of all do."""

    def __init__(
        self,
        recursion: ShardsLoop,
        memory: LoopTimelines | LoopContents,
        imports: Mapping[int, Imported],
        epoch: Epoch[Batch],
        reach: Reach,
        at: int,
    ) -> None:
        self._team, self._values, self._at = recursion.team, recursion.evaluator.values, at
        super().__init__(recursion, memory, imports, epoch, reach)
        self._stretches = recursion.stretches
        maintained = isinstance(memory, LoopTimelines)
        self._speaking = recursion.speaking if maintained else range(self._team.size)
        self._waiting: dict[tuple[int, int], set[int]] = {}  # parts with events, by first part and time
        self._visited: tuple[int, dict[int, PartEvent]] = 0, {}  # the time, and the events of the parts
        self._changes: dict[int, Batch] = {}  # of relations at that time, by part
        self._moving = unsteady(self._parts)
        self._gives_up = False

    def _settling(self, reach: Reach, schemas: Mapping[str, Schema]) -> Settling:
        return _Together(self._team, self._values, schemas, self._parts, self._epoch.limit, reach)

    def _begin(self) -> None:
        if not self._team.rank:
            super()._begin()

    # ------------------------------------------------------------- events

    def _event(self, at: int, time: int) -> PartEvent:
        found = self._events.get((at, time))
        if found is None:
            found = self._events[at, time] = PartEvent(len(self._parts.parts[at].sources))
            first = self._stretches.first[self._stretches.of[at]]
            if (first, time) not in self._waiting:
                self._waiting[first, time] = set()
                heappush(self._heap, (self._order(first, time), time, first))
            self._waiting[first, time].add(at)
        return found

    def _due(self) -> Iterator[tuple[int, int, PartEvent]]:
        while (moment := self._next()) is not None:
            time, parts = moment
            events = {at: self._event(at, time) for at in parts}
            _, _, first = heappop(self._heap)
            del self._waiting[first, time]
            self._visited = time, events
            for at, event in events.items():
                del self._events[at, time]
                yield time, at, event

    def _next(self) -> tuple[int, list[int]] | None:
        """The least time at which some worker has work, and the parts that all visit then."""
        own = None
        if self._heap:
            order, time, first = self._heap[0]
            own = order, time, frozenset(self._waiting[first, time])
            assert self._team.rank in self._speaking, "all rows have owners"
        against = self.weight if self._gives_up else 0.0
        vote = own, tuple(self._changes), tuple(self.settling.named), against
        votes = self._team.relay(self._team.agree(vote, self._speaking), self._speaking)
        if 2 * sum(weight for *_, weight in votes) > self.total:
            raise GivenUp
        self.settling.named = [max(each) for each in zip(*(named for _, _, named, _ in votes), strict=True)]
        for at in sorted(set[int]().union(*(told for _, told, _, _ in votes))):
            change = self._changes.get(at, no_rows(self._nodes[at].schema))
            super()._settle(at, self._visited[0], change)
        self._changes.clear()
        waiting = [each for each, *_ in votes if each is not None]
        if not waiting:
            return None
        order, time, _ = min(waiting, key=lambda each: each[0])
        some = frozenset().union(*(parts for where, _, parts in waiting if where == order))
        return time, self._stretches.reached(some)

    def _settle(self, at: int, time: int, change: Batch) -> None:
        self._changes[at] = change

    def _look(self, watch: Watch) -> None:
        self._gives_up = self._gives_up or watch.gives_up()

    # ------------------------------------------------------------- operators

    def _visit(self, at: int, time: int, event: PartEvent) -> Batch | None:
        self._team.ready()
        if self._team.rank not in self._speaking:
            return None
        match self._nodes[at]:
            case Exchange(_, key) as node:
                change = self._sum(event.changes[0], len(node.schema))
                return exchanged(self._team, self._values, node.schema, key, change, self._speaking)
            case Gate():
                flags = sum(int(batch.weight_array().sum()) for batch in event.changes[1])
                flag = sum(self._team.agree(flags))  # one worker has it
                event.changes[1] = [Batch((), 1, np.array([flag]))] if flag else []
        return super()._visit(at, time, event)

    def _join(self, at: int, node: Join, time: int, changes: Sequence[Batch | None]) -> list[Batch]:
        if len(node.terms) == 1 and not node.terms[0].negated:
            return super()._join(at, node, time, changes)
        begins = self._begins(node, time)
        sizes = [int(not time or source in self._moving) for source in self._parts.parts[at].sources]
        if sum(sizes) > 1:
            own = [0 if change is None else change.length for change in changes]
            sizes = list(map(sum, zip(*self._team.agree(own, self._speaking), strict=True)))
        found: list[Batch] = []
        for start, seen in versions(node.terms, sizes, begins):
            change = None if start is None else changes[start]
            if self._team.rank if start is None else change is None or not change.length:
                continue
            if not (self._first and not time and self._needs_earlier(node, seen)):
                found += self._joined(at, start, time, changes, self._views(at, start, seen, time, changes))
        return found

    def _needs_earlier(self, node: Join, seen: Seen) -> bool:
        """Whether a delta join meets rows that were there before."""
        return not all(now or term.negated for now, term in zip(seen, node.terms, strict=True))

    def _views(
        self, at: int, start: int | None, seen: Seen, time: int, changes: Sequence[Batch | None]
    ) -> list[View | None]:
        local = super()._views(at, start, seen, time, changes)
        return [None if view is None else self._spread(at, k, seen[k], view) for k, view in enumerate(local)]

    def _spread(self, at: int, slot: int, now: bool, local: View) -> ShardsView:
        """The contents of what a join looks up on all workers."""
        source = self._parts.parts[at].sources[slot]
        spread = Spread(self._nodes[source].schema, self._recursion.keys[source])
        view = TimedShardsView if isinstance(local, TimedView) else ShardsView
        return view(self._team, self._values, spread, ("loop", self._at, at, slot, now), local)

    def view_of(self, at: int, slot: int, now: bool) -> View:
        """The part of this worker of what a join looks up in the visit that goes on."""
        time, events = self._visited
        source, each = self._parts.parts[at].sources[slot], events[at].changes[slot]
        unseen = None if now or not each else concat(each, 0)
        return self._view(source, time, unseen)


class _Together(Settling):
    """Looks at the changes of relations on all workers."""

    def __init__(
        self,
        team: Team,
        values: Values,
        schemas: Mapping[str, Schema],
        parts: LoopParts,
        limit: int | None,
        reach: Reach,
    ) -> None:
        super().__init__(parts, limit, reach, partial(_shown, team, values, schemas))
        self._team = team

    def _differs(self, checkpoint: RoundCheckpoint) -> bool:
        return any(self._team.agree(checkpoint.differs()))


def _shown(
    team: Team, values: Values, schemas: Mapping[str, Schema], changes: Mapping[str, Batch]
) -> Changing:
    """A few rows of the changes of some relations on all workers."""
    if not changes:
        return ()
    came = team.agree({name: packed(values, schemas[name], change) for name, change in changes.items()})
    whole = {
        name: consolidate(
            concat([unpacked(values, schemas[name], each[name]) for each in came], len(schemas[name]))
        )
        for name in changes
    }
    return some_changes(values, schemas, whole)
