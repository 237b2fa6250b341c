"""The snapshot of a run: the relations after the first commit, as sizes, as text or in files."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from ..core import Relation
from ..demand.question import answer_names
from ..io.write import write_relation
from ..sessions.results import Changes
from ..sessions.results.lines import record_lines
from ..sessions.session import Session
from .options import RunOptions
from .printer import printed_tables
from .sinks import print_lines


def show_snapshot(session: Session, chosen: Sequence[Relation], options: RunOptions, first: Changes) -> None:
    """Writes the files and prints the text that the options ask for; `first` are the changes of the first
    commit. Raises DDlogError."""
    if options.output is not None:
        _write(session, chosen, options.output, options.format or "csv")
    print_lines(_lines(session, chosen, options, first))
    sys.stdout.flush()


def _write(session: Session, chosen: Sequence[Relation], output: str, format: str) -> None:
    for relation in chosen:
        if session.on_spark:
            session.write(relation.name, output, format)
            continue
        view = session[relation.name]
        stored = view.stored
        write_relation(
            Path(output), format, relation, session.typedefs, stored, stored.columns, stored.weights
        )


def _lines(
    session: Session, chosen: Sequence[Relation], options: RunOptions, first: Changes
) -> Iterator[str]:
    asked = set(answer_names(len(options.queries)) if options.queries else ())
    names = [relation.name for relation in chosen]
    if options.sizes:
        yield from (f"{name}\t{session.size(name)}" for name in names)
    elif options.output is not None:
        return
    elif options.format is not None:
        yield from _formatted(session, chosen, options, asked)
    elif options.updates and not options.input and not session.resumed:
        yield from first.lines(names)
    else:
        for relation in chosen:
            if relation.name in asked and not relation.columns:
                yield _truth(session, relation, len(chosen) == 1)
            elif len(session[relation.name]):
                yield from record_lines([session[relation.name]], True)
            elif relation.name in asked or options.relations or not options.updates:
                columns = ", ".join(column.name for column in relation.columns)
                yield from (f"{relation.name}: no rows of ({columns})", "")


def _truth(session: Session, answer: Relation, alone: bool) -> str:
    """The answer to a query without variables."""
    text = "true" if len(session[answer.name]) else "false"
    return text if alone else f"{answer.name}: {text}"


def _formatted(
    session: Session, chosen: Sequence[Relation], options: RunOptions, asked: Collection[str]
) -> Iterator[str]:
    """Relations in the form of --format; an answer without variables is `true` or `false`."""
    assert options.format is not None
    rows = [each for each in chosen if each.columns or each.name not in asked]
    for answer in (each for each in chosen if each not in rows):
        yield _truth(session, answer, len(chosen) == 1)
    cut = not options.whole and options.format == "table" and sys.stdout.isatty()
    width = terminal_width() if cut else None
    yield from printed_tables([session[each.name] for each in rows], len(rows) > 1, options.format, width)


def terminal_width() -> int:
    """The columns of the terminal."""
    from shutil import get_terminal_size

    return get_terminal_size().columns
