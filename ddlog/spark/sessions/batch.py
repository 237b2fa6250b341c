"""The host of a session that takes no changes: facts are frames that nothing has computed, and a relation is
a query over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ... import values
from ...core import Relation
from ...demand.adornment import DEMAND
from ...engine.circuit import Fixpoint
from ...engine.divergence import Unsettled
from ...engine.schema import RowFault
from ...engine.spark.batch.queries import is_one_query
from ...engine.spark.batch.runtime import BatchRuntime
from ...engine.spark.settings import is_connect
from ...errors.diagnostics import DDlogError
from ...sessions.hosts.host import Offer
from ...sessions.hosts.inputrows import IncomingRows, is_frame
from ...sessions.pending import PendingChanges, Present, SetChanges, key_places
from ...sessions.program import Program
from ...sessions.transactions.faults import diagnosed, never_settled
from ..files.listing import SparkFacts
from ..files.read import FactReader
from ..files.write import TABLE
from ..types.closures import column_types
from ..types.codec import SparkCodec
from .connect import open_session
from .failures import spark_failures
from .frames import SparkFrames
from .host import SparkHost, open_host, surroundings
from .resultframes import plain_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ...engine.circuit import Circuit
    from ...engine.maintenance import Mode
    from ...engine.spark.runtime import SparkOptions


def open_batch(
    program: Program,
    circuit: Circuit,
    spark: SparkSession | None,
    options: SparkOptions | None,
    maintain: Mode = "auto",
) -> SparkHost:
    """A host for the first change of a circuit of changes. One that has a window, an effect, negative
    weights or a recursion on demand, which may be given up, gets the host of other sessions. Raises
    DDlogError."""
    if not is_one_query(circuit) or _recurs_on_demand(circuit):
        return open_host(program, circuit, spark, options, maintain)
    session = open_session() if spark is None else spark
    with spark_failures():
        codec = SparkCodec(program.checked.typedefs)
        codec.learn(program.checked, column_types(circuit))
        keys = {name: key_places(each) for name, each in program.relations.items() if key_places(each)}
        lasting = is_connect(session)
        known = surroundings(program)
        made = partial(BatchRuntime, circuit, session, codec, values.NAN, options, keys, lasting, **known)
        return BatchHost(program, made, codec)


def _recurs_on_demand(circuit: Circuit) -> bool:
    is_recursive = any(isinstance(node, Fixpoint) for node in circuit.nodes)
    return is_recursive and any(name.endswith(DEMAND) for name, _ in circuit.relations)


class BatchHost(SparkHost):
    """See `ddlog.sessions.hosts.host.Host`."""

    runtime: BatchRuntime  # type: ignore[assignment]

    def __init__(self, program: Program, made: Callable[..., BatchRuntime], codec: SparkCodec) -> None:
        super().__init__(program, made, codec)  # type: ignore[arg-type]
        self._located: list[tuple[Relation, SparkFacts]] = []
        self._reader = FactReader(self.spark, codec, self._typedefs, lazily=True)

    def _offer(self) -> Offer:
        return Offer(self.failures, is_measured=False, lowered=self._lowered, frames=BatchFrames(self))

    def pending(self, declared: Relation) -> PendingChanges:
        # Nothing was there before, and nothing is compared.
        return SetChanges(Present(declared, self.runtime))  # type: ignore[arg-type]

    def incoming(self, declared: Relation, table: Any) -> IncomingRows:
        if not is_frame(table):
            return super().incoming(declared, table)
        name = f"the DataFrame for {declared.name}"
        with spark_failures():
            self._reader.check(declared, table, name)
        cast = partial(self.cast, declared, table, name)
        batch = partial(self.runtime.batch_from, declared.name, cast)
        return IncomingRows(batch, lambda: self._reader.rows(declared, cast()))

    def _located_batch(self, declared: Relation, frame: DataFrame, found: SparkFacts) -> Any:
        self._located.append((declared, found))
        return self._batch(declared, frame)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Turns what fails when a query runs, after the commit, into DDlogErrors."""
        program = self.program
        try:
            with spark_failures():
                yield
        except RowFault as fault:
            raise DDlogError([diagnosed(fault)]) from None
        except Unsettled as unsettled:
            raise DDlogError([never_settled(unsettled, program.relations, self._typedefs)]) from None
        except DDlogError as error:
            for declared, found in self._located:
                self._find_line(declared, found, error)
            raise


class BatchFrames(SparkFrames):
    """See `ddlog.sessions.hosts.host.Frames`."""

    _host: BatchHost

    def explained(self, relation: str) -> str:
        with self._host.failing():
            return self._host.runtime.explained(relation)

    def write(self, declared: Relation, place: str, format: str) -> str:
        frame = plain_frame(self._host.runtime, declared)  # type: ignore[arg-type]
        if format == "parquet" or place.startswith(TABLE):
            return self._write(frame, None, declared, place, format)
        with self._host.failing():
            kept = frame.persist()  # few rows make one file of text, and counting them computes them
            try:
                return self._write(kept, kept.count(), declared, place, format)
            finally:
                kept.unpersist()
