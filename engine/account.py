"""The costs of one epoch of a recursion, and the lesson from them, whichever way it goes.

Whatever kind of recursion it is, an epoch makes one `Account` when it begins, and tells it what it does:

    account = Account(maintaining, costs, …, epoch.number)
    choice = account.choose()                       or account.settle(why), where there is no choice
    if choice.maintain and account.goes_on(maintain, undo):
        account.maintained()                        `maintain` calls choice.watch.look() now and then
    else:
        account.begin_anew()
        ...                                         evaluates from empty relations
        account.evaluated(rows, depths)
        ...                                         compares the new contents with the old
        account.compared(rows)
    account.finish()                                and account.close() when the epoch is committed

The state of the recursion keeps the `Costs` from epoch to epoch, as its attribute `costs`: `expected` then
says what would be done with it. `depths` are the rows that came at each iteration or round, and `undo`
takes back what was done of the epoch. A recursion that is maintained says how far it is:
`choice.watch.seeded()` when what follows from the changes at once is derived, and from then on
`choice.watch.reached`, the part of the rows of the last evaluation that came up to the iteration that runs
(`costs.profile.reached(iteration)`). Where that cannot be known, maintaining is given up at
`maintaining.ENOUGH` of the seconds of an evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from .clock import work
from .maintenance import (
    Choice,
    Costs,
    Decision,
    Depths,
    GivenUp,
    Maintaining,
    Situation,
    Watch,
    Way,
)
from .schema import RowFault

DEARER = "it became dearer than evaluating anew"
FAULT = "a fault was to be looked into"


class Account:
    """The costs of one epoch of a recursion."""

    def __init__(
        self,
        maintaining: Maintaining,
        costs: Costs,
        names: Iterable[str],
        situation: Situation,
        epoch: int,
        fits: Callable[[], bool] = lambda: True,
    ) -> None:
        """`names` are those of the relations. `fits` says whether there is memory for new contents beside
        the old ones."""
        self._start = self._since = work()
        self._maintaining, self._costs, self._names, self._epoch = maintaining, costs, tuple(names), epoch
        self.situation, self.fits = situation, fits
        self.changed = situation.changed
        """The rows of the changes."""
        self.choice = Choice(True, "", Watch(start=self._start))  # what to do
        self.given_up = ""  # why maintaining was given up
        self._anew = False
        self._seconds = 0.0

    # ------------------------------------------------------------- choosing

    def settle(self, why: str) -> Choice:
        """To maintain, without a choice."""
        self.choice = Choice(True, why, self.choice.watch)
        return self.choice

    def choose(self, ready: bool = True) -> Choice:
        """The way to go. `ready`: the timelines or ranks for maintaining are there."""
        self.situation = replace(self.situation, ready=ready)
        self.choice = self._maintaining.choose(self._costs, self.situation, self.fits)
        return self.choice

    def refuse(self, why: str) -> Choice:
        """To evaluate anew, whatever was chosen."""
        self.choice = replace(self.choice, maintain=False, why=why)
        return self.choice

    def goes_on(
        self, maintain: Callable[[], object], undo: Callable[[], object], look_into_faults: bool = True
    ) -> bool:
        """Whether the recursion is maintained, wholly or a step further. False: that was given up and undone.
        A fault may come of rows that were never there together: unless it is to be raised, that is
        looked into by an evaluation anew, too."""
        watch = self.choice.watch
        try:
            watch.look()
            maintain()
            return True
        except GivenUp:
            self.give_up(DEARER, watch)
        except RowFault:
            if not look_into_faults:
                raise
            self.give_up(FAULT, None)
        undo()
        return False

    def give_up(self, why: str, watch: Watch | None) -> None:
        """Maintaining is given up. `watch` tells what it would have come to."""
        self.given_up = why
        if watch is not None:
            self._costs.maintained(self.situation, watch.expected)

    # ------------------------------------------------------------- measuring

    def prepared(self, since: float) -> None:
        """Notes the seconds in which the timelines or ranks for maintaining were made."""
        self._costs.prepared(self.situation.rows + self.situation.before, work() - since)
        self.choice.watch.restart()

    def begin_anew(self) -> None:
        """The recursion is evaluated from empty relations from now on."""
        self._anew, self._since = True, work()

    def evaluated(self, rows: int, depths: Depths) -> None:
        """The relations were evaluated from empty ones, and have so many rows."""
        now = work()
        self._costs.evaluated(rows, self.situation.imported, now - self._since, depths)
        self._since = now

    def compared(self, rows: int) -> None:
        """The new rows were compared with the old ones."""
        self._costs.compared(rows + self.situation.rows, work() - self._since)

    def grown(self, rows: int, depths: Callable[[], Depths]) -> None:
        """The relations grew to so many rows. If most of them are new, that was as good as an evaluation."""
        if 2 * self.situation.rows <= rows:
            seconds = work() - self._start
            self._costs.evaluated(rows - self.situation.rows, self.situation.imported, seconds, depths())

    def maintained(self) -> None:
        """The relations were maintained to the end."""
        if self.changed:
            self._costs.maintained(self.situation, work() - self.choice.watch.start)

    def finish(self) -> None:
        """All is done but for the commit."""
        self._seconds = max(0.0, work() - self._start)  # the clock goes back a little after a pause

    def close(self) -> None:
        """The epoch's changes stay: what was done is kept."""
        if not self.changed or not self._epoch:
            return
        way: Way = "given up" if self.given_up else "recomputed" if self._anew else "maintained"
        why = self.given_up or self.choice.why
        names, estimate = self._names, self.choice.estimate
        self._maintaining.note(
            Decision(self._epoch, names, way, why, self.situation, estimate, self._seconds)
        )
