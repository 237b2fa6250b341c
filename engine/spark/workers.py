"""Workers on the executors of a Spark session: processes that a short job starts.

    job of one task a worker ─► each task starts a process, and ends ─► they come to the driver by TCP

The job takes slots for a moment only, so jobs that read facts or give outputs run beside the workers. Each
process ends with its executor, or with its line to the driver.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from ..circuit import Circuit
from ..inprocess.storage.interner import Values
from ..maintenance import Mode
from ..schema import Schema
from ..shards.bootstrap import Address, outer_process, start
from ..shards.remote import open_remote
from ..shards.runtime import Sharded
from ..shards.transfers import Doors, taken
from ..shards.wire import unpacked
from .advice import share
from .arrowrows import to_arrow
from .codec import Codec
from .evaluation import pickled, unpickled
from .settings import is_encrypted
from .tables import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


def open_workers(
    spark: SparkSession,
    circuit: Circuit,
    codec: Codec,
    count: int | None = None,
    nan: float = float("nan"),
    memory_limit: int | None = None,
    values: Values | None = None,
    maintain: Mode = "auto",
    encrypt: bool = False,
) -> Sharded:
    """The runtime of a relational circuit on the executors of a classic session, by so many workers (by
    default one for each core), and on this process. What they say to each other is encrypted also where
    Spark encrypts. See `open_remote`."""
    count = count or slots(spark)
    host = (spark.conf.get("spark.driver.host", None) or "127.0.0.1").strip("[]")
    return open_remote(
        circuit,
        count,
        launch_on(spark),
        pickled_with(codec),
        host,
        bind=spark.conf.get("spark.driver.bindAddress", None) or host,
        nan=nan,
        memory_limit=memory_limit,
        share=share(spark, count),
        values=values,
        maintain=maintain,
        encrypt=encrypt or is_encrypted(spark),
    )


def slots(spark: SparkSession) -> int:
    """The number of tasks that the executors of a session run at a time, but no more than the session's
    default parallelism."""
    context: Any = spark.sparkContext
    wanted = int(context.defaultParallelism)
    with suppress(Exception):  # what is not of Spark's interface may be missing
        inner = context._jsc.sc()
        profile = inner.resourceProfileManager().defaultResourceProfile()
        wanted = min(wanted, int(inner.maxNumConcurrentTasks(profile)))
    return max(wanted, 1)


def launch_on(spark: SparkSession) -> Callable[[Address, bytes, int], None]:
    """A function that starts processes of workers on the executors of a session. A job of it fails where
    these have another version of this package."""
    own = _version()

    def launch(address: Address, key: bytes, count: int) -> None:
        def begin(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            if _version() != own:
                raise RuntimeError(f"an executor has ddlog {_version()}, and the driver ddlog {own}")
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    start(address, key, number, outer_process())
                yield batch

        spark.range(0, count, 1, count).mapInArrow(begin, "number bigint").collect()

    return launch


def _version() -> str | None:
    with suppress(PackageNotFoundError):
        return version("ddlog")
    return None


def rows_in_workers(
    spark: SparkSession, codec: Codec, schema: Schema, doors: Doors, relation: str, nan: float
) -> DataFrame:
    """The rows of a relation that workers have now, with columns c0, c1, … and `w`: executors read them."""
    from pyspark.sql.pandas.types import from_arrow_schema

    wanted = arrow_schema(codec, schema)

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for parcel in taken(doors, number, relation):
                    values = Values(nan)
                    rows = to_arrow(values, codec, schema, unpacked(values, schema, parcel))
                    yield from rows.cast(wanted).to_batches()

    count = len(doors.addresses)
    return spark.range(0, count, 1, count).mapInArrow(read, from_arrow_schema(wanted))


class _WithCodec:
    """A pickle that `pickle.loads` reads with the codec's names of objects."""

    def __init__(self, codec: Codec, data: bytes) -> None:
        self._codec, self._data = codec, data

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, (self._data, self._codec.persistent_load)


def pickled_with(codec: Codec) -> Callable[[Any], bytes]:
    """A function that pickles values with the code of functions in them; objects that a codec names stay
    what they are."""
    return lambda value: pickle.dumps(_WithCodec(codec, pickled(value, codec.persistent_id)))
