"""One epoch of a loop: over paths, maintained in product time, or evaluated from empty relations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from .. import thresholds
from ..account import DEARER
from ..clock import work
from ..divergence import Changing, Unsettled
from ..epoch import Epoch
from ..maintenance import Choice, ImportSize, IterationRows, Situation, Watch
from ..schema import RowFault
from .arrangements.store import Store
from .pathsteps import changed_steps
from .recursion.account import new_account
from .recursion.freshrounds import FreshRoundsEpoch, can_begin_anew
from .recursion.loopcontents import LoopContents
from .recursion.loopdivergence import no_reach
from .recursion.loopepoch import LoopEpoch
from .recursion.looprecording import LoopRecording
from .recursion.loops import LoopRecursion
from .recursion.looptimelines import LoopTimelines
from .recursion.memories import Imported
from .recursion.paths import FoundPaths, NeedsRounds, Paths, Unsuitable
from .storage.batch import Batch, no_rows

_UNSETTLED = "how it ends was to be looked into"


class RunningLoop:
    """One epoch of a loop. See `schedule.NestedEpoch`: all rounds are one iteration."""

    def __init__(
        self, recursion: LoopRecursion, imports: Mapping[int, Imported], epoch: Epoch[Batch]
    ) -> None:
        self._recursion, self._imports, self._epoch = recursion, imports, epoch
        self._timelines: LoopTimelines | None = None  # that were changed
        self._contents: LoopContents | None = None
        self._events: LoopEpoch | None = None
        self._paths: FoundPaths | None = None
        relations = recursion.relations
        self._account = new_account(recursion.maintaining, recursion.costs, relations, imports, epoch.number)

    def seed(self, first: bool) -> None:
        """All rounds."""
        changed = self._account.changed
        if (first or changed) and self._followed():
            return
        if first or (changed and not self._maintained()):
            self._evaluate()

    def _followed(self) -> bool:
        """Whether the epoch is done over paths, from their beginning or on. A limit of rounds asks for
        rounds."""
        recursion = self._recursion
        if recursion.paths is None or self._epoch.limit is not None:
            recursion.forget_paths()
            return False
        paths = recursion.paths
        recursion.forget()
        if paths.begun and not self._follows_on(paths):
            paths.forget()
        if not paths.begun:
            self._account.begin_anew()
        try:
            steps = partial(changed_steps, paths, self._imports, recursion.evaluator)
            self._paths = paths.run(steps, self._epoch.static)
        except (NeedsRounds, RowFault) as error:
            recursion.forget_paths(isinstance(error, Unsuitable))
            return False
        return True

    def _follows_on(self, paths: Paths) -> bool:
        """Whether paths that have begun are followed on, not from their beginning."""
        return not paths.has_ghosts() and self._account.choose().maintain

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
            if self._account.given_up == DEARER:
                self._given_up(choice.watch)
        except Unsettled:  # an evaluation tells how
            self._account.give_up(_UNSETTLED, None)
            timelines.rollback()
        except MemoryError:
            self._recursion.forget()
            self._timelines = None
            raise
        self._timelines = None
        return False

    def _given_up(self, watch: Watch) -> None:
        """Learns what it takes to maintain such an epoch: no number of rows tells that a change spreads to
        all of them in each round."""
        self._recursion.costs.takes_at_least(self._account.situation, watch.expected)

    def _evaluate(self) -> None:
        recursion = self._recursion
        recorded = not self._epoch.static and (recursion.maintaining.mode != "never" or recursion.has_effects)
        self._account.begin_anew()
        if recorded and not self._epoch.tried and not recursion.has_effects:
            recursion.forget()  # before another recording: both would take much memory
        try:
            self._run_from_nothing(recorded, False)
        except RowFault:  # perhaps of rows of two rounds, which were never there together
            if not isinstance(self._events, FreshRoundsEpoch):
                raise
            self._run_from_nothing(recorded, True)

    def _run_from_nothing(self, recorded: bool, each: bool) -> None:
        """Evaluates the loop from empty relations. `each`: each round, as far as it can be."""
        recursion = self._recursion
        contents = self._contents = LoopContents(recursion.parts, recursion.evaluator, recorded)
        events = self._events = self._events_of(contents)
        if isinstance(events, FreshRoundsEpoch):
            events.always = each
        events.run(True, IterationRows(), Watch())

    def _events_of(self, memory: LoopTimelines | LoopContents) -> LoopEpoch:
        recursion, imports, epoch = self._recursion, self._imports, self._epoch
        if isinstance(memory, LoopTimelines):
            return LoopEpoch(recursion, memory, imports, epoch, recursion.reach)
        if not recursion.has_effects and can_begin_anew(recursion.parts, memory):
            return FreshRoundsEpoch(recursion, memory, imports, epoch)
        return LoopEpoch(recursion, memory, imports, epoch, no_reach(recursion.parts))

    def next_iteration(self) -> int | None:
        return None

    def iterate(self, time: int) -> None:
        raise AssertionError("all rounds of a loop are one iteration")

    def changing(self) -> Changing:
        return ()

    def rows(self) -> int:
        return 0

    @property
    def anew(self) -> Mapping[str, Store]:
        """The relations as they are being evaluated from empty ones, as far as they are at hand."""
        return {} if self._contents is None else self._contents.relations()

    def finish(self) -> dict[str, Batch | None]:
        recursion, events = self._recursion, self._events
        recursion.evaluator.iteration = 0
        changes: dict[str, Batch | None] = {}
        if self._paths is not None:
            changes |= recursion.take(self._paths)
            if self._paths.whole:
                self._account.evaluated(sum(each.present for each in recursion.relations.values()), ())
            else:
                self._account.maintained()
        elif events is not None and self._contents is not None:
            found = {name: self._evaluated(name, events, self._contents) for name in recursion.relations}
            rows = sum(batch.length for batch in found.values())
            self._account.evaluated(rows, events.depths)
            changes |= {name: recursion.replace(name, batch) for name, batch in found.items()}
            self._account.compared(rows)
            if self._contents.recording is not None:
                changed = sum(change.length for change in changes.values() if change is not None)
                self._learn(self._contents.recording, rows, changed)
        else:
            for name in recursion.relations if events is not None else ():
                assert events is not None
                changes[name] = recursion.change(name, events.changes(name))
            self._account.maintained()
        self._account.finish()
        return {name: changes.get(name) for name in recursion.schemas}

    def _learn(self, recorded: LoopRecording, rows: int, changed: int) -> None:
        """Learns of an evaluation what maintaining takes. All of the `changed` rows would have been followed.
        What timelines take to be made, the evaluations since there were some count against: once these have
        taken as long, a trial is worth it."""
        costs, situation = self._recursion.costs, self._account.situation
        later = Situation(rows, [ImportSize(each.rows) for each in situation.imports])
        seconds = costs.rate * (rows + later.imported)
        if situation.changed and situation.rows and not self._account.given_up:
            share = changed / (situation.rows + rows)
            costs.takes_at_least(situation, thresholds.LOOP_DEARER * seconds * share)
        costs.preparing_takes(
            later, recorded.rows * thresholds.LOOP_ROW - seconds * self._recursion.evaluations
        )

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
        self._recursion.forget_paths()
        if self._timelines is not None:
            self._timelines.rollback()
