"""The in-process runtime: the state of a circuit in columns of int64, and its epochs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakMethod, WeakSet, ref

import numpy as np

from .. import epochcosts, interrupt, memory, spilling, thresholds
from ..budget import Budget
from ..circuit import Circuit, Fixpoint, FixpointResult, Input, NodeId
from ..epoch import Epoch, Epochs, Running
from ..fingerprints import Fingerprints
from ..incremental import incrementalize
from ..integrals import shown, shrinking_inputs
from ..joinplan import JoinPlan
from ..maintenance import Coin, Decision, Expectation, Maintaining, Mode
from ..node import ENDING
from ..runtime import Coded, Delta, Held, Progress, RowSet, Seal
from ..schema import Column, Schema
from ..weakly import weakly
from . import durablecontents
from .arrangements import batchcheck
from .arrangements.store import Store
from .arrangements.views import Readable, StoreView, apart, part_of
from .epoch import RunningEpoch
from .exhaustion import Sizes, described, sizes, sizes_within
from .kernels.compiler import compile_kernels
from .latest import Taken, by_relation, mark, taken, undoing
from .maintenance import expectations
from .query import Built, answer
from .recursion.recursion import Recursion
from .resumption import (
    FrozenValues,
    Unit,
    ValueCodec,
    beginning,
    begun,
    freeze_values,
    held,
    restore_values,
    units,
)
from .rowwalk import rows_walked
from .sealing import SealedEpoch, coded
from .state import State
from .storage import sweep
from .storage.allocator import kept_memory
from .storage.batch import Batch, RowColumns, concat, consolidate, length_of
from .storage.interner import Interner, Values, encode_each, encode_rows
from .storage.marks import Marks
from .storage.rows import ArrayDelta, ArrayRows, LaterDelta
from .storage.serialization import ByteSource, Kept
from .storage.threadpool import among, building, in_task
from .storage.unread import arrange_ahead, is_unread, read_now
from .takeover import adopt, goes_on, is_adopted

T = TypeVar("T")


class InProcess:
    """The state of one circuit of changes. See `engine.runtime.Runtime`."""

    def __init__(
        self,
        circuit: Circuit,
        nan: float = float("nan"),
        workers: int = 1,
        memory_limit: int | None = None,
        values: Values | None = None,
        maintain: Mode | Coin = "auto",
        spill: str | Path | None = None,
    ) -> None:
        """`workers` threads share the work of an epoch. `memory_limit`: the bytes at which an epoch is given
        up; see `engine.memory`. `spill`: the folder of the disk to which arrays go before that. `values` are
        those of another runtime, to share with it. `maintain`: whether recursions are maintained; see
        `engine.maintenance`. `budget`: one to share."""
        self.values, self.workers = Values(nan) if values is None else values, workers
        self._maintaining = Maintaining(maintain)
        self.limit, self.spill = memory_limit, spill
        self._relieve = weakly(self._spill) if spill else None
        self._remembered: dict[str, NodeId] = {}
        self.still = threading.RLock()
        """Held by an epoch; whoever else holds it reads a state that does not change."""
        self.took = 0.0
        """The seconds of the last epoch that was committed."""
        self._later: Callable[[], None] | None = None
        self._catching_up: dict[NodeId, Batch | None] = {}  # the changes of nodes of windows, while it does
        self._is_settling = False
        self._given_out: list[ref[ArrayDelta]] = []
        self.earlier = 0
        """The epochs before the first one of this runtime, for rows that are told their number."""
        self.names: Fingerprints | None = None
        """The fingerprints of the nodes, if they are known."""
        self.budget = Budget()
        self._begin_from(circuit)

    def _begin_from(self, circuit: Circuit) -> None:
        """Takes up a circuit, with empty state."""
        self.circuit = circuit
        self._own = self._new_state(circuit)
        self._own.evaluator.budget = self.budget
        self._state.remembering |= frozenset(self._remembered.values())
        self._sharing: WeakSet[State] = WeakSet([self._state])  # the states whose rows hold the values
        self._tidied = 0  # the epochs committed before everything was last swept
        # Contents that read the state when they are read. Those of a state that is brought up to date stay.
        self._given_out = self._given_out if self._is_settling else []
        self._last = False  # whether no other epoch follows: the changes given out may still read the state
        self._relations = self._state.outputs | dict(circuit.relations)
        nodes = list(enumerate(circuit.nodes))
        self._inputs = {node.relation: node.schema for _, node in nodes if isinstance(node, Input)}
        self._shrinking = {
            at: shrinking_inputs(circuit, at)
            for at, node in nodes
            if isinstance(node, Fixpoint) and not node.lifted
        }
        self._epochs = self._new_epochs(circuit)
        self._running: RunningEpoch | None = None
        self._latest: Taken = None
        self._built: Built = {}  # for queries, until the next epoch
        self._within: tuple[Sizes, int | None] = {}, None  # of an epoch that ran out of memory

    def _new_state(self, circuit: Circuit) -> State:
        """The state of a circuit, empty."""
        marks_more = WeakMethod(self._mark_latest)
        return State(circuit, self.values, maintaining=self._maintaining, marks_more=marks_more)

    def _new_epochs(self, circuit: Circuit) -> Epochs[Batch, Batch | None]:
        """The epochs of a circuit."""
        memories, walk_for = self._state.memories, rows_walked(self._own)
        restless = memories.restless if memories.may_be_restless() else tuple
        begin, held, exhausted = weakly(self._begin), weakly(self._held), weakly(self._exhausted)
        return Epochs(circuit, begin, held, length_of, exhausted, restless, walk_for)

    @property
    def _state(self) -> State:
        """The state, with what is to be done before it is used."""
        if self._later is not None:
            self._settle()
        if self._own.late:
            self._take_in()
        return self._own

    def _take_in(self) -> None:
        """Takes in what the state was to take in before somebody asks for it; not inside an epoch."""
        with self.still, interrupt.deferred():
            if self._running is None:
                self._own.take_in()

    def _settle(self) -> None:
        """Does what is to be done before the state is used."""
        with self.still:
            if self._later is None or self._is_settling:
                return
            self._is_settling = True
            try:
                self._later()
                self._later = None
            finally:
                self._is_settling = False

    def later(self, act: Callable[[], None]) -> None:
        """Lets the state be brought up to date by an act when it is first needed. What the act raises, that
        use raises; the next tries again."""
        self._later = act

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to be done before the state is used."""
        return self._later is None

    def beside(self, circuit: Circuit) -> InProcess:
        """A runtime for another circuit over the same values, which can take this one's batches."""
        self._settle()
        other = InProcess(
            circuit, workers=self.workers, memory_limit=self.limit, values=self.values, spill=self.spill
        )
        self._sharing.update(other._sharing)
        other._sharing = self._sharing
        return other

    # ------------------------------------------------------------- giving rows

    def batch(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> Batch:
        if self._later is not None:
            self._settle()  # it may give values other numbers
        schema = self._schema(relation)
        batch = self._encode(schema, rows)
        self.values.hold(schema, batch)
        return batch

    def batch_from_columns(self, relation: str, columns: Sequence[Any]) -> Batch:
        if self._later is not None:
            self._settle()
        schema = self._schema(relation)
        arrays = tuple(self.values.encode_input(c, d) for c, d in zip(schema, columns, strict=True))
        batch = Batch(arrays, len(arrays[0]) if arrays else 0)
        self.values.hold(schema, batch)
        return batch

    def batches(self, relation: str, delta: Delta) -> list[tuple[Batch, int]]:
        assert isinstance(delta, ArrayDelta)
        whole = delta.batch
        weights = whole.weight_array()
        gone, come = whole.take(np.flatnonzero(weights < 0)), whole.take(np.flatnonzero(weights > 0))
        return [(batch, sign) for batch, sign in ((gone.negated(), -1), (come, 1)) if batch.length]

    def contents(self, relation: str) -> Batch:
        """The rows of a relation as a batch, for a runtime beside."""
        return self._store(relation).batch()

    def held(self, relation: str) -> Coded:
        """The rows of a relation, or what a node remembers by its name, column by column, to be read before
        the next epoch."""
        if relation in self._remembered:
            contents = self.remembered_contents(self._remembered[relation])
        else:
            contents = self.contents(relation)
        return coded(self.values, self._schema(relation), contents)

    def remembered_contents(self, at: NodeId) -> Batch:
        """What a node remembers; see `engine.windowmemory`."""
        return durablecontents.contents_of(self._state, at)

    def _encode(self, schema: Schema, rows: Sequence[tuple[Any, ...]]) -> Batch:
        if len(rows) <= thresholds.ROWS_ONE_BY_ONE:
            return Batch(RowColumns(encode_each(self.values, schema, rows), len(schema)), len(rows))
        return Batch(encode_rows(self.values, schema, rows), len(rows))

    @property
    def inputs(self) -> Collection[str]:
        """The names of the inputs."""
        return self._inputs.keys()

    def node_of(self, relation: str) -> NodeId:
        """The node of a relation. Raises KeyError for one that the circuit does not keep."""
        return self._relations[relation]

    def schema(self, relation: str) -> Schema:
        """The columns of a relation, or of what a node remembers by its name."""
        return self._schema(relation)

    def _schema(self, relation: str) -> Schema:
        if relation in self._inputs:
            return self._inputs[relation]
        if relation in self._remembered:
            return durablecontents.schema_of(self._state, self._remembered[relation])
        return self._state.circuit.nodes[self._relations[relation]].schema

    # ------------------------------------------------------------- reading

    def _store(self, relation: str) -> Readable:
        return self._state.stores[shown(self._state.circuit, self._relations[relation])]

    def contains(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[bool]:
        return [weight != 0 for weight in self.lookup(relation, rows)]

    def lookup(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[int]:
        store = self._store(relation)
        batch = self._encode(store.schema, rows)
        weights: list[int] = store.weight_of(batch.columns, batch.length).tolist()
        return weights

    def find(self, relation: str, values: Mapping[int, Any]) -> list[tuple[Any, ...]]:
        store = self._store(relation)
        positions = tuple(sorted(values))
        keys = [self.values.encode_column(store.schema[p], [values[p]], 1) for p in positions]
        view = StoreView(store, False)
        groups, total = view.groups(positions, keys, 1)
        (part,) = view.expand(positions, groups, total)
        columns = store.table.columns_at(part.rows)
        return list(ArrayRows(self.values, store.schema, Batch(columns, len(part.rows))))

    def covers(self, relation: str, batches: Sequence[Batch]) -> bool:
        return batchcheck.covers(self._store(relation), batches)

    def has_room(
        self, relation: str, key: Sequence[int], come: Sequence[Batch], gone: Sequence[Batch]
    ) -> bool:
        return batchcheck.has_room(self._store(relation), key, come, gone)

    def births(
        self, relation: str, rows: Sequence[tuple[Any, ...]], together: Collection[str]
    ) -> tuple[list[int], bool] | None:
        return self._births_of(relation, self._encode(self._schema(relation), rows), together)

    def _births_of(
        self, relation: str, batch: Batch, together: Collection[str]
    ) -> tuple[list[int], bool] | None:
        at = shown(self._state.circuit, self._relations[relation])
        node = self._state.circuit.nodes[at]
        if not isinstance(node, FixpointResult):
            return None
        fixpoint, recursion = self._state.circuit.nodes[node.fixpoint], self._state.recursions[node.fixpoint]
        assert isinstance(fixpoint, Fixpoint)
        if not isinstance(recursion, Recursion) or {head for head, _ in fixpoint.results} != {*together}:
            return None
        births = recursion.births(node.relation, batch.columns, batch.length)
        return births.tolist(), recursion.knows_births

    def rows(self, relation: str) -> ArrayRows:
        store = self._store(relation)
        return ArrayRows(self.values, store.schema, store.batch())

    def some(self, relation: str, first: int, count: int, weighted: bool = False) -> ArrayRows:
        """Some rows of a set, or of a multiset, which is `weighted`, from one on in the order in which they
        lie. They are not all read."""
        store = self._store(relation)
        return ArrayRows(self.values, store.schema, part_of(store, first, first + count, weighted))

    def parts(self, relation: str, size: int) -> Iterator[Coded]:
        """The rows of a set as they are now, in no order and column by column, in parts of so many. A part is
        made when it is asked for."""
        schema, batch = self._schema(relation), apart(self._store(relation))
        self.values.hold(schema, batch)
        starts = range(0, max(1, batch.length), size)
        return (coded(self.values, schema, batch.slice(at, at + size)) for at in starts)

    def size(self, relation: str) -> int:
        return self._store(relation).present

    def query(
        self,
        circuit: Circuit,
        given: Mapping[str, Sequence[tuple[Any, ...]]] | None = None,
        most: int | None = None,
    ) -> ArrayRows:
        given = given or {}
        inputs = [node for node in circuit.nodes if isinstance(node, Input)]
        with self._questioned():
            stores = {
                node.relation: self._given(node, given[node.relation])
                if node.relation in given
                else self._store(node.relation)
                for node in inputs
            }
            state = State(incrementalize(circuit), self.values, stores)
            return answer(state, self._state.evaluator.epoch, given.keys(), self._built, most)

    @contextmanager
    def _questioned(self) -> Iterator[None]:
        """Inside, a query is answered within the memory limit. Raises Exhausted."""
        try:
            with kept_memory(), self.bounded():
                yield
        except MemoryError as error:
            held, error.__traceback__ = memory.resident(), None
            raise described(error, self.limit, held, {}, {}) from None

    def _given(self, node: Input, rows: Sequence[tuple[Any, ...]]) -> Store:
        store = Store(node.schema, True)
        store.add_present(self._encode(node.schema, rows))
        return store

    # ------------------------------------------------------------- resuming

    @property
    def goes_on(self) -> bool:
        """Whether there was an epoch, and others may follow."""
        return self._epochs.committed > 0 and not self._last

    @property
    def is_restored(self) -> bool:
        return not self._epochs.committed and self._epochs.beginning is not None

    @property
    def mode(self) -> Mode:
        """Whether recursions are maintained."""
        mode = self._maintaining.mode
        return mode if isinstance(mode, str) else "auto"

    @property
    def is_running(self) -> bool:
        """Whether an epoch has begun that can be taken back."""
        return self._running is not None

    @property
    def committed(self) -> int:
        """The epochs of this runtime."""
        return self._epochs.committed

    def units(self) -> list[Unit]:
        """The parts of the state that can be kept beyond the process, between epochs."""
        return list(units(self._state, self._epochs.times))

    def freeze_values(self, column: Column, copied: bool, unread: bool) -> FrozenValues:
        """The values of the domain of a column, between epochs. See `resuming.freeze_values`."""
        return freeze_values(self.values, column, copied, unread)

    def unread_domains(self) -> set[str]:
        """The domains whose values were restored, and not needed yet."""
        return {name for name, domain in self.values.domains() if domain.is_unread}

    def begin_with(
        self,
        found: Mapping[NodeId, tuple[Mapping[str, Kept], ByteSource]],
        domains: Sequence[tuple[Column, Mapping[str, Kept], ByteSource]],
        codec: ValueCodec,
    ) -> None:
        """Puts kept units into the empty state. The first epoch derives the others. After an error, of this
        method or of that epoch, only `start_over` makes the state whole."""
        for column, kept, source in domains:
            restore_values(self.values, column, codec, kept, source)
        self._epochs.beginning = begun(self._state, found)

    def remember(self, nodes: Mapping[str, NodeId]) -> None:
        """Gives names to nodes of windows, by which `give` takes their contents, and an epoch that is sealed
        tells how these change. See `engine.windowmemory`."""
        self._remembered = dict(nodes)
        self._state.remembering = frozenset(nodes.values())

    def give(self, contents: Mapping[str, Sequence[tuple[Batch, int]]]) -> None:
        """Lets nodes begin with contents, by their names, before the first epoch: batches, and the weight of
        the rows of each. What that epoch raises leaves a state which can begin with the same contents."""
        for at, batch in self._named(contents):
            self._epochs.given |= durablecontents.begin_with(self._state, at, batch)

    def _named(self, contents: Mapping[str, Sequence[tuple[Batch, int]]]) -> Iterator[tuple[NodeId, Batch]]:
        """The nodes of windows by these names, each with its contents."""
        for name, parts in contents.items():
            at = self._remembered[name]
            arity = len(durablecontents.schema_of(self._state, at))
            yield at, consolidate(concat([part.scaled(weight) for part, weight in parts], arity))

    def take_up(self, circuit: Circuit) -> None:
        with self.still:
            self._go_on_with(circuit)

    def _go_on_with(self, circuit: Circuit) -> None:
        before = self.circuit
        if circuit is before:
            return
        self.read_given_out()
        held = self._input_contents() if self._epochs.committed else {}
        self.earlier += self._epochs.committed - bool(held)
        self._take_up(circuit)
        if not held:
            return
        try:
            self.commit(held)
        except BaseException:
            self._take_up(before)
            with self.within(None):
                self.commit(held)
            raise

    @contextmanager
    def extending(
        self, circuit: Circuit, names: Fingerprints, named_before: Fingerprints
    ) -> Iterator[dict[str, Delta]]:
        """Goes on with another circuit as if the last epoch had been one of it: its nodes keep what those of
        the same fingerprint hold, and the others are derived. `names` are the fingerprints of its nodes,
        `named_before` those of the circuit before. Gives how that changes each output but streams. Raises
        what `commit` raises; then, and if the block inside raises, the circuit is the one before."""
        with self.still:
            before = self._state
            self.read_given_out()
            kept = dict(vars(self))
            try:
                deltas, found = self._extended(circuit, names, before, named_before)
                places = kept["_relations"]
                yield {
                    name: self._difference(name, delta, before, places.get(name), found)
                    for name, delta in deltas.items()
                    if name not in self._own.streams
                }
            except BaseException:
                vars(self).update(kept)
                raise

    def _extended(
        self,
        circuit: Circuit,
        names: Fingerprints,
        before: State,
        named_before: Fingerprints,
    ) -> tuple[dict[str, Delta], Mapping[NodeId, NodeId]]:
        """Derives what another circuit has beside the state before. Returns the changes of outputs from what
        they hold of that state, or from nothing, and the nodes that hold something of it."""
        epochs, latest = self._epochs, self._latest
        self._remembered = {}
        self._take_up(circuit)
        self.names = names
        found = adopt(self._own, names.names, before, named_before.names)
        self._epochs.beginning = beginning(self._own, found)
        self._epochs.times = {at: epochs.times.get(old, 0.0) for at, old in found.items()}
        self.earlier += epochs.committed - 1
        deltas = self.commit({})
        self._latest = self._latest_of(latest, before.circuit)
        return deltas, found

    def _difference(
        self, name: str, delta: Delta, before: State, place: NodeId | None, found: Mapping[NodeId, NodeId]
    ) -> Delta:
        """How an output differs from the output of its name before, for the change of its own node: from
        nothing, or from what it was `found` to hold. `place` is that of the output before."""
        assert isinstance(delta, ArrayDelta)
        now = shown(self.circuit, self._relations[name])
        if place is not None:
            held_before = before.circuit.nodes[shown(before.circuit, place)].schema
            if [(c.kind, c.domain) for c in held_before] != [(c.kind, c.domain) for c in self._schema(name)]:
                place = None  # it has other columns, so its rows are all new
        adopted = is_adopted(self._own, now, found)
        old = None if place is None else shown(before.circuit, place)
        if goes_on(self._own, now, before, old, found) or (old is None and not adopted):
            return delta
        batches = [self._own.stores[now].batch() if adopted else delta.batch]
        if old is not None:
            batches.append(before.stores[old].batch().negated())
        both = concat(batches, len(batches[0].columns))
        return ArrayDelta(self.values, self._schema(name), consolidate(both), False)

    def difference(self, relation: str, before: RowSet | Sequence[tuple[Any, ...]]) -> Delta:
        """How a relation differs from rows that another runtime holds, of the same columns."""
        schema = self._schema(relation)
        batch = self._encode(schema, list(before))
        weights = getattr(before, "weights", None)
        if weights is not None:
            batch = Batch(batch.columns, batch.length, np.array(weights, np.int64))
        both = concat([self.contents(relation), batch.negated()], len(schema))
        return ArrayDelta(self.values, schema, consolidate(both), False)

    def _latest_of(self, latest: Taken, circuit: Circuit) -> Taken:
        """The changes of the last epoch of another circuit, by the inputs of this one."""
        if not isinstance(latest, Mapping):
            return latest
        nodes = enumerate(self.circuit.nodes)
        places = {node.relation: at for at, node in nodes if isinstance(node, Input)}
        named = ((circuit.nodes[at], batch) for at, batch in latest.items())
        return {
            places[node.relation]: batch
            for node, batch in named
            if isinstance(node, Input) and node.relation in places
        }

    def _input_contents(self) -> dict[str, list[tuple[Batch, int]]]:
        """The rows of all inputs, as changes from nothing."""
        return {name: [(self._input(name).batch(), 1)] for name in self._inputs}

    def _take_up(self, circuit: Circuit) -> None:
        sharing, self.names = self._sharing, None
        self._begin_from(circuit)
        sharing.add(self._own)
        self._sharing = sharing

    def within(self, rows: int | None) -> AbstractContextManager[None]:
        return self.budget.of(rows)

    def start_over(self) -> None:
        """Makes the state empty, as if there had been no epoch."""
        self.values.forget_all()
        self._begin_from(self.circuit)

    def catch_up(
        self,
        changes: Mapping[str, Sequence[tuple[Batch, int]]],
        given: Mapping[str, Sequence[tuple[Batch, int]]],
    ) -> None:
        """Runs an epoch that counts as part of the one before it. `given` is what nodes of windows hold after
        it, by their names. What this raises leaves a state which only `start_over` makes whole."""
        self.earlier -= 1
        try:
            for at, batch in self._named(given):
                self._catching_up[at] = durablecontents.catch_up(self._state, at, batch)
            self.commit(changes)
        finally:
            self.earlier += 1
            self._catching_up = {}
        self._epochs.committed -= 1
        self._latest = None

    def size_of(self, relation: str) -> int:
        return self._input(relation).present

    def input_held(self, relation: str) -> Coded:
        """The rows of an input, without those that its rules add, as `held` gives them."""
        return coded(self.values, self._inputs[relation], self.input_contents(relation))

    def input_contents(self, relation: str) -> Batch:
        """The same as a batch."""
        return self._input(relation).batch()

    def _input(self, relation: str) -> Readable:
        nodes = self.circuit.nodes
        at = next(k for k, each in enumerate(nodes) if isinstance(each, Input) and each.relation == relation)
        return self._state.stores[at]

    def read_all(self) -> None:
        """Reads whatever is to be read when it is needed."""
        for store in self._state.relations():
            read_now(store)
            read_now(store.table)
        for group in self._state.groups.values():
            read_now(group)
            read_now(group.keys)
            for accumulator in group.accumulators:
                read_now(accumulator)
        for _, domain in self.values.domains():
            read_now(domain)
        self.read_given_out()

    def read_ahead(self, ends: Callable[[], bool]) -> None:
        """Reads in another thread what is to be read when it is needed, if it is much, with what is made of
        it: part by part, and epochs go on between. Gives up when `ends`."""
        tables = [(store, store.table) for store in self._own.relations() if is_unread(store.table)]
        if sum(table.size for _, table in tables) < thresholds.READ_AHEAD:
            return
        compile_kernels()
        for store, table in tables:
            for act in (table.read_ahead, partial(arrange_ahead, store)):
                if ends():
                    return
                with self.still:
                    act()

    def all_held(self) -> dict[str, Delta]:
        """The rows of each output, as a change from nothing."""
        found: dict[str, Delta] = {}
        for name in self._own.outputs:
            act = partial(self._as_change, name)
            delta = act() if self._later is None else LaterDelta(act, self.still)
            self._given_out.append(ref(delta))
            found[name] = delta
        return found

    def _as_change(self, output: str) -> ArrayDelta:
        at = self._state.outputs[output]
        return ArrayDelta(
            self.values, self._schema(output), held(self._state.stores[shown(self.circuit, at)]), True
        )

    def read_given_out(self) -> None:
        """Lets contents that were given out be read before the state changes."""
        if self._is_settling:
            return  # they are those after it
        for each in self._given_out:
            delta = each()
            if delta is not None:
                delta.settle()
        self._given_out.clear()

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
        with self.still, interrupt.deferred(), kept_memory() as kept, among(self.workers):
            if self._later is not None:
                self._settle()
            try:
                deltas = self._run(changes, static, max_iterations, progress, seal)
                if self._running is not None:
                    self._latest = taken(self._running)
            finally:
                self._running = None
            if static:
                self._last = True
            elif self._epochs.committed > 1:
                self._sweep(sweep.is_due)
                if self._own.late_rows >= thresholds.ROWS_LATER:
                    with suppress(MemoryError):
                        self._take_in()
            else:
                self.values.settle()
        self.took = kept.took
        return deltas

    def attempt(
        self, changes: Mapping[str, Sequence[tuple[Batch, int]]], look: Callable[[], T], limit: int | None
    ) -> T:
        def seen() -> T:
            self._built.clear()
            with self.values.looked_at():
                return look()

        self._settle()
        with self.still, self.tried(), interrupt.deferred(), kept_memory(), among(self.workers):
            return self._epochs.attempt(changes, limit, seen)

    @contextmanager
    def tried(self) -> Iterator[None]:
        """Inside, an epoch runs which is taken back: nothing that was made for it is used after."""
        recursions = [each for each in self._state.recursions.values() if isinstance(each, Recursion)]
        knew = [each.knows_births for each in recursions]
        self._built.clear()
        try:
            yield
        finally:
            self._running = None
            self._built.clear()
            for each, knows in zip(recursions, knew, strict=True):
                each.knows_births = knows

    def before(self, look: Callable[[], T], limit: int | None) -> T:
        return self.attempt(undoing(by_relation(self._latest, self.circuit)), look, limit)

    def _run(
        self,
        changes: Mapping[str, Sequence[tuple[Batch, int]]],
        static: bool,
        max_iterations: int | None,
        progress: Progress | None,
        seal: Seal | None,
    ) -> dict[str, Delta]:
        self._built.clear()
        if self._given_out:
            self.read_given_out()
        sealing, known = partial(self._sealed, seal) if seal else None, self._catching_up
        try:
            with self.bounded():
                return self._epochs.run(changes, static, max_iterations, progress, sealing, known=known)
        except MemoryError as error:
            raise self._given_up(error) from None

    def _sealed(self, seal: Seal, running: Running[Batch | None], deltas: Mapping[str, Delta]) -> None:
        assert isinstance(running, RunningEpoch)
        seal(SealedEpoch(running, deltas, self._remembered))

    def _given_up(self, error: MemoryError) -> memory.Exhausted:
        """The error for an epoch that ran out of memory. Gives the memory of the epoch back."""
        error.__traceback__ = None
        self._state.give_back()
        self._sweep(sweep.everything)
        memory.give_back()
        self._within, (within, held) = ({}, None), self._within
        return described(error, self.limit, held, within, sizes(self._state))

    def _spill(self) -> bool:
        """Moves large arrays to disk, unless other threads may write them now: False."""
        assert self.spill is not None
        if in_task():
            return False
        memory.give_back()
        with self.still, building:
            spilling.spill([self], (Values,), self.spill)
        return True

    def bounded(self) -> AbstractContextManager[None]:
        """Inside, the memory limit is in force: for what is made for an epoch."""
        return memory.limited(self.limit, self._relieve)

    def _exhausted(self, running: Running[Batch | None], error: MemoryError) -> None:
        assert isinstance(running, RunningEpoch)
        self._within = sizes_within(running), memory.resident()

    def footprint(self) -> list[Held]:
        from .footprint import footprint

        return list(footprint(self._state))

    def plans(self) -> list[JoinPlan]:
        from .joinplans import chosen

        return list(chosen(self._state))

    def expectations(self) -> list[Expectation]:
        return list(expectations(self._state))

    @property
    def decided(self) -> int:
        """The number of decisions so far."""
        return self._state.maintaining.decided

    def decisions(self) -> list[Decision]:
        return list(self._state.maintaining.decisions)

    def close(self) -> None:
        """Nothing: memory is that of the process."""

    def tidy(self) -> None:
        if not self._last and self._tidied != self._epochs.committed:
            with self.still, interrupt.deferred():
                self._sweep(sweep.everything)
            memory.give_back()
            self._tidied = self._epochs.committed

    def _sweep(self, due: Callable[[Interner], bool]) -> None:
        for each in self.values.interners():
            if due(each) and self.values.may_be_swept:
                with suppress(MemoryError):
                    sweep.sweep(self.values, self._mark, due)
                return

    def _mark_latest(self, marks: Marks) -> None:
        mark(self._latest, self.circuit, marks)

    def _mark(self, marks: Marks) -> None:
        for state in list(self._sharing):
            state.mark(marks)

    def ended(self, first: bool) -> None:
        """Gives back what nothing uses after an epoch."""
        if first:
            self.values.settle()
        else:
            self._sweep(sweep.is_due)

    def _begin(self, epoch: Epoch[Batch]) -> RunningEpoch:
        if self._shrinking and not epoch.static and not epoch.first:
            self._prepare_to_shrink(epoch)
        evaluator = self._own.evaluator
        evaluator.begin(self.earlier + epoch.number)
        self.budget.begin()
        evaluator.measured = epochcosts.current() is not None
        self._running = self._new_running(epoch)
        return self._running

    def _new_running(self, epoch: Epoch[Batch]) -> RunningEpoch:
        """The operators of an epoch."""
        return RunningEpoch(self._own, epoch)

    def _held(self, at: NodeId) -> Batch | None:
        held = self._state.stores[at].batch()
        return held if held.length else None

    def _prepare_to_shrink(self, epoch: Epoch[Batch]) -> None:
        """Prepares the recursions that have only grown and may shrink in an epoch."""
        signs = {(name, s) for name, parts in epoch.changes.items() for batch, s in parts if batch.length}
        if self._own.memories.restless() or self._epochs.ending():
            signs.add(ENDING)
        for at, shrinking in self._shrinking.items():
            if not signs.isdisjoint(shrinking):
                changed = sum(batch.length for parts in epoch.changes.values() for batch, _ in parts)
                self._own.prepare_to_shrink(at, changed, epoch.limit is not None)
