"""The host of a session until its first update: a large first change is checked, and is computed where it is
read. See `engine.spark.waiting`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ... import values
from ...core import Relation
from ...engine.runtime import Batch
from ...engine.schema import RowFault
from ...engine.settling import Unsettled
from ...engine.spark.batch.queries import is_one_query
from ...engine.spark.waiting import WaitingRuntime
from ...errors.diagnostics import DDlogError
from ...sessions.faults import diagnosed, never_settled
from ...sessions.incoming import IncomingRows, is_frame
from ...sessions.pending import key_places
from ...sessions.program import Program
from ..files.listing import SparkFacts
from ..files.read import FactReader
from ..types.closures import column_types
from ..types.codec import SparkCodec
from .connect import is_connect, open_session
from .differing import count_different
from .failures import spark_failures
from .host import SparkHost, open_host
from .sources import Sources, sources_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ...engine.circuit import Circuit
    from ...engine.maintaining import Mode
    from ...engine.spark.runtime import SparkOptions


def open_waiting(
    program: Program,
    circuit: Circuit,
    spark: SparkSession | None,
    options: SparkOptions | None,
    maintain: Mode = "auto",
) -> SparkHost:
    """A host for an incremental circuit whose state can wait for the first update. Circuits that are not one
    query for each relation, streams, delayed relations and Connect sessions get the host of other sessions.
    Raises DDlogError."""
    session = open_session() if spark is None else spark
    read = [program.relations[name] for name, _ in circuit.relations if name in program.relations]
    moving = any(each.kind == "stream" or each.role == "delayed" for each in read)
    if moving or is_connect(session) or not is_one_query(circuit):
        return open_host(program, circuit, session, options, maintain)
    with spark_failures():
        codec = SparkCodec(program.checked.typedefs)
        codec.learn(program.checked, column_types(circuit))
        keys = {name: key_places(each) for name, each in program.relations.items() if key_places(each)}
        runtime = WaitingRuntime(circuit, session, codec, values.NAN, options, maintain, keys)
        return WaitingHost(program, runtime, codec)


class WaitingHost(SparkHost):
    """See `ddlog.sessions.host.Host`."""

    runtime: WaitingRuntime

    def __init__(self, program: Program, runtime: WaitingRuntime, codec: SparkCodec) -> None:
        super().__init__(program, runtime, codec)
        self._lazily = FactReader(runtime.spark, codec, self._typedefs, lazily=True)
        runtime.failures = self._failing

    @property
    def waits(self) -> bool:
        return self.runtime.waits

    def prepare(self) -> None:
        self.runtime.make()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Turns what fails when a query runs, after the commit, into DDlogErrors."""
        program = self._program
        try:
            with self.failures():
                yield
        except RowFault as fault:
            raise DDlogError([diagnosed(fault)]) from None
        except Unsettled as unsettled:
            raise DDlogError([never_settled(unsettled, program.relations, self._typedefs)]) from None

    def incoming(self, declared: Relation, table: Any) -> IncomingRows:
        if not is_frame(table):
            return super().incoming(declared, table)
        name = f"the DataFrame for {declared.name}"
        whole = self._cast(declared, table, name)
        batch = partial(
            self._promised,
            declared,
            whole,
            partial(self._lazily.table, declared, table, name),
            lambda _: sources_of(table),
            partial(self._batch, declared, whole),
        )
        return IncomingRows(batch, partial(self._collected, declared, whole))

    def _read(self, declared: Relation, found: SparkFacts) -> IncomingRows:
        whole = self._facts(declared, found, self._reader)
        tables = found.tables.get(declared.name, ())

        def sources(frame: DataFrame) -> Sources | None:
            repeatable = all(sources_of(self.spark.table(table)) is not None for table in tables)
            return sources_of(frame, known=True) if repeatable else None

        batch = partial(
            self._promised,
            declared,
            whole,
            partial(self._facts, declared, found, self._lazily),
            sources,
            partial(self._located_batch, declared, whole, found),
        )
        return IncomingRows(batch, partial(self._collected, declared, whole))

    def _promised(
        self,
        declared: Relation,
        whole: DataFrame,
        lazily: Callable[[], DataFrame],
        sources: Callable[[DataFrame], Sources | None],
        computed: Callable[[], Batch],
    ) -> Batch:
        """Rows as a promise, if that can be kept, and else `computed`. `whole` has all columns checked, and
        the frame that `lazily` makes only those that are read. Raises DDlogError."""
        with spark_failures():
            if not self.runtime.may_promise(declared.name, whole):
                return computed()
            frame = lazily()
            found = sources(frame)
        if found is None:
            return computed()
        try:
            with spark_failures():
                keys = [declared.columns[place].name for place in key_places(declared)]
                rows, different = count_different(whole, keys)
        except DDlogError:
            return computed()  # which fails, too, and tells the place
        if not self.runtime.is_large(declared.name, rows):
            return computed()
        once = declared.key is None
        return self.runtime.promise(declared.name, rows, frame, whole, once, rows == different, found.check)
