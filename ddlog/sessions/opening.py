"""A session is opened: a circuit on a host, and the state that it keeps."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors.diagnostics import DDlogError
from .asking.sparing import Sparing
from .collector import paused
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

_MANY = 1 << 60
"""Stands for the rows of a relation that has not been brought up to the last epoch."""


def open_session(program: Program, options: SessionOptions) -> Session:
    """A session of a program in its initial state, with the program's own facts. Raises DDlogError."""
    options.check()
    check_externs(program)
    choice, place = options.choice, options.place
    wanted = program.kept_names(options.relations)
    if place is not None:
        wanted = (*wanted, *(name for name in program.names("input") if name not in wanted))
    with paused():
        circuit = program.circuit("incremental", wanted, records="values" if choice.spark else "columns")
        host = open_host(
            choice, program, circuit, options.spark, options.spark_options, options.workers, options.limit,
            options.maintain, options.updates,
        )  # fmt: skip
    kept = frozenset(name for name, _ in circuit.relations if name in program.relations)
    session = Session(program, host, kept, options.max_iterations, options.progress, options.updates)
    if place is None and host.offer.here is not None and _may_be_whole(program, kept):
        whole = partial(program.circuit, "incremental", wanted, demand=False)
        session.state.sparing = Sparing(host.offer.here, whole)
    if place is not None:
        limited = options.max_iterations is not None
        session.state.durable = open_durable(
            program, kept, host, place, options.durability, options.read_only, options.fill, limited
        )
    return session


def check_externs(program: Program) -> None:
    """Loads the Python files of a program's extern functions. Raises DDlogError."""
    if program.checked.externs:
        from ..codegen.programexterns import loading_problems

        problems = loading_problems(program.checked)
        if problems:
            raise DDlogError(problems)


def _may_be_whole(program: Program, wanted: Iterable[str]) -> bool:
    """Whether some of the wanted relations are on demand, and no state but that of the inputs tells what
    they are."""
    if not any(program.relations[name].demand for name in wanted):
        return False
    from ..demand.demanded import there_anyway

    return there_anyway(program.checked) <= {*program.names("input")}


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

    def live(relation: str) -> int:
        return host.runtime.size(relation) if fields.is_settled else _MANY

    windows = kept_windows(program, computed, fields.circuit)
    durable = Durable.open(program, computed, place, durability, windows, live, read_only, fill)
    fields.remember(windows.nodes)
    if not limited:
        durable.keep_checkpoints(Checkpointing(program, durable.store, fields))
    return durable
