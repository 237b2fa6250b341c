"""The Spark runtime: the state of a circuit in tables, and its epochs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .. import interrupt, metering
from ..circuit import Circuit, Input, NodeId, Result
from ..epoch import Epochs, Running
from ..inprocess.storage.allocator import kept_memory
from ..inprocess.storage.rows import ArrayRows
from ..inprocess.storage.sharing import among
from ..maintaining import Coin, Decision, Maintaining, Mode
from ..runtime import Delta, Progress, Seal, StateGone
from ..schema import Schema
from . import remembered
from .codec import Codec
from .driverrows import DriverDelta
from .expressions import SparkExpressions
from .faults import is_early, raising
from .giving import contents_given, delta_given, frame_given, rows_given, weighted_given
from .latest import Latest
from .losses import contents_of_inputs, lost, repeatable
from .moving import Moving
from .placedepoch import PlacedEpoch
from .placement import Misguessed, Outgrown
from .query import answer
from .reading import find, frame_of, rows_of, size_of, weights_of
from .rows import FrameDelta, FrameRows
from .sealing import SealedEpoch
from .sides import Sides
from .state import State
from .table import is_loss
from .tables import Guard, Options, Table, Tables

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

SparkOptions = Options
DEFAULT = Options()
Answer: TypeAlias = FrameRows | ArrayRows
"""Rows that are read of the executors, or of the driver."""

Contents: TypeAlias = Mapping[str, Sequence[tuple[Table, int]]]
"""The rows of inputs, as changes from nothing."""

_MOST_LOSSES = 3  # that an epoch outlives

T = TypeVar("T")


class SparkRuntime:
    """The state of one circuit of changes on a Spark session. See `engine.runtime.Runtime`."""

    def __init__(
        self,
        circuit: Circuit,
        spark: SparkSession,
        codec: Codec,
        nan: float = float("nan"),
        options: Options | None = None,
        maintain: Mode | Coin = "auto",
        guard: Guard = nullcontext,
    ) -> None:
        """`maintain`: whether recursions are maintained; see `engine.maintaining`. `guard` is that of the
        tables."""
        self.spark, self.codec, self.options = spark, codec, options or DEFAULT
        self.tables = Tables(spark, codec, self.options, guard)
        self.expressions = SparkExpressions(spark, codec)
        self.circuit, self._nan = circuit, nan
        self._maintaining = Maintaining(maintain)
        self._ended: StateGone | None = None
        self._latest = Latest()
        self._remembered: dict[str, NodeId] = {}
        self._state, self._sides, self._epochs = self._nothing()

    def _nothing(self) -> tuple[State, Sides, Epochs[Table, Moving | None]]:
        """A state without rows, on both sides, and its epochs."""
        state = State(
            self.circuit,
            self.tables,
            self.expressions,
            self._nan,
            self.options.driver_rows,
            self._maintaining,
        )
        sides = Sides(self.circuit, state, self.tables, self.options, self._maintaining)
        epochs: Epochs[Table, Moving | None] = Epochs(
            self.circuit,
            sides.begin,
            sides.held,
            lambda table: table.rows,
            restless=state.memories.restless,
            ordered=sides.ordered,
        )
        return state, sides, epochs

    @property
    def earlier(self) -> int:
        """The epochs before the first one of this runtime, for rows that are told their number."""
        return self._state.earlier

    @earlier.setter
    def earlier(self, epochs: int) -> None:
        self._state.earlier = epochs

    # ------------------------------------------------------------- giving rows

    def schema(self, relation: str) -> Schema:
        """The columns of a relation."""
        return self._state.schema(relation)

    def batch(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> Table:
        return rows_given(self._state, relation, rows)

    def batch_from_columns(self, relation: str, columns: Sequence[Any]) -> Table:
        return self.tables.of_columns(self.schema(relation), columns)

    def batch_from_frame(self, relation: str, frame: DataFrame, *, once: bool = False) -> Table:
        return frame_given(self._state, relation, frame, once, self._sides.room(relation))

    def batches_of_weights(self, relation: str, rows: pa.Table | DataFrame) -> list[tuple[Table, int]]:
        """The changes for `commit` by rows with weights: columns c0, c1, … and `w`, no row twice."""
        return weighted_given(self._state, relation, rows, self._sides.room(relation))

    def batches(self, relation: str, delta: Delta) -> list[tuple[Table, int]]:
        assert isinstance(delta, FrameDelta | DriverDelta)
        return delta_given(self._state, relation, delta)

    # ------------------------------------------------------------- what windows hold

    def remember(self, nodes: Mapping[str, NodeId]) -> None:
        """Gives names to nodes of windows, by which `give` takes their contents, and an epoch that is sealed
        tells how these change. See `engine.remembering`."""
        self._remembered = dict(nodes)

    def give(self, contents: Mapping[str, pa.Table | DataFrame | None]) -> None:
        """Lets nodes begin with contents, by their names, before the first epoch: rows with weights as
        `batches_of_weights` takes them, or none. What that epoch raises leaves a state which can begin with
        the same contents."""
        for name, rows in contents.items():
            at = self._remembered[name]
            known = remembered.begin_with(self._state, at, contents_given(self._state, at, rows))
            for node, change in known.items():
                self._epochs.given[node] = None if change is None else Moving(there=change)

    def held(self, name: str) -> DataFrame:
        """The memory of a node, by its name: columns c0, c1, … and the weight `w`."""
        with self.tables.configured():
            return remembered.contents_of(self._state, self._remembered[name]).frame

    # ------------------------------------------------------------- reading

    def contains(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[bool]:
        return [weight != 0 for weight in self.lookup(relation, rows)]

    def lookup(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[int]:
        if self._sides.is_here(relation):
            return self._sides.here.lookup(relation, rows)
        return weights_of(self._state, relation, rows)

    def find(self, relation: str, values: Mapping[int, Any]) -> list[tuple[Any, ...]]:
        if self._sides.is_here(relation):
            return sorted(self._sides.here.find(relation, values))
        return find(self._state, relation, values)

    def rows(self, relation: str) -> Answer:
        if self._sides.is_here(relation):
            return self._sides.here.rows(relation)
        return rows_of(self._state, relation)

    def frame(self, relation: str, weight: bool | None = None) -> DataFrame:
        return frame_of(self._state, relation, weight)

    def size(self, relation: str) -> int:
        if self._sides.is_here(relation):
            return self._sides.here.size(relation)
        return size_of(self._state, relation)

    def attempt(
        self, changes: Mapping[str, Sequence[tuple[Table, int]]], look: Callable[[], T], limit: int | None
    ) -> T:
        def run() -> T:
            with self._sides.tried():
                return self._epochs.attempt(changes, limit, look)

        with self._running():
            return self._whole(changes, run)

    def before(self, look: Callable[[], T], limit: int | None) -> T:
        with self._running():
            undoing = self._latest.undoing(self._state)
        return self.attempt(undoing, look, limit)

    def births(
        self, relation: str, rows: Sequence[tuple[Any, ...]], together: Collection[str]
    ) -> tuple[Sequence[int], bool] | None:
        """Unknown where the executors hold them."""
        at = self._state.stored_at(relation)
        node = self._state.circuit.nodes[at]
        if not isinstance(node, Result) or node.fixpoint in self._sides.places.there:
            return None
        return self._sides.here.births(relation, rows, together, self._sides.running is None)

    def query(
        self,
        circuit: Circuit,
        given: Mapping[str, Sequence[tuple[Any, ...]]] | None = None,
        most: int | None = None,
    ) -> Answer:
        inputs = (node.relation for node in circuit.nodes if isinstance(node, Input))
        if all(name in (given or {}) or self._sides.is_here(name) for name in inputs):
            return self._sides.here.query(circuit, given, most)
        with raising(self.expressions):
            return self._with_faults(lambda: answer(self._state, circuit, given or {}, most))

    # ------------------------------------------------------------- epochs

    def commit(
        self,
        changes: Mapping[str, Sequence[tuple[Table, int]]],
        *,
        static: bool = False,
        max_iterations: int | None = None,
        progress: Progress | None = None,
        seal: Seal | None = None,
    ) -> dict[str, Delta]:
        """Runs one epoch. A failed job leaves the state as it was, too. Raises StateGone if rows went with
        executors that ended and cannot be made again."""

        def sealed(running: Running[Moving | None], deltas: Mapping[str, Delta]) -> None:
            assert isinstance(running, PlacedEpoch) and seal is not None
            seal(SealedEpoch(running, deltas, self._remembered))

        first = self._epochs.committed == 0
        self._sides.promised = ()
        sealing = sealed if seal else None

        def run() -> dict[str, Delta]:
            return self._epochs.run(changes, static, max_iterations, progress, sealing)

        with self._running():
            try:
                deltas = self._whole(changes, run)
                assert self._sides.running is not None
                self._latest.take(self._sides.running)
            finally:
                self._sides.running = None
            self._epochs.given.clear()
            self._sides.ended(first, static)
        return deltas

    @contextmanager
    def _running(self) -> Iterator[None]:
        with (
            interrupt.deferred(),
            kept_memory(),
            among(1),
            self.tables.configured(reading=False),
            raising(self.expressions),
        ):
            yield

    def _in_place(self, changes: Mapping[str, Sequence[tuple[Table, int]]], run: Callable[[], T]) -> T:
        """Places the operators and runs an epoch, once more wherever one outgrows the driver, or a change was
        not what it was guessed to be."""
        self._sides.place(changes)
        while True:
            try:
                return self._with_faults(run)
            except (Outgrown, Misguessed) as error:
                again: Exception = error
            except Exception as error:
                if not self._sides.guesses.pending or is_loss(error):
                    raise
                again = error
            _forget_figures()
            self._sides.begin_again(again)

    def _with_faults(self, run: Callable[[], T]) -> T:
        """The result of an epoch or a query, which runs once more where a fault ends it that may not count,
        with the rows told apart that fault."""
        expressions = self.expressions
        try:
            return run()
        except Exception as error:
            if expressions.splitting or not is_early(error):
                raise
        _forget_figures()
        expressions.splitting = True
        try:
            return run()
        finally:
            expressions.splitting = False

    # ------------------------------------------------------------- executors that end

    def _whole(self, changes: Mapping[str, Sequence[tuple[Table, int]]], run: Callable[[], T]) -> T:
        """The result of an epoch, with its state made again where executors took rows of it along."""
        for _ in range(_MOST_LOSSES):
            if self._ended is not None:
                raise self._ended
            try:
                return self._in_place(changes, run)
            except Exception as error:
                if not is_loss(error):
                    raise
                self.mend(changes)
        return self._in_place(changes, run)

    def mend(self, given: Mapping[str, Sequence[tuple[Table, int]]]) -> tuple[str, ...]:
        """Makes rows again that went with executors, and returns the relations that have lost some. `given`:
        to an epoch that failed. Raises StateGone if that cannot be done."""
        with self._running():
            names = tuple(lost(self._state, given))
            if names:
                if not self._state.inputs.keys().isdisjoint(names) or not repeatable(self.circuit):
                    self._ended = StateGone(names, "ended")
                    raise self._ended
                before = self._state, self._sides, self._epochs
                try:
                    self._evaluate(self._begin_anew())
                except BaseException:
                    self._state, self._sides, self._epochs = before
                    raise
        return names

    def _begin_anew(self) -> Contents:
        """Makes the state empty, and returns what the inputs had: nothing before the first epoch."""
        state, sides, epochs = self._state, self._sides, self._epochs
        contents = contents_of_inputs(sides) if epochs.committed else {}
        self._state, self._sides, self._epochs = self._nothing()
        self._state.earlier, self._epochs.committed = state.earlier, epochs.committed
        self._sides.promise(sides)
        return contents

    def _evaluate(self, contents: Contents) -> None:
        """Makes the empty state what it is with some contents of the inputs."""
        committed, self._epochs.committed = self._epochs.committed, 0
        try:
            if committed:
                self._in_place(contents, lambda: self._epochs.run(contents, False, None, None))
                self._sides.ended(True, False)
        finally:
            self._sides.running, self._epochs.committed = None, committed

    # ------------------------------------------------------------- a budget, and other circuits

    @property
    def is_restored(self) -> bool:
        return False

    def size_of(self, relation: str) -> int:
        return self._sides.size(self._state.inputs[relation])

    def within(self, rows: int | None) -> AbstractContextManager[None]:
        return self.tables.budget.of(rows)

    def take_up(self, circuit: Circuit) -> None:
        if circuit is self.circuit:
            return
        with self._running():
            before, self.circuit = self.circuit, circuit
            contents = self._begin_anew()
            try:
                self._evaluate(contents)
            except BaseException:
                self.circuit = before
                self._begin_anew()
                with self.within(None):
                    self._evaluate(contents)
                raise

    def footprint(self) -> None:
        """Unknown: the executors hold the state."""

    def placed(self) -> list[tuple[str, str, int]]:
        """For each relation that is kept: its name, "driver" or "cluster", and its rows, about."""
        return self._sides.told()

    def operators_placed(self) -> list[str]:
        """Where the operator of each node of the circuit runs: "driver" or "cluster"."""
        return self._sides.operators()

    def plans(self) -> None:
        """Unknown: Spark settles on the run of a query."""

    def expectations(self) -> None:
        """Unknown: it depends on where a recursion runs."""

    def decisions(self) -> list[Decision]:
        return list(self._maintaining.decisions)

    def tidy(self) -> None:
        """Nothing: values are not interned here."""

    def start_over(self) -> None:
        """Makes the state empty, as if there had been no epoch."""
        self._state.forget()
        self._state, self._sides, self._epochs = self._nothing()

    def inputs_held(self) -> Mapping[str, Sequence[tuple[Table, int]]]:
        """The rows of the inputs, without those that rules add, as changes from nothing."""
        return contents_of_inputs(self._sides)

    def close(self) -> None:
        """Releases the state. The Spark session goes on."""
        self._state.forget()


def _forget_figures() -> None:
    """Takes back what was measured of an epoch that begins again."""
    meter = metering.current()
    if meter is not None:
        meter.forget()
