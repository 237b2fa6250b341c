"""The runtime over all shards: the first worker, which the others follow.

    commit ──► changes by owners ──► all run the epoch ──► outcomes gathered ──► sealed ──► all commit
                                          │                      │
                                          └── one gives up ──────┴──► all roll back

It answers for all: what is asked between epochs goes to the workers that own the rows.

**When a worker ends**, or its line, all are started again, and evaluate the rows that the inputs had at the
last commit (`spool`). The epoch that ran is taken back, and runs again. A commit is decided when it is
spooled and sealed: a worker that ends after that changes nothing of it.
"""

from __future__ import annotations

import os
import pickle
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar
from weakref import WeakSet, ref

from .. import interrupt, thresholds
from ..account import FAULT
from ..circuit import Circuit, Clock, Input, Late, NodeId
from ..divergence import IterationLimit, Unsettled
from ..incremental import incrementalize
from ..inprocess import latest
from ..inprocess.arrangements.store import store_of
from ..inprocess.arrangements.views import Matches, StoreView
from ..inprocess.durablecontents import schema_of
from ..inprocess.query import answer
from ..inprocess.recursion.monotoneepoch import LIMIT
from ..inprocess.sealing import coded
from ..inprocess.state import State
from ..inprocess.storage.allocator import kept_memory
from ..inprocess.storage.batch import Batch, concat, consolidate, no_rows
from ..inprocess.storage.interner import Values
from ..inprocess.storage.rows import ArrayDelta, ArrayRows, LaterDelta
from ..inprocess.storage.threadpool import among
from ..integrals import shown
from ..maintenance import Coin, Mode
from ..runtime import Coded, Delta, Progress, Seal
from ..schema import Array, RowFault, Schema
from .arrivals import Elsewhere
from .epoch import ShardEpoch
from .member import Member, Parts, ShardChanges
from .placement import Placed
from .spool import Change, Spool
from .team import PATIENCE, Aborted, Team
from .transfers import Doors
from .views import ShardsView, Spread
from .wire import Parcel, divided, packed, unpacked

K = TypeVar("K")
T = TypeVar("T")


_TRIES = 3  # of what workers do together, when they end while they do it
_PAUSE = 0.5  # seconds without an epoch in which a worker makes what later ones may need


class WorkerGone(Exception):
    """A worker has ended, again and again. The state is that of the last commit."""


class Closed(Exception):
    """The workers have ended with their session, and a change was not read before."""


class Opened(NamedTuple):
    """The place of the first worker among others that have just started, and lines to these: they run
    `follow`. `doors` are where they give rows to other processes."""

    team: Team
    controls: Mapping[int, Connection]
    doors: Doors | None = None


class WholeChanges(NamedTuple):
    """The changes of an epoch on all workers: see `member.ShardChanges`."""

    deltas: dict[str, Delta]
    inputs: Mapping[str, Change]
    remembered: Mapping[NodeId, Change]
    passed: Mapping[str, Batch]


Act: TypeAlias = Callable[[WholeChanges], None]
"""What is done with an epoch before it stays. If it raises, the epoch is rolled back."""


class Gathered:
    """The changes of an epoch on all workers. See `engine.runtime.Sealed`."""

    def __init__(self, runtime: Sharded, whole: WholeChanges) -> None:
        self._runtime, self.deltas, self._taken, self._whole = runtime, whole.deltas, whole.inputs, whole

    @property
    def length(self) -> int:
        """The number of rows that inputs changed by, or more."""
        return sum(change.length for change in self._taken.values())

    def inputs(self) -> dict[str, Callable[[], Coded]]:
        """The change of each input, or the elements of one that is a stream."""
        return {
            name: partial(self._read, name, change) for name, change in self._taken.items() if change.length
        }

    def output(self, name: str) -> Callable[[], Coded] | None:
        """The change of an output, or the elements of one that is a stream; None if there are none."""
        delta = self.deltas.get(name)
        if not isinstance(delta, ArrayDelta) or not len(delta):
            return None
        return partial(self._coded, name, delta.batch)

    def passed(self) -> dict[str, Callable[[], Coded]]:
        """The rows of inputs that came in this epoch and were forgotten in it."""
        return {name: partial(self._coded, name, batch) for name, batch in self._whole.passed.items()}

    def remembered(self) -> dict[str, Callable[[], Coded]]:
        """The changes of what nodes of windows remember, by their names; of late rows those that came."""
        changes, names = self._whole.remembered, self._runtime._remembered
        return {name: partial(self._read, name, changes[at]) for name, at in names.items() if at in changes}

    def _read(self, relation: str, change: Change) -> Coded:
        return self._coded(relation, change.read())

    def _coded(self, relation: str, batch: Batch) -> Coded:
        return coded(self._runtime.values, self._runtime._schema(relation), batch)


