"""What a session does with Spark besides running a circuit: DataFrames in and out, facts that Spark reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core import Relation
from ...errors.diagnostics import DDlogError
from ...errors.spark import BadRecord
from ...io.columns import TypeDefs
from ...io.files import FactFile
from ...io.places import Place
from ...io.read import read_facts
from ...sessions.inputs import Changes
from ...values.rows import Row
from ..files.listing import SparkFacts, find_facts
from ..files.read import Reader
from ..files.write import TABLE, write_frame
from ..types.codec import SparkCodec
from .failures import spark_failures
from .pending import SparkKeyedChanges, SparkMultisetChanges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ...sessions.program import Program

_SHORT = 1 << 26  # bytes of a file that is read again to say where in it a fault is


class SparkSide:
    """The Spark side of one session. `runtime` is an `engine.spark.runtime.SparkRuntime`."""

    def __init__(self, runtime: Any, typedefs: TypeDefs) -> None:
        self._runtime, self._typedefs = runtime, typedefs
        self._codec = SparkCodec(typedefs)
        self._reader = Reader(runtime.spark, self._codec, typedefs)

    def failures(self) -> AbstractContextManager[None]:
        """Makes DDlogErrors of what Spark raises."""
        return spark_failures()

    def close(self) -> None:
        """Releases the state; the Spark session goes on."""
        self._runtime.close()

    def contents(self, relation: str) -> DataFrame:
        """A relation as a DataFrame."""
        with spark_failures():
            frame: DataFrame = self._runtime.frame(relation)
            return frame

    def write(self, declared: Relation, place: str, format: str) -> str:
        """Lets Spark write a relation. Raises DDlogError."""
        if not place.startswith(TABLE) and "://" not in place:
            place = f"file:{Path(place.removeprefix('file:')).absolute()}"
        rows = self._runtime.size(declared.name)
        return write_frame(
            self.contents(declared.name), rows, self._codec, declared, self._typedefs, place, format
        )

    def changes(
        self, program: Program, declared: Relation, show_key: Callable[[Relation], Callable[[Any], str]]
    ) -> Changes:
        """The pending changes of a multiset or of a relation with a primary key."""
        if declared.key is None:
            return SparkMultisetChanges(declared, self._runtime)
        key_of, key = program.key_function(declared), program.key_expression(declared)
        return SparkKeyedChanges(declared, self._runtime, key_of, show_key(declared), key)

    # ------------------------------------------------------------ DataFrames in

    def batch(self, declared: Relation, frame: DataFrame) -> Any:
        """The rows of a user's DataFrame as a batch, read and checked now. Raises DDlogError."""
        with spark_failures():
            return self._batch(declared, self._cast(declared, frame))

    def _batch(self, declared: Relation, frame: DataFrame) -> Any:
        alike = declared.key is None  # a second row like it means nothing; with a key, it is refused
        return self._runtime.batch_from_frame(declared.name, frame, once=alike)

    def rows_of(self, declared: Relation, frame: DataFrame) -> list[Row]:
        """The rows of a user's DataFrame, collected and checked. Raises DDlogError."""
        return self.collected(declared, self._cast(declared, frame))

    def collected(self, declared: Relation, frame: DataFrame) -> list[Row]:
        """The rows of a DataFrame that is of the relation's columns and types."""
        with spark_failures():
            table = frame.toArrow()
        columns = self._reader.columns(declared)
        data = [self._codec.decode(column, table.column(i)) for i, column in enumerate(columns)]
        return list(zip(*data, strict=True))

    def _cast(self, declared: Relation, frame: DataFrame) -> DataFrame:
        with spark_failures():
            cast: DataFrame = self._reader.table(declared, frame, f"the DataFrame for {declared.name}")
            return cast

    # ------------------------------------------------------------ facts

    def find(self, places: Sequence[Place], inputs: Sequence[str], others: Collection[str]) -> SparkFacts:
        """The files and tables of the input relations. Raises DDlogError."""
        return find_facts(self._runtime.spark, places, inputs, others)

    def read(self, declared: Relation, found: SparkFacts) -> DataFrame:
        """The facts of a relation as a DataFrame, checked when it is computed. Raises DDlogError."""
        frames = []
        with spark_failures():
            if declared.name in found.files:
                frames.append(self._reader.files(declared, found.files[declared.name]))
            for table in found.tables.get(declared.name, ()):
                frames.append(
                    self._reader.table(declared, self._runtime.spark.table(table), f"table {table}")
                )
            whole: DataFrame = frames[0]
            for frame in frames[1:]:
                whole = whole.unionAll(frame)
        return whole

    def checked_batch(self, declared: Relation, frame: DataFrame, found: SparkFacts) -> Any:
        """The facts as a batch, read now. Raises DDlogError; a fault in a short file of this machine with its
        place."""
        try:
            with spark_failures():
                return self._batch(declared, frame)
        except DDlogError as error:
            self._look_closely(error, declared, found)
            raise

    def local_files(self, found: SparkFacts, name: str) -> list[FactFile]:
        """The files of a relation that are on this machine."""
        return [
            FactFile(name, file.local, file.form, file.url.endswith(".gz"))
            for file in found.files.get(name, ())
            if file.local is not None
        ]

    def _look_closely(self, error: DDlogError, declared: Relation, found: SparkFacts) -> None:
        """Reads the file of a fault here, which raises the same with line and column."""
        faults = {each.path for each in error.diagnostics if isinstance(each, BadRecord)}
        for file in self.local_files(found, declared.name):
            if str(file.path.absolute()) in faults and file.path.stat().st_size <= _SHORT:
                read_facts(file, declared, self._typedefs)
