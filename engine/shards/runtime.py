"""The runtime over all shards: the first worker, which the others follow.

    commit ──► changes by owners ──► all run the epoch ──► outcomes gathered ──► sealed ──► all commit
                                          │                      │
                                          └── one gives up ──────┴──► all roll back

It answers for all: what is asked between epochs goes to the workers that own the rows.
"""

from __future__ import annotations

import os
import pickle
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from .. import interrupt
from ..circuit import Circuit, Input
from ..incremental import incrementalize
from ..inprocess.arrangements.store import store_of
from ..inprocess.arrangements.views import Matches, StoreView
from ..inprocess.query import answer
from ..inprocess.sealing import coded
from ..inprocess.state import State
from ..inprocess.storage.allocator import kept_memory
from ..inprocess.storage.batch import Batch, concat, consolidate
from ..inprocess.storage.interner import Values
from ..inprocess.storage.rows import ArrayDelta, ArrayRows
from ..inprocess.storage.sharing import among
from ..integrals import shown
from ..runtime import Coded, Delta, Progress, Seal
from ..schema import Array, RowFault, Schema
from ..settling import IterationLimit
from .member import Member, Outcome
from .placing import Placed
from .running import ShardEpoch
from .team import Aborted, Team
from .views import ShardsView, Spread
from .wire import Parcel, divided, packed, unpacked

T = TypeVar("T")


class WorkerGone(Exception):
    """A worker has ended, and the rows of its shard with it."""


class Gathered:
    """The changes of an epoch on all workers. See `engine.runtime.Sealed`."""

    def __init__(self, runtime: Sharded, deltas: Mapping[str, Delta], inputs: Mapping[str, Batch]) -> None:
        self._runtime, self.deltas, self._taken = runtime, deltas, inputs

    @property
    def length(self) -> int:
        """The number of rows that inputs changed by, or more."""
        return sum(batch.length for batch in self._taken.values())

    def inputs(self) -> dict[str, Callable[[], Coded]]:
        """The change of each input, or the elements of one that is a stream."""
        return {name: self._coded(name, batch) for name, batch in self._taken.items() if batch.length}

    def output(self, name: str) -> Callable[[], Coded] | None:
        """The change of an output, or the elements of one that is a stream; None if there are none."""
        delta = self.deltas.get(name)
        if not isinstance(delta, ArrayDelta) or not len(delta):
            return None
        return self._coded(name, delta.batch)

    def passed(self) -> dict[str, Callable[[], Coded]]:
        """Nothing: rows of inputs are not forgotten in shards."""
        return {}

    def remembered(self) -> dict[str, Callable[[], Coded]]:
        """Nothing: what windows remember is not kept."""
        return {}

    def _coded(self, relation: str, batch: Batch) -> Callable[[], Coded]:
        return partial(coded, self._runtime.values, self._runtime._schema(relation), batch)