class Sharded(Member):
    """The state of one circuit in shards. See `engine.runtime.Runtime`."""

    def __init__(
        self,
        placed: Placed,
        opened: Callable[[], Opened],
        nan: float = float("nan"),
        workers: int = 1,
        memory_limit: int | None = None,
        values: Values | None = None,
        maintain: Mode | Coin = "auto",
    ) -> None:
        """`opened` starts the other workers, now and whenever some have ended. `values` are those of another
        runtime, whose batches this one then takes."""
        team, self._controls, self.doors = opened()
        super().__init__(placed, team, nan, workers, memory_limit, values, maintain)
        self._opened, self._serial = opened, 0
        self.guard: Callable[[], AbstractContextManager[None]] = nullcontext
        """Turns what goes wrong between workers, in epochs and in reading, into the errors of others."""
        self._last_inputs: latest.Taken = {}
        self._elements: Collection[str] = ()  # the streams that the last epoch gave elements
        self._loads: WeakSet[Elsewhere] = WeakSet()
        nodes = [node for node in placed.circuit.nodes if isinstance(node, Input)]
        self._streams = {node.relation for node in nodes if node.stream}
        memories = {_name(at): schema_of(self._own, at) for at in placed.remembered}
        late = {_name(at) for at in placed.remembered if isinstance(placed.circuit.nodes[at], Late)}
        self._spool = Spool(self.values, {**self._inputs, **memories}, {*self._streams, *late})
        self._begins_with: Mapping[NodeId, Batch] = {}

    # ------------------------------------------------------------- epochs

    def commit(
        self,
        changes: Mapping[str, Sequence[tuple[Batch, int]]],
        *,
        static: bool = False,
        max_iterations: int | None = None,
        progress: Progress | None = None,
        seal: Seal | None = None,
    ) -> dict[str, Delta]:
        def act(whole: WholeChanges) -> None:
            kept = {**whole.inputs, **{_name(at): change for at, change in whole.remembered.items()}}
            with self._spool.adding(self.earlier + self.committed + 1, kept, changes):
                if seal is not None:
                    seal(Gathered(self, whole))

        run = partial(self._together, changes, static, max_iterations, progress, act)
        self.surely(self.read_given_out)
        deltas, inputs, *_ = self.surely(lambda: self._looked_into(run, max_iterations))
        self._begins_with = {}
        self._given_out = [ref(delta) for delta in deltas.values() if isinstance(delta, LaterDelta)]
        self._last_inputs = count = sum(change.length for change in inputs.values())
        if count <= thresholds.UNDONE_ROWS and not any(change.is_away for change in inputs.values()):
            changed = {name: no_rows(self._inputs[name]) for name in self._elements}
            changed |= {name: change.read() for name, change in inputs.items()}
            for name, batch in changed.items():
                self.values.hold(self._inputs[name], batch)
            self._last_inputs = {self._place(name): batch for name, batch in changed.items()}
        self._elements = self._streams & inputs.keys()
        self._spool.add_up()
        if static:
            self._last = True
        return deltas

    def surely(self, act: Callable[[], T]) -> T:
        """What workers do together, who are started again if some have ended, or end while they do it. Raises
        WorkerGone if that happens each time, and what the guard makes of it."""
        with self.guard():
            for left in reversed(range(_TRIES)):
                try:
                    self._start_again()
                    return act()
                except WorkerGone:
                    if not left:
                        raise
        raise AssertionError

    def _start_again(self) -> None:
        """Starts the workers again if some have ended; their state is that of the last commit."""
        if not self.team.lost:
            return
        given_out, self._given_out = self._given_out, []  # they are read in the state that comes back
        try:
            with self.still:
                self._leave()
                self.team, self._controls, self.doors = self._opened()
                self.empty()
                self.team.start(self._answered)
                if self._spool.epochs:
                    self._evaluate_inputs()
        finally:
            self._given_out = given_out

    def _evaluate_inputs(self) -> None:
        """Lets all workers, whose state is empty, come to that of the last commit."""
        self.earlier = self._spool.epochs - 1
        try:
            contents = {at: self._summed(at) for at in self.placed.remembered}
            self._together(self._spool.rows(self._inputs), False, None, None, _stays, contents)
        except BaseException:
            self.team.lose()  # so that nobody takes this state for right
            raise

    def _summed(self, at: NodeId) -> Batch:
        """What a node remembered at the last commit."""
        (parts,) = self._spool.rows([_name(at)]).values()
        batches = [batch.scaled(sign) for batch, sign in parts]
        return concat(batches, len(schema_of(self._own, at)))

    def attempt(
        self, changes: Mapping[str, Sequence[tuple[Batch, int]]], look: Callable[[], T], limit: int | None
    ) -> T:
        found: list[T] = []

        def act(whole: WholeChanges) -> None:
            self._built.clear()
            with self.values.looked_at():
                found.append(look())
            raise _Looked

        def run() -> None:
            with suppress(_Looked):
                self._looked_into(partial(self._together, changes, False, limit, None, act), limit)

        self.surely(self.read_given_out)
        self.surely(run)
        self._built.clear()
        return found[0]

    def before(self, look: Callable[[], T], limit: int | None) -> T:
        undone = latest.undoing(latest.by_relation(self._last_inputs, self.circuit))
        return self.attempt(undone, look, limit)

    def _looked_into(self, run: Callable[..., WholeChanges], limit: int | None) -> WholeChanges:
        """The result of `run`, which is `_together` of an epoch with this limit. `run` is called again to
        look into a fault or a limit of iterations."""
        try:
            return run(contents=self._begins_with)
        except (RowFault, Unsettled) as error:
            is_without_limit = isinstance(error, IterationLimit) and limit is None
            if not self.committed or is_without_limit:  # no count of iterations was passed
                raise
            looks_into = FAULT if isinstance(error, RowFault) else LIMIT
        return run(looks_into=looks_into)

    def _together(
        self,
        changes: Mapping[str, Sequence[tuple[Batch, int]]],
        static: bool,
        limit: int | None,
        progress: Progress | None,
        act: Act,
        contents: Mapping[NodeId, Batch] | None = None,
        looks_into: str = "",
    ) -> WholeChanges:
        """Runs an epoch on all workers. `act` is given its changes before they stay, and may refuse them.
        `contents` are those with which nodes begin, in a first epoch; `looks_into`: see `Team`. Raises
        WorkerGone if a worker ends before that; if one ends later, the epoch has been."""
        away = self._gone_ahead(changes)
        with self.still, interrupt.deferred(), kept_memory(), among(self.workers):
            self._serial += 1
            own = self._divided(changes, static, limit, away, contents or {}, looks_into)
            said: dict[int, tuple[str, Any]] = {}  # by workers that have computed the epoch, or failed
            result: list[WholeChanges] = []

            def sealed(running: ShardEpoch, deltas: Mapping[str, Delta]) -> None:
                outcomes = [self.outcome(running, deltas, away)]
                for peer, control in self._controls.items():
                    self._await(control)
                    said[peer] = self._heard(control)
                    outcomes.append(_outcome(said[peer]))
                result.append(self._merged(outcomes, static))
                act(result[0])
                with suppress(WorkerGone):
                    for control in self._controls.values():
                        self._tell(control, "commit")

            try:
                self.run(self._serial, own, static, limit, sealed, looks_into, progress=progress)
            except BaseException as error:
                self._taken_back(said, error)
            with suppress(WorkerGone):
                for control in self._controls.values():
                    self._expect(control, "committed")
            for columns in self._loads:
                columns.leave()
            self.end()
            return result[0]

    def _gone_ahead(self, changes: Mapping[str, Sequence[tuple[Batch, int]]]) -> set[str]:
        """Lets rows that are elsewhere come to the workers, and gives the names of their inputs. Raises
        WorkerGone."""
        found = set()
        for name, parts in changes.items():
            for batch, _ in parts:
                if isinstance(batch.columns, Elsewhere):
                    self._come(name, batch.columns)
                    found.add(name)
        return found

    def _come(self, name: str, columns: Elsewhere) -> None:
        assert self.doors is not None
        self._loads.add(columns)
        try:
            columns.go(self.doors, self.placed.keys[self._place(name)] or (), self.team.owning)
        except Exception:
            self._answers(dict.fromkeys(range(1, self.team.size), ("node_size", (self._place(name),))))
            raise

    def _divided(
        self,
        changes: Mapping[str, Sequence[tuple[Batch, int]]],
        static: bool,
        limit: int | None,
        away: Collection[str],
        contents: Mapping[NodeId, Batch],
        looks_into: str,
    ) -> dict[str, list[tuple[Batch, int]]]:
        """Sends each worker the changes and the contents of the rows that it owns, and gives the changes for
        this one."""
        shares: list[dict[str, list[tuple[Any, int]]]] = [{} for _ in range(self.team.size)]
        for name, parts in changes.items():
            for share, own in zip(shares, self._shares(name, parts), strict=True):
                if own:
                    share[name] = own
        loads = [columns.load.name for columns in self._loads if columns.is_at(self.doors)]
        begins = self._divided_contents(contents)
        for peer, control in self._controls.items():
            told = self._serial, shares[peer], static, limit, looks_into, away, loads, begins[peer]
            self._tell(control, ("run", told))
        self.begin_with_contents(begins[self.team.rank])
        return shares[self.team.rank]

    def _shares(self, name: str, parts: Sequence[tuple[Batch, int]]) -> list[list[tuple[Any, int]]]:
        """The rows of an input that each worker owns, by rank, with the same signs: those of this one as
        batches."""
        owning, own, schema = self.team.owning, self.team.rank, self._inputs[name]
        key = self.placed.keys[self._place(name)] or ()
        shares: list[list[tuple[Any, int]]] = [[] for _ in range(self.team.size)]
        for batch, sign in parts:
            if not batch.length:
                continue
            none = no_rows(schema)
            if isinstance(batch.columns, Elsewhere):
                for rank, share in enumerate(shares):
                    share.append((none if rank == own else batch.columns.load, sign))
                continue
            for rank, part in enumerate(divided(self.values, schema, key, batch, owning)):
                given = none if part is None else part
                shares[rank].append((given if rank == own else packed(self.values, schema, given), sign))
        return shares

    def _divided_contents(self, contents: Mapping[NodeId, Batch]) -> list[dict[NodeId, Parcel]]:
        """What each worker has of the contents of nodes, by rank: all have the value of a clock."""
        found: list[dict[NodeId, Parcel]] = [{} for _ in range(self.team.size)]
        for at, batch in contents.items():
            schema, key = schema_of(self._own, at), self.placed.keys[at]
            parts: Sequence[Batch | None] = [batch] * self.team.size
            if not isinstance(self.circuit.nodes[at], Clock):
                parts = divided(self.values, schema, key or (), batch, self.team.owning)
            for rank, part in enumerate(parts):
                found[rank][at] = packed(self.values, schema, no_rows(schema) if part is None else part)
        return found

    def _place(self, relation: str) -> int:
        nodes = enumerate(self.circuit.nodes)
        return next(at for at, node in nodes if isinstance(node, Input) and node.relation == relation)

    def _shown(self, relation: str) -> NodeId:
        return shown(self.circuit, self._relations[relation])

    def _merged(self, outcomes: Sequence[ShardChanges], static: bool) -> WholeChanges:
        def summed(schema: Schema, parcels: Iterable[Parcel]) -> Batch:
            parts = [unpacked(self.values, schema, each) for each in parcels]
            return consolidate(concat(parts, len(schema)))

        def merged(name: str, parcels: Iterable[Parcel]) -> Batch:
            return summed(self._schema(name), parcels)

        def change(name: str, parcels: Mapping[int, Parcel | None]) -> ArrayDelta:
            kept = [rank for rank, parcel in parcels.items() if parcel is None]
            found = self._of_workers(kept, "node_parcel", self._shown(name))
            come = [parcel for parcel in parcels.values() if parcel is not None]
            return ArrayDelta(self.values, self._schema(name), merged(name, [*come, *found]), static)

        deltas: dict[str, Delta] = {}
        for name, parcels in _by_name([each.outputs for each in outcomes]).items():
            is_kept = None in parcels.values()
            act = partial(change, name, parcels)
            deltas[name] = LaterDelta(act, self.still) if is_kept else act()

        def taken(name: str, parts: Sequence[Parcel | int]) -> Change:
            parcels = [part for part in parts if isinstance(part, Parcel)]
            if len(parcels) == len(parts):
                return _known(merged(name, parcels))
            length = sum(part if isinstance(part, int) else part.length for part in parts)
            return Change(length, lambda: merged(name, self._every("taken_parcel", name)), True)

        inputs = _by_name([each.inputs for each in outcomes])
        remembered = _by_name([each.remembered for each in outcomes]).items()
        at_once = _by_name([each.passed for each in outcomes]).items()
        return WholeChanges(
            {**self._own.unchanged, **deltas},
            {name: taken(name, [*parts.values()]) for name, parts in inputs.items()},
            {at: _known(summed(schema_of(self._own, at), parts.values())) for at, parts in remembered},
            {name: merged(name, parts.values()) for name, parts in at_once},
        )

    def _taken_back(self, said: Mapping[int, tuple[str, Any]], error: BaseException) -> NoReturn:
        """Lets the other workers roll the epoch back. Raises the error; if it is only that others gave up,
        that of the first of them, or WorkerGone. Workers are lost if their ranks are not of one numbering, or
        one has committed the epoch."""
        for peer, control in self._controls.items():
            try:
                kind, found = said[peer] if peer in said else self._heard(control)
                if kind == "computed":
                    self._tell(control, "rollback")
                    kind, found = self._heard(control)
            except WorkerGone:
                continue
            if kind != "failed" or found[1] != self.numberings():
                self.team.lose()
            if isinstance(error, Aborted) and kind == "failed":
                error = found[0].error()
        if isinstance(error, Aborted):
            interrupt.check()  # which may be why
        raise self._gone() if isinstance(error, Aborted) and self.team.lost else error

    def _await(self, control: Connection) -> None:
        """Waits until a worker says how its epoch ended: it may iterate alone. A Ctrl-C raises Aborted."""
        with suppress(OSError):  # the worker is gone
            while not control.poll(PATIENCE):
                if interrupt.noted():
                    raise Aborted("Ctrl-C")

    def _expect(self, control: Connection, kind: str) -> Any:
        found = self._heard(control)
        if found[0] != kind:
            raise self._gone()
        return found[1]

    def _heard(self, control: Connection) -> tuple[str, Any]:
        try:
            found: tuple[str, Any] = control.recv()
        except (EOFError, OSError):
            raise self._gone() from None
        return found

    def _tell(self, control: Connection, message: Any) -> None:
        try:
            control.send(message)
        except OSError:
            raise self._gone() from None

    def _gone(self) -> WorkerGone:
        """The error that a worker has ended."""
        self.team.lose()
        return WorkerGone("a worker has ended, and the rows of its shard with it")

    def asked(self, requests: Mapping[int, Any]) -> dict[int, Any]:
        """The answers of other workers, in an epoch or between two. Raises WorkerGone."""
        ask = partial(self._answers, requests)
        if isinstance(self._running, ShardEpoch):
            return ask()
        with self.still:  # a thread may read the changes of the last epoch while another asks
            return self.surely(ask)

    def _answers(self, requests: Mapping[int, Any]) -> dict[int, Any]:
        try:
            return self.team.ask(requests, between=True)
        except Aborted:
            if self.team.lost:
                raise self._gone() from None
            raise

    # ------------------------------------------------------------- reading

    def _spread(self, relation: str) -> ShardsView:
        at = self._shown(relation)
        store = self._own.stores[at]
        view = StoreView(store, self._own.weighted(at))
        running = isinstance(self._running, ShardEpoch)
        team: Any = self.team if running else _Between(self)
        return ShardsView(
            team, self.values, Spread(store.schema, self.placed.keys[at]), ("node", at, True), view
        )

    def _every(self, name: str, *arguments: Any) -> list[Any]:
        """What a method of each worker gives, by rank."""
        return self._of_workers(range(self.team.size), name, *arguments)

    def _of_workers(self, ranks: Sequence[int], name: str, *arguments: Any) -> list[Any]:
        """What a method of some workers gives."""
        others = self.asked({rank: (name, arguments) for rank in ranks if rank})
        return [others[rank] if rank else getattr(self, name)(*arguments) for rank in ranks]

    def lookup(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[int]:
        batch = self._encode(self._schema(relation), rows)
        weights: list[int] = self._weights(relation, batch).tolist()
        return weights

    def _weights(self, relation: str, batch: Batch) -> Array:
        return self._spread(relation).presence(batch.columns, batch.length)

    def find(self, relation: str, values: Mapping[int, Any]) -> list[tuple[Any, ...]]:
        schema = self._schema(relation)
        positions = tuple(sorted(values))
        keys = [self.values.encode_column(schema[p], [values[p]], 1) for p in positions]
        view = self._spread(relation)
        groups, total = view.groups(positions, keys, 1)
        held = consolidate(concat(_batches(schema, view.expand(positions, groups, total)), len(schema)))
        return list(ArrayRows(self.values, schema, Batch(held.columns, held.length)))

    def _here(
        self, name: str, relation: str, batches: Sequence[tuple[Batch, int]], *more: Any
    ) -> bool | None:
        """What all workers say of rows of an input, some of which are elsewhere and have come to them; None
        if they have not the rows of the relation where those of the input come."""
        come = [batch.columns for batch, _ in batches if isinstance(batch.columns, Elsewhere)]
        at = self._shown(relation)
        if not come or self.placed.keys[at] != self.placed.keys[self._place(relation)]:
            return None

        def ask() -> list[bool]:
            for columns in come:
                self._come(relation, columns)
            shares = self._shares(relation, batches)
            others = {rank: (name, (relation, *more, shares[rank])) for rank in range(1, self.team.size)}
            return [*self._answers(others).values()]

        return all(self.surely(ask))

    def covers(self, relation: str, batches: Sequence[Batch]) -> bool:
        found = self._here("covers_here", relation, [(batch, 1) for batch in batches])
        if found is not None:
            return found
        whole = consolidate(concat(batches, len(self._schema(relation))))
        return bool((self._weights(relation, whole) >= whole.weight_array()).all())

    def has_room(
        self, relation: str, key: Sequence[int], come: Sequence[Batch], gone: Sequence[Batch]
    ) -> bool:
        schema = self._schema(relation)
        owner = self.placed.keys[self._place(relation)] or ()
        signed = [*((batch, 1) for batch in come), *((batch, -1) for batch in gone)]
        found: bool | None = None
        if set(owner) <= set(key):  # rows with the same key have the same owner
            found = self._here("has_room_here", relation, signed, key)
        elif len(signed) == 1 and isinstance(signed[0][0].columns, Elsewhere):
            found = self._here("is_new_here", relation, signed, key)
            found = found and signed[0][0].columns.source.differ(key)
        if found is not None:
            return found
        coming = concat(come, len(schema))
        keys = tuple(coming.columns[k] for k in key)
        if consolidate(Batch(keys, coming.length)).length < coming.length:
            return False
        view = self._spread(relation)
        positions = tuple(sorted(key))
        groups, total = view.groups(positions, [coming.columns[k] for k in positions], coming.length)
        held = _batches(schema, view.expand(positions, groups, total))
        left = consolidate(concat([*held, *(batch.negated() for batch in gone)], len(schema)))
        return not (left.weight_array() > 0).any()

    def births(
        self, relation: str, rows: Sequence[tuple[Any, ...]], together: Collection[str]
    ) -> tuple[list[int], bool] | None:
        schema = self._schema(relation)
        asked = packed(self.values, schema, self._encode(schema, rows))
        found = self._every("births_here", relation, asked, together)
        if None in found:
            return None
        births, exact, firsts = zip(*found, strict=True)
        first = min((each for each in firsts if each is not None), default=0)
        return (sum(births) - first).tolist(), all(exact)

    def contents(self, relation: str) -> Batch:
        schema = self._schema(relation)
        parcels: list[Parcel] = self._every("node_parcel", self._shown(relation))
        whole = concat([unpacked(self.values, schema, each) for each in parcels], len(schema))
        return whole if self.is_once(relation) else consolidate(whole)

    def input_contents(self, relation: str) -> Batch:
        schema = self._inputs[relation]
        parcels: list[Parcel] = self._every("node_parcel", self._place(relation))
        return concat([unpacked(self.values, schema, each) for each in parcels], len(schema))

    def size_of(self, relation: str) -> int:
        return sum(self._every("node_size", self._place(relation)))

    def remember(self, nodes: Mapping[str, NodeId]) -> None:
        assert self.placed.remembered.issuperset(nodes.values())
        self._remembered = dict(nodes)

    def give(self, contents: Mapping[str, Sequence[tuple[Batch, int]]]) -> None:
        self.begin_with_whole(dict(self._named(contents)))

    def begin_with_whole(self, contents: Mapping[NodeId, Batch]) -> None:
        """Lets nodes begin with contents that are those of all workers, before the first epoch."""
        self._begins_with = contents

    def remembered_contents(self, at: NodeId) -> Batch:
        schema = schema_of(self._own, at)
        parcels = [each for each in self._every("remembered_parcel", at) if each is not None]
        return consolidate(concat([unpacked(self.values, schema, each) for each in parcels], len(schema)))

    def rows(self, relation: str) -> ArrayRows:
        return ArrayRows(self.values, self._schema(relation), self.contents(relation))

    def size(self, relation: str) -> int:
        if not self.is_once(relation):
            return self.contents(relation).length
        return sum(self._every("node_size", self._shown(relation)))

    def query(
        self,
        circuit: Circuit,
        given: Mapping[str, Sequence[tuple[Any, ...]]] | None = None,
        most: int | None = None,
    ) -> ArrayRows:
        given = given or {}
        with self._questioned():
            stores: dict[str, Any] = {}
            for node in circuit.nodes:
                if isinstance(node, Input):
                    name = node.relation
                    stores[name] = (
                        self._given(node, given[name])
                        if name in given
                        else store_of(node.schema, self.contents(name))
                    )
            state = State(incrementalize(circuit), self.values, stores)
            return answer(state, self._own.evaluator.epoch, given.keys(), {}, most)

    def tidy(self) -> None:
        self._every("tidy_here")

    def close(self) -> None:
        self._opened = _closed
        self._spool.clear()
        for control in self._controls.values():
            with suppress(OSError):
                control.send(("close", None))
        self._leave()

    def _leave(self) -> None:
        """Closes the lines to the other workers, who end with them."""
        super().close()
        for control in self._controls.values():
            control.close()


def _closed() -> NoReturn:
    raise Closed("the session is closed: read a large change before that, or before the next commit")


def _known(batch: Batch) -> Change:
    return Change(batch.length, lambda: batch)


def _stays(whole: WholeChanges) -> None:
    """Accepts the changes of an epoch."""


def _name(at: NodeId) -> str:
    """The name of a node's contents in the spool: no relation has such a name."""
    return str(at)


class _Looked(Exception):
    """Ends an epoch that is only looked at."""


class _Between:
    """A team that is asked between epochs."""

    def __init__(self, runtime: Sharded) -> None:
        team = runtime.team
        self.ask, self.rank, self.size, self.owning = runtime.asked, team.rank, team.size, team.owning


def _outcome(said: tuple[str, Any]) -> ShardChanges:
    """What a worker says at the end of an epoch. Raises what the epoch raised there, or Aborted."""
    kind, found = said
    if kind == "computed":
        outcome: ShardChanges = found
        return outcome
    raise found[0].error()


def _by_name(parts: Sequence[Mapping[K, T]]) -> dict[K, dict[int, T]]:
    """What mappings have by name, by name and by the place of the mapping."""
    found: dict[K, dict[int, T]] = {}
    for place, part in enumerate(parts):
        for name, each in part.items():
            found.setdefault(name, {})[place] = each
    return found


def _batches(schema: Schema, parts: Sequence[Matches]) -> list[Batch]:
    """The rows of matches."""
    return [
        Batch(
            tuple(part.table.column_at(part.rows, k) for k in range(len(schema))),
            len(part.rows),
            part.weights,
        )
        for part in parts
    ]


def follow(member: Member, control: Connection) -> None:
    """Does what the first worker says, until it closes the line."""
    with suppress(EOFError, OSError), control:
        while True:
            if not control.poll(_PAUSE):
                member.arrange_missed(control.poll)
            kind, payload = control.recv()
            if kind == "close":
                break
            told, payload = [*payload], None  # which holds many rows
            control.send(_followed(member, control, told))
    member.close()


def _followed(
    member: Member,
    control: Connection,
    told: list[Any],
) -> tuple[str, Any]:
    """Runs an epoch, as the first worker has told (`Sharded._divided`). Returns how it ended."""
    shares: Mapping[str, Parts]
    serial, shares, static, limit, looks_into, away, loads, contents = told
    told.clear()

    def sealed(running: ShardEpoch, deltas: Mapping[str, Delta]) -> None:
        try:
            control.send(("computed", member.outcome(running, deltas, away)))
            stays = control.recv() == "commit"
        except (EOFError, OSError):
            stays = False
        if not stays:
            raise Aborted("the first worker rolls back, or has ended")

    try:
        with kept_memory():
            member.arrivals.keep(loads)
            changes = {name: member.came(name, parts) for name, parts in shares.items()}
            shares = {}
            member.begin_with_contents(contents)
            member.run(serial, changes, static, limit, sealed, looks_into)
        member.arrivals.keep(())
        member.end()
    except BaseException as error:
        if os.environ.get("DDLOG_DEBUG") and not isinstance(error, Aborted):
            traceback.print_exc()
        return "failed", (sendable(error), member.numberings())
    return "committed", None


class SentError(NamedTuple):
    """An error on its way: its class, arguments and attributes, as a class may not be made of its
    arguments."""

    kind: type[BaseException]
    arguments: tuple[Any, ...]
    attributes: Mapping[str, Any]

    def error(self) -> BaseException:
        """The error again."""
        found = self.kind.__new__(self.kind)
        found.args = self.arguments
        found.__dict__.update(self.attributes)
        return found


def sendable(error: BaseException) -> SentError:
    """The error, or one with its text if it cannot be pickled, for another worker."""
    sent = SentError(type(error), error.args, dict(error.__dict__))
    try:
        pickle.loads(pickle.dumps(sent))
    except Exception:
        return SentError(RuntimeError, (f"{type(error).__name__}: {error}",), {})
    return sent
