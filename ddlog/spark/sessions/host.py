"""The Spark host: the relations of a session are on Spark, and its facts are read and written by
executors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

from ... import values
from ...core import CheckedProgram, CheckedQuery, Relation
from ...engine.circuit import Circuit
from ...engine.machine import UNLIMITED, default_limit
from ...engine.runtime import Batch, RowSet
from ...engine.spark.settings import is_connect
from ...errors.diagnostics import DDlogError, warn
from ...errors.spark import (
    BadRecord,
    ExecutorsRemoved,
    NoExternTypes,
    SkipsNoRows,
    StateInDriver,
    TooLittleOverhead,
)
from ...io.files import FactFile
from ...io.formats import FORMATS
from ...io.places import Place
from ...io.read import read_facts
from ...io.rowplaces import placed_rows
from ...lowering.lower import lower_query
from ...sessions.hosts.host import FactSource, Host, LocatedFacts, Offer
from ...sessions.hosts.inputrows import IncomingRows, file_rows, is_frame, table_rows
from ...sessions.pending import PendingChanges, stored_changes
from ...sessions.program import Program
from ...values import TypeDefs
from ...values.rows import Row
from ..files.listing import SparkFacts, find_facts
from ..files.read import FactReader
from ..types.closures import column_types
from ..types.codec import SparkCodec
from .connect import open_session
from .failures import spark_failures
from .frames import SparkFrames

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ...engine.maintenance import Mode
    from ...engine.spark.advice import Notice
    from ...engine.spark.runtime import SparkOptions, SparkRuntime
    from ...errors.source import Span
    from ...io.refusals import Refuse

_SHORT = 1 << 26  # bytes of a file that is read again to find the line of a fault


def open_host(
    program: Program,
    circuit: Circuit,
    spark: SparkSession | None,
    options: SparkOptions | None,
    maintain: Mode = "auto",
) -> SparkHost:
    """A host for an incremental circuit of a program, on a Spark session: the given one, the one of this
    process, or a new one on this machine. `maintain` says whether recursions are maintained. Raises
    DDlogError."""
    for each in program.checked.typedefs.values():
        if each.extern is not None:
            raise DDlogError([NoExternTypes(each.name)])
    session = open_session() if spark is None else spark
    from ...engine.spark.runtime import SparkRuntime

    with spark_failures():
        codec = SparkCodec(program.checked.typedefs)
        codec.learn(program.checked, column_types(circuit))
        known = surroundings(program)
        made = partial(SparkRuntime, circuit, session, codec, values.NAN, options, maintain, **known)
        return SparkHost(program, made, codec)


def surroundings(program: Program) -> dict[str, Any]:
    """Arguments of a runtime on Spark for a program: the memory of this process, whether values of the
    program can be sent, and whom to tell what."""
    limit = default_limit()
    sendable = partial(is_sendable, program.checked.typedefs)
    return {"memory_limit": None if limit == UNLIMITED else limit, "sendable": sendable, "tell": tell}


def tell(notice: Notice) -> None:
    """Warns of what the runtime has to say."""
    from ...engine.spark.advice import Overhead, Stays

    match notice:
        case Stays(rows, why):
            warn([StateInDriver(f"{rows:,}", why)])
        case Overhead(needed, granted):
            warn([TooLittleOverhead(str(needed), str(granted))])
        case _:
            warn([ExecutorsRemoved()])


def is_sendable(typedefs: TypeDefs, circuit: Circuit) -> bool:
    """Whether the rows of a circuit mean the same in another process: closures are of one program."""
    return not any(values.holds_function(each, typedefs) for each in column_types(circuit))


class SparkHost:
    """A runtime on a Spark session. See `ddlog.sessions.hosts.host.Host`."""

    def __init__(self, program: Program, made: Callable[..., SparkRuntime], codec: SparkCodec) -> None:
        """`made` makes the runtime, given what tells failures outside of epochs."""
        runtime = self.runtime = made(guard=self.failing)
        self.spark: SparkSession = runtime.spark
        self.is_connect = is_connect(runtime.spark)
        master = runtime.spark.conf.get("spark.master", None) or ""
        self._is_local = not self.is_connect and master.startswith("local")
        self.program, self._typedefs = program, program.checked.typedefs
        self.codec = codec
        self._reader = FactReader(runtime.spark, codec, self._typedefs)
        self.offer = self._offer()

    def _offer(self) -> Offer:
        return Offer(
            self.failures,
            lowered=self._lowered,
            budgeted=self.runtime,
            frames=SparkFrames(self),
        )

    def _lowered(self, program: Program, wanted: Sequence[str], demand: bool) -> Circuit:
        circuit = program.circuit("incremental", wanted, records="values", demand=demand)
        self.codec.learn(program.checked, column_types(circuit))
        return circuit

    def failures(self) -> AbstractContextManager[None]:
        return spark_failures()

    def failing(self) -> AbstractContextManager[None]:
        """Turns failures outside of epochs into DDlogErrors."""
        return self.failures()

    def pending(self, declared: Relation) -> PendingChanges:
        return stored_changes(self.program, declared, self.runtime)

    def incoming(self, declared: Relation, table: Any) -> IncomingRows:
        if not is_frame(table):
            return table_rows(self.runtime, declared, table, self._typedefs)
        return self.frame_rows(declared, self.cast(declared, table, f"the DataFrame for {declared.name}"))

    def frame_rows(self, declared: Relation, cast: DataFrame) -> IncomingRows:
        return IncomingRows(partial(self._batch, declared, cast), partial(self._reader.rows, declared, cast))

    def query(
        self,
        program: CheckedProgram,
        query: CheckedQuery,
        given: Mapping[str, Sequence[Row]] | None = None,
        most: int | None = None,
    ) -> RowSet:
        circuit = lower_query(program, query)
        self.codec.learn(program, column_types(circuit))
        found: RowSet = self.runtime.query(circuit, given, most)
        return found

    def beside(self, program: Program, circuit: Circuit) -> SparkHost:
        self.codec.learn(program.checked, column_types(circuit))
        return SparkHost(program, partial(self.runtime.beside, circuit), self.codec)

    def handed(self, relation: str, to: Host) -> Batch:
        return self.runtime.contents(relation)

    def locate(
        self,
        places: Sequence[Place],
        inputs: Sequence[str],
        others: Collection[str],
        originals: Mapping[str, str],
    ) -> LocatedFacts:
        found = find_facts(self.spark, places, inputs, others, originals)
        names = [*found.files, *(name for name in found.tables if name not in found.files)]
        sources = [each for name in names for each in self._sources(self.program.relations[name], found)]
        return LocatedFacts(sources, found.missing, found.ignored)

    def _sources(self, declared: Relation, found: SparkFacts) -> list[FactSource]:
        """The facts of a relation: all at once, or file by file on the driver, which reads those of a
        relation without columns, and short files if the executors are on this machine."""
        name = declared.name
        if declared.columns and (not self._is_local or _short_files(found, name) is None):
            read, placed = partial(self._read, declared, found), partial(self._placed, declared, found)
            return [FactSource(name, name, read, placed)]
        return [
            FactSource(
                name,
                file.path.name,
                partial(file_rows, self.runtime, declared, file, self._typedefs),
                partial(placed_rows, file, declared, self._typedefs),
            )
            for file in _local_files(found, name)
        ]

    def _placed(self, declared: Relation, found: SparkFacts) -> Iterator[tuple[Row, Span]]:
        """The rows of the short files that are on this machine, with their places."""
        for file in _local_files(found, declared.name):
            if file.format in FORMATS and file.path.is_file() and file.path.stat().st_size <= _SHORT:
                yield from placed_rows(file, declared, self._typedefs)

    def _read(
        self, declared: Relation, found: SparkFacts, note: Callable[[str], None], refuse: Refuse | None
    ) -> IncomingRows:
        """The facts of a relation, checked when they are computed. Raises DDlogError."""
        if refuse is not None:
            return self._read_here(declared, found, note, refuse)
        whole = self._facts(declared, found, self._reader)
        batch = partial(self._located_batch, declared, whole, found)
        return IncomingRows(batch, partial(self._reader.rows, declared, whole))

    def _read_here(
        self, declared: Relation, found: SparkFacts, note: Callable[[str], None], refuse: Refuse
    ) -> IncomingRows:
        """The right rows of short files of this machine, by the driver, which refuses the others. Raises
        DDlogError."""
        files = _short_files(found, declared.name)
        if files is None:
            raise DDlogError([SkipsNoRows()])
        parts = [file_rows(self.runtime, declared, each, self._typedefs, note, refuse) for each in files]
        rows = [row for part in parts for row in part.rows()]
        return IncomingRows(partial(self.runtime.batch, declared.name, rows), lambda: rows)

    def _facts(self, declared: Relation, found: SparkFacts, reader: FactReader) -> DataFrame:
        """The facts of a relation as a frame of its columns. Raises DDlogError."""
        frames = []
        with spark_failures():
            if declared.name in found.files:
                frames.append(reader.files(declared, found.files[declared.name]))
            for table in found.tables.get(declared.name, ()):
                frames.append(reader.table(declared, self.spark.table(table), f"table {table}"))
            whole: DataFrame = frames[0]
            for frame in frames[1:]:
                whole = whole.unionAll(frame)
        return whole

    def cast(self, declared: Relation, frame: DataFrame, name: str) -> DataFrame:
        """A frame with the columns and types of a relation; `name` is how messages call it. Raises
        DDlogError."""
        with spark_failures():
            cast: DataFrame = self._reader.table(declared, frame, name)
            return cast

    def _batch(self, declared: Relation, frame: DataFrame) -> Any:
        """The rows of a frame of the relation's columns as a batch, computed now. Raises DDlogError."""
        with spark_failures():
            return self.runtime.batch_from_frame(declared.name, frame)

    def _located_batch(self, declared: Relation, frame: DataFrame, found: SparkFacts) -> Any:
        """Facts as a batch. Raises DDlogError; for a fault in a short file of this machine with line and
        column, which reading the file here tells."""
        try:
            return self._batch(declared, frame)
        except DDlogError as error:
            self._find_line(declared, found, error)
            raise

    def _find_line(self, declared: Relation, found: SparkFacts, error: DDlogError) -> None:
        """Reads the short files of a relation that are here and have a fault. Raises DDlogError."""
        faults = {each.path for each in error.diagnostics if isinstance(each, BadRecord)}
        for file in _local_files(found, declared.name):
            if str(file.path.absolute()) in faults and file.path.stat().st_size <= _SHORT:
                read_facts(file, declared, self._typedefs)


def _short_files(found: SparkFacts, name: str) -> list[FactFile] | None:
    """The files of a relation, if they are all its facts, on this machine, and short."""
    files = _local_files(found, name)
    readable = all(each.format in FORMATS and each.path.is_file() for each in files)
    if name in found.tables or len(files) < len(found.files[name]) or not readable:
        return None
    return files if sum(each.path.stat().st_size for each in files) <= _SHORT else None


def _local_files(found: SparkFacts, name: str) -> list[FactFile]:
    """The files of a relation that are on this machine."""
    return [
        FactFile(name, file.local, file.form, file.url.endswith(".gz"), file.dialect)
        for file in found.files.get(name, ())
        if file.local is not None
    ]
