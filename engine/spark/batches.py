"""Rows of the runtime as Spark has them: tables and DataFrames of batches, and the changes that a commit
gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..inprocess.storage.batch import Batch
from ..inprocess.storage.interner import Values
from ..inprocess.storage.rows import ArrayDelta
from ..runtime import Coded, Delta, Sealed
from ..schema import Schema
from .arrowrows import from_arrow, to_arrow
from .sqltext import As, quoted
from .tables import LocalTable, Tables

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


class Crossing:
    """Brings rows from the columns of the runtime to those of Spark, and back."""

    def __init__(self, values: Values, tables: Tables) -> None:
        self.values, self.tables = values, tables

    def batch(self, schema: Schema, rows: pa.Table) -> Batch:
        """Rows of Arrow as a batch."""
        batch = from_arrow(self.values, self.tables.codec, schema, rows)
        self.values.hold(schema, batch)
        return batch

    def table(self, schema: Schema, batch: Batch) -> LocalTable:
        """A batch as a table."""
        return self.tables.local(to_arrow(self.values, self.tables.codec, schema, batch))

    def coded(self, schema: Schema, given: Coded) -> LocalTable:
        """Columns in forms that do not depend on the runtime, as a table."""
        return self.tables.of_columns(schema, given)


class GivenDelta:
    """The consolidated change of a relation in one epoch."""

    def __init__(self, crossing: Crossing, schema: Schema, delta: ArrayDelta) -> None:
        self._crossing, self._schema, self._delta = crossing, schema, delta

    @property
    def delta(self) -> ArrayDelta:
        """The change, which workers may keep until it is first read."""
        with self._crossing.tables.guard():
            self._delta.settle()
        return self._delta

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows that changed, in value order."""
        return self.delta.rows

    @property
    def weights(self) -> list[int]:
        """The change of each row's weight."""
        return self.delta.weights

    def __len__(self) -> int:
        return len(self.delta)

    def frame(self) -> DataFrame:
        """The change as a DataFrame, with the column `weight`."""
        return renamed(self._crossing.table(self._schema, self.delta.batch).frame, self._schema, "weight")


class GivenEpoch:
    """The changes of an epoch that is computed, as tables. See `engine.runtime.Sealed`."""

    def __init__(self, sealed: Any, crossing: Crossing, schema_of: Callable[[str], Schema]) -> None:
        self._sealed, self._crossing, self._schema_of = sealed, crossing, schema_of

    @property
    def deltas(self) -> Mapping[str, Delta]:
        """The result of the epoch, if it becomes final."""
        return {name: self._given(name, delta) for name, delta in self._sealed.deltas.items()}

    @property
    def length(self) -> int:
        """The number of rows that inputs changed by, or more."""
        return int(self._sealed.length)

    def inputs(self) -> dict[str, LocalTable]:
        """The change of each input that changed, or the elements of one that is a stream."""
        return self._tables(self._sealed.inputs())

    def output(self, name: str) -> LocalTable | None:
        """The change of an output, or the elements of one that is a stream; None if there are none."""
        found = self._sealed.output(name)
        return None if found is None else self._crossing.coded(self._schema_of(name), found())

    def passed(self) -> dict[str, LocalTable]:
        """The rows of inputs that came in this epoch and were forgotten in it."""
        return self._tables(self._sealed.passed())

    def remembered(self) -> dict[str, LocalTable]:
        """The changes of what nodes of windows remember, by their names; of late rows those that came."""
        return self._tables(self._sealed.remembered())

    def _tables(self, coded: Mapping[str, Callable[[], Coded]]) -> dict[str, LocalTable]:
        return {name: self._crossing.coded(self._schema_of(name), read()) for name, read in coded.items()}

    def _given(self, name: str, delta: Delta) -> GivenDelta:
        assert isinstance(delta, ArrayDelta)
        return GivenDelta(self._crossing, self._schema_of(name), delta)


def seal_of(seal: Callable[[Any], None], crossing: Crossing, schema_of: Callable[[str], Schema]) -> Any:
    """A function that seals an epoch of the runtime, given one that seals what Spark has of it."""

    def sealed(epoch: Sealed) -> None:
        seal(GivenEpoch(epoch, crossing, schema_of))

    return sealed


def renamed(frame: DataFrame, schema: Schema, weight: str | None) -> DataFrame:
    """A frame with the columns' own names."""
    items = [As(f"c{k}", quoted(column.name)) for k, column in enumerate(schema)]
    if weight:
        items.append(As("w", weight))
    return frame.selectExpr(*map(str, items))
