"""The state of a recursion over paths in process. See `engine.paths`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ... import interrupt, thresholds
from ...memory import reserve
from ...paths import PLUS, START, PathPlan, Steps
from ...schema import INLINE_LIMIT, Array
from ..arrangements.bulkindex import Stretches
from ..arrangements.store import Store
from ..kernels import paths as kernels
from ..storage.arrays import grow
from ..storage.batch import Batch, concat, consolidate
from ..storage.marks import Marks
from ..storage.table import RowTable
from .steplists import StepLists

NONE = kernels.NONE
_HEAVIEST = np.iinfo(np.int32).max  # of the weights of steps
_KEYS_AT_ONCE = 1 << 17  # that make offers, of two or three steps each as a rule
NOWHERE: Array = np.empty(0, np.int64)

Given: TypeAlias = Callable[[], list[tuple[Steps, Batch]]]
"""Gives the changes of steps, or raises."""


class NeedsRounds(Exception):
    """The epoch needs rounds."""


class Unsuitable(NeedsRounds):
    """The values at hand need rounds: a step betters what it carries, or a sum may leave its range."""


class FoundPaths(NamedTuple):
    """What an epoch found: the best values, whether these are all or changes, and the change of the offers,
    which is done."""

    whole: bool
    best: Batch
    offers: Batch | None


class SomeSteps(NamedTuple):
    """Some steps, or changes of their weights."""

    source: Array
    target: Array
    cost: Array
    kind: Any  # of 8 bits
    weight: Array  # of all steps, of 32 bits

    def take(self, rows: Array) -> SomeSteps:
        """Those at these positions."""
        return SomeSteps(*(column[rows] for column in self))


class Paths:
    """The steps, and the values and ranks of the keys. Key 0 is the start, better than any value.

    After an epoch that was not committed, or that failed, everything is forgotten: the next one begins anew.
    """

    asserts = True
    """Whether facts among the steps are asserted here."""

    def __init__(self, plan: PathPlan, offered: Store | None) -> None:
        """`offered` is to hold what is offered, if that is asked for, too."""
        self.plan, self.offered = plan, offered
        self.forget()

    def forget(self) -> None:
        """Forgets everything."""
        self.begun = False
        self.keys = RowTable(len(self.plan.keys))
        self.source: Array = np.zeros(0, np.int32)
        self.target: Array = np.zeros(0, np.int32)
        self.cost: Array = np.zeros(0, np.int64)
        self.kind: Array = np.zeros(0, np.int8)
        self.weight: Any = np.zeros(0, np.int32)
        self.used = self.gone = 0
        self.value: Array = np.full(1, np.iinfo(np.int64).min)
        self.rank: Array = np.zeros(1, np.int32)
        self.old: Array = np.zeros(1, np.int64)
        self.mark: Array = np.zeros(1, np.int8)
        self.present = 0
        self._top = np.iinfo(np.int64).min, 0  # of starts and bounds, and of sums: greatest so far
        self._lists: StepLists | None = None
        self._into: StepLists | None = None
        self.state: object = None  # of the circuit of the steps, for what evaluates it

    # ------------------------------------------------------------- epochs

    def has_ghosts(self, asked: int = 0) -> bool:
        """Whether most keys and steps are no more: a step has two keys. `asked` are keys that may be here
        without a step."""
        steps = self.used - self.gone
        return self.used + self.keys.size > thresholds.GHOSTS + 3 * (self.present + steps) + asked

    def run(self, given: Given, static: bool) -> FoundPaths:
        """One epoch, with the changes of steps that are given; at first, with all steps. `static`: it is the
        only one. Raises NeedsRounds, and what `given` raises."""
        whole = not self.begun
        changed, doubted, come = self._taken(given())
        touched = self._settled(doubted, come)
        self.present += int(np.count_nonzero(self.value[touched] != NONE))
        self.present -= int(np.count_nonzero(self.old[touched] != NONE))
        self._check_range()
        self.begun = True
        nodes = touched[self.value[touched] != self.old[touched]]
        best = self._best(nodes)
        offers = None if self.offered is None else self._offered(self.offered, changed, nodes, static, whole)
        self.mark[touched] = 0
        if len(touched) > thresholds.CHUNK:
            self.old = np.zeros(len(self.old), np.int64)  # which takes no memory
        return FoundPaths(whole, best, offers)

    def _taken(self, given: list[tuple[Steps, Batch]]) -> tuple[SomeSteps, Array, SomeSteps]:
        """Enters the changes of steps that are given, at first all steps, and forgets them. Returns those by
        which something is offered that was not, the keys that may lose their values, and the steps that may
        give some. Raises Unsuitable."""
        if not self.begun:
            return self._begun_with(given)
        changed = self._together(given)
        interrupt.check()
        self._make_room()
        gone = changed.take(np.flatnonzero(changed.weight < 0))
        if len(gone.weight):
            self._take_out(gone)
        come = changed.take(np.flatnonzero(changed.weight > 0))
        if len(come.weight):
            self._insert(come)
        return changed, np.unique(gone.target), come

    def _begun_with(self, given: list[tuple[Steps, Batch]]) -> tuple[SomeSteps, Array, SomeSteps]:
        """`_taken` of all steps, some at a time: they take more room before they are entered."""
        given.sort(key=lambda each: each[0].kind)
        starts = 0  # which come first
        while given:
            steps, batch = given.pop()
            if steps.kind == START:
                batch = consolidate(batch)
                starts += batch.length
            room = self.used + batch.length + sum(batch.length for _, batch in given)
            for name in SomeSteps._fields:
                grow(self, name, room)
            for at in range(0, batch.length, thresholds.CHUNK):
                some = self._numbered(steps, batch.slice(at, at + thresholds.CHUNK))
                if int(some.weight.min()) < 0:
                    raise Unsuitable
                self._append(some)
                interrupt.check()
        self._make_room()
        self._lists = StepLists(self.source[starts : self.used], range(starts, self.used), self._size)
        found = SomeSteps(*(getattr(self, name)[:starts] for name in SomeSteps._fields))
        return found, NOWHERE, found

    def _settled(self, doubted: Array, come: SomeSteps) -> Array:
        """Gives all keys their values, with steps that have come, where some keys may lose theirs. Returns
        the keys touched."""
        lost = self._withdrawn(doubted)
        return self._spread(lost, *self._given(lost, come))

    def _withdrawn(self, doubted: Array) -> Array:
        """Takes the values of the keys that have lost them, of those doubted and all that rest on them.
        Returns these."""
        if not len(doubted):
            return NOWHERE
        found: Array = kernels.withdraw(
            *self._from(), *self._to(), *self._steps(), self.value, self.rank, self.old, self.mark, doubted
        )
        return found

    def _given(self, lost: Array, come: SomeSteps) -> tuple[Array, Array, Array]:
        """What is offered to keys without values, and by steps that have come: values in rising order, ranks,
        and keys."""
        given, ranks = (
            kernels.best_offers(lost, *self._to(), self.source, self.cost, self.kind, self.value, self.rank)
            if len(lost)
            else (NOWHERE, NOWHERE)
        )
        carried = self.value[come.source]
        new = _carried(come, carried)
        new_ranks = np.where(new > carried, 0, self.rank[come.source] + 1)
        better = np.flatnonzero((carried != NONE) & (new < self.value[come.target]))
        given = np.concatenate([given, new[better]])
        ranks = np.concatenate([ranks, new_ranks[better]])
        nodes = np.concatenate([lost, come.target[better]])
        order = np.argsort(given, kind="stable")
        order = order[given[order] != NONE]
        return given[order], ranks[order], nodes[order]

    def _spread(self, lost: Array, given: Array, ranks: Array, nodes: Array) -> Array:
        """Gives keys the values offered, in rising order, where they are better, and the keys after them
        theirs. Returns the keys touched, with those that are `lost`."""
        room = np.empty(max(64, len(lost) + len(given)), np.int64)
        room[: len(lost)] = lost
        touched, used = kernels.spread(
            *self._from(), self.target, self.cost, self.kind, self.value, self.rank, self.old, self.mark,
            room, len(lost), given, ranks, nodes,
        )  # fmt: skip
        found: Array = touched[:used]
        return found

    def mark_ids(self, marks: Marks) -> None:
        """Marks the ids in the keys."""
        marks.rows(self.plan.keys, self.keys, None)

    # ------------------------------------------------------------- steps

    def _together(self, given: Sequence[tuple[Steps, Batch]]) -> SomeSteps:
        """The changes of the steps, with new keys numbered."""
        parts = [self._numbered(steps, consolidate(batch)) for steps, batch in given if batch.length]
        if not parts:
            empty = np.empty(0, np.int64)
            return SomeSteps(empty, empty, empty, np.empty(0, np.int8), empty)
        return SomeSteps(*map(np.concatenate, zip(*parts, strict=True)))

    def _numbered(self, steps: Steps, batch: Batch) -> SomeSteps:
        """Rows of a node as steps. Raises Unsuitable."""
        width = len(self.plan.keys)
        if steps.kind == START:
            source = np.zeros(batch.length, np.int64)
        else:
            source = self.keys.insert(batch.columns[:width], batch.length) + 1
        target = self.keys.insert(batch.columns[-1 - width : -1], batch.length) + 1
        cost = self._costs(steps, batch.columns[-1])
        kind = np.full(batch.length, steps.kind, np.int8)
        return SomeSteps(source, target, cost, kind, batch.weight_array())

    def _costs(self, steps: Steps, codes: Array) -> Array:
        """The costs of steps, where less is better."""
        if len(codes) and int(codes.max()) >= INLINE_LIMIT:
            raise Unsuitable
        if steps.kind != PLUS:
            costs: Array = ~codes if self.plan.greatest else codes
            if len(costs):
                self._top = max(self._top[0], int(costs.max())), self._top[1]
            return costs
        if steps.low == 0:  # a difference wraps around
            codes = np.where(codes > steps.high >> 1, codes - (steps.high + 1), codes)
        costs = -codes if self.plan.greatest else codes
        if len(costs):
            if int(costs.min()) < 0:
                raise Unsuitable
            self._top = self._top[0], max(self._top[1], int(costs.max()))
        return costs

    @property
    def _size(self) -> int:
        """The number of keys, with the start."""
        return self.keys.size + 1

    def _make_room(self) -> None:
        size = self._size
        reserve(24 * (size - len(self.value)))
        grow(self, "value", size, NONE)
        grow(self, "old", size, NONE)
        grow(self, "rank", size, 0)
        grow(self, "mark", size, 0)

    def _append(self, steps: SomeSteps) -> Array:
        """Gives steps ids. Returns them. Raises Unsuitable."""
        if len(steps.weight) and int(steps.weight.max()) > _HEAVIEST:
            raise Unsuitable
        start, self.used = self.used, self.used + len(steps.weight)
        for name, column in zip(SomeSteps._fields, steps, strict=True):
            grow(self, name, self.used)
            getattr(self, name)[start : self.used] = column
        return np.arange(start, self.used, dtype=np.int64)

    def _insert(self, steps: SomeSteps) -> None:
        ids = self._append(steps)
        assert self._lists is not None
        inner = np.flatnonzero(steps.kind != START)
        if len(inner):
            self._lists.insert(steps.source[inner], ids[inner], self._size)
        if self._into is not None:
            self._into.insert(steps.target, ids, self._size)

    def _take_out(self, steps: SomeSteps) -> None:
        """Takes steps away. Raises Unsuitable if they are not there."""
        gone, all_there = kernels.take_out(
            *self._from(), *self._to(), *self._steps(), self.weight, *steps._replace(weight=-steps.weight)
        )
        if not all_there:
            raise Unsuitable
        self.gone += len(gone)
        assert self._lists is not None
        assert self._into is not None
        inner = gone[self.kind[gone] != START]
        self._lists.remove(self.source[inner], inner, self.used)
        self._into.remove(self.target[gone], gone, self.used)

    def _from(self) -> Stretches:
        assert self._lists is not None
        return self._lists.stretches(self._size)

    def _to(self) -> Stretches:
        """The steps by the keys that they lead into; listed when first asked for."""
        if self._into is None:
            self._into = StepLists(self.target[: self.used], range(self.used), self._size)
            gone = np.flatnonzero(self.weight[: self.used] == 0)
            if len(gone):
                self._into.remove(self.target[gone], gone, self.used)
        return self._into.stretches(self._size)

    def _steps(self) -> tuple[Array, Array, Array, Array]:
        return self.source, self.target, self.cost, self.kind

    def _check_range(self) -> None:
        """Raises Unsuitable if a sum may leave its range in some round."""
        sums = [steps for steps in self.plan.steps if steps.kind == PLUS]
        start, dearest = self._top
        if not sums or not dearest or not self.present:
            return
        most = min(~steps.low if self.plan.greatest else steps.high for steps in sums)
        if start + (self._size + 1) * dearest <= most:
            return
        starts = np.flatnonzero((self.kind[: self.used] == START) & (self.weight[: self.used] > 0))
        deepest = kernels.depth(self.target[starts], *self._from(), self.target)
        if start + (deepest + 1) * dearest > most:
            raise Unsuitable

    # ------------------------------------------------------------- what was found

    def _best(self, nodes: Array) -> Batch:
        """The changes of the best values of some keys."""
        old, new = self.old[nodes], self.value[nodes]
        gone, come = np.flatnonzero(old != NONE), np.flatnonzero(new != NONE)
        values = np.concatenate([old[gone], new[come]])
        signs = np.concatenate([np.full(len(gone), -1), np.ones(len(come), np.int64)]) if len(gone) else None
        keys = np.concatenate([nodes[gone], nodes[come]])
        return self._rows(keys, values, signs, self.plan.best_places)

    def _rows(self, keys: Array, values: Array, weights: Array | None, places: Sequence[int]) -> Batch:
        columns = [*self.keys.columns_at(keys - 1), ~values if self.plan.greatest else values]
        return Batch(tuple(columns[place] for place in places), len(keys), weights)

    def _offered(
        self, held: Store, changed: SomeSteps, nodes: Array, static: bool, whole: bool
    ) -> Batch | None:
        """The change of what is offered, which goes to `held`. `whole`: the offers are all that there are."""
        parts = self._offers(changed, nodes)
        if whole and not held.table.size:
            for part in parts:
                if static:
                    held.add_present(Batch(part.columns, part.length))
                else:
                    held.add_counted(part, as_set=True)
            return held.since(0)
        rows = [*parts, held.counted().negated()] if whole else [*parts]
        return held.add_counted(consolidate(concat(rows, len(held.schema))), as_set=True)

    def _offers(self, changed: SomeSteps, nodes: Array) -> Iterable[Batch]:
        """The changes of offers, with their weights, by changed steps and by keys with new values, some at a
        time."""
        places = self.plan.offer_places
        assert places is not None
        before = self.value[changed.source]
        marked = self.mark[changed.source] != 0
        before[marked] = self.old[changed.source][marked]
        there = np.flatnonzero(before != NONE)
        given = _carried(changed, before)
        for at in range(0, len(there), thresholds.CHUNK):
            some = there[at : at + thresholds.CHUNK]
            weights = changed.weight[some].astype(np.int64)
            yield self._rows(changed.target[some].astype(np.int64), given[some], weights, places)
        for at in range(0, len(nodes), _KEYS_AT_ONCE):
            to, values, weights = kernels.changed_offers(
                nodes[at : at + _KEYS_AT_ONCE], *self._from(), self.target, self.cost, self.kind, self.weight,
                self.value, self.old,
            )  # fmt: skip
            yield self._rows(to, values, weights, places)


def _carried(steps: SomeSteps, before: Array) -> Array:
    """The values to which steps lead."""
    sums = np.where(before == NONE, 0, np.where(steps.kind == START, 0, before)) + steps.cost
    return np.where(
        steps.kind == 0, sums, np.where(steps.kind == 1, np.maximum(before, steps.cost), steps.cost)
    )