class Sharded(Member):
    """The state of one circuit in shards. See `engine.runtime.Runtime`."""

    def __init__(
        self,
        placed: Placed,
        team: Team,
        controls: Mapping[int, Connection],
        nan: float = float("nan"),
        workers: int = 1,
        memory_limit: int | None = None,
        ended: Callable[[], None] = lambda: None,
        values: Values | None = None,
    ) -> None:
        """`controls` are lines to the other workers, which run `follow`; `ended` is called by `close`.
        `values` are those of another runtime, whose batches this one then takes."""
        super().__init__(placed, team, nan, workers, memory_limit, values)
        self._controls, self._serial, self._ended = controls, 0, ended
        self._last_inputs: Mapping[str, Batch] = {}

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
        def act(deltas: Mapping[str, Delta], inputs: Mapping[str, Batch]) -> None:
            if seal is not None:
                seal(Gathered(self, deltas, inputs))

        try:
            deltas, inputs = self._together(changes, static, max_iterations, progress, act)
        except (RowFault, IterationLimit) as error:
            is_without_limit = isinstance(error, IterationLimit) and max_iterations is None
            if not self.committed or is_without_limit:  # no count of iterations was passed
                raise
            deltas, inputs = self._anew(changes, max_iterations, progress, act)
        self._last_inputs = inputs
        if static:
            self._last = True
        return deltas

    def _anew(
        self,
        changes: Mapping[str, Sequence[tuple[Batch, int]]],
        limit: int | None,
        progress: Progress | None,
        act: Callable[[Mapping[str, Delta], Mapping[str, Batch]], None],
    ) -> tuple[dict[str, Delta], dict[str, Batch]]:
        """Runs an epoch as one from nothing, in which no valuation comes and goes and ranks are the least.
        Raises RowFault or IterationLimit if the fault, or the number of iterations, is not one of the
        maintenance alone; the state is then as it was before."""
        streams = {node.relation for node in self.circuit.nodes if isinstance(node, Input) and node.stream}
        shown_before = {
            name: self.contents(name) for name in self._own.outputs if name not in self._own.streams
        }
        held = {name: self.input_contents(name) for name in self._inputs if name not in streams}
        whole = {name: [(batch, 1), *changes.get(name, ())] for name, batch in held.items()}
        whole |= {name: [*changes[name]] for name in streams & changes.keys()}
        result: list[tuple[dict[str, Delta], dict[str, Batch]]] = []

        def changed(deltas: Mapping[str, Delta], inputs: Mapping[str, Batch]) -> None:
            found = dict(deltas)
            for name, before in shown_before.items():
                delta: Any = deltas[name]
                change = consolidate(concat([delta.batch, before.negated()], len(before.columns)))
                found[name] = ArrayDelta(self.values, self._schema(name), change, False)
            taken = {
                name: consolidate(concat([batch, held[name].negated()], len(batch.columns)))
                if name in held
                else batch
                for name, batch in inputs.items()
            }
            result.append((found, taken))
            act(found, taken)

        earlier = self._start_all_over()
        try:
            self._together(whole, False, limit, progress, changed)
        except BaseException:
            self._start_all_over()
            self.earlier = earlier
            self._together({name: [(batch, 1)] for name, batch in held.items()}, False, None, None, _stays)
            raise
        return result[0]

    def _start_all_over(self) -> int:
        """Makes the state of all workers empty. Returns the number of epochs before the last one."""
        for peer, control in self._controls.items():
            self._tell(peer, control, ("over", None))
        for peer, control in self._controls.items():
            self._expect(peer, control, "over")
        before = self.earlier + max(0, self.committed - 1)
        self.earlier += self.committed
        self.empty()
        return before

    def attempt(
        self, changes: Mapping[str, Sequence[tuple[Batch, int]]], look: Callable[[], T], limit: int | None
    ) -> T:
        found: list[T] = []

        def act(deltas: Mapping[str, Delta], inputs: Mapping[str, Batch]) -> None:
            self._built.clear()
            found.append(look())
            raise _Looked

        with suppress(_Looked):
            self._together(changes, False, limit, None, act)
        self._built.clear()
        return found[0]

    def before(self, look: Callable[[], T], limit: int | None) -> T:
        undone = {}
        for name, batch in self._last_inputs.items():
            weights = batch.weight_array()
            parts = ((np.flatnonzero(weights > 0), -1), (np.flatnonzero(weights < 0), 1))
            undone[name] = [(_absolute(batch.take(rows)), sign) for rows, sign in parts if len(rows)]
        return self.attempt(undone, look, limit)

    def _together(
        self,
        changes: Mapping[str, Sequence[tuple[Batch, int]]],
        static: bool,
        limit: int | None,
        progress: Progress | None,
        act: Callable[[Mapping[str, Delta], Mapping[str, Batch]], None],
    ) -> tuple[dict[str, Delta], dict[str, Batch]]:
        """Runs an epoch on all workers. `act` is given its changes before they stay, and may refuse them."""
        with self.still, interrupt.deferred(), kept_memory(), among(self.workers):
            if self.team.lost:
                raise self._gone()
            self._serial += 1
            own = self._divided(changes, static, limit)
            said: dict[int, tuple[str, Any]] = {}  # by workers that have computed the epoch, or failed
            result: list[tuple[dict[str, Delta], dict[str, Batch]]] = []

            def sealed(running: ShardEpoch, deltas: Mapping[str, Delta]) -> None:
                outcomes = [self.outcome(running, deltas, True)]
                for peer, control in self._controls.items():
                    said[peer] = self._heard(peer, control)
                    outcomes.append(_outcome(said[peer]))
                result.append(self._merged(outcomes, static))
                act(*result[0])
                for peer, control in self._controls.items():
                    self._tell(peer, control, "commit")
                    said[peer] = "told", None

            try:
                self.run(self._serial, own, static, limit, sealed, progress=progress)
            except BaseException as error:
                self._taken_back(said, error)
            for peer, control in self._controls.items():
                self._expect(peer, control, "committed")
            self.end()
            return result[0]

    def _divided(
        self, changes: Mapping[str, Sequence[tuple[Batch, int]]], static: bool, limit: int | None
    ) -> dict[str, list[tuple[Batch, int]]]:
        """Sends each worker the changes of the rows that it owns, and gives those of this one."""
        owning = self.team.owning
        shares: list[dict[str, list[tuple[Any, int]]]] = [{} for _ in range(self.team.size)]
        for name, parts in changes.items():
            schema = self._inputs[name]
            key = self.placed.keys[self._place(name)] or ()
            for batch, sign in parts:
                if not batch.length:
                    continue
                for owner, part in enumerate(divided(self.values, schema, key, batch, owning)):
                    given = Batch(batch.columns, 0).take(np.empty(0, np.int64)) if part is None else part
                    share: Any = given if owner == self.team.rank else packed(self.values, schema, given)
                    shares[owner].setdefault(name, []).append((share, sign))
        for peer, control in self._controls.items():
            self._tell(peer, control, ("run", (self._serial, shares[peer], static, limit)))
        return shares[self.team.rank]

    def _place(self, relation: str) -> int:
        nodes = enumerate(self.circuit.nodes)
        return next(at for at, node in nodes if isinstance(node, Input) and node.relation == relation)

    def _merged(self, outcomes: Sequence[Outcome], static: bool) -> tuple[dict[str, Delta], dict[str, Batch]]:
        def merged(parcels: Sequence[Mapping[str, Parcel]]) -> dict[str, Batch]:
            found: dict[str, Batch] = {}
            for name in set().union(*parcels):
                schema = self._schema(name)
                parts = [unpacked(self.values, schema, each[name]) for each in parcels if name in each]
                found[name] = consolidate(concat(parts, len(schema)))
            return found

        outputs = merged([each.outputs for each in outcomes])
        deltas: dict[str, Delta] = {
            name: ArrayDelta(self.values, self._schema(name), whole, static)
            for name, whole in outputs.items()
        }
        return {**self._own.unchanged, **deltas}, merged([each.inputs for each in outcomes])

    def _taken_back(self, said: Mapping[int, tuple[str, Any]], error: BaseException) -> NoReturn:
        """Lets the other workers roll the epoch back. Raises the error, that of the worker that gave up
        first, or WorkerGone."""
        for peer, control in self._controls.items():
            try:
                kind, found = said[peer] if peer in said else self._heard(peer, control)
                if kind == "computed":
                    self._tell(peer, control, "rollback")
                    kind, found = self._heard(peer, control)
            except WorkerGone as gone:
                error = gone
                continue
            if isinstance(error, Aborted) and isinstance(found, SentError):
                error = found.error()
        raise error

    def _expect(self, peer: int, control: Connection, kind: str) -> Any:
        found = self._heard(peer, control)
        if found[0] != kind:
            raise WorkerGone(f"worker {peer} said {found!r}, where {kind} was due")
        return found[1]

    def _heard(self, peer: int, control: Connection) -> tuple[str, Any]:
        try:
            found: tuple[str, Any] = control.recv()
        except (EOFError, OSError):
            raise self._gone() from None
        return found

    def _tell(self, peer: int, control: Connection, message: Any) -> None:
        try:
            control.send(message)
        except OSError:
            raise self._gone() from None

    def _gone(self) -> WorkerGone:
        """The error that a worker has ended, after which all epochs end in it."""
        self.team.lose()
        return WorkerGone("a worker has ended, and the rows of its shard with it")

    def asked(self, requests: Mapping[int, Any]) -> dict[int, Any]:
        """The answers of other workers between epochs. Raises WorkerGone."""
        try:
            return self.team.ask(requests, between=True)
        except Aborted:
            if self.team.lost:
                raise self._gone() from None
            raise

    # ------------------------------------------------------------- reading

    def _spread(self, relation: str) -> ShardsView:
        at = shown(self.circuit, self._relations[relation])
        store = self._own.stores[at]
        view = StoreView(store, self._own.weighted(at))
        running = isinstance(self._running, ShardEpoch)
        team: Any = self.team if running else _Between(self)
        return ShardsView(
            team, self.values, Spread(store.schema, self.placed.keys[at]), ("node", at, True), view
        )

    def _every(self, name: str, *arguments: Any) -> list[Any]:
        """What a method of each worker gives, by rank."""
        request = name, arguments
        others = self.asked(dict.fromkeys(self._controls, request))
        return [getattr(self, name)(*arguments), *(others[peer] for peer in sorted(others))]

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

    def covers(self, relation: str, batches: Sequence[Batch]) -> bool:
        whole = consolidate(concat(batches, len(self._schema(relation))))
        return bool((self._weights(relation, whole) >= whole.weight_array()).all())

    def has_room(
        self, relation: str, key: Sequence[int], come: Sequence[Batch], gone: Sequence[Batch]
    ) -> bool:
        schema = self._schema(relation)
        coming = consolidate(concat(come, len(schema)))
        keys = [coming.columns[k] for k in key]
        if consolidate(Batch(tuple(keys), coming.length)).length < coming.length:
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
        at = shown(self.circuit, self._relations[relation])
        schema = self._schema(relation)
        batch = self._encode(schema, rows)
        found = self._every("births_here", relation, packed(self.values, schema, batch), together)
        if None in found:
            return None
        key = self.placed.keys[at] or ()
        parts = divided(
            self.values,
            schema,
            key,
            Batch((*batch.columns, np.arange(batch.length)), batch.length),
            self.team.owning,
        )
        births = [0] * batch.length
        for (numbers, _), part in zip(found, parts, strict=True):
            for row in () if part is None else part.columns[-1].tolist():
                births[row] = numbers[row]
        return births, all(exact for _, exact in found)

    def contents(self, relation: str) -> Batch:
        schema = self._schema(relation)
        parcels: list[Parcel] = self._every("parcel_of", relation)
        whole = concat([unpacked(self.values, schema, each) for each in parcels], len(schema))
        return whole if self._is_once(relation) else consolidate(whole)

    def _is_once(self, relation: str) -> bool:
        """Whether a row is on one worker only."""
        at = shown(self.circuit, self._relations[relation])
        return self.placed.keys[at] is not None or not self._own.weighted(at)

    def input_contents(self, relation: str) -> Batch:
        schema = self._inputs[relation]
        parcels: list[Parcel] = self._every("input_parcel", relation)
        return concat([unpacked(self.values, schema, each) for each in parcels], len(schema))

    def size_of(self, relation: str) -> int:
        return sum(self._every("input_size", relation))

    def rows(self, relation: str) -> ArrayRows:
        return ArrayRows(self.values, self._schema(relation), self.contents(relation))

    def size(self, relation: str) -> int:
        if not self._is_once(relation):
            return self.contents(relation).length
        return sum(self._every("size_here", relation))

    def query(
        self,
        circuit: Circuit,
        given: Mapping[str, Sequence[tuple[Any, ...]]] | None = None,
        most: int | None = None,
    ) -> ArrayRows:
        given = given or {}
        with kept_memory():
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
        for control in self._controls.values():
            with suppress(OSError):
                control.send(("close", None))
        self.team.close()
        self._ended()


