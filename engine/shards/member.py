"""One worker: a runtime over its shard, and the epochs that it runs in step with the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..circuit import Circuit, Clock, NodeId
from ..epoch import Epoch, Epochs
from ..inprocess.arrangements import batchcheck
from ..inprocess.arrangements.views import StoreView, View
from ..inprocess.clockoperators import Memories
from ..inprocess.durablecontents import begin_with, contents_of, schema_of
from ..inprocess.runtime import InProcess
from ..inprocess.sealing import input_changes, passed, remembered_changes
from ..inprocess.storage.batch import Batch, length_of, no_rows
from ..inprocess.storage.interner import Values
from ..integrals import shown
from ..maintenance import Coin, Mode
from ..node import ENDING
from ..runtime import Delta
from ..weakly import weakly
from .arrivals import Arrivals, Load
from .epoch import ShardEpoch
from .placement import Placed
from .recursion import ShardsRecursion
from .state import ShardState
from .team import Team
from .views import Asked, Place, answered
from .wire import Parcel, known, packed, unpacked

V = TypeVar("V")

Changes = Mapping[str, Sequence[tuple[Batch, int]]]


_MANY = 100_000  # rows of an output that a worker keeps until somebody reads them
_AT_A_TIME = 1 << 17  # rows of a parcel for another process


class ShardChanges(NamedTuple):
    """The changes of outputs and of inputs on one worker, in an epoch that is computed. None: all that the
    worker has of an output came in it. A number: so many rows of an input changed, which `taken_parcel` gives
    before the epoch ends. `remembered` are the changes of what nodes remember, and `passed` the rows of
    inputs that came and were forgotten at once."""

    outputs: Mapping[str, Parcel | None]
    inputs: Mapping[str, Parcel | int]
    remembered: Mapping[NodeId, Parcel]
    passed: Mapping[str, Parcel]


Parts = Sequence[tuple[Parcel | Load, int]]
"""Rows for a worker, to insert (1) or to delete (-1)."""

Contents = Mapping[NodeId, Parcel]
"""What nodes remember, with which an empty state begins; see `engine.windowmemory`."""


class Member(InProcess):
    """The shard of one worker, as a runtime of its own. What it is asked between epochs, it answers for its
    shard."""

    def __init__(
        self,
        placed: Placed,
        team: Team,
        nan: float,
        workers: int,
        memory_limit: int | None = None,
        values: Values | None = None,
        maintain: Mode | Coin = "auto",
        spill: str | None = None,
    ) -> None:
        """See `InProcess`."""
        self.placed, self.team, self.arrivals = placed, team, Arrivals()
        super().__init__(placed.circuit, nan, workers, memory_limit, values, maintain, spill)
        team.start(self._answered)

    def _new_state(self, circuit: Circuit) -> ShardState:
        return ShardState(self.placed, self.values, self.team, self._maintaining)

    def _new_epochs(self, circuit: Circuit) -> Epochs[Batch, Batch | None]:
        begin, held, exhausted = weakly(self._begin), weakly(self._held), weakly(self._exhausted)
        return _InStep(self.team, circuit, begin, held, exhausted, self._own.memories)

    def _new_running(self, epoch: Epoch[Batch]) -> ShardEpoch:
        assert isinstance(self._own, ShardState)
        return ShardEpoch(self._own, epoch, self.team)

    def _prepare_to_shrink(self, epoch: Epoch[Batch]) -> None:
        own = {(name, sign) for name, parts in epoch.changes.items() for _, sign in parts}
        if self._own.memories.restless() or self._epochs.ending():
            own.add(ENDING)
        assert isinstance(self._epochs, _InStep)
        signs = self._epochs.together(own)
        for at, shrinking in self._shrinking.items():
            recursion = self._own.recursions[at]
            if not signs.isdisjoint(shrinking) and isinstance(recursion, ShardsRecursion):
                recursion.prepare_in_shards()
                self._own.reread(at)

    def run(
        self,
        serial: int,
        changes: Changes,
        static: bool,
        limit: int | None,
        sealed: Callable[[ShardEpoch, Mapping[str, Delta]], None],
        looks_into: str = "",
        look: Callable[[], None] | None = None,
        progress: Any = None,
    ) -> dict[str, Delta]:
        """Runs one epoch in step with the other workers: the changes are those of the rows that this one
        owns, with the same names and signs on all. `sealed` is called when it is computed; if it raises, the
        epoch is rolled back. `looks_into`: see `Team`. Raises Aborted if another worker has given up."""
        self._built.clear()
        self.read_given_out()
        self.team.begin(serial, looks_into)
        try:
            ending: Any = sealed
            try:
                with self.bounded():
                    return self._epochs.run(changes, static, limit, progress, ending, look=look)
            except MemoryError as error:
                raise self._given_up(error) from None
        except BaseException:
            self.team.abort()
            raise
        finally:
            self._running = None

    def numberings(self) -> list[int]:
        """How often the ranks of each recursion were numbered: an epoch that is given up meanwhile may leave
        them so on some workers only."""
        found = self._own.recursions.values()
        return [each.numbering for each in found if isinstance(each, ShardsRecursion)]

    def begin_with_contents(self, contents: Contents) -> None:
        """Lets nodes begin with contents, before the first epoch."""
        for at, parcel in contents.items():
            batch = unpacked(self.values, schema_of(self._own, at), parcel)
            self._epochs.given |= begin_with(self._own, at, batch)

    def empty(self) -> None:
        """Makes the state empty; the values stay."""
        self._take_up(self.circuit)

    def tidy_here(self) -> None:
        """Gives back memory of this worker that nothing uses."""
        InProcess.tidy(self)

    def arrange_missed(self, is_over: Callable[[], bool]) -> None:
        """Makes the indexes without which rows were looked for, in a pause, until that is over."""
        with suppress(MemoryError), self.still, self.bounded():
            for store in self._own.relations():
                for positions in store.table.sought.keys() - store.indexes.keys():
                    if is_over():
                        return
                    store.index(positions)

    def close(self) -> None:
        """Ends the lines to other workers."""
        self.team.close()

    def end(self) -> None:
        """Gives back what nothing uses after an epoch."""
        self.ended(self._epochs.committed == 1)

    def outcome(
        self, running: ShardEpoch, deltas: Mapping[str, Delta], away: Collection[str] = ()
    ) -> ShardChanges:
        """The changes of a computed epoch, packed for the worker that answers the session. Of the inputs in
        `away` they have the numbers of rows only."""
        state = running.state
        outputs: dict[str, Parcel | None] = {}
        for name, at in state.outputs.items():
            change: Any = deltas[name]
            if len(change) > _MANY and self._is_from_nothing(name, len(change)):
                outputs[name] = None
            elif len(change):
                outputs[name] = packed(self.values, state.circuit.nodes[at].schema, change.batch)
        values, taken = self.values, dict[str, Parcel | int]()
        for node, batch in input_changes(running):
            is_away = node.relation in away
            taken[node.relation] = batch.length if is_away else packed(values, node.schema, batch)
        remembered = {
            at: packed(values, schema_of(state, at), batch)
            for at, batch in remembered_changes(running).items()
        }
        at_once = {node.relation: packed(values, node.schema, batch) for node, batch in passed(running)}
        return ShardChanges(outputs, taken, remembered, at_once)

    def taken_parcel(self, relation: str) -> Parcel:
        """The change of an input on this worker in the epoch that is computed."""
        running = self._running
        assert isinstance(running, ShardEpoch)
        for node, batch in input_changes(running):
            if node.relation == relation:
                return packed(self.values, node.schema, batch)
        return packed(self.values, self._inputs[relation], no_rows(self._inputs[relation]))

    def _is_from_nothing(self, output: str, come: int) -> bool:
        """Whether this worker had no rows of a set before an epoch in which so many come, and these are its
        own."""
        at = shown(self.circuit, self._relations[output])
        is_own = self.placed.keys[at] is not None and output not in self._own.streams
        return is_own and not self._own.weighted(at) and self._own.stores[at].present == come

    # ------------------------------------------------------------- answering

    def _answered(self, request: Any) -> Any:
        """The answer to a request of another worker: of an epoch, or `(name, arguments)` of a method of its
        own."""
        if isinstance(request, Asked):
            return answered(self.values, self._schema_at(request.place), self._view_of, request)
        name, arguments = request
        return getattr(self, name)(*arguments)

    def _schema_at(self, place: Place) -> Any:
        if place[0] == "relation":
            fixpoint: Any = self.circuit.nodes[place[1]]
            return fixpoint.body.nodes[dict(fixpoint.results)[place[2]]].schema
        if place[0] == "loop":
            loop: Any = self._own.recursions[place[1]]
            return loop.parts.parts[loop.parts.parts[place[2]].sources[place[3]]].node.schema
        return self.circuit.nodes[place[1]].schema

    def _view_of(self, place: Place) -> View:
        running = self._running
        if isinstance(running, ShardEpoch):
            return running.view_of(place)
        return StoreView(self._own.stores[place[1]], self._own.weighted(place[1]))

    def node_size(self, at: NodeId) -> int:
        """The number of rows of a node on this worker."""
        return self._own.stores[at].present

    def node_parcel(self, at: NodeId) -> Parcel:
        """The rows of a node on this worker."""
        store = self._own.stores[at]
        return packed(self.values, store.schema, store.batch())

    def node_change(self, at: NodeId, most: int) -> Parcel | None:
        """The change of a node on this worker in the epoch that runs, None if it has more than so many
        rows."""
        running = self._running
        assert isinstance(running, ShardEpoch)
        change = running.change_of(at)
        return (
            packed(self.values, running.circuit.nodes[at].schema, change) if change.length <= most else None
        )

    def remembered_parcel(self, at: NodeId) -> Parcel | None:
        """What a node remembers on this worker. All have the value of a clock, and the first one tells it."""
        if self.team.rank and isinstance(self.circuit.nodes[at], Clock):
            return None
        return packed(self.values, schema_of(self._own, at), contents_of(self._own, at))

    def own_contents(self, relation: str) -> Batch:
        """The rows of a relation on this worker."""
        return self._store(relation).batch()

    def parcels(self, relation: str) -> Iterator[Parcel]:
        """The same, some at a time."""
        store = self._store(relation)
        whole = store.batch()
        for start in range(0, whole.length, _AT_A_TIME):
            rows = np.arange(start, min(start + _AT_A_TIME, whole.length))
            yield packed(self.values, store.schema, whole.take(rows))

    def is_once(self, relation: str) -> bool:
        """Whether a row is on one worker only."""
        at = shown(self.circuit, self._relations[relation])
        return self.placed.keys[at] is not None or not self._own.weighted(at)

    def came(self, relation: str, parts: Parts) -> list[tuple[Batch, int]]:
        """The rows of an input for this worker, which it was told or which have come."""
        schema = self._inputs[relation]
        return [
            (
                self.arrivals.batch(self.values, schema, each)
                if isinstance(each, Load)
                else unpacked(self.values, schema, each),
                sign,
            )
            for each, sign in parts
        ]

    def covers_here(self, relation: str, parts: Parts) -> bool:
        """Whether the rows of an input on this worker cover those of others that it would own."""
        return batchcheck.covers(self._store(relation), [batch for batch, _ in self.came(relation, parts)])

    def has_room_here(self, relation: str, key: Sequence[int], parts: Parts) -> bool:
        """Whether rows that this worker would own, and that come (1) and go (-1), may do so by a key."""
        came = self.came(relation, parts)
        come, gone = ([batch for batch, each in came if each == sign] for sign in (1, -1))
        return batchcheck.has_room(self._store(relation), key, come, gone)

    def is_new_here(self, relation: str, key: Sequence[int], parts: Parts) -> bool:
        """Whether no worker has a row with the key of one that has come to this worker."""
        places = tuple(sorted(key))
        schema = [self._inputs[relation][place] for place in places]
        for batch, _ in self.came(relation, parts):
            keys = Batch(tuple(batch.columns[place] for place in places), batch.length)
            asked = "lacks", (relation, places, packed(self.values, schema, keys))
            others = {peer: asked for peer in self.team.owning if peer != self.team.rank}
            if not (self.lacks(*asked[1]) and all(self.team.ask(others, between=True).values())):
                return False
        return True

    def lacks(self, relation: str, places: tuple[int, ...], keys: Parcel) -> bool:
        """Whether no row of a relation on this worker has such a key."""
        store = self._store(relation)
        found = known(self.values, [store.schema[place] for place in places], keys)
        return not len(batchcheck.with_keys(store, places, found.columns, found.length))

    def births_here(self, relation: str, rows: Parcel, together: Collection[str]) -> Any:
        """The iterations at which rows came, 0 for those of other workers, whether these are the least, and
        the first one at which rows came to this worker, if any; see `Runtime.births`."""
        batch = known(self.values, self._schema(relation), rows)
        own = np.flatnonzero(self._store(relation).weight_of(batch.columns, batch.length))
        found = self._births_of(relation, batch.take(own), together)
        if found is None:
            return None
        births = np.zeros(batch.length, np.int64)
        births[own], exact = found
        node: Any = self.circuit.nodes[shown(self.circuit, self._relations[relation])]
        recursion: Any = self._own.recursions[node.fixpoint]
        first = 0 if recursion.ranked is not None else recursion.first
        births[own] += first
        return births, exact, first if any(each.present for each in recursion.relations.values()) else None


class _InStep(Epochs[Batch, Batch | None]):
    """Epochs that walk the same nodes on all workers."""

    def __init__(
        self,
        team: Team,
        circuit: Circuit,
        begin: Callable[[Epoch[Batch]], Any],
        held: Callable[[NodeId], Batch | None],
        exhausted: Callable[[Any, MemoryError], None],
        memories: Memories,
    ) -> None:
        self._team, self._memories = team, memories
        self._last_begun: ShardEpoch | None = None

        def begun(epoch: Epoch[Batch]) -> ShardEpoch:
            self._last_begun = begin(epoch)
            assert self._last_begun is not None
            return self._last_begun

        super().__init__(circuit, begun, held, length_of, exhausted, memories.restless)

    def together(self, own: set[V]) -> set[V]:
        """The union of `own`, what changes on this worker, with that of all others. Changes told by the first
        worker have the same names and signs on all workers, so they meet only where streams or clocks change
        something beside."""
        if self.keeps_elements or self._memories.may_be_restless():
            return own.union(*self._team.agree(own))
        return own

    def _active(
        self, epoch: Epoch[Batch], changing: Sequence[NodeId], known: Collection[NodeId]
    ) -> Sequence[NodeId]:
        if not epoch.first:
            inputs = [self._inputs[name] for name in epoch.changes]
            own = {*inputs, *self.ending(), *self._restless()}
            active = self._active_from(tuple(sorted(self.together(own))))
        else:
            self._team.agree(None)
            active = super()._active(epoch, changing, known)
        assert self._last_begun is not None
        self._last_begun.begin(frozenset(active))
        self._last_begun = None
        return active
