"""A recursion over paths in shards: each worker settles the keys that it owns, and tells others their values.

    worker 0    keys it owns ◄── steps ── keys it owns, and mirrors
                     │ values that changed                ▲
                     ▼                                    │
    worker 1      mirrors, and keys it owns ── steps ──► keys it owns

A step is on the worker that owns the key that it leads into. Where it leads from a key of another worker,
there is a *mirror* of that key, with the value and the rank that its owner told last. So a worker sees all
steps into its keys, and knows alone whether a key keeps its value, and what the best offer for it is.

**Rounds of all workers.** Each worker goes as far as it can by itself, in the order of the values, and then
tells what has changed of keys that others mirror. First come keys that have lost their values, until nobody
has lost another one: all values are then of keys that keep them. Then come values that are new or better,
until nobody has any. A worker may give a key a value that is not yet the best, since a better one is on its
way. The better one replaces it, and all that follows from it: steps are monotone, so the order does not
matter (`engine.paths`). A key still rests on one with a lesser pair when that one gets a better value.

**The least values first.** A great value that is told at once is likely to be told again. So where many wait,
each worker names the greatest of its least ones, and in the next round all tell those up to the least value
that was named. Whoever named it has some to tell, so each round but the last tells something.

A mirror is told of by its number: its worker and the owner count the mirrors in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import interrupt, thresholds
from ..circuit import DeltaJoin, Join
from ..inprocess.arrangements.index import ALL
from ..inprocess.arrangements.store import Store
from ..inprocess.kernels import paths as kernels
from ..inprocess.kernels import postings
from ..inprocess.recursion.paths import (
    NONE,
    NOWHERE,
    FoundPaths,
    Given,
    NeedsRounds,
    Paths,
    SomeSteps,
    Unsuitable,
)
from ..inprocess.storage.arrays import grow
from ..inprocess.storage.batch import Batch, concat
from ..inprocess.storage.interner import Values
from ..paths import PLUS, PathPlan, Steps
from ..schema import Array, RowFault
from .carried import Key
from .team import Team
from .wire import Parcel, divided, exchanged, narrow, owners, packed, unpacked, wide


class _Sent(NamedTuple):
    """What a worker says with the steps that it sends: whether it could not evaluate them, and whether it
    never will."""

    failed: bool
    unsuitable: bool
    steps: Sequence[Parcel | None]


class _Entered(NamedTuple):
    """What a worker says when it has taken its steps: whether it cannot follow them, the number of its keys,
    the greatest costs (see `Paths`), whether keys may lose their values, and the keys of the other worker
    that it mirrors from now on."""

    unsuitable: bool
    size: int
    top: tuple[int, int]
    doubts: bool
    mirrored: Parcel | None = None


class _Told(NamedTuple):
    """Numbers of mirrors, each as the difference to the one before, with their values and ranks, or of those
    that have lost them. `some`: the worker tells some other one of some keys, or will. `most`: the value up
    to which all may tell next, if it is for this worker to say."""

    some: bool
    most: int = NONE
    steps: Any = NOWHERE
    values: Any = NOWHERE
    ranks: Any = NOWHERE


def owned_by(plan: PathPlan, best: Key) -> Key | None:
    """The parts of a key that decide on its owner, if best values have owners by these columns. None if
    workers cannot follow these paths: the value decides, too, or steps join relations."""
    places = tuple(plan.best_places[column] for column in best)
    return places if places and joins_nothing(plan) and len(plan.keys) not in places else None


def _found(keys: Array, nodes: Array) -> tuple[Array, Array]:
    """The positions of the nodes that are among some keys, which are in order, and their places there."""
    nodes = nodes.astype(np.int32)  # as the keys, which else are copied
    places = np.minimum(np.searchsorted(keys, nodes), len(keys) - 1)
    which = np.flatnonzero(keys[places] == nodes)
    return which, places[which]


def _few_of(values: Array) -> int:
    """The value up to which a worker tells now of those that wait: the least ones if they are many."""
    at = len(values) // thresholds.PATHS_TOLD if len(values) > thresholds.PATHS_TOLD_AT_ONCE else 0
    return int(np.partition(values, at)[at]) if at else NONE


def joins_nothing(plan: PathPlan) -> bool:
    """Whether no steps join relations, of which each worker has a part."""
    joins = [node for node in plan.circuit.nodes if isinstance(node, Join | DeltaJoin)]
    return all(len(node.terms) == 1 and not node.terms[0].negated for node in joins)


class ShardsPaths(Paths):
    """The part of one worker of a recursion over paths. Its keys are those that it owns and its mirrors."""

    def __init__(
        self, plan: PathPlan, team: Team, values: Values, owned: Key, offers_key: Key, offered: Store | None
    ) -> None:
        """`owned` are the parts of a key that decide on its owner, `offers_key` the columns by which offers
        have owners."""
        self._team, self._values, self._owned, self._offers_key = team, values, owned, offers_key
        self.asserts = team.rank == 0
        super().__init__(plan, offered)

    def forget(self) -> None:
        super().forget()
        self._known = 0  # keys whose owners are known
        self._mirrors: dict[int, Array] = {}  # of keys of each other worker, by number
        self._is_mirror: Any = np.zeros(1, np.bool_)
        self._elsewhere: dict[int, tuple[Array, Array]] = {}
        """Of each other worker the keys that it mirrors, in order, and the numbers of the mirrors."""
        self._unheard = NOWHERE  # keys of which others have new mirrors
        self._doubts = False
        self._last_old: Array = np.zeros(1, np.int64)  # as `old` and `mark`, since values were told
        self._last_mark: Array = np.zeros(1, np.int8)

    # ------------------------------------------------------------- epochs

    def has_ghosts(self, asked: int = 0) -> bool:
        elsewhere = sum(len(keys) for keys, _ in self._elsewhere.values())
        return super().has_ghosts(elsewhere)  # steps elsewhere begin with them

    def run(self, given: Given, static: bool) -> FoundPaths:
        steps = self._sent(given)
        team, whole = self._team, not self.begun
        if team.rank in team.owning:
            try:
                found = super().run(lambda: steps, static)
            except Unsuitable:
                team.relay(False, team.owning)
                raise
            team.relay(True, team.owning)
            return found
        if not team.relay(True, team.owning):
            raise Unsuitable
        self.begun = True
        return FoundPaths(whole, super()._best(NOWHERE), None)

    def _sent(self, given: Given) -> list[tuple[Steps, Batch]]:
        """The changes of the steps into keys of this worker. Raises NeedsRounds on all workers if one cannot
        evaluate its steps."""
        team, values, width = self._team, self._values, len(self.plan.keys)
        failed = unsuitable = False
        whole: dict[int, Batch] = {}
        try:
            whole = {steps.node: batch for steps, batch in given()}
        except (NeedsRounds, RowFault) as error:
            failed, unsuitable = True, isinstance(error, Unsuitable)
        own: list[tuple[Steps, Batch]] = []
        sent: list[list[Parcel | None]] = [[] for _ in range(team.size)]
        for steps in self.plan.steps:
            schema, batch = self.plan.circuit.nodes[steps.node].schema, whole.pop(steps.node, None)
            key = [len(schema) - 1 - width + place for place in self._owned]
            parts: Sequence[Batch | None] = [None] * team.size
            if batch is not None:
                parts = divided(values, schema, key, batch, team.owning)
            for rank, part in enumerate(parts):
                if rank == team.rank and part is not None:
                    own.append((steps, part))
                is_sent = part is not None and rank != team.rank
                sent[rank].append(packed(values, schema, part) if is_sent and part is not None else None)
        came = team.swap([_Sent(failed, unsuitable, each) for each in sent])
        if any(each.unsuitable for each in came):
            raise Unsuitable
        if any(each.failed for each in came):
            raise NeedsRounds
        for each in came:
            for steps, parcel in zip(self.plan.steps, each.steps, strict=True):
                if parcel is not None:
                    schema = self.plan.circuit.nodes[steps.node].schema
                    own.append((steps, unpacked(values, schema, parcel)))
        return own

    def _taken(self, given: list[tuple[Steps, Batch]]) -> tuple[SomeSteps, Array, SomeSteps]:
        try:
            found = super()._taken(given)
        except Unsuitable:
            self._meet(True, False)
            raise
        self._meet(False, bool(len(found[1])))
        return found

    def _meet(self, unsuitable: bool, doubts: bool) -> None:
        """Tells the owners of keys of the new mirrors of this worker, and hears of those of the others.
        Raises Unsuitable on all workers if one of them cannot follow the steps."""
        team, keys = self._team, self.plan.keys
        new = np.arange(self._known, self.keys.size)
        columns = [self.keys.column_at(new, place) for place in self._owned]
        owner = owners(self._values, [keys[place] for place in self._owned], columns, len(new), team.owning)
        grow(self, "_is_mirror", self._size, 0)
        self._is_mirror[new + 1] = owner != team.rank
        told: list[_Entered] = []
        for peer in range(team.size):
            own = _Entered(unsuitable, self.keys.size, self._top, doubts)
            some = new[owner == peer] if peer != team.rank and not unsuitable else NOWHERE
            if len(some):
                self._mirrors[peer] = np.concatenate([self._mirrors.get(peer, NOWHERE), some + 1])
                batch = Batch(self.keys.columns_at(some), len(some))
                own = own._replace(mirrored=packed(self._values, keys, batch))
            told.append(own)
        came = team.swap(told, team.owning)
        if any(each.unsuitable for each in came) or self._may_leave_range(came):
            raise Unsuitable
        self._doubts = any(each.doubts for each in came)
        heard: list[Array] = []
        for peer, each in zip(team.owning, came, strict=True):
            if peer != team.rank and each.mirrored is not None:
                batch = unpacked(self._values, keys, each.mirrored)
                heard.append(self.keys.insert(batch.columns, batch.length) + 1)
                self._note_mirrors(peer, heard[-1])
        self._known = self.keys.size
        self._make_room()
        self._unheard = np.unique(np.concatenate(heard)) if heard else NOWHERE

    def _may_leave_range(self, all_workers: Sequence[_Entered]) -> bool:
        """Whether a sum may leave its range in some round; see `engine.paths`."""
        sums = [steps for steps in self.plan.steps if steps.kind == PLUS]
        start, dearest = (max(tops) for tops in zip(*(each.top for each in all_workers), strict=True))
        if not sums or not dearest:
            return False
        most = min(~steps.low if self.plan.greatest else steps.high for steps in sums)
        keys = sum(each.size for each in all_workers)
        return bool(start + (keys + 1) * dearest > most)

    def _check_range(self) -> None:
        """Was done before, by all workers."""

    def _note_mirrors(self, peer: int, nodes: Array) -> None:
        """Notes that another worker has new mirrors of these keys."""
        keys, numbers = self._elsewhere.get(peer, (np.zeros(0, np.int32),) * 2)
        order = np.argsort(nodes)
        places = np.searchsorted(keys, nodes[order])
        every: Any = np.insert(keys, places, nodes[order]), np.insert(numbers, places, len(numbers) + order)
        self._elsewhere[peer] = every

    def _make_room(self) -> None:
        super()._make_room()
        grow(self, "_is_mirror", self._size, 0)
        grow(self, "_last_old", self._size, 0)
        grow(self, "_last_mark", self._size, 0)

    # ------------------------------------------------------------- rounds of all workers

    def _settled(self, doubted: Array, come: SomeSteps) -> Array:
        lost: list[Array] = []
        mirrors: list[Array] = []
        while self._doubts:
            lost.append(self._withdrawn(doubted))
            heard = self._told(lost[-1], False)
            if heard is None:
                break
            gone = heard[0]
            gone = gone[self.value[gone] != NONE]
            self.mark[gone], self.old[gone] = 1, self.value[gone]
            self.value[gone] = NONE
            mirrors.append(gone)
            first, count, slab = self._from()
            _, steps = postings.expand(gone, first, count, slab, int(count[gone].sum()), ALL)
            doubted = np.unique(self.target[steps].astype(np.int64))
        nodes = np.concatenate([NOWHERE, *lost])
        touched = [nodes, *mirrors]
        given, ranks, nodes = self._given(nodes, come)
        waiting, self._unheard = self._unheard, NOWHERE
        most = NONE
        while True:
            found = self._spread_on(given, ranks, nodes)
            new = found[self.mark[found] == 0]
            self.mark[new], self.old[new] = 1, self._last_old[new]
            touched.append(new)
            waiting = self._mirrored(np.union1d(found, waiting) if len(waiting) else found)
            values = self.value[waiting]
            if most == NONE:
                most = _few_of(values)
            now, most = values <= most, _few_of(values[values > most])
            heard = self._told(waiting[now], True, most)
            if heard is None:
                break
            nodes, given, ranks, most = heard
            order = np.argsort(given, kind="stable")
            nodes, given, ranks, waiting = nodes[order], given[order], ranks[order], waiting[~now]
        every = np.concatenate(touched)
        if len(every) > thresholds.CHUNK:
            self._last_old = np.zeros(len(self._last_old), np.int64)  # which takes no memory
        return every

    def _spread_on(self, given: Array, ranks: Array, nodes: Array) -> Array:
        """Gives keys the values offered, and the keys after them theirs. Returns the keys with new values,
        whose former ones `_last_old` has."""
        touched, used = kernels.spread(
            *self._from(), self.target, self.cost, self.kind, self.value, self.rank, self._last_old,
            self._last_mark, np.empty(64, np.int64), 0, given, ranks, nodes,
        )  # fmt: skip
        found: Array = touched[:used]
        self._last_mark[found] = 0
        return found

    def _mirrored(self, nodes: Array) -> Array:
        """Those of some keys that others mirror and that have values."""
        held = np.zeros(len(nodes), np.bool_)
        for keys, _ in self._elsewhere.values():
            held[_found(keys, nodes)[0]] = True
        found: Array = nodes[held & (self.value[nodes] != NONE)]
        return found

    def _told(
        self, nodes: Array, has_values: bool, most: int = NONE
    ) -> tuple[Array, Array, Array, int] | None:
        """Tells the workers that mirror keys of their values and ranks, or that they have lost them. Returns
        the mirrors of which this worker is told, with theirs, and the value up to which all tell next, this
        one up to `most`; None if nobody tells anything."""
        interrupt.check()
        team, mirrors = self._team, dict[int, tuple[Array, Array]]()
        for peer, (keys, every) in self._elsewhere.items():
            which, places = _found(keys, nodes)
            if len(which):
                order = np.argsort(every[places])
                mirrors[peer] = nodes[which[order]], every[places[order]]
        sent = [_Told(bool(mirrors) or most < NONE, most)] * team.size
        for peer, (at, numbers) in mirrors.items():
            values = map(narrow, (self.value[at], wide(self.rank[at]))) if has_values else ()
            sent[peer] = _Told(True, most, narrow(np.diff(wide(numbers), prepend=0)), *values)
        came = team.swap(sent, team.owning)
        if not any(each.some for each in came):
            return None
        parts = [
            (self._mirrors[peer][np.cumsum(wide(each.steps))], wide(each.values), wide(each.ranks))
            for peer, each in zip(team.owning, came, strict=True)
            if peer != team.rank and len(each.steps)
        ]
        told = map(np.concatenate, zip(*parts, strict=True)) if parts else (NOWHERE,) * 3
        return *told, min(each.most for each in came)

    # ------------------------------------------------------------- what was found

    def _best(self, nodes: Array) -> Batch:
        return super()._best(nodes[~self._is_mirror[nodes]])

    def _offers(self, changed: SomeSteps, nodes: Array) -> Iterable[Batch]:
        own, places = super()._offers(changed, nodes), self.plan.offer_places
        assert places is not None
        if tuple(places[column] for column in self._offers_key) == self._owned:
            return own
        keys = [*self.plan.keys, self.plan.value]
        schema, team = tuple(keys[place] for place in places), self._team
        found = exchanged(
            team, self._values, schema, self._offers_key, concat([*own], len(schema)), team.owning
        )
        return () if found is None else (found,)
