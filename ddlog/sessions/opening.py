"""The doors from sessions to Spark, which stands above them: the host of a session, and streams.

Their modules are named here and imported when they are needed, so that sessions neither depend on Spark nor
import it in-process. Nothing else in this room knows of these modules.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .hosts.engines import EngineChoice
from .hosts.host import Host, StreamHandle
from .hosts.inprocess import InProcessHost
from .hosts.inprocess import open_host as open_in_process
from .program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from ..durability.log import Durability
    from ..engine.circuit import Circuit
    from ..engine.maintaining import Mode
    from ..engine.spark.runtime import SparkOptions
    from .session import Session
    from .transactions.durable_state import Keeping

ON_SPARK = {
    "host": "ddlog.spark.sessions.host",
    "state": "ddlog.spark.state.durable",
    "batch": "ddlog.spark.sessions.batch",
    "stream": "ddlog.spark.streaming.stream",
}
"""The module of each door."""


_MANY = 1 << 60
"""Stands for the rows of a state that has not been brought up to its last epoch."""


def open_host(
    choice: EngineChoice,
    program: Program,
    circuit: Circuit,
    spark: SparkSession | None,
    options: SparkOptions | None,
    workers: int | None,
    memory_limit: int | None,
    maintain: Mode = "auto",
    updates: bool = True,
) -> Host:
    """The host of a session: in-process with so many workers, or on a Spark session (None: the one of this
    process, or a new one). `updates`: whether changes may follow the first. Raises DDlogError."""
    if not choice.spark:
        return open_in_process(program, circuit, workers, memory_limit, maintain)
    door = "host" if updates else "batch"
    opened = getattr(import_module(ON_SPARK[door]), f"open_{door}")
    host: Host = opened(program, circuit, spark, options, maintain)
    return host


def open_durable(
    program: Program,
    computed: frozenset[str],
    host: Host,
    place: str,
    durability: Durability,
    read_only: bool,
    fill: Mapping[str, Any] | None,
    limited: bool,
) -> Keeping:
    """The state of a session that computes these relations: a file, or a folder on Spark. `fill` not None:
    with rows that are migrated; `limited`: the iterations of recursions are. Raises DDlogError."""
    if host.spark is not None:
        keeping: Keeping = import_module(ON_SPARK["state"]).open_durable(
            program, computed, host, place, durability, read_only, fill
        )
        return keeping
    from .persistence.checkpointing import Checkpointing
    from .persistence.durable import Durable
    from .persistence.windowed import kept_windows

    assert isinstance(host, InProcessHost)
    windows = kept_windows(program, computed, host.fields.circuit)
    durable = Durable.open(program, computed, place, durability, windows, read_only, fill)
    host.fields.remember(windows.nodes)
    if not limited:
        durable.keep_checkpoints(Checkpointing(program, durable.store, host.fields))
    fields = host.fields
    durable.live = lambda: sum(map(host.runtime.size, durable.kept.with_rows)) if fields.is_settled else _MANY
    return durable


def start_stream(session: Session, source: DataFrame, relation: str, **how: Any) -> StreamHandle:
    """A stream that drives a session, started. See `ddlog.spark.streaming.stream`. Raises DDlogError."""
    stream: StreamHandle = import_module(ON_SPARK["stream"]).stream(session, source, relation, **how)
    return stream
