"""A session is opened: a circuit on a host, and the state that it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine import memory
from .collector import paused
from .computedrelations import check_externs, kept_of, live_rows, sparing_of, wanted_names
from .hosts.host import Host, here_of
from .hosts.inprocess import open_host as open_in_process
from .hosts.on_spark import on_spark
from .options import SessionOptions
from .program import Program
from .session import Session

if TYPE_CHECKING:
    from ..engine.circuit import Circuit
    from .transactions.durable_state import DurableState


def open_session(program: Program, options: SessionOptions) -> Session:
    """A session of a program in its initial state, with the program's own facts. Raises DDlogError."""
    options.check()
    check_externs(program)
    wanted = wanted_names(program, options.relations, options.state is not None)
    memory.give_back()  # what a session had that is gone
    with paused():
        circuit = program.circuit(
            "incremental", wanted, records="values" if options.choice.spark else "columns"
        )
        host = open_host(program, circuit, options)
    kept = kept_of(program, circuit)
    session = Session(program, host, kept, options.max_iterations, options.progress, options.updates)
    session.state.wanted = options.relations if isinstance(options.relations, str) else wanted
    session.state.sparing = sparing_of(program, host, wanted, kept)
    if options.state is not None:
        session.state.durable = open_durable(program, kept, host, options)
    return session


def open_host(program: Program, circuit: Circuit, options: SessionOptions) -> Host:
    """The host of a session: in process, or on a Spark session, by default that of this process or a new one.
    Raises DDlogError."""
    if not options.choice.spark:
        return open_in_process(
            program, circuit, options.workers, options.limit, options.maintain, options.spill
        )
    opened = on_spark().open_host if options.updates else on_spark().open_batch
    return opened(program, circuit, options.spark, options.spark_options, options.maintain)


def open_durable(
    program: Program, computed: frozenset[str], host: Host, options: SessionOptions
) -> DurableState:
    """The state of a session that computes these relations: a file, or a folder on Spark. Raises
    DDlogError."""
    place, how = options.place, (options.durability, options.read_only, options.fill)
    assert place is not None
    if host.offer.frames is not None:
        durable: DurableState = on_spark().open_durable(program, computed, host, place, *how)
        return durable
    from .persistence.checkpoints import Checkpointing
    from .persistence.durable import Durable
    from .persistence.windowcontents import kept_windows

    fields = here_of(host)
    windows = kept_windows(program, computed, fields.circuit)
    durability, read_only, fill = how
    durable = Durable.open(program, computed, place, durability, windows, live_rows(host), read_only, fill)
    fields.remember(windows.nodes)
    if options.max_iterations is None:
        durable.keep_checkpoints(Checkpointing(program, durable.store, fields))
    return durable
