"""`ddlog run`: facts in, output relations out, then updates and their exact changes."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path

from ..commands.commands import Start
from ..commands.interpreter import Command, Interpreter
from ..commands.sqlreader import SqlReader
from ..commands.update import Update, UpdateRun
from ..commands.updatefiles import check_updates, is_separated, update_commands
from ..core import Relation, originals, relation_named
from ..errors.diagnostics import DDlogError, Note
from ..errors.options import BadOptionValue, CannotBeCombined, OptionNeeded
from ..errors.source import Source
from ..errors.spark import OnlySparkWrites
from ..errors.unknown import unknown_relation
from ..io.dialects import check_fits
from ..io.files import split_name
from ..io.formats import TABLE_FORMATS
from ..io.places import Place, parse_places, shown
from ..io.refusals import Refuse, Skipped, skipping, stop
from ..io.write import make_directory
from ..sessions.program import Program
from ..sessions.results import Changes
from ..sessions.session import Session
from .deltas import shows
from .launch import launch
from .notes import Note as Tell
from .notes import noting, warning
from .options import RunOptions, check_options, is_elsewhere
from .phases import OTHERS, PREPARING, PRINTING, READING, Phases
from .printer import printing_sink, row_lines
from .profiles import check_profile, profiled
from .progress import ProgressLine
from .sinks import ChangeSink, FileSink, TextSink, print_line
from .snapshot import show_snapshot
from .standardinput import waits_unread
from .statefile import check_input


def run(program: Program, options: RunOptions, phases: Phases) -> None:
    """Runs a program to standard output and files. Raises DDlogError."""
    phases.switch(PREPARING)
    check_options(options)
    check_profile(options.profile)
    updates = _update_places(program, options)
    chosen = _chosen(program, options)
    if _shows_tables(options):
        options = replace(options, format="table")
    if options.follow is not None:
        if program.script is not None:
            reason = "the program ends with statements: write them to a file for --updates"
            raise DDlogError([CannotBeCombined("--follow", program.source.name, reason)])
        from .follow import check_follow

        check_follow(options.follow, program.names("input"))
    if options.output is not None and not is_elsewhere(options.output):
        _make_output(Path(options.output))
    note, progress = noting(options.quiet), ProgressLine(options.quiet)
    with progress:
        session = launch(
            program, options.input, options.engine, relations=_kept(program, chosen, options),
            max_iterations=options.max_iterations, progress=progress, state=options, note=note,
            updates=bool(updates or options.follow or options.state or options.profile or program.script),
        )  # fmt: skip
    skipped = skipping(options.on_error)
    lasts = options.state is not None or options.checkpoint is not None
    try:
        with session if lasts else nullcontext(), profiled(session, options.profile, phases):
            phases.switch(READING)
            _run_on(session, chosen, options, updates, skipped, note, progress, phases)
            phases.switch(OTHERS)
    finally:
        if skipped is not None:
            skipped.close(note)


def _shows_tables(options: RunOptions) -> bool:
    """Whether a person looks at the rows of the snapshot, and at nothing else."""
    other = options.format or options.output or options.updates or options.follow or options.sizes
    return not other and not options.explain and sys.stdout.isatty()


def _make_output(folder: Path) -> None:
    """Makes the folder of the output. Raises DDlogError, also for a new one with the name of a file."""
    named = split_name(folder)
    if named is not None and not folder.exists():
        expected = f"a folder, in which each relation is a file: --output DIR --format {named[1]}"
        raise DDlogError([BadOptionValue("--output", str(folder), expected)])
    make_directory(folder)


def _update_places(program: Program, options: RunOptions) -> Sequence[Place]:
    """The places of the updates, after a look whether they are there. Raises DDlogError."""
    relations = program.relations
    places = parse_places(options.updates, program.names("input"), relations, originals(relations))
    for place in places:
        if place.relation is not None and not is_separated(place.text):
            expected = "rows with +1 or -1 after REL=, in a file that ends in .csv, .tsv or .facts"
            raise DDlogError([BadOptionValue("--updates", shown(place), expected)])
        check_updates(place.text)
        check_fits(place.dialect, place.text.removesuffix(".gz").rpartition(".")[2].lower(), place.text)
    return places


def _write_changes(session: Session, chosen: Sequence[Relation], options: RunOptions) -> None:
    """Writes the changes of relations from now on, a folder an epoch."""
    from .epochfiles import StateFiles

    StateFiles(session, [each.name for each in chosen], Path(options.output or ""))


def _run_on(
    session: Session,
    chosen: Sequence[Relation],
    options: RunOptions,
    updates: Sequence[Place],
    skipped: Skipped | None,
    note: Tell,
    progress: ProgressLine,
    phases: Phases,
) -> None:
    """The run on a session that has just begun."""
    if options.follow is not None:
        from .follow import follow

        follow(session, options, [relation.name for relation in chosen], note, progress, skipped)
        return
    with progress:
        if options.output is not None and is_elsewhere(options.output) and not session.on_spark:
            raise DDlogError([OnlySparkWrites(options.output)])
        resumed = session.resumed
        to_files = options.state is not None and options.output is not None and options.delta != "none"
        if to_files and session.resumed:
            _write_changes(session, chosen, options)
        first = _first_commit(session, options, note, skipped)
        if to_files and not session.resumed:
            _write_changes(session, chosen, options)
    script = session.program.script
    if script is not None and not resumed:
        _carry_out_script(session, script, options, note, progress)
    if options.explain:
        frames = session.state.host.offer.frames
        if frames is None:
            raise DDlogError([OptionNeeded("--explain", "--engine spark", "the plans are those of Spark")])
        for relation in chosen:
            print_line(f"{relation.name}:\n{frames.explained(relation.name)}\n")
        return
    if options.init_snapshot:
        with phases.during(PRINTING):
            show_snapshot(session, chosen, options, first)
    if updates:
        _apply_updates(session, updates, chosen, options, skipped or stop, note, progress, phases)
    if all(place.text != "-" for place in updates) and waits_unread():
        note("standard input is not read: --updates - applies it")


def _chosen(program: Program, options: RunOptions) -> list[Relation]:
    """The relations of --relation and the answers to --query, or all output relations."""
    asked = []
    for name in options.relations:
        declared = relation_named(name, program.relations)
        if declared is None:
            raise DDlogError([unknown_relation(name, program.relations, program.indexes)])
        asked.append(declared.name)
    names = [*asked, *_answers(options)]
    return [program.relations[name] for name in (dict.fromkeys(names) if names else program.names("output"))]


def _answers(options: RunOptions) -> Sequence[str]:
    """The names of the answers to --query."""
    if not options.queries:
        return ()
    from ..demand.question import answer_names

    return answer_names(len(options.queries))


def _kept(program: Program, chosen: Sequence[Relation], options: RunOptions) -> list[str]:
    """The relations that the session computes."""
    kept = {relation.name for relation in chosen}
    if options.queries:
        return sorted(kept)
    if options.updates or options.follow is not None:
        kept.update(program.names("output"))
    if options.updates:
        kept.update(index.source for index in program.indexes.values())
    return sorted(kept)


def _first_commit(session: Session, options: RunOptions, note: Tell, skipped: Skipped | None) -> Changes:
    # A session with a state has sessions after it, which can begin with what this one derives.
    lasting = options.state is not None and not options.read_only
    static = not options.updates and not lasting and session.program.script is None
    if not options.input:
        return session.start(static=static)
    check_input(session, options)
    return session.load(options.input, note=note, static=static, replace=options.replace, refuse=skipped)


def _carry_out_script(
    session: Session, script: Source, options: RunOptions, note: Tell, progress: ProgressLine
) -> None:
    """Carries out the statements behind the views of a module of SQL, before its outputs are printed."""
    commits = list[Changes]()
    interpreter = Interpreter(
        session,
        print_line,
        lambda changes, asked: commits.append(changes),
        [],
        lines=row_lines(options.format),
        warned=warning(options.quiet),
    )
    reader = SqlReader(session.program.relations, session.typedefs, script.name, script)
    reader.feed(script.text)
    try:
        _carry_out(interpreter, reader.commands(final=True, runs=True), note, progress)
    except DDlogError as error:
        raise _after(len(commits), error) from None


def _apply_updates(
    session: Session,
    updates: Sequence[Place],
    chosen: Sequence[Relation],
    options: RunOptions,
    refuse: Refuse,
    note: Tell,
    progress: ProgressLine,
    phases: Phases,
) -> None:
    program = session.program
    with ExitStack() as open_files:
        sinks = _sinks(session, chosen, options, open_files) if options.delta != "none" else []

        commits = itertools.count()

        def changed(changes: Changes, dump_changes: bool) -> None:
            next(commits)
            before = phases.switch(PRINTING)
            try:
                for sink in sinks if shows(options.delta, dump_changes) else ():
                    sink(changes)
            finally:
                phases.switch(before)

        outputs = [name for name in program.names("output") if session.keeps(name)]
        interpreter = Interpreter(
            session,
            print_line,
            changed,
            outputs,
            store=options.store,
            refuse=refuse,
            lines=row_lines(options.format),
            warned=warning(options.quiet),
        )
        for place in updates:
            commands = update_commands(
                place.text, program.relations, session.typedefs, program.indexes,
                relation=place.relation, runs=True, dialect=place.dialect, refuse=refuse,
                like=program.source,
            )  # fmt: skip
            try:
                _carry_out(interpreter, commands, note, progress)
            except DDlogError as error:
                raise _after(next(commits), error) from None


_SHORT = (Start, Update, UpdateRun)
"""Commands that take too little time to show progress."""


def _carry_out(
    interpreter: Interpreter, commands: Iterable[Command], note: Tell, progress: ProgressLine
) -> None:
    """Carries out the commands of one file. Raises DDlogError."""
    interpreter.ended = False
    for command in commands:
        if command.action.__class__ in _SHORT:
            interpreter.step(command)
        else:
            with progress:
                interpreter.step(command)
        if interpreter.ended:
            break
    else:
        interpreter.flush()
    if interpreter.in_transaction:
        note("the last transaction was not committed")
    interpreter.forget()


def _after(commits: int, error: DDlogError) -> DDlogError:
    """The error of an update, which tells of the commits before it."""
    if not commits:
        return error
    text = "the commit before this stands" if commits == 1 else f"the {commits:,} commits before this stand"
    *first, last = error.diagnostics
    return DDlogError([*first, replace(last, notes=(*last.notes, Note(text)))])


def _sinks(
    session: Session, chosen: Sequence[Relation], options: RunOptions, open_files: ExitStack
) -> list[ChangeSink]:
    """The sinks for the changes of each commit."""
    names = [relation.name for relation in chosen]
    sinks: list[ChangeSink] = [TextSink(names)]
    if options.format is not None and options.output is None:
        sinks = [printing_sink(session, names, options.format)]
    if options.output is not None and options.format not in TABLE_FORMATS and options.state is None:
        form = "jsonl" if options.format == "json" else options.format or "csv"
        sinks.append(FileSink(session, chosen, Path(options.output), form, open_files))
    return sinks
