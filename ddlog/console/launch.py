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
    check_state,
    choose,
    memory_limit_of,
    session_is_active,
)
from ..sessions.options import SessionOptions
from ..sessions.program import Program
from ..sessions.session import Session
from ..sessions.sizes import weighed
from .notes import noting
from .options import LaunchOptions, check_launch
from .progress import ProgressLine
from .statefile import check_input

if TYPE_CHECKING:
    from ..durability.log import Durability


def launch(
    program: Program,
    given: LaunchOptions,
    note: Callable[[str], None],
    *,
    relations: str | Iterable[str] = "all",
    progress: ProgressLine | None = None,
    updates: bool = True,
) -> Session:
    """A session on the engine that the options, the environment and the size of the inputs choose. `note` is
    told the engine and the reason, unless the user named the in-process engine. `updates` is what
    `Program.session` takes. Raises DDlogError."""
    options = given.engine
    check_not_empty(given.input)
    declared = program.relations
    places = parse_places(given.input, program.names("input"), declared, originals(declared))
    asks_for_spark = only_spark(places)
    open_to_all = options.engine == "auto" and not options.names_spark
    if given.state is not None and open_to_all:
        if "://" in given.state or Path(given.state, "log").is_dir():
            asks_for_spark = f"the state {given.state}"
        else:
            options = replace(options, engine="in-process")
    directory = None
    if given.checkpoint is not None:
        from ..spark.streaming.places import local_path, prepare, state_place

        directory = local_path(given.checkpoint)
    if directory is not None and open_to_all and options.engine == "auto":
        if (directory / "state").exists():
            options = replace(options, engine="in-process")
        elif (directory / "log").is_dir():
            asks_for_spark = f"the checkpoint {directory}"
    choice = choose(options, lambda: _size(places), asks_for_spark)
    if directory is not None:
        prepare(directory)
        given = replace(given, state=str(state_place(directory, choice.spark)))
    wanted = SessionOptions(
        relations=relations, max_iterations=given.max_iterations, progress=progress,
        maintain=options.maintain, state=given.state, durability=_durability(given),
        read_only=given.read_only, migrate=_migration(program, given), spill=options.spill,
    )  # fmt: skip
    if choice.spark:
        if given.state is not None:
            check_state(choice, wanted.durability, given.state)
        memory_limit_of(options.memory_limit, choice)
        from ..spark.sessions.connect import open_session

        note(f"{choice.text}{_where(choice)}")
        if progress is not None:
            progress("starting Spark", 0, 0)
        spark = open_session(choice.master, choice.remote, dict(options.conf))
        return _told(program.open(replace(wanted, spark=spark, updates=updates)), note)
    if options.engine == "auto":
        note(choice.text)
    there = given.state is not None and Path(given.state).is_file()
    in_process = replace(
        wanted, engine="in-process", workers=options.workers, memory_limit=options.memory_limit
    )
    session = program.open(in_process)
    if there and session.state.durable is not None and not session.state.durable.is_begun:
        name = Path(session.state.durable.place).name
        note(f"{name} is there, but empty: it begins now. A copy of a state needs {name}-wal, too")
    return _told(session, note)


@contextmanager
def loaded(
    program: Program, options: LaunchOptions, progress: ProgressLine, relations: str = "all"
) -> Iterator[Session]:
    """A session as of `launch` with the facts of its inputs, until the block ends. Raises DDlogError."""
    check_launch(options)
    note = noting(options.quiet)
    with progress:
        session = launch(program, options, note, relations=relations, progress=progress)
    with session:
        with progress:
            if options.input:
                check_input(session, options)
                session.load(options.input, note=note, replace=options.replace)
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


def _migration(program: Program, options: LaunchOptions) -> bool | dict[str, str]:
    """The migration that options ask for. Raises DDlogError."""
    if not options.migrate:
        return False
    fill = {}
    for item in options.fill:
        name, equals, value = item.partition("=")
        relation, _, column = name.partition(".")
        declared = relation_named(relation, program.relations)
        if not equals or declared is None or column not in [each.name for each in declared.columns]:
            raise DDlogError([BadOptionValue("--fill", item, "REL.COL=VALUE, of a column of the program")])
        fill[f"{declared.name}.{column}"] = value
    return fill


def _durability(options: LaunchOptions) -> Durability:
    match options.durability:
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
