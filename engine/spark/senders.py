"""Rows of DataFrames that executors send to workers, past the driver.

    frame, kept on disks of executors ─► a task a partition ─► rows divided by their owners ─► workers

Executors keep the rows as long as workers may need them again. What executors lose is computed again, and has
to be the same (`arriving.RowsChanged`)."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from ..inprocess.storage.batch import Batch
from ..inprocess.storage.interner import Values
from ..schema import Schema
from ..shards.arrivals import RowsChanged, SentRows, Way, digest
from ..shards.transfers import Bringing, Carrier
from ..shards.wire import divided, packed
from .arrowrows import from_arrow
from .codec import Codec
from .tables import WEIGHT, Guard, arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DIGEST = 1 << 64
_LOST = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"

Send: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class FrameSource:
    """The rows of a frame with the columns c0, c1, …: `kept` has them on disks of executors, and `made` is
    what they are made of. See `arriving.Source`."""

    def __init__(
        self,
        kept: DataFrame,
        length: int,
        made: DataFrame,
        codec: Codec,
        schema: Schema,
        nan: float,
        read: Callable[[], Batch],
        configured: Guard,
    ) -> None:
        """`read` gives the rows to the driver. `configured` is entered where Spark runs."""
        self._kept, self.length, self._made = kept, length, made
        self._codec, self._schema, self._nan, self._read = codec, schema, nan, read
        self._configured = configured

    def send(self, way: Way) -> Sequence[SentRows]:
        send = sender(way, self._codec, self._schema, self._nan)
        with self._configured():
            try:
                return _sent(self._kept, send)
            except Exception as error:
                if _LOST not in str(error):
                    raise
            try:
                return _sent(self._made, send)
            except Exception as error:
                raise RowsChanged("can no longer be computed") from error

    def read(self) -> Batch:
        return self._read()

    def differ(self, places: Sequence[int]) -> bool:
        with self._configured():
            keys = self._kept.select(*(f"c{place}" for place in places))
            return bool(keys.distinct().count() == self.length)


def _sent(frame: DataFrame, send: Send) -> list[SentRows]:
    found = frame.mapInArrow(send, "name string, rows bigint, digest string").collect()
    return [SentRows(row["name"], row["rows"], int(row["digest"])) for row in found]


def sender(way: Way, codec: Codec, schema: Schema, nan: float) -> Send:
    """A function for `mapInArrow` that sends the rows of a partition to workers, and says what it sent."""
    wanted = arrow_schema(codec, schema)

    def send(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        name, rows, sums = secrets.token_hex(8), 0, 0  # of this try: what others sent does not count
        carrier = Carrier(way.doors, Bringing(way.name, name))
        for each in batches:
            ones = pa.array([1], WEIGHT.type).take(pa.array([0] * each.num_rows, pa.int64()))
            table = pa.Table.from_batches([each]).append_column(WEIGHT, ones).cast(wanted)
            values = Values(nan)
            batch = from_arrow(values, codec, schema, table)
            parts = divided(values, schema, way.key, batch, way.owning)
            for rank in way.owning:
                part = parts[rank]
                if part is not None:
                    carrier.bring(rank - way.owning.start, packed(values, schema, part))
            rows, sums = rows + batch.length, (sums + digest(values, schema, batch)) % _DIGEST
        carrier.finish()
        yield pa.RecordBatch.from_pydict({"name": [name], "rows": [rows], "digest": [str(sums)]})

    return send
