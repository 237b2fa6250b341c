"""`ddlog run`: facts in, output relations out, then updates and their exact changes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ..commands.interpreter import ChangeSink, Interpreter, dump_lines
from ..commands.updates import check_updates, update_commands
from ..core import Relation
from ..errors import usage as errors
from ..errors.diagnostics import DDlogError
from ..errors.nearest import nearest
from ..errors.spark import OnlySparkWrites
from ..io.delimitedfiles import csv_header
from ..io.write import make_directory, row_writer, write_relation
from ..sessions.engines import EngineOptions
from ..sessions.program import Program
from ..sessions.results import Changes
from ..sessions.session import Session
from .changesinks import FileSink, LineSink, TextSink, print_lines
from .follow import FollowOptions, check_follow, follow
from .launch import launch
from .progress import Progress


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What `ddlog run` was asked to do."""

    input: tuple[str, ...] = ()
    output: str | None = None
    format: str | None = None
    updates: str | None = None
    relations: tuple[str, ...] = ()
    sizes: bool = False
    max_iterations: int | None = None
    quiet: bool = False
    engine: EngineOptions = field(default_factory=EngineOptions)
    follow: str | None = None
    checkpoint: str | None = None
    once: bool = False
    every: str | None = None
    init_snapshot: bool = True
    delta: bool = True
    store: bool = True


def run(program: Program, options: RunOptions) -> None:
    """Runs a program to standard output and files. Raises DDlogError."""
    _check_options(options)
    if options.updates is not None:
        check_updates(options.updates)
    chosen = _chosen(program, options.relations)
    following = _following(program, chosen, options)
    if options.output is not None and not is_elsewhere(options.output):
        make_directory(Path(options.output))
    progress = Progress(options.quiet)
    wanted = {relation.name for relation in chosen}
    if options.updates is not None or following is not None:
        wanted.update(program.names("output"))
    if options.updates is not None:
        wanted.update(index.source for index in program.indexes.values())
    with progress:
        session = launch(
            program, options.input, options.engine, relations=sorted(wanted),
            max_iterations=options.max_iterations, progress=progress, note=_note(options),
        )  # fmt: skip
        if options.output is not None and is_elsewhere(options.output) and not session.on_spark:
            raise DDlogError([OnlySparkWrites(options.output)])
        first = _first_commit(session, options)
    if following is not None:
        follow(session, first, following, _note(options))
        return
    if options.init_snapshot:
        _show_state(session, chosen, options, first)
    if options.updates is not None:
        _apply_updates(session, program, chosen, options, progress)


def _following(program: Program, chosen: Sequence[Relation], options: RunOptions) -> FollowOptions | None:
    """What to follow, if anything. Raises DDlogError."""
    if options.follow is None:
        return None
    names = tuple(relation.name for relation in chosen)
    following = FollowOptions(
        options.follow, names, options.checkpoint, options.output, options.format, options.input,
        options.once, options.every, options.engine.conf,
    )  # fmt: skip
    check_follow(following, program.names("input"))
    return following


def _check_options(options: RunOptions) -> None:
    if options.follow is not None and (options.updates is not None or options.sizes):
        other = "--updates" if options.updates is not None else "--sizes"
        raise DDlogError([errors.BadOptions(f"--follow does not go with {other}")])
    if options.follow is None:
        given = (("--checkpoint", options.checkpoint), ("--once", options.once), ("--every", options.every))
        for name, value in given:
            if value:
                raise DDlogError([errors.BadOptions(f"{name} needs --follow")])
    if options.updates is None:
        flags = (("init-snapshot", options.init_snapshot), ("delta", options.delta), ("store", options.store))
        for name, wanted in flags:
            if not wanted:
                problem = f"--no-{name} is about the commits of update files: it needs --updates"
                raise DDlogError([errors.BadOptions(problem)])
    elif options.sizes and not options.init_snapshot:
        raise DDlogError([errors.BadOptions("--sizes are those before the updates: not --no-init-snapshot")])
    if options.format == "parquet" and options.output is None:
        raise DDlogError([errors.BadOptions("--format parquet needs --output: it is no text")])
    if options.sizes and options.format is not None and options.output is None and options.updates is None:
        raise DDlogError([errors.BadOptions("--sizes prints no rows that could have a --format")])
    if options.output is not None and is_elsewhere(options.output):
        if options.updates is not None:
            problem = f"--output {options.output} takes no --updates: their changes go to a local directory"
            raise DDlogError([errors.BadOptions(problem)])
        if options.output.startswith("table:") and options.format is not None:
            raise DDlogError([errors.BadOptions("--output table:… has no --format")])


