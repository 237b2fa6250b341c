"""One epoch of a loop: maintained in product time, or evaluated from empty relations."""

from __future__ import annotations

from collections.abc import Mapping

from ..clock import work
from ..epoch import Epoch
from ..maintaining import Choice, Profile, Watch
from ..settling import Changing, Unsettled
from .account import Account
from .batch import Batch, no_rows
from .loopcontents import LoopContents
from .loopepoch import LoopEpoch
from .loops import LoopRecursion
from .loopsettling import no_reach
from .looptimelines import LoopTimelines
from .memories import Imported

_UNSETTLED = "how it ends was to be looked into"


class RunningLoop:
    """One epoch of a loop. See `schedule.Nested`: all rounds are one iteration."""

    def __init__(
        self, recursion: LoopRecursion, imports: Mapping[int, Imported], epoch: Epoch[Batch]
    ) -> None:
        self._recursion, self._imports, self._epoch = recursion, imports, epoch
        self._timelines: LoopTimelines | None = None  # that were changed
        self._contents: LoopContents | None = None
        self._events: LoopEpoch | None = None
        relations = recursion.relations
        self._account = Account(recursion.maintaining, recursion.costs, relations, imports, epoch.number)

    def seed(self, first: bool) -> None:
        """All rounds."""
        changed = self._account.situation.changed
        if first or (changed and not self._maintained()):
            self._evaluate()

    def _choice(self) -> Choice:
        if self._recursion.has_effects:
            return self._account.settle("a rule has an effect")
        return self._account.choose(self._recursion.is_ready)

    def _maintained(self) -> bool:
        """Whether the epoch is done in product time."""
        choice = self._choice()
        if not choice.maintain:
            return False
        ready, since = self._recursion.is_ready, work()
        timelines = self._timelines = self._recursion.timelines()
        if timelines is None:
            self._account.give_up("no rounds are kept", None)
            return False
        if not ready:
            self._account.prepared(since)
        events = self._events_of(timelines)
        try:
            if self._account.goes_on(
                lambda: events.run(False, self._recursion.costs.profile, choice.watch), timelines.rollback
            ):
                self._events = events
                return True
        except Unsettled:  # an evaluation tells how
            self._account.give_up(_UNSETTLED, None)
            timelines.rollback()
        except MemoryError:
            self._recursion.forget()
            self._timelines = None
            raise
        self._timelines = None
        return False

    def _evaluate(self) -> None:
        recorded = not self._epoch.static and (
            self._recursion.maintaining.mode != "never" or self._recursion.has_effects
        )
        self._account.begin_anew()
        contents = self._contents = LoopContents(self._recursion.parts, self._recursion.evaluator, recorded)
        self._events = self._events_of(contents)
        self._events.run(True, Profile(), Watch())

    def _events_of(self, memory: LoopTimelines | LoopContents) -> LoopEpoch:
        before = self._recursion.reach if memory is self._timelines else no_reach(self._recursion.parts)
        return LoopEpoch(self._recursion, memory, self._imports, self._epoch, before)

    def next_iteration(self) -> int | None:
        return None

    def iterate(self, time: int) -> None:
        raise AssertionError("all rounds of a loop are one iteration")

    def changing(self) -> Changing:
        return ()

    def rows(self) -> int:
        return 0

    def finish(self) -> dict[str, Batch | None]:
        recursion, events = self._recursion, self._events
        recursion.evaluator.iteration = 0
        changes: dict[str, Batch | None] = {}
        if events is not None and self._contents is not None:
            found = {name: self._evaluated(name, events, self._contents) for name in recursion.relations}
            rows = sum(batch.length for batch in found.values())
            self._account.evaluated(rows, events.depths)
            changes |= {name: recursion.replace(name, batch) for name, batch in found.items()}
            self._account.compared(rows)
        else:
            for name in recursion.relations if events is not None else ():
                assert events is not None
                changes[name] = recursion.change(name, events.changes(name))
            self._account.maintained()
        self._account.finish()
        return {name: changes.get(name) for name in recursion.schemas}

    def _evaluated(self, name: str, events: LoopEpoch, contents: LoopContents) -> Batch:
        """The contents of a relation that was evaluated."""
        held = contents.held(self._recursion.parts.results[name])
        return held or events.changes(name) or no_rows(self._recursion.schemas[name])

    def commit(self) -> None:
        """The epoch's changes stay."""
        self._account.close()
        self._recursion.commit()
        if self._events is not None:
            self._recursion.reach = self._events.settling.reach
        if self._contents is not None:
            recording = self._contents.recording
            if recording is not None:
                recording.commit()
            self._recursion.evaluated(recording, self._contents.joiners)
        elif self._timelines is not None:
            self._timelines.commit()

    def rollback(self) -> None:
        """Takes the epoch back, finished or not."""
        self._recursion.rollback()
        if self._timelines is not None:
            self._timelines.rollback()
