"""A session is opened: a circuit on a host, and the state that it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .collector import paused
from .computed import check_externs, kept_of, live_rows, sparing_of, wanted_names
from .engines import EngineChoice
from .hosts.host import Host, here_of
from .hosts.inprocess import open_host as open_in_process
from .hosts.on_spark import on_spark
from .options import SessionOptions
from .program import Program
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from ..durability.log import Durability
    from ..engine.circuit import Circuit
    from ..engine.maintaining import Mode
    from ..engine.spark.runtime import SparkOptions
    from .transactions.durable_state import DurableState


def open_session(program: Program, options: SessionOptions) -> Session:
    """A session of a program in its initial state, with the program's own facts. Raises DDlogError."""
    options.check()
    check_externs(program)
    choice, place = options.choice, options.place
    wanted = wanted_names(program, options.relations, place is not None)
    with paused():
        circuit = program.circuit("incremental", wanted, records="values" if choice.spark else "columns")
        host = open_host(
            choice, program, circuit, options.spark, options.spark_options, options.workers, options.limit,
            options.maintain, options.updates,
        )  # fmt: skip
    kept = kept_of(program, circuit)
    session = Session(program, host, kept, options.max_iterations, options.progress, options.updates)
    session.state.wanted = options.relations if isinstance(options.relations, str) else wanted
    session.state.sparing = sparing_of(program, host, wanted, kept)
    if place is not None:
        limited = options.max_iterations is not None
        session.state.durable = open_durable(
            program, kept, host, place, options.durability, options.read_only, options.fill, limited
        )
    return session


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
    opened = on_spark().open_host if updates else on_spark().open_batch
    return opened(program, circuit, spark, options, maintain)


def open_durable(
    program: Program,
    computed: frozenset[str],
    host: Host,
    place: str,
    durability: Durability,
    read_only: bool,
    fill: Mapping[str, Any] | None,
    limited: bool,
) -> DurableState:
    """The state of a session that computes these relations: a file, or a folder on Spark. `fill` not None:
    with rows that are migrated; `limited`: the iterations of recursions are. Raises DDlogError."""
    if host.offer.frames is not None:
        durable: DurableState = on_spark().open_durable(
            program, computed, host, place, durability, read_only, fill
        )
        return durable
    from .persistence.checkpointing import Checkpointing
    from .persistence.durable import Durable
    from .persistence.windowed import kept_windows

    fields = here_of(host)
    windows = kept_windows(program, computed, fields.circuit)
    live = live_rows(host)
    durable = Durable.open(program, computed, place, durability, windows, live, read_only, fill)
    fields.remember(windows.nodes)
    if not limited:
        durable.keep_checkpoints(Checkpointing(program, durable.store, fields))
    return durable