def is_elsewhere(output: str) -> bool:
    """Whether an output is a table or a URL, which only Spark writes."""
    return output.startswith("table:") or ("://" in output and not output.startswith("file:"))


def _chosen(program: Program, names: Sequence[str]) -> list[Relation]:
    """The relations to give out: the named ones, or all output relations."""
    for name in names:
        if name not in program.relations:
            raise DDlogError([errors.UnknownRelation(name, nearest(name, program.relations))])
    return [program.relations[name] for name in (dict.fromkeys(names) if names else program.names("output"))]


def _first_commit(session: Session, options: RunOptions) -> Changes:
    static = options.updates is None and options.follow is None
    if not options.input:
        return session.start(static=static)
    return session.load(options.input, note=_note(options), static=static)


def _note(options: RunOptions) -> Callable[[str], None]:
    return (lambda text: None) if options.quiet else tell


def tell(text: str) -> None:
    """A note to the user, on stderr."""
    print(f"note: {text}", file=sys.stderr)


def _show_state(session: Session, chosen: Sequence[Relation], options: RunOptions, first: Changes) -> None:
    """The relations after the first commit: sizes, files, or text."""
    if options.output is not None and session.on_spark:
        for relation in chosen:
            session.write(relation.name, options.output, options.format or "csv")
    elif options.output is not None:
        for relation in chosen:
            view = session[relation.name]
            write_relation(
                Path(options.output),
                options.format or "csv",
                relation,
                session.typedefs,
                view.tuples(),
                view.stored.columns,
                view.stored.weights,
            )
    if options.sizes:
        print_lines(f"{relation.name}\t{session.size(relation.name)}" for relation in chosen)
    elif options.output is not None:
        pass
    elif options.format is not None:
        print_lines(_formatted(session, chosen, options.format))
    elif options.updates is not None and not options.input:
        print_lines(first.lines([relation.name for relation in chosen]))
    else:
        print_lines(dump_lines(session, [relation.name for relation in chosen]))
    sys.stdout.flush()


def _formatted(session: Session, chosen: Sequence[Relation], format: str) -> Iterator[str]:
    """Relations as CSV, TSV or JSON lines; of several, lines or blocks name their relation."""
    for relation in chosen:
        line = row_writer(format, relation, session.typedefs)
        if format == "jsonl":
            for row in session[relation.name].tuples():
                item = line(row).removesuffix("\n")
                yield item if len(chosen) == 1 else f"{{{json.dumps(relation.name)}: {item}}}"
            continue
        if len(chosen) > 1:
            yield f"{relation.name}:"
        if format == "csv":
            yield csv_header(relation).removesuffix("\n")
        for row in session[relation.name].tuples():
            yield line(row).removesuffix("\n")
        if len(chosen) > 1:
            yield ""


def _apply_updates(
    session: Session, program: Program, chosen: Sequence[Relation], options: RunOptions, progress: Progress
) -> None:
    assert options.updates is not None
    with ExitStack() as open_files:
        sinks = _sinks(session, chosen, options, open_files) if options.delta else []

        def changed(changes: Changes, asked: bool) -> None:
            for sink in sinks:
                sink(changes, asked)

        interpreter = Interpreter(session, show, changed, program.names("output"), store=options.store)
        note = _note(options)
        for command in update_commands(
            options.updates, program.relations, session.typedefs, note, program.indexes
        ):
            with progress:
                interpreter.step(command)
            if interpreter.ended:
                break
        else:
            interpreter.flush()
        if interpreter.in_transaction:
            note("the last transaction was not committed")
        interpreter.forget()


def _sinks(
    session: Session, chosen: Sequence[Relation], options: RunOptions, open_files: ExitStack
) -> list[ChangeSink]:
    """Where the changes of each commit go."""
    names = [relation.name for relation in chosen]
    sinks: list[ChangeSink] = [TextSink(names)]
    if options.format is not None and options.output is None:
        sinks = [LineSink(session, names, options.format)]
    if options.output is not None and options.format != "parquet":
        sinks.append(FileSink(session, chosen, Path(options.output), options.format or "csv", open_files))
    return sinks


def show(line: str) -> None:
    """Prints a line of output at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
