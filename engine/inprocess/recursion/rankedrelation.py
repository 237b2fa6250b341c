"""A relation of a recursion whose rows have ranks (see `engine.ranks`).

A rank is one number a row, and nothing else is kept: whether a row is left without a derivation is found by
a search. Rows that are absent stay in the table and in the arrangements until they are many. The marks of the
running iteration and epoch are in the ranks themselves (`kernels/ranks.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ... import thresholds
from ...derivedcolumns import Position
from ...memory import reserve
from ...planner import LookUp
from ...schema import Array, Schema
from ..arrangements.index import RowIndex, all_alike, made_once
from ..arrangements.views import Matches, TableView, sought
from ..joins import onebyone
from ..joins.onebyone import Find, Row
from ..kernels import ranks as kernels
from ..kernels.ranks import CAME
from ..storage.arrays import grow
from ..storage.batch import Batch
from ..storage.unread import Unread
from .growingset import GrowingSet, changed_rows

_STATE = ("table", "indexes", "weights", "present", "latest", "_arranged")
"""The attributes that an evaluation anew may replace."""

Ask: TypeAlias = Callable[[Sequence[Array], int, int], Array]
"""The least rank that a derivation gives each of some rows, exact only where it is above a rank."""


class DerivedRows(NamedTuple):
    """Derivations of rows, to be looked at together."""

    rows: Array
    weights: Array


class Decided(NamedTuple):
    """Rows that come at an iteration, and those for which derivations are to be searched."""

    come: Array
    asked: Array


class Ranked(Unread):
    """Rows with ranks. To readers outside the recursion it is a store: `weights` is not 0 for the rows
    present."""

    ghosts = True

    def __init__(self, grown_set: GrowingSet, iterations: Array) -> None:
        """The rows of a growing set, ranked by the iterations at which they came: the places of these among
        some in order. Takes over its table and indexes."""
        self.schema, self.table, self.indexes = grown_set.schema, grown_set.table, grown_set.indexes
        numbers: Any = (np.searchsorted(iterations, grown_set.iterations) + 1).astype(np.int32)
        self.weights = grown_set.at_birth(numbers)
        self.latest = len(iterations)  # no rank is greater
        self.present = self.table.size
        self._begin()

    @staticmethod
    def empty(schema: Schema) -> Ranked:
        """A relation without rows."""
        return Ranked(GrowingSet(schema), np.empty(0, np.int64))

    def restore(self, latest: int, present: int) -> None:
        """Takes up what was kept beside the table and the ranks."""
        self.latest, self.present = latest, present
        self._begin()

    def _begin(self) -> None:
        self._arranged = self.table.size  # the ids below which rows are arranged
        self.delta: DerivedRows | None = None  # of the running iteration
        self.pending: dict[int, list[DerivedRows]] = {}
        self._came: Array = np.empty(0, np.int64)
        self._log: list[tuple[Array, Array]] = []  # rows and their numbers before
        self._finished: tuple[int, Array] | None = None  # the rows present before, and those that went
        self._former: dict[str, Any] = {}  # what `replace` has replaced

    # ------------------------------------------------------------- reading

    @property
    def size(self) -> int:
        """The number of rows, with those that are absent."""
        return self.table.size

    def rows(self) -> Array:
        """The ids of the rows present."""
        return np.flatnonzero(self.weights[: self.table.size] > 0)

    def batch(self) -> Batch:
        """The rows present."""
        rows = self.rows()
        return Batch(self.table.columns_at(rows), len(rows))

    def weight_of(self, columns: Sequence[Array], length: int) -> Array:
        """1 for each row that is there, else 0."""
        rows = self.table.find(columns, length)
        if not self.table.size:
            return np.zeros(length, np.int64)
        there: Array = ((rows >= 0) & (self.weights[rows] > 0)).astype(np.int64)
        return there

    def index(self, positions: tuple[Position, ...]) -> RowIndex:
        """The arrangement by these columns, also of rows that are absent, built when first asked for."""

        def make() -> RowIndex:
            return RowIndex(self.table, positions, range(self._arranged))

        return made_once(self.indexes, positions, make)

    # ------------------------------------------------------------- one epoch

    def derive(self, batch: Batch) -> None:
        """Adds derivations: a row derived from rows of rank t at the most belongs to iteration t + 1."""
        rows = self.table.insert(batch.columns, batch.length)
        grow(self, "weights", self.table.size, 0)
        times = np.zeros(batch.length, np.int64) if batch.times is None else batch.times + 1
        self._schedule(*kernels.take_in(rows, times, batch.weight_array(), self.weights))

    def _schedule(self, rows: Array, times: Array, weights: Array, same: bool) -> None:
        """Notes that rows are to be looked at when their times come."""
        if not len(rows):
            return
        if same:
            self.pending.setdefault(int(times[0]), []).append(DerivedRows(rows, weights))
            return
        order = np.argsort(times, kind="stable")
        rows, times, weights = rows[order], times[order], weights[order]
        cuts = np.flatnonzero(np.diff(times)) + 1
        for start, stop in pairwise((0, *cuts.tolist(), len(times))):
            part = DerivedRows(rows[start:stop], weights[start:stop])
            self.pending.setdefault(int(times[start]), []).append(part)

    def take_waiting(self) -> tuple[Array, Array, Array]:
        """The derivations that wait, with their iterations and weights, which wait no longer; the delta of
        the last iteration is over."""
        self._forget_marks()
        parts = [(each, time) for time, waiting in self.pending.items() for each in waiting]
        self.pending = {}
        rows, weights = (np.concatenate(each) for each in zip(*(each for each, _ in parts), strict=True))
        times = np.repeat([time for _, time in parts], [len(each.rows) for each, _ in parts])
        return rows, times, weights

    def numbers(self, size: int) -> Array:
        """The numbers of so many rows, of which some are still to come."""
        grow(self, "weights", size, 0)
        return self.weights

    def moved(self, rows: Array, before: Array, latest: int) -> None:
        """Notes that the numbers of rows were changed, up to an iteration."""
        self._log.append((rows, before))
        self.latest = max(self.latest, latest)

    def wait(self, rows: Array, times: Array, weights: Array, delta: Array) -> None:
        """Lets derivations wait. `delta`: the rows that changed at the running iteration."""
        self._arrange()
        self._schedule(rows, times, weights, False)
        if len(delta):
            signs = np.where(self.weights[delta] > 0, 1, -1)
            self._came = delta[signs > 0]
            self.weights[self._came] += CAME
            self.delta = DerivedRows(delta, signs)

    def step(self, time: int, ask: Ask) -> bool:
        """Makes the change of the relation at an iteration the delta, and says whether there is one."""
        decided = self.decide(time)
        return decided is not None and self.settle(time, decided, self.search(decided.asked, time, ask))

    def may_ask(self, time: int) -> bool:
        """Whether `decide` may find rows at an iteration for which derivations are to be searched."""
        parts = self.pending.get(time, ())
        return any(((self.weights[rows] == time + 1) | (weights <= 0)).any() for rows, weights in parts)

    def decide(self, time: int) -> Decided | None:
        """The rows that come at an iteration, and those for which derivations are to be searched; None if
        none wait for it. The delta of the last one is over."""
        self._forget_marks()
        waiting = self.pending.pop(time, None)
        if waiting is None:
            return None
        rows, weights = _summed(waiting)
        return Decided(*kernels.decide(rows, weights, self.weights, time))

    def search(self, asked: Array, time: int, ask: Ask) -> Array:
        """The least rank of a derivation of each row that is asked for."""
        return ask(self.table.later_at(asked), len(asked), time) if len(asked) else asked

    def settle(self, time: int, decided: Decided, best: Array) -> bool:
        """Makes the change at an iteration the delta, given the ranks that were searched. A row that has a
        derivation of a greater rank is looked at again when that rank comes."""
        rows, came, before, now, later, times, same = kernels.settle(*decided, best, self.weights, time)
        self._schedule(later, times, np.zeros(len(later), np.int64), same)
        self.latest = max(self.latest, time)
        self._came = rows[:came]
        if not len(rows):
            return False
        self._log.append((rows, before))
        self.weights[rows] = now
        self._arrange()
        signs = np.ones(len(rows), np.int64)
        signs[came:] = -1
        self.delta = DerivedRows(rows, signs)
        return True

    def _forget_marks(self) -> None:
        if len(self._came):
            self.weights[self._came] -= CAME
            self._came = self._came[:0]
        self.delta = None

    def _arrange(self) -> None:
        """Brings the rows that are new to the table into the indexes."""
        fresh = np.arange(self._arranged, self.table.size, dtype=np.int64)
        self._arranged = self.table.size
        if len(fresh):
            with all_alike(self.indexes) as indexes:
                for index in indexes:
                    index.insert(fresh)

    def fresh(self) -> Batch:
        """The delta."""
        assert self.delta is not None
        rows, weights = self.delta
        return Batch(self.table.later_at(rows), len(rows), weights)

    def finish(self) -> Batch:
        """Ends the iterations. Returns the net change of the rows present."""
        self._forget_marks()
        if not self._log:
            return Batch(self.table.columns_at(self._came), 0)
        rows = np.concatenate([rows for rows, _ in self._log])
        before = np.concatenate([numbers for _, numbers in self._log])
        come = rows[before == 0]
        left = rows[before > 0]
        gone = left[self.weights[left] < 0]
        self._finished = self.present, gone
        self.present += len(come) - len(gone)
        self.weights[gone] = 0
        self._arrange()
        signs = np.concatenate([np.ones(len(come), np.int64), np.full(len(gone), -1)])
        changed = np.concatenate([come, gone])
        return Batch(self.table.columns_at(changed), len(changed), signs)

    def replace(self, anew: GrowingSet) -> Batch:
        """Takes the rows of a growing set, with their ranks, in place of its own; gives the change. The table
        and the arrangements stay if they are about as large, else those of the set are taken over."""
        self._former = {name: getattr(self, name) for name in _STATE}
        alike = (
            anew.table.size <= thresholds.ALIKE * self.present
            and self.table.size <= thresholds.ALIKE * anew.table.size
        )
        return self._renewed(anew) if alike else self._taken_over(anew)

    def _renewed(self, anew: GrowingSet) -> Batch:
        held, most = self.table.size, self.table.size + anew.table.size
        grow(self, "weights", most, 0)
        self._former["weights"] = self.weights
        numbers: Any = np.zeros(most, np.int32)
        rows = self.table.insert(anew.table.columns(), anew.table.size)
        numbers[rows] = anew.at_birth(anew.iterations + 1)
        come = rows[self.weights[rows] == 0]
        gone = np.flatnonzero((self.weights[:held] > 0) & (numbers[:held] == 0))
        self.present, self.weights = anew.table.size, numbers
        self.latest = max(self.latest, int(numbers.max(initial=0)))
        if self.table.size - self._arranged > self._arranged:
            self.indexes.clear()
        self._arrange()
        signs = np.concatenate([np.ones(len(come), np.int64), np.full(len(gone), -1)])
        changed = np.concatenate([come, gone])
        return Batch(self.table.columns_at(changed), len(changed), signs)

    def _taken_over(self, anew: GrowingSet) -> Batch:
        change = changed_rows(self.table, self.rows(), anew.table)
        numbers: Any = anew.at_birth(anew.iterations + 1).astype(np.int32)
        self.table, self.indexes, self.weights = anew.table, anew.indexes, numbers
        self.present = self._arranged = self.table.size
        self.latest = max(self.latest, int(numbers.max(initial=0)))
        return change

    def commit(self) -> None:
        """Ends the epoch: its changes stay."""
        self._former = {}
        self._log.clear()
        self._finished = None
        if self.table.size > thresholds.GHOSTS + 2 * self.present:
            self.forget_ghosts()

    def forget_ghosts(self) -> None:
        """Forgets the rows that are absent, between epochs."""
        if self.present == self.table.size:
            return
        kept = self.rows()
        table = self.table.only(kept)
        self.table = table
        self.weights = self.weights[kept]
        self._arranged = self.table.size
        self.indexes.clear()

    def rollback(self) -> None:
        """Takes back the running epoch, finished or not; ranks are as they were."""
        if self._former:
            vars(self).update(self._former)
            self.indexes.clear()  # rows that `replace` arranged would be arranged once more
        self._former = {}
        for rows, numbers in reversed(self._log):
            self.weights[rows] = numbers
        self._log.clear()
        self.pending.clear()
        self.delta, self._came = None, self._came[:0]
        if self._finished is not None:
            self.present = self._finished[0]
            self._finished = None


def iterations_of(sets: Mapping[str, GrowingSet]) -> Array:
    """The iterations at which rows came, in order."""
    return np.unique(np.concatenate([relation.iterations for relation in sets.values()]))


def ranked(sets: Mapping[str, GrowingSet], iterations: Array) -> dict[str, Ranked]:
    """The relations of a recursion with ranks: the places of the iterations at which their rows came. Takes
    over the tables and indexes of the sets."""
    return {head: Ranked(relation, iterations) for head, relation in sets.items()}


def are_large(relations: Collection[Ranked]) -> bool:
    """True if ranks have become so large that they are to be made small again."""
    return any(relation.latest >= thresholds.LARGE_RANK for relation in relations)


def ranks_of(relations: Collection[Ranked]) -> Array:
    """The numbers of all ranks, in order, and 0."""
    each = [np.unique(relation.weights[: relation.table.size]) for relation in relations]
    return np.unique(np.concatenate([np.zeros(1, np.int32), *each]))


def renumber(relations: Collection[Ranked], numbers: Array) -> None:
    """Makes ranks small, between epochs: the places of these numbers. Only their order counts."""
    for relation in relations:
        relation.weights = np.searchsorted(numbers, relation.weights).astype(np.int32)
        relation.latest = len(numbers)


def _summed(parts: list[DerivedRows]) -> DerivedRows:
    """The derivations with each row once."""
    rows, weights = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    if len(rows) == 1:
        return DerivedRows(rows, weights)
    reserve(72 * len(rows))  # a hash set of up to four times as many places, with ids, and three arrays
    return DerivedRows(*kernels.summed(rows, weights))


class RankedView(TableView):
    """The rows present at their ranks: as they are now, or as before the running iteration."""

    relation: Ranked

    def __init__(self, relation: Ranked, gone: int = 0) -> None:
        """`gone`: see `kernels.ranks.seen`."""
        super().__init__(relation)
        self._gone = gone

    @property
    def size(self) -> int:
        return self.relation.present

    def find_one_by_one(self, step: LookUp, columns: Row, room: list[int]) -> Find:
        """Finds rows with their ranks as times, as `expand` does. See `onebyone.knows`."""
        relation, gone = self.relation, self._gone
        table, ranks = relation.table, relation.weights
        whole = self.whole(step.positions)
        ids = None if whole else onebyone.arranged(self, step, room)

        def find(key: Row) -> list[Row]:
            if ids is None:
                at = table.find_row(key)
                found = [at] if at >= 0 else []
            else:
                found = ids(key)
            seen, times = [], []
            for at in found:
                number = ranks.item(at)
                if number >= CAME:
                    number = 0 if gone else number - CAME
                elif number < 0:
                    number = -number if number == gone else 0
                if number:
                    seen.append(at)
                    times.append(number - 1)
            rows = table.picked(seen, columns)
            return [(*row, time) for row, time in zip(rows, times, strict=True)]

        return find

    def candidates(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array | None:
        return sought(self.relation, positions, keys, length)

    def there(self, left: Array, rows: Array) -> tuple[Array, Array]:
        return left, rows

    def part(self, left: Array, rows: Array) -> Matches:
        left, rows, ranks = kernels.seen(left, rows, self.relation.weights, self._gone)
        return Matches(left, rows, self.table, None, ranks)

    def presence(self, keys: Sequence[Array], length: int) -> Array:
        raise ValueError("a relation cannot be negated inside its own recursion")


onebyone.knows(RankedView, RankedView.find_one_by_one)
