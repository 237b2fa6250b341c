"""Rows and changes of relations that lie on the driver, as the Spark runtime gives them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..inprocess.storage.batch import Batch
from ..inprocess.storage.rows import ArrayDelta
from ..schema import Schema
from .moving import Crossing
from .reading import shown_delta
from .tables import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class DriverDelta(ArrayDelta):
    """The consolidated change of a relation in one epoch, on the driver."""

    def __init__(self, crossing: Crossing, schema: Schema, batch: Batch, last: bool) -> None:
        super().__init__(crossing.values, schema, batch, last)
        self._crossing, self._columns = crossing, schema

    def table(self) -> Table:
        """The change as a table."""
        return self._crossing.table(self._columns, self.batch)

    def frame(self) -> DataFrame:
        """The change as a DataFrame, with the column `weight`."""
        return shown_delta(self._crossing.tables, self._columns, self.table()).frame()
