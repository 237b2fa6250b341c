"""The reports of `ddlog state` about a state, and its actions on one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors.diagnostics import DDlogError, counted, system_errors
from ..errors.facts import CannotWrite
from ..errors.state import CannotUseState, NeedsProgram, StateDamaged
from ..io.filenames import file_name
from .checkpoint import checkpoint, is_intact
from .contents import FileHistory, contents_of, count_of, fine
from .folding import fold
from .forms import WEIGHT
from .records import EpochSpan, Stored
from .salvage import salvage
from .store import FileStore
from .sums import added_up, weights_of
from .typetexts import schema_of

if TYPE_CHECKING:
    import pyarrow as pa


def described(path: str) -> Iterator[str]:
    """Lines that say what a state holds. Raises DDlogError."""
    store = FileStore.open(path, read_only=True)
    try:
        yield from _described(store)
    finally:
        store.close()


def _described(store: FileStore) -> Iterator[str]:
    files = (f"{store.path}{end}" for end in ("", "-wal"))
    size = sum(os.path.getsize(file) for file in files if os.path.exists(file))
    contents = contents_of(store, {each.id for each in store.relations})
    spans, head = store.spans(), store.head
    rows = [(each, count_of(contents, each, head.epoch)) for each in store.relations]
    first = min((span.first for span in fine(store, spans)), default=head.epoch + 1)
    yield from report(head.epoch, first, len(spans), size, store.program(), rows, head.applied)
    there = checkpoint(store)
    if there is not None:
        yield f"checkpoint of epoch {there.epoch:,}, {there.bytes:,} bytes{there.problem and ', damaged'}"
        for unit in there.units.values():
            if not unit.bytes:
                continue
            held = f"{unit.title:.60}  {counted(unit.rows, 'row')}, {unit.bytes:,} bytes"
            yield f"    {held}, derived in {unit.seconds:.2f} s" if unit.seconds else f"    values of {held}"


def report(
    epoch: int,
    first: int,
    spans: int,
    size: int,
    program: Mapping[str, str],
    relations: Sequence[tuple[Stored, int]],
    ids: int,
) -> Iterator[str]:
    """Lines that say what a state holds; `first` is the first epoch of its history, `relations` have each the
    number of their rows, `ids` is the number of the ids of updates."""
    told = f"history from epoch {first:,}" if first <= epoch else "no history"
    yield f"epoch {epoch:,}, {told}, {counted(spans, 'span')}, {size:,} bytes"
    if program:
        yield f"program {program['name']}, SHA-256 {program['digest'][:16]}"
    for stored, rows in relations:
        columns = ", ".join(f"{name}: {type}" for name, type in stored.columns)
        dropped = ", dropped: --compact removes it" if stored.dropped else ""
        yield f"{stored.role} {stored.kind} {stored.name}({columns})  {counted(rows, 'row')}{dropped}"
    if ids:
        yield f"{counted(ids, 'id')} of applied updates"


def exported_relations(relations: Collection[Stored]) -> list[Stored]:
    """The relations that `--export` writes."""
    return [each for each in relations if not each.dropped and each.role == "input" and each.kind != "stream"]


def checked(path: str) -> Iterator[str]:
    """Reads all of a state, and says that it is whole. Raises DDlogError that says what is lost, and what can
    be had."""
    try:
        store = FileStore.open(path, read_only=True)
    except DDlogError as error:
        problems = [each.problem for each in error.diagnostics if isinstance(each, StateDamaged)]
        if not problems:
            raise
        raise DDlogError([StateDamaged(path, "; ".join(problems), salvage(path).told)]) from None
    try:
        yield from _checked(path, store)
    finally:
        store.close()


def _checked(path: str, store: FileStore) -> Iterator[str]:
    problems: list[str] = []
    try:
        for (line,) in store.base.execute("PRAGMA integrity_check"):
            if line != "ok":
                problems.append(f"SQLite: {line}")
    except sqlite3.Error as error:
        problems.append(f"SQLite: {error}")
    try:
        store.current()
        for span in store.spans():
            for _ in store.tables(span):
                pass
        store.applied()
        store.program()
    except DDlogError as error:
        problems += [each.message for each in error.diagnostics]
    if problems:
        raise store.damaged("; ".join(problems[:5]), salvage(path).told)
    yield f"epoch {store.head.epoch:,}: all of it is as it was written"
    there = checkpoint(store)
    broken = [] if there is None else [each for each in there.units.values() if not is_intact(store, each)]
    if there is not None and (there.problem or broken):
        what = there.problem or f"{', '.join(each.title for each in broken)} is not what was written"
        yield f"its checkpoint is damaged, and left out: {what}; nothing is lost"


def exported(
    path: str,
    directory: str,
    others: Callable[[FileStore], Iterable[tuple[str, pa.Table]]] = lambda store: (),
) -> Iterator[str]:
    """Writes each input relation of a state to a Parquet file of a directory, and `others` to a folder in it
    that `--input` leaves alone. Raises DDlogError."""
    store = FileStore.open(path, read_only=True)
    try:
        contents = contents_of(store, {each.id for each in store.relations})
        for stored in exported_relations(store.relations):
            yield write_export(_rows(store, contents, stored), directory, stored.name)
        for name, table in others(store):
            yield write_export(table, str(Path(directory, "_outputs")), name)
    finally:
        store.close()


def write_export(table: pa.Table, directory: str, relation: str) -> str:
    """Writes the file of a relation, and returns its path: a Parquet file, which has no rows without columns,
    and else JSON lines. Raises DDlogError."""
    import pyarrow.parquet as pq

    target = Path(directory) / file_name(relation, ".parquet" if table.column_names else ".jsonl")
    with system_errors(CannotWrite, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if table.column_names:
            pq.write_table(table, target)
        else:
            target.write_text("{}\n" * table.num_rows, encoding="utf-8")
    return str(target)


def _rows(store: FileStore, contents: FileHistory, stored: Stored) -> pa.Table:
    """The rows of a relation as of the last epoch. Raises DDlogError."""
    tables = added_up(stored, list(contents.held(stored, store.head.epoch)))
    if len(tables) > 1:
        raise DDlogError([NeedsProgram(str(store.path), stored.name)])
    return _repeated(tables[0]) if tables else schema_of(stored).empty_table()


def _repeated(table: pa.Table) -> pa.Table:
    """The rows, each as often as it is there."""
    import pyarrow as pa

    if WEIGHT not in table.column_names:
        return table
    places = np.repeat(np.arange(table.num_rows), weights_of(table))
    return table.take(pa.array(places)).drop_columns([WEIGHT])


def compacted(path: str) -> Iterator[str]:
    """Removes what a state does not need any more. Raises DDlogError."""
    store = FileStore.open(path, create=False)
    try:
        before = os.path.getsize(store.path)
        current = store.current()
        keep = store.head.epoch - int(store.program().get("depth", "0")) - 1
        able = [span for span in current if span.last <= keep]
        if able:
            fold(store, store, able, lambda: False, drop=True)
        gone = [span for span in store.spans() if span.folded]
        with store.writing():
            gone += _without_dropped(store, [span for span in store.current() if span.last > keep])
            store.remove_spans(gone)
            for stored in store.relations:
                if stored.dropped:
                    store.forget_relation(stored)
        for _ in store.remove_parts(gone):
            pass
        store.base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        store.base.execute("VACUUM")
        store.base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        yield f"{before:,} bytes before, {os.path.getsize(store.path):,} now"
    except (OSError, sqlite3.Error) as error:
        raise DDlogError([CannotUseState(path, str(error))]) from None
    finally:
        store.close()


def _without_dropped(store: FileStore, spans: Sequence[EpochSpan]) -> list[EpochSpan]:
    """Writes spans anew, inside `writing`, if they have rows of relations that are dropped. Returns the old
    ones. Raises DDlogError."""
    dropped = {each.id for each in store.relations if each.dropped}
    if dropped.isdisjoint(store.relations_in(spans)):
        return []
    for span in spans:
        kept = [part for part in store.parts([span]) if part[0] not in dropped]
        store.add_span(span.first, span.last, span.kind, store.add_parts(kept), span.time)
    return list(spans)
