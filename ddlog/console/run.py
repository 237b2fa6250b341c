"""`ddlog run`: facts in, output relations out, then updates and their exact changes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from ..core import Relation, relation_named
from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue, CannotBeCombined, OptionNeeded
from ..errors.unknown import unknown_relation
from ..io.files import split_name
from ..io.places import Place
from ..io.refusals import Skipped, skipping, stop
from ..io.write import make_directory
from ..sessions.program import Program
from ..sessions.results import Changes
from ..sessions.session import Session
from .launch import launch
from .notes import Note as Tell
from .notes import noting
from .options import RunOptions, check_options, is_elsewhere
from .phases import OTHERS, PREPARING, PRINTING, READING, Phases
from .profiles import check_profile, profiled
from .progress import ProgressLine
from .sinks import print_line
from .snapshot import show_snapshot
from .standardinput import waits_unread
from .statefile import check_input


def run(program: Program, options: RunOptions, phases: Phases) -> None:
    """Runs a program to standard output and files. Raises DDlogError."""
    phases.switch(PREPARING)
    check_options(options)
    check_profile(options.profile)
    updates: Sequence[Place] = ()
    if options.updates:
        from .runupdates import checked_updates

        updates = checked_updates(program, options)
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
            program, options, note, relations=_kept(program, chosen, options), progress=progress,
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
            from ..errors.spark import OnlySparkWrites

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
        from .runupdates import carry_out_script

        carry_out_script(session, script, options, note, progress)
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
        from .runupdates import apply_updates

        apply_updates(session, updates, chosen, options, skipped or stop, note, progress, phases)
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
