"""Facts into a transaction: from files, folders, URLs and tables, or from Spark DataFrames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core import originals
from ...engine.memory import given_back
from ...errors.changes import KeyExists
from ...errors.diagnostics import DDlogError
from ..hosts.host import LocatedFacts, frames_of
from ..hosts.inputrows import column_rows
from .inputs import with_places
from .state import SessionState
from .transaction import Transaction

if TYPE_CHECKING:
    from ...io.columns import Columns
    from ...io.refusals import Refuse


def load_places(
    state: SessionState,
    transaction: Transaction,
    places: str | Path | Iterable[str | Path],
    note: Callable[[str], None],
    replace: bool = False,
    refuse: Refuse | None = None,
) -> None:
    """Puts the facts at places into the transaction; to `replace` what is there deletes it first. `note` is
    told of input relations without facts, of files that are not read, and of headers that may be rows. Wrong
    rows are refused. Raises DDlogError; then the transaction is empty."""
    from ...io.places import parse_places

    relations, inputs = state.program.relations, state.program.names("input")
    with transaction.loading():
        names = originals(relations)
        parsed = parse_places(places, inputs, relations, names)
        located = state.host.locate(parsed, inputs, set(relations) - set(inputs), names)
        for text in _notes(located):
            note(text)
        for name in inputs if replace and state.started else ():
            if relations[name].kind != "stream":
                transaction.clear(relations[name])
        for source in located.sources:
            if state.progress is not None:
                state.progress(f"reading {source.shown}", 0, 0)
            declared = relations[source.relation]
            try:
                with given_back():
                    transaction.load(declared, source.read(note, refuse))
            except DDlogError as error:
                if refuse is not None and any(isinstance(each, KeyExists) for each in error.diagnostics):
                    transaction.load_new(declared, source.placed(), refuse)
                    continue
                same = (each.placed() for each in located.sources if each.relation == source.relation)
                raise with_places(error, state.program, declared, chain.from_iterable(same)) from None


def insert_file(
    state: SessionState,
    transaction: Transaction,
    relation: str,
    path: Path,
    note: Callable[[str], None],
    refuse: Refuse | None,
) -> None:
    """Inserts the facts of a file into an input relation, in a transaction that may be open; on Spark its
    executors read them. Wrong rows are refused. Raises DDlogError."""
    from ...io.places import Place

    located = state.host.locate([Place(str(path), "path", relation)], [relation], (), {})
    for source in located.sources:
        with given_back(), transaction.changing(relation) as (_, changes):
            incoming = source.read(note, refuse)
            changes.change(incoming.batch(), incoming.rows, 1)


def load_frames(state: SessionState, transaction: Transaction, frames: Mapping[str, Any]) -> None:
    """Puts the rows of Spark DataFrames into the transaction. Raises DDlogError; then the transaction is
    empty."""
    frames_of(state.host, "load_frames")
    with transaction.loading():
        for name, frame in frames.items():
            declared = transaction.input(name)
            transaction.load(declared, state.host.incoming(declared, frame))


def load_columns(state: SessionState, transaction: Transaction, facts: Iterable[tuple[str, Columns]]) -> None:
    """Puts facts of input relations into the transaction, as they come. Raises DDlogError; then the
    transaction is empty."""
    with transaction.loading():
        for name, columns in facts:
            declared = transaction.input(name)
            transaction.load(declared, column_rows(state.host.runtime, declared, columns))


def _notes(located: LocatedFacts) -> Iterator[str]:
    for name in located.missing:
        yield f"no file for the input relation {name}: it is empty"
    for path in located.ignored:
        yield f"{path} is not read: its name is no relation's"
