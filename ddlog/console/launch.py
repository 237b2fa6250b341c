"""Sessions of the command line: the engine is chosen, noted in one line, and started."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import originals, relation_named
from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue
from ..io.places import Place, check_not_empty, only_spark, parse_places, total_size
from ..sessions.engines import (
    EngineChoice,
    EngineOptions,
    check_state,
    choose,
    memory_limit_of,
    session_is_active,
)
from ..sessions.options import SessionOptions
from ..sessions.program import Program
from ..sessions.session import Session
from ..sessions.sizes import weighed
from .options import NO_STATE, StateOptions, check_state_options
from .progress import ProgressLine
from .statefile import check_input

if TYPE_CHECKING:
    from ..durability.log import Durability


def launch(
    program: Program,
    inputs: Sequence[str],
    options: EngineOptions,
    *,
    relations: str | Iterable[str] = "all",
    max_iterations: int | None = None,
    progress: ProgressLine | None = None,
    state: StateOptions = NO_STATE,
    updates: bool = True,
    note: Callable[[str], None],
) -> Session:
    """A session on the engine that the options, the environment and the size of the inputs choose. `note` is
    told the engine and the reason, unless the user named the in-process engine. `updates` is what
    `Program.session` takes. Raises DDlogError."""
    check_not_empty(inputs)
    declared = program.relations
    places = parse_places(inputs, program.names("input"), declared, originals(declared))
    asks_for_spark = only_spark(places)
    open_to_all = options.engine == "auto" and not options.names_spark
    if state.state is not None and open_to_all:
        if "://" in state.state or Path(state.state, "log").is_dir():
            asks_for_spark = f"the state {state.state}"
        else:
            options = replace(options, engine="in-process")
    directory = None
    if state.checkpoint is not None:
        from ..spark.streaming.places import local_path, prepare, state_place

        directory = local_path(state.checkpoint)
    if directory is not None and open_to_all and options.engine == "auto":
        if (directory / "state").exists():
            options = replace(options, engine="in-process")
        elif (directory / "log").is_dir():
            asks_for_spark = f"the checkpoint {directory}"
    choice = choose(options, lambda: _size(places), asks_for_spark)
    if directory is not None:
        prepare(directory)
        state = replace(state, state=str(state_place(directory, choice.spark)))
    given = SessionOptions(
        relations=relations, max_iterations=max_iterations, progress=progress, maintain=options.maintain,
        state=state.state, durability=_durability(state), read_only=state.read_only,
        migrate=_migration(program, state), spill=options.spill,
    )  # fmt: skip
    if choice.spark:
        if state.state is not None:
            check_state(choice, given.durability, state.state)
        memory_limit_of(options.memory_limit, choice)
        from ..spark.sessions.connect import open_session

        note(f"{choice.text}{_where(choice)}")
        if progress is not None:
            progress("starting Spark", 0, 0)
        spark = open_session(choice.master, choice.remote, dict(options.conf))
        return _told(program.open(replace(given, spark=spark, updates=updates)), note)
    if options.engine == "auto":
        note(choice.text)
    there = state.state is not None and Path(state.state).is_file()
    in_process = replace(
        given, engine="in-process", workers=options.workers, memory_limit=options.memory_limit
    )
    session = program.open(in_process)
    if there and session.state.durable is not None and not session.state.durable.is_begun:
        name = Path(session.state.durable.place).name
        note(f"{name} is there, but empty: it begins now. A copy of a state needs {name}-wal, too")
    return _told(session, note)


@contextmanager
def loaded(
    program: Program,
    inputs: Sequence[str],
    options: EngineOptions,
    *,
    relations: str = "all",
    max_iterations: int | None = None,
    progress: ProgressLine,
    state: StateOptions = NO_STATE,
    note: Callable[[str], None],
) -> Iterator[Session]:
    """A session as of `launch` with the facts of its inputs, until the block ends. Raises DDlogError."""
    check_state_options(state, tuple(inputs))
    with progress:
        session = launch(
            program, inputs, options, relations=relations, max_iterations=max_iterations, progress=progress,
            state=state, note=note,
        )  # fmt: skip
    with session:
        with progress:
            if inputs:
                check_input(session, state)
                session.load(inputs, note=note, replace=state.replace)
            else:
                session.start()
        yield session


def _told(session: Session, note: Callable[[str], None]) -> Session:
    """The session, with a note if another program used its state last."""
    durable = session.state.durable
    if durable is not None:
        from ..sessions.transactions.durable_state import Notes

        durable.listen(Notes(note))
        if durable.changed:
            note("the program is not the one that last used the state: what it changes is derived anew")
    return session


def _migration(program: Program, state: StateOptions) -> bool | dict[str, str]:
    """The migration that options ask for. Raises DDlogError."""
    if not state.migrate:
        return False
    fill = {}
    for item in state.fill:
        name, equals, value = item.partition("=")
        relation, _, column = name.partition(".")
        declared = relation_named(relation, program.relations)
        if not equals or declared is None or column not in [each.name for each in declared.columns]:
            raise DDlogError([BadOptionValue("--fill", item, "REL.COL=VALUE, of a column of the program")])
        fill[f"{declared.name}.{column}"] = value
    return fill


def _durability(state: StateOptions) -> Durability:
    match state.durability:
        case "interval" | "exit" as given:
            return given
    return "commit"


def stop_engines() -> None:
    """Stops the Spark session that was started here, if any; a session that others started goes on."""
    if "pyspark" in sys.modules:
        from ..spark.sessions.connect import stop_started

        stop_started()


def _size(places: Sequence[Place]) -> int | None:
    return weighed(total_size(places)) if places else None


def _where(choice: EngineChoice) -> str:
    if choice.master or choice.remote:
        place = choice.remote or choice.master or ""
        return "" if place in choice.reason else f" on {place}"
    return "" if session_is_active() or "spark-submit" in choice.reason else " on local[*]"
