"""The runtime of a session on Spark: the engine of this process, with rows from DataFrames and back.

    DataFrames ──► rows of Arrow ──► the in-process engine ──► rows of Arrow ──► DataFrames
    (executors)                      one worker, or several          (executors)
                                     on the executors

The state is in the driver while it is small, and from then on in the workers that executors run (`workers`):
see `engine/shards/`. Rows of a large DataFrame go to workers past the driver (`sending`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from ..circuit import Circuit, NodeId
from ..incremental import original
from ..inprocess.runtime import InProcess
from ..inprocess.storage.batch import Batch
from ..inprocess.storage.rows import ArrayDelta
from ..integrals import shown, weighted
from ..maintenance import Coin, Mode
from ..memory import Exhausted
from ..runtime import Delta, Progress, Seal
from ..schema import Schema
from ..shards.arrivals import Elsewhere
from ..shards.placement import moved
from ..shards.runtime import Sharded, WorkerGone
from .advice import Stays, Tell, notices, why_not_in_workers
from .batches import Crossing, GivenDelta, renamed, seal_of
from .codec import Codec
from .senders import FrameSource
from .sqltext import As, names, quoted
from .tables import Guard, LocalTable, Options, Tables, arrow_schema
from .workers import open_workers, rows_in_workers, slots

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SparkOptions = Options
DEFAULT = Options()

T = TypeVar("T")

Changes = Mapping[str, Sequence[tuple[Batch, int]]]


class SparkRuntime:
    """The state of one circuit of changes for a Spark session. See `engine.runtime.Runtime`: what is not here
    is as the runtime does it that has the state."""

    def __init__(
        self,
        circuit: Circuit,
        spark: SparkSession,
        codec: Codec,
        nan: float = float("nan"),
        options: Options | None = None,
        maintain: Mode | Coin = "auto",
        guard: Guard = nullcontext,
        memory_limit: int | None = None,
        sendable: Callable[[Circuit], bool] = lambda circuit: True,
        tell: Tell = lambda notice: None,
    ) -> None:
        """`maintain`: whether recursions are maintained; see `engine.maintenance`. `guard` is that of the
        tables. `memory_limit`: the bytes of a process at which an epoch is given up. `sendable`: whether the
        values of a circuit mean the same in another process. `tell` is told what the user should know."""
        self.spark, self.codec, self.options = spark, codec, options or DEFAULT
        self.tables = Tables(spark, codec, self.options, guard)
        self._nan, self._limit, self._sendable = nan, memory_limit, sendable
        self.here = InProcess(circuit, nan, memory_limit=memory_limit, maintain=maintain)
        self._crossing = Crossing(self.here.values, self.tables)
        self._tell, self._has_told = tell, False
        self._brought = 0  # rows of frames that came to the driver since the last commit
        self._names: Mapping[str, NodeId] = {}  # of the nodes that are remembered
        self._given: Changes = {}  # contents that such nodes were given before the first epoch

    def beside(self, circuit: Circuit, guard: Guard = nullcontext) -> SparkRuntime:
        """A runtime for another circuit over the same values, which can take this one's batches."""
        other = SparkRuntime(circuit, self.spark, self.codec, self._nan, self.options, guard=guard)
        other.here = self.here.beside(circuit)
        other._crossing = Crossing(other.here.values, other.tables)
        return other

    def __getattr__(self, name: str) -> Any:
        return getattr(self.here, name)

    @property
    def earlier(self) -> int:
        """The epochs before the first one of this runtime, for rows that are told their number."""
        return self.here.earlier

    @earlier.setter
    def earlier(self, epochs: int) -> None:
        self.here.earlier = epochs

    # ------------------------------------------------------------- giving rows

    def batch_from_frame(self, relation: str, frame: DataFrame) -> Batch:
        schema = self.schema(relation)
        columns = [As(quoted(name), c) for name, c in zip(frame.columns, names(schema), strict=True)]
        with self._configured():
            given = frame.selectExpr(*map(str, columns))
            kept = self.tables.kept(given, self._room) if self._can_be_in_workers() and schema else None
        if kept is None or kept[1] <= self._room:
            batch = self._collected_batch(schema, given if kept is None else kept[0])
            self._brought += batch.length
            self._note_rows(self._brought + (0 if self.is_in_workers else self._held))
            return batch
        if not self.is_in_workers:
            self._move(kept[1])
        read = partial(self._collected_batch, schema, kept[0])
        source = FrameSource(*kept, given, self.codec, schema, self._nan, read, self._configured)
        return Batch(Elsewhere(len(schema), source), source.length)

    def _collected_batch(self, schema: Schema, frame: DataFrame) -> Batch:
        """The rows of a frame of the columns c0, c1, …, on the driver."""
        with self._configured():
            return self._crossing.batch(
                schema, self.tables.collected(frame.selectExpr("*", "1L AS w"), schema)
            )

    @property
    def _room(self) -> int:
        """The rows that may still come to the driver before the next commit."""
        held = 0 if self.is_in_workers else self._held
        return max(0, self.options.driver_rows - held - self._brought)

    def batches_of_weights(self, relation: str, rows: pa.Table | DataFrame) -> list[tuple[Batch, int]]:
        """The changes for `commit` by rows with weights: columns c0, c1, … and `w`, no row twice."""
        schema = self.schema(relation)
        whole = self._collected(schema, rows)
        at, weights = len(schema), whole.column("w")
        gone = whole.filter(pc.less(weights, 0))
        gone = gone.set_column(at, "w", pc.negate(gone.column("w")))
        parts = ((gone, -1), (whole.filter(pc.greater(weights, 0)), 1))
        return [(self._crossing.batch(schema, each), sign) for each, sign in parts if each.num_rows]

    def _collected(self, schema: Schema, rows: pa.Table | DataFrame) -> pa.Table:
        """Rows of the columns c0, c1, … and `w` on the driver."""
        if isinstance(rows, pa.Table):
            return rows.cast(arrow_schema(self.codec, schema)).combine_chunks()
        with self._configured():
            return self.tables.collected(rows.select(*names(schema), "w"), schema)

    def batches(self, relation: str, delta: Delta) -> list[tuple[Batch, int]]:
        assert isinstance(delta, GivenDelta)
        return self.here.batches(relation, delta.delta)

    # ------------------------------------------------------------- what windows hold

    def remember(self, nodes: Mapping[str, NodeId]) -> None:
        """Gives names to nodes of windows, by which `give` takes their contents, and an epoch that is sealed
        tells how these change. See `engine.windowmemory`."""
        self._names = nodes
        self.here.remember(nodes)

    def give(self, contents: Mapping[str, pa.Table | DataFrame | None]) -> None:
        """Lets nodes begin with contents, by their names, before the first epoch: rows with weights as
        `batches_of_weights` takes them, or none. What that epoch raises leaves a state which can begin with
        the same contents."""
        self._given = {
            name: [] if rows is None else self.batches_of_weights(name, rows)
            for name, rows in contents.items()
        }
        self.here.give(self._given)

    def held(self, name: str) -> DataFrame:
        """The memory of a node, by its name: columns c0, c1, … and the weight `w`."""
        with self._configured():
            return self._crossing.coded(self.schema(name), self.here.held(name)).frame

    def inputs_held(self) -> dict[str, list[tuple[LocalTable, int]]]:
        """The rows of the inputs, without those that rules add, as changes from nothing."""
        return {
            name: [(self._crossing.coded(self.schema(name), self.here.input_held(name)), 1)]
            for name in self.here.inputs
        }

    # ------------------------------------------------------------- reading

    def find(self, relation: str, values: Mapping[int, Any]) -> list[tuple[Any, ...]]:
        return sorted(self.here.find(relation, values))

    def frame(self, relation: str, weight: bool | None = None) -> DataFrame:
        circuit = self.circuit
        counted = weighted(circuit, shown(circuit, self.here.node_of(relation))) if weight is None else weight
        with self.tables.guard():
            return renamed(self.counted(relation), self.schema(relation), "weight" if counted else None)

    def counted(self, relation: str) -> DataFrame:
        """The rows of a relation, each once: columns c0, c1, … and the weight `w`."""
        with self._configured():
            large = self._large(relation)
            return large or self._crossing.table(self.schema(relation), self.here.contents(relation)).frame

    def _large(self, relation: str) -> DataFrame | None:
        """The rows of a relation that executors take from workers, if they are many."""
        here, schema = self.here, self.schema(relation)
        if not isinstance(here, Sharded) or not schema or not here.is_once(relation):
            return None
        if here.size(relation) <= self.options.driver_rows:
            return None

        def read() -> DataFrame:
            assert here.doors is not None
            frame = rows_in_workers(self.spark, self.codec, schema, here.doors, relation, self._nan)
            try:
                return self.tables.taken(frame)
            except Exception:
                if here.team.lost:
                    raise WorkerGone from None
                raise

        own = self._crossing.table(schema, here.own_contents(relation))
        return here.surely(read).unionAll(own.frame) if own.local.num_rows else here.surely(read)

    # ------------------------------------------------------------- epochs

    def commit(
        self,
        changes: Changes,
        *,
        static: bool = False,
        max_iterations: int | None = None,
        progress: Progress | None = None,
        seal: Seal | None = None,
    ) -> dict[str, Delta]:
        sealed = None if seal is None else seal_of(seal, self._crossing, self.schema)

        def run() -> dict[str, Delta]:
            return self.here.commit(
                changes, static=static, max_iterations=max_iterations, progress=progress, seal=sealed
            )

        self._brought = 0
        come = sum(batch.length for parts in changes.values() for batch, _ in parts)
        if self._outgrows(changes):
            self._move(come)
        try:
            deltas = run()
        except (Exhausted, MemoryError):
            if not self._may_move():
                raise
            self._move(come)
            deltas = run()
        self._given = {}
        return {name: self._told(name, delta) for name, delta in deltas.items()}

    def _told(self, name: str, delta: Delta) -> GivenDelta:
        assert isinstance(delta, ArrayDelta)
        return GivenDelta(self._crossing, self.schema(name), delta)

    @contextmanager
    def _configured(self) -> Iterator[None]:
        with self.tables.guard(), self.tables.configured():
            yield

    # ------------------------------------------------------------- a budget, and other circuits

    def take_up(self, circuit: Circuit) -> None:
        if not isinstance(self.here, Sharded):
            self.here.take_up(circuit)
            return
        before, contents = self.here, self._contents()
        before.surely(before.read_given_out)
        self.here = self._alone(circuit)
        try:
            self.commit(contents)
        except BaseException:
            self.here.close()
            self.here = before
            raise
        before.close()

    def _alone(self, circuit: Circuit) -> InProcess:
        """A runtime without rows that goes on where this one is."""
        other = InProcess(circuit, self._nan, memory_limit=self._limit, values=self.here.values)
        other.earlier = self.here.earlier + max(0, self.here.committed - 1)
        return other

    def _contents(self) -> Changes:
        """The rows of all inputs, as changes from nothing."""
        return {name: [(self.here.input_contents(name), 1)] for name in self.here.inputs}

    # ------------------------------------------------------------- workers

    @property
    def is_in_workers(self) -> bool:
        """Whether the state is in workers on the executors."""
        return isinstance(self.here, Sharded)

    def _may_move(self) -> bool:
        """Whether workers can take the state over."""
        return not self.is_in_workers and self._can_be_in_workers()

    def _can_be_in_workers(self) -> bool:
        """Whether workers can have the state, or have it."""
        return self.is_in_workers or self._why_here() is None

    def _why_here(self) -> str | None:
        return why_not_in_workers(self.spark, self.circuit, self._sendable)

    def _note_rows(self, rows: int) -> None:
        """Says, once, that the driver holds more rows than it is to hold."""
        if rows > self.options.driver_rows and not (self._has_told or self.is_in_workers):
            why = self._why_here()
            if why is not None:
                self._has_told = True
                self._tell(Stays(rows, why))

    def _outgrows(self, changes: Changes) -> bool:
        """Whether the inputs will have more rows than the driver is to hold, and workers can hold them."""
        if self.is_in_workers:
            return False
        come = sum(batch.length for parts in changes.values() for batch, sign in parts if sign > 0)
        self._note_rows(come + self._held)
        return come + self._held > self.options.driver_rows and self._may_move()

    @property
    def _held(self) -> int:
        """The rows of the inputs."""
        return sum(map(self.here.size_of, self.here.inputs)) if self.here.committed else 0

    def _move(self, come: int) -> None:
        """Moves the state from the driver to workers, before so many rows come: they evaluate the rows of its
        inputs. Raises what a commit raises; then it stays."""
        before, count = self.here, self.options.workers or slots(self.spark)
        for notice in notices(self.spark, come + self._held, count):
            self._tell(notice)
        there = open_workers(
            self.spark,
            original(self.circuit),
            self.codec,
            count,
            self._nan,
            memory_limit=self._limit,
            values=before.values,
            maintain=before.mode,
            encrypt=self.options.encrypt,
        )
        there.guard = self.tables.guard
        there.earlier, places = before.earlier, moved(before.circuit, there.circuit)
        names = {name: places[at] for name, at in self._names.items()}
        try:
            there.remember(names)
            if before.committed:
                there.earlier += before.committed - 1
                there.begin_with_whole(
                    {to: before.remembered_contents(at) for at, to in places.items() if
                     to in there.placed.remembered}
                )  # fmt: skip
                there.commit(self._contents())
            else:
                there.give(self._given)
        except BaseException:
            there.close()
            raise
        self.here, self._names = there, names

    def start_over(self) -> None:
        """Makes the state empty, as if there had been no epoch; it is in the driver."""
        before = self.here
        if isinstance(before, Sharded):
            before.surely(before.read_given_out)
            before.close()
            self.here = self._alone(self.circuit)
            self.here.remember(self._names)
        self.here.start_over()

    def close(self) -> None:
        """Releases the state. The Spark session goes on."""
        self.here.close()
        self.tables.close()
