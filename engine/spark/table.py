"""One materialised table, and the registry of the tables that Spark knows of."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import pyarrow as pa

from ..schema import Schema
from .codec import Codec
from .pruning import in_order, leading_here
from .settings import changed
from .sqltext import names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDINARY = 100
"""The bytes of an ordinary row: of a few numbers and short texts."""
WEIGHT = pa.field("w", pa.int64(), nullable=False)
TIME = pa.field("t", pa.int32(), nullable=False)

_MISSING = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"


class Table:
    """Materialised rows: on the executors, or, `local`, on the driver; then Spark is told of them when a
    query first needs them.

    `least` is the smallest weight, `total` the sum of the weights, `by` the columns by which the executors'
    rows are partitioned, as far as known; `once`, whether no row is known to come twice; `checked`, whether
    each of them is known to change the relation that they are given to.
    """

    __slots__ = (
        "_frame", "_kept", "_registry", "_size", "_view", "by", "checked", "least", "local",
        "once", "rows", "total",
    )  # fmt: skip

    def __init__(
        self,
        registry: Registry,
        rows: int,
        least: int,
        total: int,
        *,
        frame: DataFrame | None = None,
        local: pa.Table | None = None,
        by: Sequence[str] = (),
        kept: bool = False,
        size: int = 0,
    ) -> None:
        """`kept`: the frame is in the executors' memory, to be released; `size`: the bytes of its texts and
        collections, as far as known."""
        self._registry, self.rows, self.least, self.total, self.local = registry, rows, least, total, local
        self._frame, self._view, self.by, self._size = frame, "", tuple(by), size
        self._kept, self.once, self.checked = False, False, False
        if kept:
            self._keep()

    @property
    def frame(self) -> DataFrame:
        """The rows as a DataFrame."""
        self._registry.used()
        if self._frame is None:
            assert self.local is not None
            if self.small:
                self._frame = frame_of(self._registry.spark, self.local)
            else:  # sent once, not with every job
                columns = [name for name in self.local.column_names if name.startswith("c")]
                moved = self._registry.sent(self.local).repartition(self._registry.partitions, *columns)
                moved = in_order(moved, leading_here(self.local.schema))
                self._frame, self.by = checkpointed(moved, self._registry.copies), tuple(columns)
                self._keep()
        return self._frame

    @property
    def length(self) -> int:
        """The number of rows."""
        return self.rows

    @property
    def counted(self) -> int:
        """For how many ordinary rows it counts."""
        size = self._size if self.local is None else int(self.local.nbytes)
        return max(self.rows, size // ORDINARY)

    def _keep(self) -> None:
        self._kept = True
        self._registry.kept(self)

    @property
    def shown(self) -> DataFrame:
        """The rows as a DataFrame to give out; many rows of the driver lie as they come."""
        self._registry.used()
        if self._frame is not None or self.small or self.local is None:
            return self.frame
        return self._registry.sent(self.local)

    @property
    def view(self) -> str:
        """The temp view's name."""
        if not self._view:
            self._view = self._registry.named(self.frame)
            self._registry.kept(self)
        return self._view

    @property
    def small(self) -> bool:
        """Whether it is small, and on the driver."""
        return self.local is not None and self.rows <= self._registry.most_small

    def is_whole(self) -> bool:
        """Whether all rows are there; a job tells for a table of the executors."""
        if self._frame is None:
            return True
        try:
            self._frame.selectExpr("count(*)").collect()
        except Exception as error:
            if is_loss(error):
                return False
            raise
        return True

    def sent_again(self) -> bool:
        """Whether the driver has the rows: then they go to the executors anew, when they are next read."""
        if self.local is None:
            return False
        self.release()
        self._frame, self.by = None, ()
        return True

    def release(self) -> None:
        """Takes the view back, and the memory. A frame that was given out is read from disk from then on;
        without such a frame, the rows go."""
        if self._view:
            self._registry.forget(self._view)
            self._view = ""
        if self._kept and self._frame is not None:
            self._kept = False
            with suppress(Exception):  # the session may have ended before us
                self._frame.unpersist()
        self._registry.released(self)


class Registry:
    """The tables of one runtime that Spark knows of: by a temp view, or because it keeps their rows.

    `most_small`: up to so many rows of the driver stay there. `partitions`: of rows that leave the driver.
    `copies`: so many executors have each row. `used` is called before Spark is used.
    """

    def __init__(
        self,
        spark: SparkSession,
        partitions: int,
        most_small: int,
        copies: int,
        used: Callable[[], None],
    ) -> None:
        self.spark, self.partitions, self.most_small = spark, partitions, most_small
        self.copies, self.used = copies, used
        self._prefix = f"ddlog_{uuid.uuid4().hex[:8]}_"
        self._made = 0
        self._known: set[Table] = set()

    def sent(self, rows: pa.Table) -> DataFrame:
        """A large table of the driver as a DataFrame whose rows the executors unpack."""
        with changed(self.spark, {"spark.sql.execution.arrow.localRelationThreshold": "0B"}):
            return frame_of(self.spark, rows)

    def named(self, frame: DataFrame) -> str:
        """A temp view of a frame."""
        self._made += 1
        view = f"{self._prefix}{self._made}"
        frame.createOrReplaceTempView(view)
        return view

    def forget(self, view: str) -> None:
        """Drops a temp view."""
        with suppress(Exception):  # the session may have ended before us
            self.spark.catalog.dropTempView(view)

    def kept(self, table: Table) -> None:
        """Spark knows of a table, until it is released."""
        self._known.add(table)

    def released(self, table: Table) -> None:
        """Spark knows of a table no longer."""
        self._known.discard(table)

    def release_but(self, held: Iterable[Table]) -> None:
        """Releases all tables but these."""
        for table in self._known.difference(held):
            table.release()


def arrow_schema(codec: Codec, schema: Schema, extra: Sequence[pa.Field] = ()) -> pa.Schema:
    """The Arrow schema of a table: c0, c1, …, the weight, and more."""
    fields = [
        pa.field(name, codec.arrow_type(column), nullable=False)
        for name, column in zip(names(schema), schema, strict=True)
    ]
    return pa.schema([*fields, WEIGHT, *extra])


def checkpointed(frame: DataFrame, copies: int) -> DataFrame:
    """The rows of a frame without their history, computed when they are first read: as columns in memory,
    from which Spark has their size, and as rows on the disks of so many executors. Rows in memory would take
    ten times as much."""
    from pyspark import StorageLevel

    level = StorageLevel(True, False, False, False, copies)
    return frame.localCheckpoint(eager=False, storageLevel=level).persist()


def is_loss(error: BaseException) -> bool:
    """Whether a job failed because rows of a checkpoint are on no executor any more."""
    return _MISSING in str(error)


def frame_of(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Rows of the driver as a DataFrame."""
    if rows.num_rows:
        return spark.createDataFrame(rows)
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame(rows, from_arrow_schema(rows.schema))  # Connect does not look for it
