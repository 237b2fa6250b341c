"""The Spark runtime: the state of a circuit in tables, and its epochs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .. import interrupt
from ..circuit import Circuit, NodeId
from ..epoch import Epoch, Epochs, Running
from ..maintaining import Coin, Decision, Maintaining, Mode
from ..runtime import Delta, NotKept, Progress, Seal
from ..schema import Schema
from .change import Change
from .codec import Codec
from .expressions import Expressions
from .faults import raising
from .giving import delta_given, frame_given, rows_given, weighted_given
from .query import answer
from .reading import find, frame_of, rows_of, size_of, weights_of
from .rows import FrameDelta, FrameRows
from .running import RunningEpoch
from .sealing import SealedEpoch
from .state import State
from .tables import Options, Table, Tables

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

SparkOptions = Options


T = TypeVar("T")


class SparkRuntime:
    """The state of one circuit of changes on a Spark session. See `engine.runtime.FrameRuntime`."""

    def __init__(
        self,
        circuit: Circuit,
        spark: SparkSession,
        codec: Codec,
        nan: float = float("nan"),
        options: Options | None = None,
        maintain: Mode | Coin = "auto",
    ) -> None:
        """`maintain`: whether recursions are maintained; see `engine.maintaining`."""
        self.spark, self.codec, self.options = spark, codec, options or Options()
        self.tables = Tables(spark, codec, self.options)
        self.expressions = Expressions(spark, codec)
        self._maintaining = Maintaining(maintain)
        self._state = State(
            circuit, self.tables, self.expressions, nan, self.options.driver_rows, self._maintaining
        )
        self._epochs: Epochs[Table, Change | None] = Epochs(
            circuit,
            self._begin,
            self._held,
            lambda table: table.rows,
            restless=self._state.memories.restless,
        )

    # ------------------------------------------------------------- giving rows

    def schema(self, relation: str) -> Schema:
        """The columns of a relation."""
        return self._state.schema(relation)

    def batch(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> Table:
        return rows_given(self._state, relation, rows)

    def batch_from_columns(self, relation: str, columns: Sequence[Any]) -> Table:
        return self.tables.of_columns(self.schema(relation), columns)

    def batch_from_frame(self, relation: str, frame: DataFrame, *, once: bool = False) -> Table:
        return frame_given(self._state, relation, frame, once)

    def batches_of_weights(self, relation: str, rows: pa.Table | DataFrame) -> list[tuple[Table, int]]:
        """The changes for `commit` by rows with weights: columns c0, c1, … and `w`, no row twice."""
        return weighted_given(self._state, relation, rows)

    def batches(self, relation: str, delta: Delta) -> list[tuple[Table, int]]:
        assert isinstance(delta, FrameDelta)
        return delta_given(self._state, relation, delta)

    # ------------------------------------------------------------- reading

    def contains(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[bool]:
        return [weight != 0 for weight in self.lookup(relation, rows)]

    def lookup(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[int]:
        return weights_of(self._state, relation, rows)

    def find(self, relation: str, values: Mapping[int, Any]) -> list[tuple[Any, ...]]:
        return find(self._state, relation, values)

    def rows(self, relation: str) -> FrameRows:
        return rows_of(self._state, relation)

    def frame(self, relation: str) -> DataFrame:
        return frame_of(self._state, relation)

    def size(self, relation: str) -> int:
        return size_of(self._state, relation)

    def attempt(
        self, changes: Mapping[str, Sequence[tuple[Table, int]]], look: Callable[[], T], limit: int | None
    ) -> T:
        with interrupt.deferred(), self.tables.configured(reading=False), raising(self.expressions):
            return self._epochs.attempt(changes, limit, look)

    def before(self, look: Callable[[], T], limit: int | None) -> T:
        raise NotKept("on Spark, the changes of a commit are not kept")

    def births(self, relation: str, rows: Sequence[tuple[Any, ...]], together: Collection[str]) -> None:
        """Unknown: the executors hold them, if anything does."""

    def query(
        self,
        circuit: Circuit,
        given: Mapping[str, Sequence[tuple[Any, ...]]] | None = None,
        most: int | None = None,
    ) -> FrameRows:
        return answer(self._state, circuit, given or {}, most)

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
        """Runs one epoch. A failed job leaves the state as it was, too."""

        def sealed(running: Running[Change | None], deltas: Mapping[str, Delta]) -> None:
            assert isinstance(running, RunningEpoch) and seal is not None
            seal(SealedEpoch(running, deltas))

        with interrupt.deferred(), self.tables.configured(reading=False), raising(self.expressions):
            return self._epochs.run(changes, static, max_iterations, progress, sealed if seal else None)

    def footprint(self) -> None:
        """Unknown: the executors hold the state."""

    def plans(self) -> None:
        """Unknown: Spark settles on the run of a query."""

    def expectations(self) -> None:
        """Unknown: it depends on where a recursion runs."""

    def decisions(self) -> list[Decision]:
        return list(self._maintaining.decisions)

    def tidy(self) -> None:
        """Nothing: values are not interned here."""

    def _begin(self, epoch: Epoch[Table]) -> RunningEpoch:
        return RunningEpoch(self._state, epoch)

    def _held(self, at: NodeId) -> Table | None:
        spine = self._state.spines[at]
        return self._state.whole(spine) if spine.rows() else None

    def close(self) -> None:
        """Releases the state. The Spark session goes on."""
        self._state.forget()
