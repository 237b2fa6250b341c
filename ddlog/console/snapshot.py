"""The snapshot of a run: the relations after the first commit, as sizes, as text or in files."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from ..commands.interpreter import dump_lines
from ..core import Relation
from ..demand.question import answer_names
from ..io.delimitedfiles import csv_header
from ..io.write import row_writer, write_relation
from ..sessions.results import Changes
from ..sessions.session import Session
from .options import RunOptions
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
        yield from _formatted(session, chosen, options.format, asked)
    elif options.updates and not options.input and not session.resumed:
        yield from first.lines(names)
    else:
        for relation in chosen:
            if relation.name in asked and not (relation.columns and len(session[relation.name])):
                yield from _plain_answer(session, relation, len(chosen) == 1)
            else:
                yield from dump_lines(session, [relation.name])


def _plain_answer(session: Session, answer: Relation, alone: bool) -> Iterator[str]:
    """The answer to a query without variables, true or false, or to one that no row satisfies."""
    names = ", ".join(column.name for column in answer.columns)
    text = f"no rows of ({names})" if names else "true" if len(session[answer.name]) else "false"
    yield text if alone and not names else f"{answer.name}: {text}"
    if names:
        yield ""


def _formatted(
    session: Session, chosen: Sequence[Relation], format: str, asked: Collection[str]
) -> Iterator[str]:
    """Relations as CSV, TSV or JSON lines. With several relations, lines or blocks name their relation."""
    for relation in chosen:
        if relation.name in asked and not relation.columns:
            yield from _plain_answer(session, relation, len(chosen) == 1)
            continue
        line = row_writer(format, relation, session.typedefs)
        if format == "jsonl":
            for row in session[relation.name].repeated():
                item = line(row).removesuffix("\n")
                yield item if len(chosen) == 1 else f"{{{json.dumps(relation.name)}: {item}}}"
            continue
        if len(chosen) > 1:
            yield f"{relation.name}:"
        if format == "csv":
            yield csv_header(relation).removesuffix("\n")
        for row in session[relation.name].repeated():
            yield line(row).removesuffix("\n")
        if len(chosen) > 1:
            yield ""
