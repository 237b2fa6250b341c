"""What the user should know about the place of a large state, before its rows move there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..circuit import Circuit
from ..shards.placement import may_be_placed
from .settings import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MIB = 1 << 20
_ROW = 150  # bytes of a row of an input in workers, while it is loaded
_LEAST = 384  # MiB of overhead that Spark gives at least
_SIZE = re.compile(r"(\d+)\s*([kmgt]?)i?b?", re.IGNORECASE)
_UNITS = {"k": 1 << 10, "m": _MIB, "g": 1 << 30, "t": 1 << 40}
_COUNTED = ("yarn", "k8s")  # masters that end an executor whose processes take more than it was granted


class Stays(NamedTuple):
    """A state is larger than the driver's share, and cannot be in workers."""

    rows: int
    why: str


class Overhead(NamedTuple):
    """Workers need more MiB beside the Java process of an executor than it is granted."""

    needed: int
    granted: int


class Removed(NamedTuple):
    """Executors without tasks are removed, and their workers with them."""


Notice: TypeAlias = Stays | Overhead | Removed
Tell: TypeAlias = Callable[[Notice], None]


def why_not_in_workers(
    spark: SparkSession, circuit: Circuit, sendable: Callable[[Circuit], bool]
) -> str | None:
    """Why workers on the executors cannot hold the state of a circuit of changes; None: they can. `sendable`:
    whether its values mean the same in another process."""
    if is_connect(spark):
        return "workers need a classic session, and this is a client of Spark Connect"
    if not may_be_placed(circuit):
        return "a program with a rule with an effect, or a circuit with a bracket or a delay, is not divided"
    return None if sendable(circuit) else "the program has columns of functions, which cannot be sent"


def notices(spark: SparkSession, rows: int, workers: int) -> Iterator[Notice]:
    """What is to be said before so many workers are started for inputs of so many rows."""
    conf: Any = spark.sparkContext.getConf()
    if conf.get("spark.dynamicAllocation.enabled", "false") == "true":
        yield Removed()
    granted = overhead(conf)
    if granted is not None:
        needed = rows * _ROW * per_executor(spark, workers) // workers // _MIB
        if needed > granted // _MIB:
            yield Overhead(needed, granted // _MIB)


def overhead(conf: Any) -> int | None:
    """The bytes that a cluster manager grants an executor beside its Java process; None: it grants what there
    is."""
    if not (conf.get("spark.master") or "").startswith(_COUNTED):
        return None
    given = conf.get("spark.executor.memoryOverhead")
    if given:
        return _bytes(given)
    factor = float(conf.get("spark.executor.memoryOverheadFactor") or 0.1)
    least = conf.get("spark.executor.minMemoryOverhead") or f"{_LEAST}m"
    return max(int(factor * _bytes(conf.get("spark.executor.memory") or "1g")), _bytes(least))


def share(spark: SparkSession, workers: int) -> int | None:
    """The bytes that each of so many workers may take; None: its part of its machine."""
    granted = overhead(spark.sparkContext.getConf())
    return None if granted is None else granted // per_executor(spark, workers)


def per_executor(spark: SparkSession, workers: int) -> int:
    """The number of workers that come to run on one executor, if they are spread evenly."""
    context: Any = spark.sparkContext
    executors = max(1, int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1)  # without the driver
    return -(-workers // executors)


def _bytes(text: str) -> int:
    """A size of Spark's in bytes; a number alone is one of MiB."""
    found = _SIZE.fullmatch(text.strip())
    return int(found[1]) * _UNITS[found[2].lower() or "m"] if found else 0
