"""Updates of `ddlog run`: files of updates, and the statements of a module of SQL, each commit with its exact
changes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from ..commands.commands import Start
from ..commands.interpreter import Command, Interpreter
from ..commands.sqlreader import SqlReader
from ..commands.update import Update, UpdateRun
from ..commands.updatefiles import check_updates, update_commands
from ..core import Relation, originals
from ..errors.diagnostics import DDlogError, Note
from ..errors.options import BadOptionValue
from ..errors.source import Source
from ..io.dialects import check_fits
from ..io.filenames import is_separated
from ..io.formats import TABLE_FORMATS
from ..io.places import Place, parse_places, shown
from ..io.refusals import Refuse
from ..sessions.program import Program
from ..sessions.results import Changes
from ..sessions.session import Session
from .deltas import shows
from .notes import Note as Tell
from .notes import warning
from .options import RunOptions
from .phases import PRINTING, Phases
from .printer import row_lines
from .progress import ProgressLine
from .sinks import ChangeSink, file_sink, print_line, printing_sink


def checked_updates(program: Program, options: RunOptions) -> Sequence[Place]:
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


def carry_out_script(
    session: Session, script: Source, options: RunOptions, note: Tell, progress: ProgressLine
) -> None:
    """Carries out the statements behind the views of a module of SQL, before its outputs are printed. Raises
    DDlogError."""
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


def apply_updates(
    session: Session,
    updates: Sequence[Place],
    chosen: Sequence[Relation],
    options: RunOptions,
    refuse: Refuse,
    note: Tell,
    progress: ProgressLine,
    phases: Phases,
) -> None:
    """Applies files of updates one after another, and tells the changes of each commit. Raises DDlogError."""
    program = session.program
    with ExitStack() as open_files:
        sinks = _sinks(session, chosen, options, open_files) if options.delta != "none" else []

        commits = itertools.count()

        def changed(changes: Changes, dump_changes: bool) -> None:
            next(commits)
            before = phases.switch(PRINTING) if options.profile else None
            try:
                for sink in sinks if shows(options.delta, dump_changes) else ():
                    sink(changes)
            finally:
                if before is not None:
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
    sinks = [printing_sink(session, names, options.format if options.output is None else None)]
    if options.output is not None and options.format not in TABLE_FORMATS and options.state is None:
        form = "jsonl" if options.format == "json" else options.format or "csv"
        sinks.append(file_sink(session, chosen, Path(options.output), form, open_files))
    return sinks
