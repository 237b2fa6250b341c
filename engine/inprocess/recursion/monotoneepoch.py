"""One epoch of a monotone recursion: maintained, or evaluated from empty relations and compared.

    maintained ───────────────────────────► finish
        │  given up: rolled back               ▲
        └────► evaluated into new sets ──► compared with the old relations, which take the new contents

Which of the two it is, `engine.maintenance` says. Where iterations are limited, a recursion is maintained, as
the limit is one of those of an epoch. But ranks drift upwards with many epochs, so that an epoch may reach a
limit which an evaluation from empty relations does not: then the latter tells.

A fault while something shrinks may come from rows of different times, which were never there together. Then
the recursion is evaluated anew, and that tells whether there is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ... import interrupt, thresholds
from ...account import FAULT
from ...divergence import Changing, IterationLimit
from ...epoch import Epoch
from ...maintenance import Choice
from ...weakly import weakly
from ..storage.batch import Batch
from .account import new_account
from .growingset import GrowingSet
from .growthbyrows import GROWS
from .memories import Imported
from .rankedmemory import RankedSets
from .recursion import Recursion

LIMIT = "the limit of iterations was to be looked into"


class MaintainedRecursion:
    """One epoch of a recursion. See `schedule.NestedEpoch`."""

    def __init__(
        self, recursion: Recursion, imports: Mapping[int, Imported], epoch: Epoch[Batch], rounds: int = 0
    ) -> None:
        """`rounds` of it are done, row by row."""
        self._recursion, self._imports, self._epoch = recursion, imports, epoch
        relations = recursion.relations
        self._account = new_account(recursion.maintaining, recursion.costs, relations, imports, epoch.number)
        self._choice = self._chosen()
        self._maintained = recursion.grow(imports, rounds) if rounds else recursion.begin(imports)
        self._running = self._maintained
        self.anew: Mapping[str, GrowingSet] = {}
        """The relations as they are being evaluated anew."""
        if isinstance(self._maintained.memory, RankedSets):
            self._maintained.memory.watch = self._choice.watch

    def _chosen(self) -> Choice:
        recursion, account = self._recursion, self._account
        if self._epoch.first or not account.changed:
            return account.settle("")
        if self._epoch.limit is not None:
            return account.settle("its iterations are limited")
        if recursion.ranked is None and recursion.maintaining.mode != "never":
            return account.settle(GROWS)
        return account.choose()

    # ------------------------------------------------------------- iterating

    def seed(self, first: bool) -> None:
        """Derives the rows that follow from the changes outside."""
        if self._choice.maintain:
            self._go_on(lambda: self._maintained.seed(first))
            self._choice.watch.seeded()
            limit = self._epoch.limit
            if limit is not None and self._recursion.ranked is not None and not self._settles(limit):
                self._account.give_up(LIMIT, None)
                self._maintained.rollback()
                self._evaluate_anew()
        else:
            self._look_into(self._choice.why)

    def _settles(self, most: int) -> bool:
        """Iterates to the end, or at most so many times; says whether that was the end."""
        for _ in range(most):
            if (time := self.next_iteration()) is None:
                break
            interrupt.check()
            self.iterate(time)
        return self.next_iteration() is None

    def _look_into(self, why: str) -> None:
        """Evaluates the recursion anew. A limit is one of what the epoch changes: to look into a fault may
        take as many iterations as rows had come at before, too."""
        held, limit = self._iterations_before(), self._epoch.limit
        self._evaluate_anew()
        if why == FAULT and limit is not None and not self._settles(held + limit):
            raise IterationLimit(limit, [*self._recursion.relations], self.changing())

    def _iterations_before(self) -> int:
        """The iterations at which rows had come before the epoch, at most."""
        return max((each.latest for each in (self._recursion.ranked or {}).values()), default=0)

    def iterate(self, time: int) -> None:
        most = thresholds.ROUNDS_AT_ONCE if self._epoch.limit is None else 1
        if self.anew:
            self._running.iterate(time, most)
            return
        watch, memory = self._choice.watch, self._maintained.memory
        watch.reached = self._recursion.costs.profile.reached(time)
        if isinstance(memory, RankedSets):
            watch.waiting = weakly(memory.waiting)
        self._go_on(lambda: self._maintained.iterate(time, most))

    def _go_on(self, act: Callable[[], None]) -> None:
        """Maintains the recursion further, or gives up."""
        look_into_faults = self._recursion.ranked is not None
        if not self._account.goes_on(act, self._maintained.rollback, look_into_faults):
            self._look_into(self._account.given_up)

    def _evaluate_anew(self) -> None:
        self._account.begin_anew()
        self.anew = self._recursion.no_rows()
        self._running = self._recursion.begin_anew(self.anew, self._imports)
        self._begun_anew()
        self._running.seed(True)

    def _begun_anew(self) -> None:
        """Called when new relations are there, and empty."""

    def next_iteration(self) -> int | None:
        return self._running.next_iteration()

    def rows(self) -> int:
        return self._running.rows()

    def changing(self) -> Changing:
        return self._running.changing()

    # ------------------------------------------------------------- the end

    def finish(self) -> dict[str, Batch]:
        changes = self._running.finish()
        if self.anew:
            changes = self._replaced(self.anew)
        elif self._recursion.ranked is not None:
            self._account.maintained()
        else:
            self._account.grown(self._maintained.rows(), partial(depths, self._recursion.sets))
        self._account.finish()
        return changes

    def _replaced(self, anew: Mapping[str, GrowingSet]) -> dict[str, Batch]:
        """Puts the new contents in place of the old; gives the changes."""
        rows = sum(each.present for each in anew.values())
        self._account.evaluated(rows, depths(anew))
        changes = {}
        for head, relation in self._recursion.relations.items():
            changes[head] = relation.replace(anew[head])
        self._account.compared(rows)
        return changes

    def commit(self) -> None:
        """The epoch's changes stay."""
        self._maintained.commit()
        if self.anew:
            self._recursion.in_order()
        self._account.close()

    def rollback(self) -> None:
        """Takes the epoch back, finished or not."""
        self._maintained.rollback()


def depths(sets: Mapping[str, GrowingSet]) -> list[tuple[int, int]]:
    """The rows of growing sets by iteration."""
    found: dict[int, int] = {}
    for relation in sets.values():
        for time, count in relation.depths().items():
            found[time] = found.get(time, 0) + count
    return sorted(found.items())