def _stays(deltas: Mapping[str, Delta], inputs: Mapping[str, Batch]) -> None:
    """Accepts the changes of an epoch."""


class _Looked(Exception):
    """Ends an epoch that is only looked at."""


class _Between:
    """A team that is asked between epochs."""

    def __init__(self, runtime: Sharded) -> None:
        team = runtime.team
        self.ask, self.rank, self.size, self.owning = runtime.asked, team.rank, team.size, team.owning


def _outcome(said: tuple[str, Any]) -> Outcome:
    """What a worker says at the end of an epoch. Raises what the epoch raised there."""
    kind, found = said
    if kind == "computed":
        outcome: Outcome = found
        return outcome
    raise found.error() if isinstance(found, SentError) else Aborted(str(found))


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


def _absolute(batch: Batch) -> Batch:
    return Batch(batch.columns, batch.length, np.abs(batch.weight_array()))


def follow(member: Member, control: Connection) -> None:
    """Does what the first worker says, until it closes the line."""
    while True:
        try:
            kind, payload = control.recv()
        except (EOFError, OSError):
            return
        if kind == "close":
            return
        if kind == "over":
            member.empty()
            control.send(("over", None))
            continue
        serial, shares, static, limit = payload
        control.send(_followed(member, control, serial, shares, static, limit))


def _followed(
    member: Member,
    control: Connection,
    serial: int,
    shares: Mapping[str, Any],
    static: bool,
    limit: int | None,
) -> tuple[str, Any]:
    """Runs an epoch. Returns how it ended."""

    def sealed(running: ShardEpoch, deltas: Mapping[str, Delta]) -> None:
        control.send(("computed", member.outcome(running, deltas, True)))
        if control.recv() != "commit":
            raise Aborted("the first worker rolls back")

    try:
        with kept_memory():
            changes = {
                name: [
                    (unpacked(member.values, member._inputs[name], parcel), sign) for parcel, sign in parts
                ]
                for name, parts in shares.items()
            }
            member.run(serial, changes, static, limit, sealed)
        member.end()
    except Aborted as error:
        return "aborted", str(error)
    except (EOFError, OSError):
        raise
    except BaseException as error:
        if os.environ.get("DDLOG_DEBUG"):
            traceback.print_exc()
        return "failed", sendable(error)
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
