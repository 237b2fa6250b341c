"""The host of a session that takes no changes: facts are frames that nothing has computed, and a relation is
a query over them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ... import values
from ...core import Relation
from ...engine.schema import RowFault
from ...engine.settling import Unsettled
from ...engine.spark.batch.queries import is_one_query
from ...engine.spark.batch.runtime import BatchRuntime
from ...errors.diagnostics import DDlogError
from ...sessions.hosts.incoming import IncomingRows, is_frame
from ...sessions.pending import PendingChanges, Present, SetChanges, key_places
from ...sessions.program import Program
from ...sessions.transactions.faults import diagnosed, never_settled
from ..files.listing import SparkFacts
from ..files.read import FactReader
from ..files.write import TABLE, write_frame
from ..types.closures import column_types
from ..types.codec import SparkCodec
from .connect import is_connect, open_session
from .failures import spark_failures
from .host import SparkHost, absolute, open_host

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ...engine.circuit import Circuit
    from ...engine.maintaining import Mode
    from ...engine.spark.runtime import SparkOptions


def open_batch(
    program: Program,
    circuit: Circuit,
    spark: SparkSession | None,
    options: SparkOptions | None,
    maintain: Mode = "auto",
) -> SparkHost:
    """A host for the first change of a circuit of changes. One that has a window, an effect or negative
    weights gets the host of other sessions. Raises DDlogError."""
    if not is_one_query(circuit):
        return open_host(program, circuit, spark, options, maintain)
    session = open_session() if spark is None else spark
    with spark_failures():
        codec = SparkCodec(program.checked.typedefs)
        codec.learn(program.checked, column_types(circuit))
        keys = {name: key_places(each) for name, each in program.relations.items() if key_places(each)}
        runtime = BatchRuntime(
            circuit, session, codec, values.NAN, options, maintain, keys, is_connect(session)
        )
        return BatchHost(program, runtime, codec)


class BatchHost(SparkHost):
    """See `ddlog.sessions.hosts.host.Host`."""

    is_measured = False
    runtime: BatchRuntime  # type: ignore[assignment]

    def __init__(self, program: Program, runtime: BatchRuntime, codec: SparkCodec) -> None:
        super().__init__(program, runtime, codec)  # type: ignore[arg-type]
        self._located: list[tuple[Relation, SparkFacts]] = []
        runtime.failures = self._failing
        self._reader = FactReader(runtime.spark, codec, self._typedefs, lazily=True)

    def sides(self) -> dict[str, str]:
        """Unknown: relations are queries."""
        return {}

    def operators(self) -> list[str]:
        return []

    def pending(self, declared: Relation) -> PendingChanges:
        return SetChanges(
            Present(declared, self.runtime)
        )  # nothing was there before, and nothing is looked at

    def incoming(self, declared: Relation, table: Any) -> IncomingRows:
        if not is_frame(table):
            return super().incoming(declared, table)
        name = f"the DataFrame for {declared.name}"
        with spark_failures():
            self._reader.check(declared, table, name)
        cast = partial(self._cast, declared, table, name)
        batch = partial(self.runtime.batch_from, declared.name, cast)
        return IncomingRows(batch, lambda: self._collected(declared, cast()))

    def _located_batch(self, declared: Relation, frame: DataFrame, found: SparkFacts) -> Any:
        self._located.append((declared, found))
        return self._batch(declared, frame)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Turns what fails when a query runs, after the commit, into DDlogErrors."""
        program = self._program
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

    def write(self, declared: Relation, place: str, format: str) -> str:
        frame, place = self._plain_frame(declared), absolute(place)
        if format == "parquet" or place.startswith(TABLE):
            return write_frame(frame, None, self.codec, declared, self._typedefs, place, format)
        with self._failing():
            kept = frame.persist()  # few rows make one file of text, and counting them computes them
            try:
                return write_frame(kept, kept.count(), self.codec, declared, self._typedefs, place, format)
            finally:
                kept.unpersist()

    def explained(self, relation: str) -> str:
        with self._failing():
            return self.runtime.explained(relation)
